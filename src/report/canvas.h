/* A drawing surface. It becomes a PNG, SVG or PDF file, by the ending of its name, or an <svg> element
 * of an HTML page; charts draw the same way for all of them.
 *
 * Coordinates are points from the top left; PNG has two pixels per point. A canvas lives for one
 * picture: pr_canvas_new or pr_canvas_inline, drawing, then pr_canvas_finish or pr_canvas_abort, which
 * both free it. Files are drawn by cairo, which is loaded then; where it is missing, pr_canvas_new says
 * so with E_UNSUPPORTED, and pages have their pictures all the same. Drawing never fails before the end: cairo and the writer remember the first error, and
 * pr_canvas_finish returns it. Files are written at once and atomically, so that no half picture is
 * left behind.
 *
 * Colours are roles of a palette (paper, ink, series 0, 1, ...). In files they are those of light
 * paper; an inline picture names CSS variables instead, so that it follows the page's light and dark. */
#ifndef PR_CANVAS_H
#define PR_CANVAS_H

#include "base/writer.h"

/* ---- the palette ---- */

/* The colours of all pictures and pages, for light and for dark paper. Those of series stay apart
 * for colour-blind readers (after Okabe and Ito). */
typedef struct pr_colour {
    double red, green, blue;
} pr_colour;

/* What a colour is for. Series i is PR_SERIES + i; its colours repeat after the last. */
enum { PR_PAPER, PR_INK, PR_QUIET, PR_SERIES, PR_SERIES_COLOURS = 8 };

pr_colour pr_palette_role(size_t role, bool dark);
/* Series i on light paper. */
pr_colour pr_palette(size_t i);

/* Name of the CSS variable of a role, without the dashes: "ink", "s3". */
const char *pr_palette_name(size_t role);
/* All of them as CSS declarations: "--ink:#212529;...". */
void pr_palette_css(pr_writer *writer, bool dark);

/* ---- drawing ---- */

typedef struct pr_canvas pr_canvas;

typedef enum pr_align {
    PR_LEFT,
    PR_CENTRE,
    PR_RIGHT,
} pr_align;

typedef struct pr_point {
    double x, y;
} pr_point;

/* Whether picture files can be drawn, which needs cairo. If not, a warning says what to install. For
 * those who write pictures beside a report: a study should not fail for want of them. */
bool pr_canvas_ready(const parsrec_hooks *hooks);

/* A file on white paper of that size. */
parsrec_status pr_canvas_new(pr_canvas **out, const char *path, double width, double height,
                             parsrec_error *err);
/* An <svg> element that takes its colours from the page's CSS variables (pr_palette_css), so that it
 * follows light and dark; `label` is read to those who cannot see it. It is written to `page`, which is
 * borrowed until the canvas is finished. */
parsrec_status pr_canvas_inline(pr_canvas **out, pr_writer *page, const char *label, double width,
                                double height, parsrec_error *err);
/* Writes the file, atomically, or ends the element, and frees the canvas. */
parsrec_status pr_canvas_finish(pr_canvas *canvas, parsrec_error *err);
void pr_canvas_abort(pr_canvas *canvas); /* NULL is fine */

/* What is drawn from now on has this colour: by its role, or as it is. */
void pr_canvas_role(pr_canvas *canvas, size_t role, double opacity);
void pr_canvas_colour(pr_canvas *canvas, pr_colour colour, double opacity);

void pr_canvas_text(pr_canvas *canvas, double x, double y, double size, pr_align align, bool bold,
                    const char *text);
/* Reads upward; x is its baseline, and `align` says which end or middle is at y. */
void pr_canvas_text_upward(pr_canvas *canvas, double x, double y, double size, pr_align align,
                           bool bold, const char *text);
double pr_canvas_text_width(pr_canvas *canvas, double size, bool bold, const char *text);
/* The text, or as much of it as fits into that width with an ellipsis, in buffer. Returns buffer. */
char *pr_canvas_fitted(pr_canvas *canvas, double size, bool bold, double width, const char *text,
                       char *buffer, size_t buffer_size);
void pr_canvas_line(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width);
void pr_canvas_dashed(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width);
void pr_canvas_path(pr_canvas *canvas, const pr_point *points, size_t count, double width);
void pr_canvas_dot(pr_canvas *canvas, double x, double y, double radius);
void pr_canvas_box(pr_canvas *canvas, double x, double y, double width, double height);
/* A box that shows `note` when it is pointed at, on a page. */
void pr_canvas_noted_box(pr_canvas *canvas, double x, double y, double width, double height,
                         const char *note);
/* A field of rows x columns equal boxes, each with its own colour, as one image. */
void pr_canvas_field(pr_canvas *canvas, double x, double y, double width, double height,
                     const pr_colour *colours, size_t rows, size_t columns);

#endif
