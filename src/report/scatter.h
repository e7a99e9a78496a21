/* Named points over a logarithmic axis: what something costs, and what it is worth. */
#ifndef PR_SCATTER_H
#define PR_SCATTER_H

#include "base/writer.h"

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

/* .png, .svg or .pdf by the ending of path. */
parsrec_status pr_scatter_draw(const pr_scatter *chart, const char *path, parsrec_error *err);
/* As a piece of a page, see pr_canvas_inline. */
parsrec_status pr_scatter_inline(const pr_scatter *chart, pr_writer *page, parsrec_error *err);

#endif
