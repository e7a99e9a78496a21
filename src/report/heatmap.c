/* Sizes first: how large cells can be decides which names and numbers have room, and these decide how
 * large the picture is. Then the parts are drawn where the layout puts them. */
#include "report/heatmap.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/canvas.h"
#include "report/charts.h"

/* ---- scale ---- */

void pr_heat_scale_see(pr_heat_scale *scale, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) {
            scale->gaps = true;
            continue;
        }
        scale->limit = fmax(scale->limit, fabs(numbers[i]));
        scale->diverging = scale->diverging || numbers[i] < 0;
    }
}

void pr_heat_scale_settle(pr_heat_scale *scale, double limit)
{
    scale->cut = limit > 0 && scale->limit > limit;
    if (limit > 0)
        scale->limit = limit;
    if (!(scale->limit > 0))
        scale->limit = 1; /* all zero, or nothing known */
}

/* ---- colours ---- */

/* From zero to the end, at equal steps. */
enum { STOPS = 5 };
static const unsigned above[STOPS] = {0xF7F7F5, 0xFBD3A6, 0xF0984A, 0xC05A10, 0x6E2C00};
static const unsigned below[STOPS] = {0xF7F7F5, 0xB5D5EC, 0x6AA5D4, 0x2A6CAD, 0x0B3467};
static const unsigned unknown = 0xDDE1E5, dark_ink = 0x21262B;

static pr_colour of_rgb(unsigned rgb)
{
    return (pr_colour){(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0};
}

static double between(double a, double b, double share)
{
    return a + (b - a) * share;
}

pr_colour pr_heat_colour(const pr_heat_scale *scale, double number)
{
    if (!isfinite(number))
        return of_rgb(unknown);
    assert(scale->limit > 0);
    const unsigned *stops = number < 0 ? below : above;
    double at = fmin(fabs(number) / scale->limit, 1) * (STOPS - 1);
    size_t i = at < STOPS - 2 ? (size_t)at : STOPS - 2;
    pr_colour a = of_rgb(stops[i]), b = of_rgb(stops[i + 1]);
    double share = at - (double)i;
    return (pr_colour){between(a.red, b.red, share), between(a.green, b.green, share),
                       between(a.blue, b.blue, share)};
}

pr_colour pr_heat_ink(pr_colour c)
{
    double brightness = 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue;
    return brightness > 0.55 ? of_rgb(dark_ink) : (pr_colour){1, 1, 1};
}

/* ---- text ---- */

int pr_heat_decimals(const pr_heat_scale *scale)
{
    assert(scale->limit > 0);
    double power = floor(log10(scale->limit));
    double digits = power < 0 ? 1 - power : 2 - power;
    return digits < 0 ? 0 : digits > 6 ? 6 : (int)digits;
}

char *pr_heat_text(double number, int decimals, char *buffer, size_t size)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(number));
    bool zero = true;
    for (const char *c = digits; *c != '\0'; c++)
        zero = zero && (*c == '0' || *c == '.');
    snprintf(buffer, size, "%s%s", number < 0 && !zero ? "−" : "", digits);
    return buffer;
}

char *pr_heat_value(const pr_heat_scale *scale, double number, int decimals, char *buffer,
                    size_t size)
{
    char text[48];
    if (scale->unit == PR_HEAT_TIMES) {
        double factor = exp(number);
        snprintf(buffer, size, "×%.*f", factor < 1.995 ? 2 : factor < 9.95 ? 1 : 0, factor);
        return buffer;
    }
    if (scale->unit != PR_HEAT_PERCENT)
        return pr_heat_text(number, decimals, buffer, size);
    snprintf(buffer, size, "%s %%",
             pr_heat_text(100 * number, decimals > 2 ? decimals - 2 : 0, text, sizeof text));
    return buffer;
}

/* ---- layout ---- */

/* A name beside the map: of one row, or of a run of rows that form a group. */
typedef struct side_label {
    const char *text;
    double first, length; /* of what it names, from the map's edge */
} side_label;

