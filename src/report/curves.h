/* Curves over a common x, in panels one above the other: a picture, or lines of text. */
#ifndef PR_CURVES_H
#define PR_CURVES_H

#include <stddef.h>
#include <stdio.h>

#include "base/writer.h"

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

/* .png, .svg or .pdf by the ending of path. */
parsrec_status pr_curves_draw(const pr_curves *chart, const char *path, parsrec_error *err);
/* As a piece of a page, see pr_canvas_inline. */
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
