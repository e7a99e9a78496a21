/* Bars lie on their side, so that names of any length are read without turning the head. */
#include "plot/bars.h"

#include <math.h>
#include <stdio.h>

#include "plot/canvas.h"
#include "plot/curves.h"

enum {
    WIDTH = 420,
    TITLE = 34,   /* height of the title */
    LEGEND = 20,  /* of the names of series, and of the mark's label */
    THICK = 16,   /* of a lone bar */
    THIN = 11,    /* of one of several */
    ROW_GAP = 10, /* between rows */
    AXIS = 28,    /* below */
    NAMES = 130,  /* width of row names at most */
    NUMBERS = 46, /* of the value right of a bar */
    SIDE = 8,
};

/* Where things lie. */
typedef struct frame {
    double left, top, width, height;
    double bar, row;
    double most; /* the number at the right end */
} frame;

static double row_height(const pr_bars *chart)
{
    return (chart->series_count > 1 ? (double)chart->series_count * THIN : THICK) + ROW_GAP;
}

static bool has_mark(const pr_bars *chart)
{
    return isfinite(chart->mark);
}

static double top_of(const pr_bars *chart)
{
    return TITLE + (chart->series_count > 1 ? LEGEND : 0) + (has_mark(chart) ? LEGEND : 0);
}

static double height_of(const pr_bars *chart)
{
    return top_of(chart) + (double)chart->row_count * row_height(chart) + AXIS;
}

static double largest(const pr_bars *chart)
{
    double most = has_mark(chart) ? chart->mark : 0;
    for (size_t i = 0; i < chart->row_count * chart->series_count; i++)
        if (isfinite(chart->bars[i].value))
            most = fmax(most, fmax(chart->bars[i].value, chart->bars[i].high));
    return most > 0 ? most : 1;
}

static frame measure(pr_canvas *canvas, const pr_bars *chart)
{
    double names = 0;
    for (size_t r = 0; r < chart->row_count; r++)
        names = fmax(names, pr_canvas_text_width(canvas, 12, false, chart->rows[r]));
    frame f = {.left = SIDE + fmin(names, NAMES) + 8,
               .top = top_of(chart),
               .bar = chart->series_count > 1 ? THIN : THICK,
               .row = row_height(chart),
               .most = largest(chart)};
    f.width = WIDTH - f.left - NUMBERS - SIDE;
    f.height = (double)chart->row_count * f.row;
    return f;
}

static double x_at(const frame *f, double value)
{
    return f->left + value / f->most * f->width;
}

static void draw_axis(pr_canvas *canvas, const frame *f)
{
    double first, step;
    char text[32];
    pr_ticks(0, f->most, 4, &first, &step);
    for (double v = 0; v <= f->most * (1 + 1e-9); v += step) {
        pr_canvas_role(canvas, PR_QUIET, v > 0 ? 0.3 : 1);
        pr_canvas_line(canvas, x_at(f, v), f->top, x_at(f, v), f->top + f->height, 0.8);
        pr_canvas_role(canvas, PR_QUIET, 1);
        snprintf(text, sizeof text, "%.4g", v);
        pr_canvas_text(canvas, x_at(f, v), f->top + f->height + 15, 11, PR_CENTRE, false, text);
    }
}

static void draw_interval(pr_canvas *canvas, const frame *f, const pr_bar *bar, double middle)
{
    if (!(bar->high > bar->low))
        return;
    double low = x_at(f, fmax(bar->low, 0)), high = x_at(f, bar->high), cap = f->bar / 4;
    for (int layer = 0; layer < 2; layer++) { /* paper around the ink sets it off from any bar */
        double width = layer == 0 ? 3 : 1.2;
        pr_canvas_role(canvas, layer == 0 ? PR_PAPER : PR_INK, layer == 0 ? 0.7 : 1);
        pr_canvas_line(canvas, low, middle, high, middle, width);
        pr_canvas_line(canvas, low, middle - cap, low, middle + cap, width);
        pr_canvas_line(canvas, high, middle - cap, high, middle + cap, width);
    }
}