typedef struct side_labels {
    side_label *list;
    size_t count;
    double room;   /* that the names take across their side of the map */
    bool every;    /* every row has one; else some do, with a tick, or groups, with a bracket */
    bool brackets; /* they name groups */
    bool level;    /* columns: read without turning the head */
} side_labels;

typedef struct layout {
    double width, height;       /* of the picture */
    double cell, gap;           /* side of a cell, and the white between two */
    double label_size;          /* of names */
    double value_size;          /* of numbers in the cells; 0: they do not fit */
    double left, top;           /* corner of the first map */
    double map_w, map_h;        /* size of a map */
    double pitch;               /* from one map to the next */
    double bar_x, bar_y, bar_h; /* of the colour bar */
    double bar_end;             /* right of its numbers and title */
    int decimals;
    bool boxes; /* cells are drawn one by one, not as an image */
    pr_heat_scale scale;
    side_labels rows, columns;
} layout;

enum {
    MARGIN = 10,     /* margin of the picture */
    NEAR = 7,        /* between names and map */
    BAR = 14,        /* width of the colour bar */
    TICK_SIZE = 10,  /* of its numbers */
    TITLE_SIZE = 15, /* of the letters of titles */
    SMALL_SIZE = 11,
    PANEL_SIZE = 12,
    NAME_BYTES = 160, /* of a name that is shown */
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
    NOTED = 2500, /* cells of a map that say what they are; more make a heavy page */
    WIDE = 1200,  /* a picture that scrolls on a page; others shrink to its width */
};

/* Of its width, to which a map that does not scroll shrinks at most on a phone: names stay 7 pixels high. */
static const double least_share = .7;

/* The number of the row or column at a place of a side. */
static size_t index_at(const pr_heatmap_side *side, size_t place)
{
    return side->order != NULL ? side->order[place] : place;
}

/* Its group; all are in group 0 where there are no groups. */
static size_t group_at(const pr_heatmap_side *side, size_t place)
{
    return side->groups != NULL ? side->groups[index_at(side, place)] : 0;
}

static double cell_at(const pr_heatmap *map, size_t panel, size_t row, size_t column)
{
    return map->panels[panel]
        .cells[index_at(&map->rows, row) * map->columns.count + index_at(&map->columns, column)];
}

/* ---- layout: cells ---- */

static double cell_side(const pr_heatmap *map)
{
    size_t n = map->rows.count > map->columns.count ? map->rows.count : map->columns.count;
    double length = map->panel_count > 1 ? BESIDE : LONE;
    double side = floor(length / (double)n);
    if (n <= ROWS_MOST)
        return fmin(fmax(side, SMALLEST), LARGEST);
    return side >= 1 ? side : n <= SIDE_MOST / 2 ? 1 : 0.5;
}

static double widest_value(pr_canvas *ruler, const layout *l, const pr_heatmap *map, double size)
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
static double value_size(pr_canvas *ruler, const layout *l, const pr_heatmap *map)
{
    enum { LARGE = 11, SMALL = 8, LETTERS = 18 };
    if (l->cell < LETTERS)
        return 0;
    for (int size = LARGE; size >= SMALL; size--)
        if (widest_value(ruler, l, map, size) <= l->cell - l->gap - 2)
            return size;
    return 0;
}

/* ---- layout: names ---- */

/* Lists the runs of rows of one group, if those with room for a name make up most of the map. */
static bool label_groups(side_labels *labels, const pr_heatmap_side *side, double cell)
{
    size_t covered = 0;
    if (side->groups == NULL || side->group_names == NULL)
        return false;
    for (size_t first = 0, last; first < side->count; first = last) {
        size_t group = group_at(side, first);
        for (last = first; last < side->count && group_at(side, last) == group; last++)
            ;
        double length = (double)(last - first) * cell;
        if (length < SMALLEST)
            continue;
        labels->list[labels->count++] =
            (side_label){side->group_names[group], (double)first * cell, length};
        covered += last - first;
    }
    labels->brackets = 2 * covered > side->count;
    if (!labels->brackets)
        labels->count = 0;
    return labels->brackets;
}

static parsrec_status list_labels(side_labels *labels, const pr_heatmap_side *side, double cell,
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
            (side_label){side->names[index_at(side, i)], (double)i * cell, cell};
    return PARSREC_OK;
}

