/* Sizes first: how large cells can be decides which names and numbers have room, and these decide how
 * large the picture is. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/heatmap_inside.h"

enum {
    LONE = 720,       /* length of a lone map's longer side, about */
    BESIDE = 580,     /* of one of several */
    LARGEST = 44,     /* cell */
    SMALLEST = 12,    /* cell of a map of up to 60 rows, and room of a name */
    ROWS_MOST = 60,   /* that have a name each, whatever it costs */
    SIDE_MOST = 4000, /* rows or columns that a picture can show */
    NAMES_MOST = 190, /* width of names */
    PANEL_MOST = 240, /* of a panel's title, where the map is narrower */
    WORDS_MOST = 640, /* of a title that makes the picture wider than its maps do */
    BETWEEN = 22,     /* panels, and maps and colour bar */
    BAR_LEAST = 180,  /* height of the colour bar */
    BAR_MOST = 260,
};

/* ---- cells ---- */

static double cell_side(const pr_heatmap *map)
{
    size_t n = map->rows.count > map->columns.count ? map->rows.count : map->columns.count;
    double length = map->panel_count > 1 ? BESIDE : LONE;
    double side = floor(length / (double)n);
    if (n <= ROWS_MOST)
        return fmin(fmax(side, SMALLEST), LARGEST);
    return side >= 1 ? side : n <= SIDE_MOST / 2 ? 1 : 0.5;
}

static double widest_value(pr_canvas *ruler, const pr_heat_layout *l, const pr_heatmap *map,
                           double size)
{
    char text[64];
    double widest = 0;
    for (size_t p = 0; p < map->panel_count; p++)
        for (size_t i = 0; i < map->rows.count * map->columns.count; i++)
            if (isfinite(map->panels[p].cells[i]))
                widest = fmax(widest,
                              pr_canvas_text_width(ruler, size, false,
                                                   pr_heat_value(&l->scale, map->panels[p].cells[i],
                                                                 l->decimals, text, sizeof text)));
    return widest;
}

/* The largest letters with which all numbers fit; 0 where even small ones do not. */
static double value_size(pr_canvas *ruler, const pr_heat_layout *l, const pr_heatmap *map)
{
    enum { LARGE = 11, SMALL = 8, LETTERS = 18 };
    if (l->cell < LETTERS)
        return 0;
    for (int size = LARGE; size >= SMALL; size--)
        if (widest_value(ruler, l, map, size) <= l->cell - l->gap - 2)
            return size;
    return 0;
}

/* ---- names ---- */

/* Lists the runs of rows of one group, if those with room for a name make up most of the map. */
static bool label_groups(pr_heat_labels *labels, const pr_heatmap_side *side, double cell)
{
    size_t covered = 0;
    if (side->groups == NULL || side->group_names == NULL)
        return false;
    for (size_t first = 0, last; first < side->count; first = last) {
        size_t group = pr_heat_group(side, first);
        for (last = first; last < side->count && pr_heat_group(side, last) == group; last++)
            ;
        double length = (double)(last - first) * cell;
        if (length < SMALLEST)
            continue;
        labels->list[labels->count++] =
            (pr_heat_label){side->group_names[group], (double)first * cell, length};
        covered += last - first;
    }
    labels->brackets = 2 * covered > side->count;
    if (!labels->brackets)
        labels->count = 0;
    return labels->brackets;
}

static parsrec_status list_labels(pr_heat_labels *labels, const pr_heatmap_side *side, double cell,
                                  parsrec_error *err)
{
    labels->list = pr_alloc(side->count, sizeof *labels->list);
    if (labels->list == NULL)
        return pr_fail_memory(err);
    labels->every = cell >= SMALLEST - 1;
    if (!labels->every && label_groups(labels, side, cell))
        return PARSREC_OK;
    size_t step = labels->every ? 1 : (size_t)ceil(SMALLEST / cell);
    for (size_t i = 0; i < side->count; i += step)
        labels->list[labels->count++] =
            (pr_heat_label){side->names[pr_heat_at(side, i)], (double)i * cell, cell};
    return PARSREC_OK;
}

static double widest_label(pr_canvas *ruler, const pr_heat_layout *l, const pr_heat_labels *labels)
{
    double widest = 0;
    for (size_t i = 0; i < labels->count; i++)
        widest =
            fmax(widest, pr_canvas_text_width(ruler, l->label_size, false, labels->list[i].text));
    return ceil(widest);
}

static parsrec_status lay_out_names(pr_heat_layout *l, pr_canvas *ruler, const pr_heatmap *map,
                                    parsrec_error *err)
{
    PR_TRY(list_labels(&l->rows, &map->rows, l->cell, err));
    PR_TRY(list_labels(&l->columns, &map->columns, l->cell, err));
    l->rows.room = fmin(widest_label(ruler, l, &l->rows), NAMES_MOST);
    if (map->rows.title != NULL)
        l->rows.room = fmax(
            l->rows.room, ceil(pr_canvas_text_width(ruler, PR_HEAT_SMALL, false, map->rows.title)));
    double widest = widest_label(ruler, l, &l->columns);
    l->columns.level = l->columns.every && widest <= l->cell - 4;
    l->columns.room = l->columns.level ? l->label_size : fmin(widest, NAMES_MOST);
    return PARSREC_OK;
}

