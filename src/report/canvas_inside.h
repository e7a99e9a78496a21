/* A canvas as its two files share it. */
#ifndef PR_CANVAS_INSIDE_H
#define PR_CANVAS_INSIDE_H

#include <cairo.h>

#include "report/canvas.h"

struct pr_canvas {
    char *path; /* NULL: a piece of a page */
    bool png;
    cairo_surface_t *surface;
    cairo_t *pen;
    pr_writer file;
    pr_writer *page;
    char paint[48]; /* of the page's elements: "var(--ink);opacity:.5" */
};

#endif