static double widest_label(pr_canvas *ruler, const layout *l, const side_labels *labels)
{
    double widest = 0;
    for (size_t i = 0; i < labels->count; i++)
        widest =
            fmax(widest, pr_canvas_text_width(ruler, l->label_size, false, labels->list[i].text));
    return ceil(widest);
}

static parsrec_status lay_out_names(layout *l, pr_canvas *ruler, const pr_heatmap *map,
                                    parsrec_error *err)
{
    PR_TRY(list_labels(&l->rows, &map->rows, l->cell, err));
    PR_TRY(list_labels(&l->columns, &map->columns, l->cell, err));
    l->rows.room = fmin(widest_label(ruler, l, &l->rows), NAMES_MOST);
    if (map->rows.title != NULL)
        l->rows.room = fmax(l->rows.room,
                            ceil(pr_canvas_text_width(ruler, SMALL_SIZE, false, map->rows.title)));
    double widest = widest_label(ruler, l, &l->columns);
    l->columns.level = l->columns.every && widest <= l->cell - 4;
    l->columns.room = l->columns.level ? l->label_size : fmin(widest, NAMES_MOST);
    return PARSREC_OK;
}

/* ---- layout: the picture ---- */

/* What the colour bar takes to the right of its x. */
static double bar_room(pr_canvas *ruler, const layout *l, const pr_heatmap *map)
{
    char text[64];
    double numbers = pr_canvas_text_width(
        ruler, TICK_SIZE, false,
        pr_heat_value(&l->scale, l->scale.diverging ? -l->scale.limit : l->scale.limit, l->decimals,
                      text, sizeof text));
    numbers += l->scale.cut ? 2 * TICK_SIZE : 0;
    double title = map->scale_title != NULL ? SMALL_SIZE + 8 : 0;
    return ceil(BAR + 8 + fmax(numbers + title, l->scale.gaps ? 48 : 0));
}

static void lay_out_picture(layout *l, pr_canvas *ruler, const pr_heatmap *map)
{
    double panel_title = 0, head = pr_canvas_text_width(ruler, TITLE_SIZE, true, map->title);
    if (map->subtitle != NULL)
        head = fmax(head, pr_canvas_text_width(ruler, SMALL_SIZE, false, map->subtitle));
    head = ceil(fmin(head, WORDS_MOST));
    for (size_t p = 0; p < map->panel_count; p++)
        if (map->panels[p].title != NULL)
            panel_title = fmax(panel_title,
                               pr_canvas_text_width(ruler, PANEL_SIZE, true, map->panels[p].title));
    panel_title = ceil(fmin(panel_title, PANEL_MOST));
    l->map_w = (double)map->columns.count * l->cell;
    l->map_h = (double)map->rows.count * l->cell;
    l->pitch = fmax(l->map_w, panel_title) + BETWEEN;
    l->left = MARGIN + l->rows.room + NEAR;
    l->top =
        (map->subtitle != NULL ? 50 : 34) + (panel_title > 0 || map->rows.title != NULL ? 20 : 0);
    l->bar_x = l->left + (double)map->panel_count * l->pitch;
    l->bar_y = l->top;
    l->bar_h = fmin(fmax(l->map_h, BAR_LEAST), BAR_MOST);
    l->bar_end = l->bar_x + bar_room(ruler, l, map);
    l->width = fmax(l->bar_end, head + MARGIN) + MARGIN;
    double map_foot =
        l->top + l->map_h + NEAR + l->columns.room + (map->columns.title != NULL ? 20 : 0);
    double bar_foot = l->bar_y + l->bar_h + (l->scale.gaps ? 34 : 6);
    l->height = ceil(fmax(map_foot, bar_foot) + MARGIN);
}

