/* Bars from zero, negative ones to the left, with their intervals. Each name has a row with one or
 * several bars. */
#ifndef PR_BARS_H
#define PR_BARS_H

#include "base/writer.h"

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

/* .png, .svg or .pdf by the ending of path. */
parsrec_status pr_bars_draw(const pr_bars *chart, const char *path, parsrec_error *err);
/* As a piece of a page, see pr_canvas_inline. */
parsrec_status pr_bars_inline(const pr_bars *chart, pr_writer *page, parsrec_error *err);

#endif
