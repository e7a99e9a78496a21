/* Charts: bars, points and curves. Each is a struct of the caller's that is drawn to a file, .png, .svg or
 * .pdf by the ending of its path, or inline as a piece of a page (pr_canvas_inline). */
#ifndef PR_CHARTS_H
#define PR_CHARTS_H

#include <stddef.h>
#include <stdio.h>

#include "base/writer.h"

/* ---- bars from zero, negative ones to the left, with their intervals; each name has a row with one or
 * several bars (bars.c) ---- */

/* low = high draws no interval, a NaN value no bar. */
typedef struct pr_chart_bar {
    double value, low, high;
} pr_chart_bar;

typedef struct pr_bars {
    const char *title;
    const char *const *rows; /* names, top to bottom */
    size_t row_count;
    const char *const *series; /* names of the bars of a row, shown where there are several */
    size_t series_count;
    const pr_chart_bar *bars; /* [rows · series] */
    const size_t
        *colours; /* [rows] where there is one series: its number in the palette; or NULL */
    double mark;  /* a dashed line across all rows; NaN: none */
    const char *mark_label; /* "random ranker" */
    bool percent;           /* values are changes as shares: 0.05 is written +5.0 % */
} pr_bars;

parsrec_status pr_bars_draw(const pr_bars *chart, const char *path, parsrec_error *err);
parsrec_status pr_bars_inline(const pr_bars *chart, pr_writer *page, parsrec_error *err);

/* ---- named points over a logarithmic axis: what something costs, and what it is worth (scatter.c) ---- */

/* A point without a finite y, or with an x that is not above 0, is left out. */
typedef struct pr_scatter_point {
    const char *name;
    double x, y;
    size_t colour; /* number in the palette */
} pr_scatter_point;

typedef struct pr_scatter {
    const char *title, *x_label;
    const pr_scatter_point *points;
    size_t count;
} pr_scatter;

parsrec_status pr_scatter_draw(const pr_scatter *chart, const char *path, parsrec_error *err);
parsrec_status pr_scatter_inline(const pr_scatter *chart, pr_writer *page, parsrec_error *err);

/* ---- curves over a common x, in panels one above the other: a picture, or lines of text (curves.c) ---- */

/* One curve; a NaN is a gap. The arrays stay the caller's. */
typedef struct pr_curve {
    const char *name;
    const double *x, *y;
    size_t count;
} pr_curve;

typedef struct pr_panel {
    const char *label; /* of the y axis */
    const pr_curve *curves;
    size_t count;
    const size_t *colours; /* [count]: numbers in the palette; NULL: in order */
} pr_panel;

typedef struct pr_curves {
    const char *title, *x_label;
    const pr_panel *panels;
    size_t count;
} pr_curves;

parsrec_status pr_curves_draw(const pr_curves *chart, const char *path, parsrec_error *err);
parsrec_status pr_curves_inline(const pr_curves *chart, pr_writer *page, parsrec_error *err);

/* One panel as text of that many columns and rows (braille dots), with the range of y on the left
 * and a legend below. Returns text to be freed with pr_free, NULL when out of memory. */
char *pr_curves_text(const pr_panel *panel, size_t columns, size_t rows);

/* Loss and validation of a run as two pictures. */
parsrec_status pr_learning_curves(const parsrec_epoch *epochs, size_t count, const char *png,
                                  const char *svg, parsrec_error *err);

/* Round steps for an axis from low to high > low: the first tick at or above low, and the step that
 * gives about `wanted` ticks. */
void pr_ticks(double low, double high, int wanted, double *first, double *step);

#endif