static parsrec_status measure(layout *l, pr_canvas *ruler, const pr_heatmap *map,
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

static void layout_free(layout *l)
{
    pr_free(l->rows.list);
    pr_free(l->columns.list);
    *l = (layout){0};
}

static parsrec_status lay_out(layout *l, const pr_heatmap *map, parsrec_error *err)
{
    *l = (layout){0};
    if (map->rows.count == 0 || map->columns.count == 0 || map->panel_count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a heatmap needs a row, a column and numbers");
    if (map->rows.count > SIDE_MOST || map->columns.count > SIDE_MOST)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "a heatmap of %zu rows and %zu columns cannot be drawn, only %d of each; "
                       "choose fewer, or draw categories",
                       map->rows.count, map->columns.count, SIDE_MOST);
    pr_writer nowhere = {0};
    pr_canvas *ruler = NULL;
    parsrec_status status = pr_canvas_inline(&ruler, &nowhere, "", 1, 1, err);
    if (status == PARSREC_OK)
        status = measure(l, ruler, map, err);
    pr_canvas_abort(ruler);
    pr_writer_free(&nowhere);
    if (status != PARSREC_OK)
        layout_free(l);
    return status;
}

/* ---- the colour bar ---- */

static void draw_hatch(pr_canvas *canvas, double x, double y, double side)
{
    static const pr_colour hatch = {.6, .64, .67};
    pr_canvas_colour(canvas, hatch, 1);
    pr_canvas_line(canvas, x + 1, y + side - 1, x + side - 1, y + 1, 0.8);
}

static void draw_frame(pr_canvas *canvas, double x, double y, double width, double height)
{
    const pr_point corners[] = {
        {x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}};
    pr_canvas_path(canvas, corners, 5, 0.8);
}

static double low_of(const pr_heat_scale *scale)
{
    return scale->diverging ? -scale->limit : 0;
}

static double bar_y(const layout *l, double number)
{
    double low = low_of(&l->scale), high = l->scale.limit;
    return l->bar_y + l->bar_h * (high - number) / (high - low);
}

static void draw_tick(pr_canvas *canvas, const layout *l, double number, bool cut)
{
    char text[64], whole[80];
    double y = bar_y(l, number), x = l->bar_x + BAR;
    pr_canvas_role(canvas, PR_QUIET, 1);
    pr_canvas_line(canvas, x, y, x + 3, y, 0.8);
    pr_canvas_role(canvas, PR_INK, 1);
    snprintf(whole, sizeof whole, "%s%s",
             !cut         ? ""
             : number < 0 ? "≤ "
                          : "≥ ",
             pr_heat_value(&l->scale, number, l->decimals, text, sizeof text));
    pr_canvas_text(canvas, x + 6, y + 3.6, TICK_SIZE, PR_LEFT, false, whole);
}

/* Keeps clear of both ends. */
static bool has_room(const layout *l, double number)
{
    enum { CLEAR = 14 };
    return bar_y(l, number) > bar_y(l, l->scale.limit) + CLEAR &&
           bar_y(l, number) < bar_y(l, low_of(&l->scale)) - CLEAR;
}

/* Round factors and one through them, from 1 outwards, as far as they keep clear of each other. */
static void draw_factors(pr_canvas *canvas, const layout *l)
{
    static const double factors[] = {1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
    double last = 0;
    if (has_room(l, 0))
        draw_tick(canvas, l, 0, false);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double number = log(factors[i]);
        if (bar_y(l, last) - bar_y(l, number) < 14)
            continue;
        if (has_room(l, number))
            draw_tick(canvas, l, number, false);
        if (has_room(l, -number))
            draw_tick(canvas, l, -number, false);
        last = number;
    }
}

/* The ends, and round numbers between them that keep clear of these. */
static void draw_ticks(pr_canvas *canvas, const layout *l)
{
    double first, step, low = low_of(&l->scale), high = l->scale.limit;
    pr_ticks(low, high, 5, &first, &step);
    if (l->scale.unit == PR_HEAT_TIMES)
        draw_factors(canvas, l);
    else
        for (double v = first; v <= high; v += step)
            if (has_room(l, v))
                draw_tick(canvas, l, v, false);
    draw_tick(canvas, l, low, l->scale.cut && l->scale.diverging);
    draw_tick(canvas, l, high, l->scale.cut);
}

/* The colour bar with its title, or NULL, and what a cell without a number looks like. */
static void draw_bar(pr_canvas *canvas, const layout *l, const char *title)
{
    enum { STEPS = 128 };
    char name[NAME_BYTES];
    pr_colour colours[STEPS];
    double low = low_of(&l->scale), high = l->scale.limit;
    for (size_t i = 0; i < STEPS; i++)
        colours[i] = pr_heat_colour(&l->scale, high - (high - low) * ((double)i + .5) / STEPS);
    pr_canvas_field(canvas, l->bar_x, l->bar_y, BAR, l->bar_h, colours, STEPS, 1);
    pr_canvas_role(canvas, PR_QUIET, 1);
    draw_frame(canvas, l->bar_x, l->bar_y, BAR, l->bar_h);
    draw_ticks(canvas, l);
    pr_canvas_role(canvas, PR_QUIET, 1);
    if (title != NULL)
        pr_canvas_text_upward(
            canvas, l->bar_end - 4, l->bar_y + l->bar_h / 2, SMALL_SIZE, PR_CENTRE, false,
            pr_canvas_fitted(canvas, SMALL_SIZE, false, l->bar_h, title, name, sizeof name));
    if (!l->scale.gaps)
        return;
    double y = l->bar_y + l->bar_h + 16;
    pr_canvas_colour(canvas, pr_heat_colour(&l->scale, NAN), 1);
    pr_canvas_box(canvas, l->bar_x, y, BAR, BAR);
    if (l->boxes)
        draw_hatch(canvas, l->bar_x, y, BAR);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, l->bar_x + BAR + 6, y + 10.6, TICK_SIZE, PR_LEFT, false, "no data");
}

