/* Cairo surfaces written into memory and then to a file at once. */
#include "plot/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"

enum { PNG_SCALE = 2 };

struct pr_canvas {
    char *path;
    bool png;
    cairo_surface_t *surface;
    cairo_t *pen;
    unsigned char *bytes;
    size_t size, capacity;
};

pr_colour pr_palette(size_t i)
{
    static const pr_colour colours[] = {
        {0.000, 0.447, 0.698}, {0.835, 0.369, 0.000}, {0.000, 0.620, 0.451},
        {0.800, 0.475, 0.655}, {0.902, 0.624, 0.000}, {0.337, 0.706, 0.914},
    };
    return colours[i % (sizeof colours / sizeof *colours)];
}

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    pr_canvas *canvas = closure;
    if (pr_grow(&canvas->bytes, &canvas->capacity, canvas->size + length, 1, NULL) != PARSREC_OK)
        return CAIRO_STATUS_NO_MEMORY;
    memcpy(canvas->bytes + canvas->size, data, length);
    canvas->size += length;
    return CAIRO_STATUS_SUCCESS;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

static parsrec_status make_surface(pr_canvas *canvas, double width, double height,
                                   parsrec_error *err)
{
    const char *path = canvas->path;
    canvas->png = ends_with(path, ".png");
    if (canvas->png)
        canvas->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * PNG_SCALE),
                                                     (int)(height * PNG_SCALE));
    else if (ends_with(path, ".svg"))
        canvas->surface = cairo_svg_surface_create_for_stream(collect, canvas, width, height);
    else if (ends_with(path, ".pdf"))
        canvas->surface = cairo_pdf_surface_create_for_stream(collect, canvas, width, height);
    else
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: a picture is .png, .svg or .pdf; choose one of these endings", path);
    canvas->pen = cairo_create(canvas->surface);
    if (cairo_status(canvas->pen) != CAIRO_STATUS_SUCCESS)
        return pr_fail_memory(err);
    return PARSREC_OK;
}

parsrec_status pr_canvas_new(pr_canvas **out, const char *path, double width, double height,
                             parsrec_error *err)
{
    *out = NULL;
    pr_canvas *canvas = pr_alloc_zero(1, sizeof *canvas);
    if (canvas == NULL)
        return pr_fail_memory(err);
    canvas->path = pr_copy_string(path, strlen(path));
    parsrec_status status =
        canvas->path == NULL ? pr_fail_memory(err) : make_surface(canvas, width, height, err);
    if (status != PARSREC_OK) {
        pr_canvas_abort(canvas);
        return status;
    }
    if (canvas->png)
        cairo_scale(canvas->pen, PNG_SCALE, PNG_SCALE);
    cairo_set_source_rgb(canvas->pen, 1, 1, 1);
    cairo_paint(canvas->pen);
    *out = canvas;
    return PARSREC_OK;
}

void pr_canvas_abort(pr_canvas *canvas)
{
    if (canvas == NULL)
        return;
    if (canvas->pen != NULL)
        cairo_destroy(canvas->pen);
    if (canvas->surface != NULL)
        cairo_surface_destroy(canvas->surface);
    pr_free(canvas->bytes);
    pr_free(canvas->path);
    pr_free(canvas);
}

static parsrec_status write_file(const pr_canvas *canvas, parsrec_error *err)
{
    pr_atomic_file *file;
    PR_TRY(pr_atomic_open(&file, canvas->path, err));
    parsrec_status status = pr_atomic_write(file, canvas->bytes, canvas->size, err);
    if (status != PARSREC_OK) {
        pr_atomic_abort(file);
        return status;
    }
    return pr_atomic_commit(file, err);
}

parsrec_status pr_canvas_finish(pr_canvas *canvas, parsrec_error *err)
{
    cairo_status_t drawn = cairo_status(canvas->pen);
    if (drawn == CAIRO_STATUS_SUCCESS && canvas->png)
        drawn = cairo_surface_write_to_png_stream(canvas->surface, collect, canvas);
    cairo_surface_finish(canvas->surface);
    if (drawn == CAIRO_STATUS_SUCCESS)
        drawn = cairo_surface_status(canvas->surface);
    parsrec_status status = drawn == CAIRO_STATUS_SUCCESS
                                ? write_file(canvas, err)
                                : pr_fail(err, PARSREC_E_IO, "%s: cannot be drawn: %s",
                                          canvas->path, cairo_status_to_string(drawn));
    pr_canvas_abort(canvas);
    return status;
}

cairo_t *pr_canvas_pen(pr_canvas *canvas)
{
    return canvas->pen;
}

void pr_canvas_colour(pr_canvas *canvas, pr_colour c, double opacity)
{
    cairo_set_source_rgba(canvas->pen, c.red, c.green, c.blue, opacity);
}

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

void pr_canvas_text(pr_canvas *canvas, double x, double y, double size, pr_align align, bool bold,
                    const char *text)
{
    double width = pr_canvas_text_width(canvas, size, bold, text);
    cairo_move_to(canvas->pen,
                  align == PR_LEFT    ? x
                  : align == PR_RIGHT ? x - width
                                      : x - width / 2,
                  y);
    cairo_show_text(canvas->pen, text);
}

void pr_canvas_line(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width)
{
    cairo_set_line_width(canvas->pen, width);
    cairo_move_to(canvas->pen, x0, y0);
    cairo_line_to(canvas->pen, x1, y1);
    cairo_stroke(canvas->pen);
}