static void draw_bar(pr_canvas *canvas, const frame *f, const pr_bar *bar, double y, size_t colour)
{
    char text[32];
    double middle = y + f->bar / 2;
    if (!isfinite(bar->value)) {
        pr_canvas_role(canvas, PR_QUIET, 1);
        pr_canvas_text(canvas, f->left + 5, middle + 4, 11, PR_LEFT, false, "–");
        return;
    }
    pr_canvas_role(canvas, PR_SERIES + colour, 1);
    pr_canvas_box(canvas, f->left, y + 1, x_at(f, fmax(bar->value, 0)) - f->left, f->bar - 2);
    draw_interval(canvas, f, bar, middle);
    snprintf(text, sizeof text, "%.3f", bar->value);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, x_at(f, fmax(fmax(bar->value, bar->high), 0)) + 6, middle + 4, 11,
                   PR_LEFT, false, text);
}

static void draw_row(pr_canvas *canvas, const frame *f, const pr_bars *chart, size_t row)
{
    char name[96];
    double y = f->top + (double)row * f->row + ROW_GAP / 2.0;
    double middle = y + (f->row - ROW_GAP) / 2;
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, f->left - 8, middle + 4, 12, PR_RIGHT, false,
                   pr_canvas_fitted(canvas, 12, false, NAMES, chart->rows[row], name, sizeof name));
    for (size_t s = 0; s < chart->series_count; s++) {
        size_t colour = chart->series_count > 1  ? s
                        : chart->colours != NULL ? chart->colours[row]
                                                 : 0;
        draw_bar(canvas, f, &chart->bars[row * chart->series_count + s], y + (double)s * f->bar,
                 colour);
    }
}

static void draw_legend(pr_canvas *canvas, const pr_bars *chart)
{
    double x = SIDE, y = TITLE + 6;
    for (size_t s = 0; s < chart->series_count; s++) {
        pr_canvas_role(canvas, PR_SERIES + s, 1);
        pr_canvas_box(canvas, x, y - 9, 10, 10);
        pr_canvas_role(canvas, PR_INK, 1);
        pr_canvas_text(canvas, x + 15, y, 12, PR_LEFT, false, chart->series[s]);
        x += 33 + pr_canvas_text_width(canvas, 12, false, chart->series[s]);
    }
}

/* The label stands above its line, moved inward where it would leave the picture. */
static void draw_mark(pr_canvas *canvas, const frame *f, const pr_bars *chart)
{
    double x = x_at(f, chart->mark);
    double half = pr_canvas_text_width(canvas, 11, false, chart->mark_label) / 2;
    double centre = fmin(fmax(x, SIDE + half), WIDTH - SIDE - half);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_dashed(canvas, x, f->top - 4, x, f->top + f->height, 1.2);
    pr_canvas_role(canvas, PR_QUIET, 1);
    pr_canvas_text(canvas, centre, f->top - 9, 11, PR_CENTRE, false, chart->mark_label);
}

static void draw(pr_canvas *canvas, const pr_bars *chart)
{
    frame f = measure(canvas, chart);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, SIDE, 20, 14, PR_LEFT, true, chart->title);
    if (chart->series_count > 1)
        draw_legend(canvas, chart);
    draw_axis(canvas, &f);
    for (size_t r = 0; r < chart->row_count; r++)
        draw_row(canvas, &f, chart, r);
    if (has_mark(chart))
        draw_mark(canvas, &f, chart);
}

parsrec_status pr_bars_draw(const pr_bars *chart, const char *path, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_new(&canvas, path, WIDTH, height_of(chart), err));
    draw(canvas, chart);
    return pr_canvas_finish(canvas, err);
}

parsrec_status pr_bars_inline(const pr_bars *chart, pr_writer *page, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_inline(&canvas, page, chart->title, WIDTH, height_of(chart), err));
    draw(canvas, chart);
    return pr_canvas_finish(canvas, err);
}
