/* Words and shapes, each for cairo and for a page. */
#include <string.h>

#include "base/text.h"
#include "report/canvas_inside.h"

static const double QUARTER_TURN = 3.14159265358979 / 2;

/* ---- words ---- */

static void choose_font(pr_canvas *canvas, double size, bool bold)
{
    cairo_select_font_face(canvas->pen, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas->pen, size);
}

double pr_canvas_text_width(pr_canvas *canvas, double size, bool bold, const char *text)
{
    cairo_text_extents_t extents;
    choose_font(canvas, size, bold);
    cairo_text_extents(canvas->pen, text, &extents);
    return extents.x_advance;
}

char *pr_canvas_fitted(pr_canvas *canvas, double size, bool bold, double width, const char *text,
                       char *buffer, size_t buffer_size)
{
    static const char dots[] = "…";
    size_t n = strlen(text);
    if (n < buffer_size && pr_canvas_text_width(canvas, size, bold, text) <= width) {
        memcpy(buffer, text, n + 1);
        return buffer;
    }
    if (n > buffer_size - sizeof dots)
        n = buffer_size - sizeof dots;
    do {
        n = pr_utf8_cut(text, strlen(text), n);
        memcpy(buffer, text, n);
        memcpy(buffer + n, dots, sizeof dots);
    } while (n > 0 && pr_canvas_text_width(canvas, size, bold, buffer) > width && n-- > 0);
    return buffer;
}

static void write_text(pr_canvas *canvas, double x, double y, double size, pr_align align,
                       bool bold, bool upward, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    pr_write(canvas->page, "<text x=\"%.6g\" y=\"%.6g\" font-size=\"%.6g\" text-anchor=\"%s\"%s ",
             x, y, size, anchors[align], bold ? " font-weight=\"600\"" : "");
    if (upward)
        pr_write(canvas->page, "transform=\"rotate(-90 %.6g %.6g)\" ", x, y);
    pr_write(canvas->page, "style=\"fill:%s\">", canvas->paint);
    pr_write_escaped(canvas->page, text);
    pr_write(canvas->page, "</text>\n");
}

static void draw_text(pr_canvas *canvas, double x, double y, double size, pr_align align, bool bold,
                      bool upward, const char *text)
{
    double width = pr_canvas_text_width(canvas, size, bold, text);
    double back = align == PR_LEFT ? 0 : align == PR_RIGHT ? width : width / 2;
    cairo_save(canvas->pen);
    cairo_translate(canvas->pen, x, y);
    if (upward)
        cairo_rotate(canvas->pen, -QUARTER_TURN);
    cairo_move_to(canvas->pen, -back, 0);
    cairo_show_text(canvas->pen, text);
    cairo_restore(canvas->pen);
}

void pr_canvas_text(pr_canvas *canvas, double x, double y, double size, pr_align align, bool bold,
                    const char *text)
{
    (canvas->page != NULL ? write_text : draw_text)(canvas, x, y, size, align, bold, false, text);
}

void pr_canvas_text_upward(pr_canvas *canvas, double x, double y, double size, pr_align align,
                           bool bold, const char *text)
{
    (canvas->page != NULL ? write_text : draw_text)(canvas, x, y, size, align, bold, true, text);
}

/* ---- shapes ---- */

void pr_canvas_path(pr_canvas *canvas, const pr_point *points, size_t count, double width)
{
    if (count == 0)
        return;
    if (canvas->page != NULL) {
        pr_write(canvas->page, "<path d=\"");
        for (size_t i = 0; i < count; i++)
            pr_write(canvas->page, "%c%.6g %.6g", i == 0 ? 'M' : 'L', points[i].x, points[i].y);
        pr_write(canvas->page,
                 "\" style=\"fill:none;stroke:%s;stroke-width:%.6g;stroke-linejoin:round\"/>\n",
                 canvas->paint, width);
        return;
    }
    cairo_set_line_width(canvas->pen, width);
    cairo_set_line_join(canvas->pen, CAIRO_LINE_JOIN_ROUND);
    cairo_new_path(canvas->pen); /* words leave a point behind */
    for (size_t i = 0; i < count; i++)
        cairo_line_to(canvas->pen, points[i].x, points[i].y);
    cairo_stroke(canvas->pen);
}

static void draw_line(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width,
                      bool dashed)
{
    static const double dashes[] = {4, 3};
    if (canvas->page != NULL) {
        pr_write(canvas->page,
                 "<line x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" "
                 "style=\"stroke:%s;stroke-width:%.6g%s\"/>\n",
                 x0, y0, x1, y1, canvas->paint, width, dashed ? ";stroke-dasharray:4 3" : "");
        return;
    }
    cairo_set_line_width(canvas->pen, width);
    cairo_set_dash(canvas->pen, dashes, dashed ? 2 : 0, 0);
    cairo_move_to(canvas->pen, x0, y0);
    cairo_line_to(canvas->pen, x1, y1);
    cairo_stroke(canvas->pen);
    cairo_set_dash(canvas->pen, dashes, 0, 0);
}

void pr_canvas_line(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width)
{
    draw_line(canvas, x0, y0, x1, y1, width, false);
}

void pr_canvas_dashed(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width)
{
    draw_line(canvas, x0, y0, x1, y1, width, true);
}

void pr_canvas_dot(pr_canvas *canvas, double x, double y, double radius)
{
    if (canvas->page != NULL) {
        pr_write(canvas->page, "<circle cx=\"%.6g\" cy=\"%.6g\" r=\"%.6g\" style=\"fill:%s\"/>\n",
                 x, y, radius, canvas->paint);
        return;
    }
    cairo_new_path(canvas->pen);
    cairo_arc(canvas->pen, x, y, radius, 0, 4 * QUARTER_TURN);
    cairo_fill(canvas->pen);
}

void pr_canvas_box(pr_canvas *canvas, double x, double y, double width, double height)
{
    pr_canvas_noted_box(canvas, x, y, width, height, NULL);
}

void pr_canvas_noted_box(pr_canvas *canvas, double x, double y, double width, double height,
                         const char *note)
{
    if (canvas->page == NULL) {
        cairo_rectangle(canvas->pen, x, y, width, height);
        cairo_fill(canvas->pen);
        return;
    }
    pr_write(canvas->page,
             "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" style=\"fill:%s\"", x, y,
             width, height, canvas->paint);
    if (note == NULL) {
        pr_write(canvas->page, "/>\n");
        return;
    }
    pr_write(canvas->page, "><title>");
    pr_write_escaped(canvas->page, note);
    pr_write(canvas->page, "</title></rect>\n");
}