/* ---- the picture ---- */

static double words_width(pr_canvas *ruler, const pr_heatmap *map)
{
    double width = pr_canvas_text_width(ruler, PR_HEAT_TITLE_SIZE, true, map->title);
    if (map->subtitle != NULL)
        width = fmax(width, pr_canvas_text_width(ruler, PR_HEAT_SMALL, false, map->subtitle));
    return ceil(fmin(width, WORDS_MOST));
}

/* What the colour bar takes to the right of its x. */
static double bar_room(pr_canvas *ruler, const pr_heat_layout *l, const pr_heatmap *map)
{
    char text[64];
    double numbers = pr_canvas_text_width(
        ruler, PR_HEAT_TICK_SIZE, false,
        pr_heat_value(&l->scale, l->scale.diverging ? -l->scale.limit : l->scale.limit, l->decimals,
                      text, sizeof text));
    numbers += l->scale.cut ? 2 * PR_HEAT_TICK_SIZE : 0;
    double title = map->scale_title != NULL ? PR_HEAT_SMALL + 8 : 0;
    return ceil(PR_HEAT_BAR + 8 + fmax(numbers + title, l->scale.gaps ? 48 : 0));
}

static double widest_panel_title(pr_canvas *ruler, const pr_heatmap *map)
{
    double widest = 0;
    for (size_t p = 0; p < map->panel_count; p++)
        if (map->panels[p].title != NULL)
            widest = fmax(widest,
                          pr_canvas_text_width(ruler, PR_HEAT_PANEL, true, map->panels[p].title));
    return ceil(fmin(widest, PANEL_MOST));
}

static void lay_out_picture(pr_heat_layout *l, pr_canvas *ruler, const pr_heatmap *map)
{
    double panel_title = widest_panel_title(ruler, map);
    l->map_w = (double)map->columns.count * l->cell;
    l->map_h = (double)map->rows.count * l->cell;
    l->pitch = fmax(l->map_w, panel_title) + BETWEEN;
    l->left = PR_HEAT_SIDE + l->rows.room + PR_HEAT_NEAR;
    l->top =
        (map->subtitle != NULL ? 50 : 34) + (panel_title > 0 || map->rows.title != NULL ? 20 : 0);
    l->bar_x = l->left + (double)map->panel_count * l->pitch;
    l->bar_y = l->top;
    l->bar_h = fmin(fmax(l->map_h, BAR_LEAST), BAR_MOST);
    l->bar_end = l->bar_x + bar_room(ruler, l, map);
    l->width = fmax(l->bar_end, words_width(ruler, map) + PR_HEAT_SIDE) + PR_HEAT_SIDE;
    double below =
        l->top + l->map_h + PR_HEAT_NEAR + l->columns.room + (map->columns.title != NULL ? 20 : 0);
    double bar_foot = l->bar_y + l->bar_h + (l->scale.gaps ? 34 : 6);
    l->height = ceil(fmax(below, bar_foot) + PR_HEAT_SIDE);
}

static parsrec_status check(const pr_heatmap *map, parsrec_error *err)
{
    if (map->rows.count == 0 || map->columns.count == 0 || map->panel_count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a heatmap needs a row, a column and numbers");
    if (map->rows.count > SIDE_MOST || map->columns.count > SIDE_MOST)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "a heatmap of %zu rows and %zu columns cannot be drawn, only %d of each; "
                       "choose fewer, or draw categories",
                       map->rows.count, map->columns.count, SIDE_MOST);
    return PARSREC_OK;
}

static parsrec_status lay_out(pr_heat_layout *l, pr_canvas *ruler, const pr_heatmap *map,
                              parsrec_error *err)
{
    for (size_t p = 0; p < map->panel_count; p++)
        pr_heat_scale_see(&l->scale, map->panels[p].cells, map->rows.count * map->columns.count);
    l->scale.unit = map->unit;
    pr_heat_scale_settle(&l->scale, map->limit);
    l->decimals = pr_heat_decimals(&l->scale);
    l->cell = cell_side(map);
    l->gap = l->cell >= 16 ? 1 : 0;
    l->boxes = l->cell >= SMALLEST - 1;
    l->label_size = l->cell >= 14 ? 11 : 9.5;
    l->value_size = value_size(ruler, l, map);
    PR_TRY(lay_out_names(l, ruler, map, err));
    lay_out_picture(l, ruler, map);
    return PARSREC_OK;
}

parsrec_status pr_heat_lay_out(pr_heat_layout *layout, const pr_heatmap *map, parsrec_error *err)
{
    *layout = (pr_heat_layout){0};
    PR_TRY(check(map, err));
    pr_writer nowhere = {0};
    pr_canvas *ruler = NULL;
    parsrec_status status = pr_canvas_inline(&ruler, &nowhere, "", 1, 1, err);
    if (status == PARSREC_OK)
        status = lay_out(layout, ruler, map, err);
    pr_canvas_abort(ruler);
    pr_writer_free(&nowhere);
    if (status != PARSREC_OK)
        pr_heat_layout_free(layout);
    return status;
}

void pr_heat_layout_free(pr_heat_layout *layout)
{
    pr_free(layout->rows.list);
    pr_free(layout->columns.list);
    *layout = (pr_heat_layout){0};
}
