/* A drawing surface that becomes PNG, SVG or PDF by the ending of its name, in one drawing code.
 * Coordinates are points from the top left; PNG has two pixels a point. */
#ifndef PR_CANVAS_H
#define PR_CANVAS_H

#include <cairo.h>

#include "base/status.h"

typedef struct pr_canvas pr_canvas;

typedef enum pr_align {
    PR_LEFT,
    PR_CENTRE,
    PR_RIGHT,
} pr_align;

typedef struct pr_colour {
    double red, green, blue;
} pr_colour;

/* Colours that stay apart for colour-blind readers (Okabe and Ito's palette), over and over. */
pr_colour pr_palette(size_t i);

/* White paper of that size. */
parsrec_status pr_canvas_new(pr_canvas **out, const char *path, double width, double height,
                             parsrec_error *err);
/* Writes the file, atomically, and frees the canvas. */
parsrec_status pr_canvas_finish(pr_canvas *canvas, parsrec_error *err);
void pr_canvas_abort(pr_canvas *canvas); /* NULL is fine */

cairo_t *pr_canvas_pen(pr_canvas *canvas);
void pr_canvas_colour(pr_canvas *canvas, pr_colour colour, double opacity);
void pr_canvas_text(pr_canvas *canvas, double x, double y, double size, pr_align align, bool bold,
                    const char *text);
double pr_canvas_text_width(pr_canvas *canvas, double size, bool bold, const char *text);
void pr_canvas_line(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width);

#endif
