/* Cells and the names around them. */
#include "report/heatmap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/heatmap_inside.h"

enum {
    NOTED = 2500, /* cells of a map that say what they are; more make a heavy page */
    WIDE = 1200,  /* a picture that scrolls on a page; others shrink to its width */
};

/* Lines and ink on cells, whose colours are the same on light and dark paper. */
static const pr_colour white = {1, 1, 1}, line = {.13, .15, .17};

/* A map and where it lies. */
typedef struct place {
    const pr_heatmap *map;
    const pr_heat_layout *l;
    size_t panel;
    double x, y;
} place;

/* ---- cells ---- */

static const char *note_of(const place *at, size_t row, size_t column, double number, char *note,
                           size_t size)
{
    char text[64];
    snprintf(note, size, "%s × %s: %s", at->map->rows.names[pr_heat_at(&at->map->rows, row)],
             at->map->columns.names[pr_heat_at(&at->map->columns, column)],
             isfinite(number)
                 ? pr_heat_value(&at->l->scale, number, at->l->decimals + 1, text, sizeof text)
                 : "no data");
    return note;
}

static void draw_value(pr_canvas *canvas, const place *at, double x, double y, double number)
{
    char text[64];
    double size = at->l->value_size, side = at->l->cell - at->l->gap;
    pr_canvas_colour(canvas, pr_heat_ink(pr_heat_colour(&at->l->scale, number)), 1);
    pr_canvas_text(canvas, x + side / 2, y + side / 2 + size * .36, size, PR_CENTRE, false,
                   pr_heat_value(&at->l->scale, number, at->l->decimals, text, sizeof text));
}

static void draw_cell(pr_canvas *canvas, const place *at, size_t row, size_t column)
{
    char note[3 * PR_HEAT_NAME_BYTES];
    double number = pr_heat_cell(at->map, at->panel, row, column);
    double side = at->l->cell - at->l->gap;
    double x = at->x + (double)column * at->l->cell, y = at->y + (double)row * at->l->cell;
    pr_canvas_colour(canvas, pr_heat_colour(&at->l->scale, number), 1);
    pr_canvas_noted_box(canvas, x, y, side, side,
                        at->map->rows.count * at->map->columns.count <= NOTED
                            ? note_of(at, row, column, number, note, sizeof note)
                            : NULL);
    if (!isfinite(number))
        pr_heat_hatch(canvas, x, y, side);
    else if (at->l->value_size > 0)
        draw_value(canvas, at, x, y, number);
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
                pr_heat_colour(&at->l->scale, pr_heat_cell(at->map, at->panel, r, c));
    pr_canvas_field(canvas, at->x, at->y, at->l->map_w, at->l->map_h, colours, rows, columns);
    pr_free(colours);
    return PARSREC_OK;
}

static void draw_boxes(pr_canvas *canvas, const place *at)
{
    pr_canvas_colour(canvas, white, 1); /* between the cells */
    pr_canvas_box(canvas, at->x, at->y, at->l->map_w, at->l->map_h);
    for (size_t r = 0; r < at->map->rows.count; r++)
        for (size_t c = 0; c < at->map->columns.count; c++)
            draw_cell(canvas, at, r, c);
}

/* ---- lines ---- */

static void draw_blocks(pr_canvas *canvas, const place *at)
{
    const pr_heat_layout *l = at->l;
    double width = l->cell >= 6 ? 1.4 : 0.8;
    pr_canvas_colour(canvas, line, l->cell >= 6 ? 1 : 0.7);
    for (size_t r = 1; r < at->map->rows.count; r++) {
        double y = at->y + (double)r * l->cell - l->gap / 2;
        if (pr_heat_group(&at->map->rows, r) != pr_heat_group(&at->map->rows, r - 1))
            pr_canvas_line(canvas, at->x, y, at->x + l->map_w - l->gap, y, width);
    }
    for (size_t c = 1; c < at->map->columns.count; c++) {
        double x = at->x + (double)c * l->cell - l->gap / 2;
        if (pr_heat_group(&at->map->columns, c) != pr_heat_group(&at->map->columns, c - 1))
            pr_canvas_line(canvas, x, at->y, x, at->y + l->map_h - l->gap, width);
    }
}

/* ---- names ---- */

/* What joins a name to its rows: a bracket along a group, a tick at a row that stands for its
 * neighbours too. `x`, `y` is the map's edge; marks lie outside of it. */
static void draw_mark(pr_canvas *canvas, const pr_heat_labels *labels, const pr_heat_label *label,
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
    char name[PR_HEAT_NAME_BYTES];
    const pr_heat_labels *labels = &at->l->rows;
    double size = at->l->label_size;
    for (size_t i = 0; i < labels->count; i++) {
        const pr_heat_label *label = &labels->list[i];
        draw_mark(canvas, labels, label, at->x, at->y, false);
        pr_canvas_role(canvas, PR_INK, 1);
        pr_canvas_text(canvas, at->x - PR_HEAT_NEAR,
                       at->y + label->first + label->length / 2 + size * .36, size, PR_RIGHT, false,
                       pr_canvas_fitted(canvas, size, false, labels->room + 0.5, label->text, name,
                                        sizeof name));
    }
}

