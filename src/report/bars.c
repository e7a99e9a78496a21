/* Bars are horizontal, so that names of any length can be read. */
#include "report/charts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/canvas.h"

enum {
    WIDTH = 460,     /* where names are short */
    TITLE = 34,      /* height of the title */
    LEGEND = 20,     /* of the names of series, and of the mark's label */
    THICK = 16,      /* of a lone bar */
    THIN = 11,       /* of one of several */
    ROW_GAP = 10,    /* between rows */
    AXIS = 28,       /* below */
    NAMES = 170,     /* width of row names within that */
    MORE_NAMES = 90, /* and what long ones may add to it */
    LETTER = 7,      /* about the width of a letter of a name */
    NUMBERS = 46,    /* of the value beside a bar */
    SIDE = 8,
};

/* Positions and sizes. */
typedef struct frame {
    double left, top, width, height;
    double bar, row;
    double least, most; /* the numbers at both ends; one of them may be 0 */
    char **names;       /* [rows], shortened to fit */
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

/* Names of items are often longer than those of models. */
static double added_width(const pr_bars *chart)
{
    int longest = 0;
    for (size_t r = 0; r < chart->row_count; r++) {
        int letters = pr_text_width(chart->rows[r]);
        longest = letters > longest ? letters : longest;
    }
    return fmin(fmax(longest * LETTER - NAMES, 0), MORE_NAMES);
}

static double width_of(const pr_bars *chart)
{
    return WIDTH + added_width(chart);
}

static double name_width(void *canvas, const char *name)
{
    return pr_canvas_text_width(canvas, 12, false, name);
}

static parsrec_status measure(frame *f, pr_canvas *canvas, const pr_bars *chart, parsrec_error *err)
{
    double names = 0;
    *f = (frame){.top = top_of(chart),
                 .bar = chart->series_count > 1 ? THIN : THICK,
                 .row = row_height(chart),
                 .names = pr_alloc_zero(chart->row_count, sizeof *f->names)};
    if (f->names == NULL)
        return pr_fail_memory(err);
    PR_TRY(pr_labels_fit(f->names, chart->rows, chart->row_count, NAMES + added_width(chart),
                         name_width, canvas, err));
    for (size_t r = 0; r < chart->row_count; r++)
        names = fmax(names, name_width(canvas, f->names[r]));
    f->most = has_mark(chart) ? fmax(chart->mark, 0) : 0;
    for (size_t i = 0; i < chart->row_count * chart->series_count; i++)
        if (isfinite(chart->bars[i].value)) {
            f->most = fmax(f->most, fmax(chart->bars[i].value, chart->bars[i].high));
            f->least = fmin(f->least, fmin(chart->bars[i].value, chart->bars[i].low));
        }
    if (f->most - f->least <= 0)
        f->most = 1;
    f->left = SIDE + names + 8 + (f->least < 0 ? NUMBERS : 0);
    f->width = width_of(chart) - f->left - (f->most > 0 ? NUMBERS : 0) - SIDE;
    f->height = (double)chart->row_count * f->row;
    return PARSREC_OK;
}

static double x_at(const frame *f, double value)
{
    return f->left + (value - f->least) / (f->most - f->least) * f->width;
}

static void draw_axis(pr_canvas *canvas, const frame *f, const pr_bars *chart)
{
    double first, step;
    char text[32];
    pr_ticks(f->least, f->most, 4, &first, &step);
    for (double v = first; v <= f->most + 1e-9 * step; v += step) {
        double at = fabs(v) < 1e-6 * step ? 0 : v;
        pr_canvas_role(canvas, PR_QUIET, at == 0 ? 1 : 0.3);
        pr_canvas_line(canvas, x_at(f, v), f->top, x_at(f, v), f->top + f->height, 0.8);
        pr_canvas_role(canvas, PR_QUIET, 1);
        snprintf(text, sizeof text, chart->percent ? "%.4g %%" : "%.4g",
                 chart->percent ? 100 * at : at);
        pr_canvas_text(canvas, x_at(f, v), f->top + f->height + 15, 11, PR_CENTRE, false, text);
    }
}

static void draw_interval(pr_canvas *canvas, const frame *f, const pr_chart_bar *bar, double middle)
{
    if (!(bar->high > bar->low))
        return;
    double low = x_at(f, bar->low), high = x_at(f, bar->high), cap = f->bar / 4;
    for (int layer = 0; layer < 2; layer++) { /* paper around the ink sets it off from any bar */
        double width = layer == 0 ? 3 : 1.2;
        pr_canvas_role(canvas, layer == 0 ? PR_PAPER : PR_INK, layer == 0 ? 0.7 : 1);
        pr_canvas_line(canvas, low, middle, high, middle, width);
        pr_canvas_line(canvas, low, middle - cap, low, middle + cap, width);
        pr_canvas_line(canvas, high, middle - cap, high, middle + cap, width);
    }
}

static void draw_bar(pr_canvas *canvas, const frame *f, const pr_bars *chart,
                     const pr_chart_bar *bar, double y, size_t colour)
{
    char text[32];
    double middle = y + f->bar / 2;
    if (!isfinite(bar->value)) {
        pr_canvas_role(canvas, PR_QUIET, 1);
        pr_canvas_text(canvas, x_at(f, 0) + 5, middle + 4, 11, PR_LEFT, false, "–");
        return;
    }
    pr_canvas_role(canvas, PR_SERIES + colour, 1);
    double zero = x_at(f, 0), end = x_at(f, bar->value);
    pr_canvas_box(canvas, fmin(zero, end), y + 1, fabs(end - zero), f->bar - 2);
    draw_interval(canvas, f, bar, middle);
    snprintf(text, sizeof text, chart->percent ? "%+.1f %%" : "%.3f",
             chart->percent ? 100 * bar->value : bar->value);
    pr_canvas_role(canvas, PR_INK, 1);
    if (bar->value < 0)
        pr_canvas_text(canvas, x_at(f, fmin(bar->value, bar->low)) - 6, middle + 4, 11, PR_RIGHT,
                       false, text);
    else
        pr_canvas_text(canvas, x_at(f, fmax(bar->value, bar->high)) + 6, middle + 4, 11, PR_LEFT,
                       false, text);
}

static void draw_row(pr_canvas *canvas, const frame *f, const pr_bars *chart, size_t row)
{
    double y = f->top + (double)row * f->row + ROW_GAP / 2.0;
    double middle = y + (f->row - ROW_GAP) / 2;
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, f->left - 8 - (f->least < 0 ? NUMBERS : 0), middle + 4, 12, PR_RIGHT,
                   false, f->names[row]);
    for (size_t s = 0; s < chart->series_count; s++) {
        size_t colour = chart->series_count > 1  ? s
                        : chart->colours != NULL ? chart->colours[row]
                                                 : 0;
        draw_bar(canvas, f, chart, &chart->bars[row * chart->series_count + s],
                 y + (double)s * f->bar, colour);
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

/* The label is above its line, moved inward where it would leave the picture. */
static void draw_mark(pr_canvas *canvas, const frame *f, const pr_bars *chart)
{
    double x = x_at(f, chart->mark);
    double half = pr_canvas_text_width(canvas, 11, false, chart->mark_label) / 2;
    double centre = fmin(fmax(x, SIDE + half), width_of(chart) - SIDE - half);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_dashed(canvas, x, f->top - 4, x, f->top + f->height, 1.2);
    pr_canvas_role(canvas, PR_QUIET, 1);
    pr_canvas_text(canvas, centre, f->top - 9, 11, PR_CENTRE, false, chart->mark_label);
}

/* Draws and finishes the canvas. */
static parsrec_status draw(pr_canvas *canvas, const pr_bars *chart, parsrec_error *err)
{
    assert(chart->series_count > 0);
    frame f;
    char title[160];
    parsrec_status status = measure(&f, canvas, chart, err);
    if (status == PARSREC_OK) {
        pr_canvas_role(canvas, PR_INK, 1);
        pr_canvas_text(canvas, SIDE, 20, 14, PR_LEFT, true,
                       pr_canvas_fitted(canvas, 14, true, width_of(chart) - 2 * SIDE, chart->title,
                                        title, sizeof title));
        if (chart->series_count > 1)
            draw_legend(canvas, chart);
        draw_axis(canvas, &f, chart);
        for (size_t r = 0; r < chart->row_count; r++)
            draw_row(canvas, &f, chart, r);
        if (has_mark(chart))
            draw_mark(canvas, &f, chart);
        status = pr_canvas_finish(canvas, err);
    } else {
        pr_canvas_abort(canvas);
    }
    for (size_t r = 0; f.names != NULL && r < chart->row_count; r++)
        pr_free(f.names[r]);
    pr_free(f.names);
    return status;
}

parsrec_status pr_bars_draw(const pr_bars *chart, const char *path, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_new(&canvas, path, width_of(chart), height_of(chart), err));
    return draw(canvas, chart, err);
}

parsrec_status pr_bars_inline(const pr_bars *chart, pr_writer *page, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_inline(&canvas, page, chart->title, width_of(chart), height_of(chart), err));
    return draw(canvas, chart, err);
}