/* Lines and ink on cells, whose colours are the same on light and dark paper. */
static const pr_colour white = {1, 1, 1}, line = {.13, .15, .17};

/* A map and where it lies. */
typedef struct place {
    const pr_heatmap *map;
    const layout *l;
    size_t panel;
    double x, y;
} place;

/* ---- cells ---- */

static const char *note_of(const place *at, size_t row, size_t column, double number, char *note,
                           size_t size)
{
    char text[64];
    snprintf(note, size, "%s × %s: %s", at->map->rows.names[index_at(&at->map->rows, row)],
             at->map->columns.names[index_at(&at->map->columns, column)],
             isfinite(number)
                 ? pr_heat_value(&at->l->scale, number, at->l->decimals + 1, text, sizeof text)
                 : "no data");
    return note;
}

static void draw_cell(pr_canvas *canvas, const place *at, size_t row, size_t column)
{
    char note[3 * NAME_BYTES], text[64];
    double number = cell_at(at->map, at->panel, row, column);
    double side = at->l->cell - at->l->gap, size = at->l->value_size;
    double x = at->x + (double)column * at->l->cell, y = at->y + (double)row * at->l->cell;
    pr_colour colour = pr_heat_colour(&at->l->scale, number);
    pr_canvas_colour(canvas, colour, 1);
    pr_canvas_noted_box(canvas, x, y, side, side,
                        at->map->rows.count * at->map->columns.count <= NOTED
                            ? note_of(at, row, column, number, note, sizeof note)
                            : NULL);
    if (!isfinite(number)) {
        draw_hatch(canvas, x, y, side);
    } else if (size > 0) {
        pr_canvas_colour(canvas, pr_heat_ink(colour), 1);
        pr_canvas_text(canvas, x + side / 2, y + side / 2 + size * .36, size, PR_CENTRE, false,
                       pr_heat_value(&at->l->scale, number, at->l->decimals, text, sizeof text));
    }
}

static parsrec_status draw_field(pr_canvas *canvas, const place *at, parsrec_error *err)
{
    size_t rows = at->map->rows.count, columns = at->map->columns.count;
    pr_colour *colours = pr_alloc(rows * columns, sizeof *colours);
    if (colours == NULL)
        return pr_fail_memory(err);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            colours[r * columns + c] =
                pr_heat_colour(&at->l->scale, cell_at(at->map, at->panel, r, c));
    pr_canvas_field(canvas, at->x, at->y, at->l->map_w, at->l->map_h, colours, rows, columns);
    pr_free(colours);
    return PARSREC_OK;
}

/* ---- lines ---- */