static void draw_column_names(pr_canvas *canvas, const place *at)
{
    char name[PR_HEAT_NAME_BYTES];
    const pr_heat_labels *labels = &at->l->columns;
    double size = at->l->label_size, edge = at->y + at->l->map_h;
    for (size_t i = 0; i < labels->count; i++) {
        const pr_heat_label *label = &labels->list[i];
        double x = at->x + label->first + label->length / 2;
        draw_mark(canvas, labels, label, at->x, edge, true);
        pr_canvas_role(canvas, PR_INK, 1);
        if (labels->level)
            pr_canvas_text(canvas, x, edge + PR_HEAT_NEAR + size * .8, size, PR_CENTRE, false,
                           label->text);
        else
            pr_canvas_text_upward(canvas, x + size * .36, edge + PR_HEAT_NEAR, size, PR_RIGHT,
                                  false,
                                  pr_canvas_fitted(canvas, size, false, labels->room + 0.5,
                                                   label->text, name, sizeof name));
    }
}

static void draw_titles(pr_canvas *canvas, const place *at)
{
    char name[PR_HEAT_NAME_BYTES];
    const pr_heat_layout *l = at->l;
    const char *title = at->map->panels[at->panel].title;
    const char *columns = at->map->columns.title;
    pr_canvas_role(canvas, PR_INK, 1);
    if (title != NULL)
        pr_canvas_text(
            canvas, at->x, at->y - 9, PR_HEAT_PANEL, PR_LEFT, true,
            pr_canvas_fitted(canvas, PR_HEAT_PANEL, true, l->pitch - 8, title, name, sizeof name));
    pr_canvas_role(canvas, PR_QUIET, 1);
    if (at->panel == 0 && at->map->rows.title != NULL)
        pr_canvas_text(canvas, at->x - PR_HEAT_NEAR, at->y - 9, PR_HEAT_SMALL, PR_RIGHT, false,
                       at->map->rows.title);
    if (columns != NULL)
        pr_canvas_text(canvas, at->x, at->y + l->map_h + PR_HEAT_NEAR + l->columns.room + 16,
                       PR_HEAT_SMALL, PR_LEFT, false,
                       pr_canvas_fitted(canvas, PR_HEAT_SMALL, false, l->pitch - 8, columns, name,
                                        sizeof name));
}

static parsrec_status draw_panel(pr_canvas *canvas, const place *at, parsrec_error *err)
{
    if (at->l->boxes)
        draw_boxes(canvas, at);
    else
        PR_TRY(draw_field(canvas, at, err));
    draw_blocks(canvas, at);
    pr_canvas_role(canvas, PR_QUIET, 1);
    pr_heat_frame(canvas, at->x, at->y, at->l->map_w - at->l->gap, at->l->map_h - at->l->gap);
    if (at->panel == 0)
        draw_row_names(canvas, at);
    draw_column_names(canvas, at);
    draw_titles(canvas, at);
    return PARSREC_OK;
}

/* ---- the picture ---- */

static void draw_head(pr_canvas *canvas, const pr_heatmap *map, const pr_heat_layout *l)
{
    char text[512];
    double width = l->width - 2 * PR_HEAT_SIDE;
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(
        canvas, PR_HEAT_SIDE, 22, PR_HEAT_TITLE_SIZE, PR_LEFT, true,
        pr_canvas_fitted(canvas, PR_HEAT_TITLE_SIZE, true, width, map->title, text, sizeof text));
    pr_canvas_role(canvas, PR_QUIET, 1);
    if (map->subtitle != NULL)
        pr_canvas_text(canvas, PR_HEAT_SIDE, 39, PR_HEAT_SMALL, PR_LEFT, false,
                       pr_canvas_fitted(canvas, PR_HEAT_SMALL, false, width, map->subtitle, text,
                                        sizeof text));
}

static parsrec_status draw(pr_canvas *canvas, const pr_heatmap *map, const pr_heat_layout *l,
                           parsrec_error *err)
{
    draw_head(canvas, map, l);
    for (size_t p = 0; p < map->panel_count; p++) {
        place at = {map, l, p, l->left + (double)p * l->pitch, l->top};
        PR_TRY(draw_panel(canvas, &at, err));
    }
    pr_heat_bar(canvas, l, map->scale_title);
    return PARSREC_OK;
}

/* Draws and finishes, whatever happens. */
static parsrec_status complete(pr_canvas *canvas, const pr_heatmap *map, const pr_heat_layout *l,
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
    pr_heat_layout l;
    pr_canvas *canvas;
    PR_TRY(pr_heat_lay_out(&l, map, err));
    parsrec_status status = pr_canvas_new(&canvas, path, l.width, l.height, err);
    if (status == PARSREC_OK)
        status = complete(canvas, map, &l, err);
    pr_heat_layout_free(&l);
    return status;
}

parsrec_status pr_heatmap_inline(const pr_heatmap *map, pr_writer *page, parsrec_error *err)
{
    pr_heat_layout l;
    pr_canvas *canvas;
    PR_TRY(pr_heat_lay_out(&l, map, err));
    pr_write(page, l.width > WIDE ? "<div class=\"scroll\">\n" : "<div>\n");
    parsrec_status status = pr_canvas_inline(&canvas, page, map->title, l.width, l.height, err);
    if (status == PARSREC_OK)
        status = complete(canvas, map, &l, err);
    pr_write(page, "</div>\n");
    pr_heat_layout_free(&l);
    return status;
}
