/* Cairo surfaces written into memory and then to a file at once; or SVG elements written as text,
 * with cairo only to measure words. */
#include "report/canvas_inside.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"

enum { PNG_SCALE = 2 };

/* ---- making and finishing ---- */

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    pr_canvas *canvas = closure;
    pr_write_bytes(&canvas->file, (const char *)data, length);
    return canvas->file.failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
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
    canvas->png = path != NULL && ends_with(path, ".png");
    if (path == NULL)
        canvas->surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    else if (canvas->png)
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
    return cairo_status(canvas->pen) == CAIRO_STATUS_SUCCESS ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status make(pr_canvas **out, const char *path, double width, double height,
                           parsrec_error *err)
{
    *out = NULL;
    pr_canvas *canvas = pr_alloc_zero(1, sizeof *canvas);
    if (canvas == NULL)
        return pr_fail_memory(err);
    parsrec_status status = PARSREC_OK;
    if (path != NULL && (canvas->path = pr_copy_string(path, strlen(path))) == NULL)
        status = pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = make_surface(canvas, width, height, err);
    if (status == PARSREC_OK)
        *out = canvas;
    else
        pr_canvas_abort(canvas);
    return status;
}

parsrec_status pr_canvas_new(pr_canvas **out, const char *path, double width, double height,
                             parsrec_error *err)
{
    PR_TRY(make(out, path, width, height, err));
    if ((*out)->png)
        cairo_scale((*out)->pen, PNG_SCALE, PNG_SCALE);
    pr_canvas_role(*out, PR_PAPER, 1);
    cairo_paint((*out)->pen);
    return PARSREC_OK;
}

parsrec_status pr_canvas_inline(pr_canvas **out, pr_writer *page, const char *label, double width,
                                double height, parsrec_error *err)
{
    PR_TRY(make(out, NULL, width, height, err));
    (*out)->page = page;
    pr_write(page, "<svg viewBox=\"0 0 %.6g %.6g\" width=\"%.6g\" role=\"img\" aria-label=\"",
             width, height, width);
    pr_write_escaped(page, label);
    pr_write(page, "\">\n");
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
    pr_writer_free(&canvas->file);
    pr_free(canvas->path);
    pr_free(canvas);
}

static parsrec_status finish_file(pr_canvas *canvas, parsrec_error *err)
{
    cairo_status_t drawn = cairo_status(canvas->pen);
    if (drawn == CAIRO_STATUS_SUCCESS && canvas->png)
        drawn = cairo_surface_write_to_png_stream(canvas->surface, collect, canvas);
    cairo_surface_finish(canvas->surface);
    if (drawn == CAIRO_STATUS_SUCCESS)
        drawn = cairo_surface_status(canvas->surface);
    if (drawn == CAIRO_STATUS_SUCCESS)
        return pr_writer_save(&canvas->file, canvas->path, err);
    if (drawn == CAIRO_STATUS_NO_MEMORY || canvas->file.failed)
        return pr_fail_memory(err);
    return pr_fail(err, PARSREC_E_IO, "%s: cannot be drawn: %s", canvas->path,
                   cairo_status_to_string(drawn));
}

parsrec_status pr_canvas_finish(pr_canvas *canvas, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    if (canvas->page == NULL)
        status = finish_file(canvas, err);
    else
        pr_write(canvas->page, "</svg>\n");
    pr_canvas_abort(canvas);
    return status;
}

/* ---- colour ---- */

void pr_canvas_role(pr_canvas *canvas, size_t role, double opacity)
{
    pr_canvas_colour(canvas, pr_palette_role(role, false), opacity);
    snprintf(canvas->paint, sizeof canvas->paint, "var(--%s)", pr_palette_name(role));
    if (opacity < 1)
        snprintf(canvas->paint + strlen(canvas->paint),
                 sizeof canvas->paint - strlen(canvas->paint), ";opacity:%.3g", opacity);
}

void pr_canvas_colour(pr_canvas *canvas, pr_colour c, double opacity)
{
    cairo_set_source_rgba(canvas->pen, c.red, c.green, c.blue, opacity);
    snprintf(canvas->paint, sizeof canvas->paint, "rgb(%.0f %.0f %.0f/%.3g)", c.red * 255,
             c.green * 255, c.blue * 255, opacity);
}