static void draw_blocks(pr_canvas *canvas, const place *at)
{
    const layout *l = at->l;
    double width = l->cell >= 6 ? 1.4 : 0.8;
    pr_canvas_colour(canvas, line, l->cell >= 6 ? 1 : 0.7);
    for (size_t r = 1; r < at->map->rows.count; r++) {
        double y = at->y + (double)r * l->cell - l->gap / 2;
        if (group_at(&at->map->rows, r) != group_at(&at->map->rows, r - 1))
            pr_canvas_line(canvas, at->x, y, at->x + l->map_w - l->gap, y, width);
    }
    for (size_t c = 1; c < at->map->columns.count; c++) {
        double x = at->x + (double)c * l->cell - l->gap / 2;
        if (group_at(&at->map->columns, c) != group_at(&at->map->columns, c - 1))
            pr_canvas_line(canvas, x, at->y, x, at->y + l->map_h - l->gap, width);
    }
}

/* ---- names ---- */

/* What joins a name to its rows: a bracket along a group, a tick at a row that stands for its
 * neighbours too. `x`, `y` is the map's edge; marks lie outside of it. */
static void draw_mark(pr_canvas *canvas, const side_labels *labels, const side_label *label,
                      double x, double y, bool column)
{
    if (labels->every)
        return;
    double a = label->first + 1, b = label->first + label->length - 1, out = 3;
    double middle = label->first + label->length / 2;
    pr_canvas_role(canvas, PR_QUIET, 1);
    if (labels->brackets && column)
        pr_canvas_line(canvas, x + a, y + out, x + b, y + out, 1.2);
    else if (labels->brackets)
        pr_canvas_line(canvas, x - out, y + a, x - out, y + b, 1.2);
    else if (column)
        pr_canvas_line(canvas, x + middle, y, x + middle, y + out + 1, 0.8);
    else
        pr_canvas_line(canvas, x - out - 1, y + middle, x, y + middle, 0.8);
}

static void draw_row_names(pr_canvas *canvas, const place *at)
{
    char name[NAME_BYTES];
    const side_labels *labels = &at->l->rows;
    double size = at->l->label_size;
    for (size_t i = 0; i < labels->count; i++) {
        const side_label *label = &labels->list[i];
        draw_mark(canvas, labels, label, at->x, at->y, false);
        pr_canvas_role(canvas, PR_INK, 1);
        pr_canvas_text(canvas, at->x - NEAR, at->y + label->first + label->length / 2 + size * .36,
                       size, PR_RIGHT, false,
                       pr_canvas_fitted(canvas, size, false, labels->room + 0.5, label->text, name,
                                        sizeof name));
    }
}

static void draw_column_names(pr_canvas *canvas, const place *at)
{
    char name[NAME_BYTES];
    const side_labels *labels = &at->l->columns;
    double size = at->l->label_size, edge = at->y + at->l->map_h;
    for (size_t i = 0; i < labels->count; i++) {
        const side_label *label = &labels->list[i];
        double x = at->x + label->first + label->length / 2;
        draw_mark(canvas, labels, label, at->x, edge, true);
        pr_canvas_role(canvas, PR_INK, 1);
        if (labels->level)
            pr_canvas_text(canvas, x, edge + NEAR + size * .8, size, PR_CENTRE, false, label->text);
        else
            pr_canvas_text_upward(canvas, x + size * .36, edge + NEAR, size, PR_RIGHT, false,
                                  pr_canvas_fitted(canvas, size, false, labels->room + 0.5,
                                                   label->text, name, sizeof name));
    }
}

static void draw_titles(pr_canvas *canvas, const place *at)
{
    char name[NAME_BYTES];
    const layout *l = at->l;
    const char *title = at->map->panels[at->panel].title;
    const char *columns = at->map->columns.title;
    pr_canvas_role(canvas, PR_INK, 1);
    if (title != NULL)
        pr_canvas_text(
            canvas, at->x, at->y - 9, PANEL_SIZE, PR_LEFT, true,
            pr_canvas_fitted(canvas, PANEL_SIZE, true, l->pitch - 8, title, name, sizeof name));
    pr_canvas_role(canvas, PR_QUIET, 1);
    if (at->panel == 0 && at->map->rows.title != NULL)
        pr_canvas_text(canvas, at->x - NEAR, at->y - 9, SMALL_SIZE, PR_RIGHT, false,
                       at->map->rows.title);
    if (columns != NULL)
        pr_canvas_text(
            canvas, at->x, at->y + l->map_h + NEAR + l->columns.room + 16, SMALL_SIZE, PR_LEFT,
            false,
            pr_canvas_fitted(canvas, SMALL_SIZE, false, l->pitch - 8, columns, name, sizeof name));
}

static parsrec_status draw_panel(pr_canvas *canvas, const place *at, parsrec_error *err)
{
    if (at->l->boxes) {
        pr_canvas_colour(canvas, white, 1); /* between the cells */
        pr_canvas_box(canvas, at->x, at->y, at->l->map_w, at->l->map_h);
        for (size_t r = 0; r < at->map->rows.count; r++)
            for (size_t c = 0; c < at->map->columns.count; c++)
                draw_cell(canvas, at, r, c);
    } else {
        PR_TRY(draw_field(canvas, at, err));
    }
    draw_blocks(canvas, at);
    pr_canvas_role(canvas, PR_QUIET, 1);
    draw_frame(canvas, at->x, at->y, at->l->map_w - at->l->gap, at->l->map_h - at->l->gap);
    if (at->panel == 0)
        draw_row_names(canvas, at);
    draw_column_names(canvas, at);
    draw_titles(canvas, at);
    return PARSREC_OK;
}

/* ---- the picture ---- */

static parsrec_status draw(pr_canvas *canvas, const pr_heatmap *map, const layout *l,
                           parsrec_error *err)
{
    char text[512];
    double width = l->width - 2 * MARGIN;
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(
        canvas, MARGIN, 22, TITLE_SIZE, PR_LEFT, true,
        pr_canvas_fitted(canvas, TITLE_SIZE, true, width, map->title, text, sizeof text));
    pr_canvas_role(canvas, PR_QUIET, 1);
    if (map->subtitle != NULL)
        pr_canvas_text(
            canvas, MARGIN, 39, SMALL_SIZE, PR_LEFT, false,
            pr_canvas_fitted(canvas, SMALL_SIZE, false, width, map->subtitle, text, sizeof text));
    for (size_t p = 0; p < map->panel_count; p++) {
        place at = {map, l, p, l->left + (double)p * l->pitch, l->top};
        PR_TRY(draw_panel(canvas, &at, err));
    }
    draw_bar(canvas, l, map->scale_title);
    return PARSREC_OK;
}

/* Draws and finishes; aborts the canvas on failure. */
static parsrec_status complete(pr_canvas *canvas, const pr_heatmap *map, const layout *l,
                               parsrec_error *err)
{
    parsrec_status status = draw(canvas, map, l, err);
    if (status == PARSREC_OK)
        return pr_canvas_finish(canvas, err);
    pr_canvas_abort(canvas);
    return status;
}

parsrec_status pr_heatmap_draw(const pr_heatmap *map, const char *path, parsrec_error *err)
{
    layout l;
    pr_canvas *canvas;
    PR_TRY(lay_out(&l, map, err));
    parsrec_status status = pr_canvas_new(&canvas, path, l.width, l.height, err);
    if (status == PARSREC_OK)
        status = complete(canvas, map, &l, err);
    layout_free(&l);
    return status;
}

parsrec_status pr_heatmap_inline(const pr_heatmap *map, pr_writer *page, parsrec_error *err)
{
    layout l;
    pr_canvas *canvas;
    PR_TRY(lay_out(&l, map, err));
    if (l.width > WIDE)
        pr_write(page, "<div class=\"scroll\">\n");
    else
        pr_write(page, "<div class=\"map\" style=\"--least:%.0fpx\">\n", least_share * l.width);
    parsrec_status status = pr_canvas_inline(&canvas, page, map->title, l.width, l.height, err);
    if (status == PARSREC_OK)
        status = complete(canvas, map, &l, err);
    pr_write(page, "</div>\n");
    layout_free(&l);
    return status;
}
