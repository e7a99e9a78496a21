/* Fields of many boxes as an image: tens of thousands of boxes would make a heavy page and a slow
 * document. */
#include <string.h>

#include "base/memory.h"
#include "report/canvas_inside.h"

enum { PIXELS = 4 }; /* of a box, so that smoothing by a viewer stays at its edges */

static uint32_t pixel_of(pr_colour c)
{
    return (uint32_t)(c.red * 255 + .5) << 16 | (uint32_t)(c.green * 255 + .5) << 8 |
           (uint32_t)(c.blue * 255 + .5);
}

static cairo_surface_t *make_image(const pr_colour *colours, size_t rows, size_t columns,
                                   size_t pixels)
{
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(columns * pixels),
                                                        (int)(rows * pixels));
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS)
        return image;
    unsigned char *bytes = cairo_image_surface_get_data(image);
    size_t stride = (size_t)cairo_image_surface_get_stride(image);
    for (size_t y = 0; y < rows * pixels; y++)
        for (size_t x = 0; x < columns * pixels; x++) {
            uint32_t pixel = pixel_of(colours[y / pixels * columns + x / pixels]);
            memcpy(bytes + y * stride + 4 * x, &pixel, sizeof pixel);
        }
    cairo_surface_mark_dirty(image);
    return image;
}

static void paint_image(pr_canvas *canvas, cairo_surface_t *image, double x, double y, double width,
                        double height)
{
    cairo_save(canvas->pen);
    cairo_translate(canvas->pen, x, y);
    cairo_scale(canvas->pen, width / cairo_image_surface_get_width(image),
                height / cairo_image_surface_get_height(image));
    cairo_set_source_surface(canvas->pen, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(canvas->pen), CAIRO_FILTER_NEAREST);
    cairo_paint(canvas->pen);
    cairo_restore(canvas->pen);
}

/* ---- on a page: the image inside the page, as base 64 ---- */

typedef struct encoder {
    pr_writer *page;
    unsigned char waiting[3];
    size_t count;
} encoder;

static void write_group(encoder *e)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)e->waiting[0] << 16 | (uint32_t)e->waiting[1] << 8 | e->waiting[2];
    char text[4];
    for (size_t i = 0; i < 4; i++)
        text[i] = i <= e->count ? letters[bits >> (18 - 6 * i) & 63] : '=';
    pr_write_bytes(e->page, text, 4);
    *e = (encoder){.page = e->page};
}

static cairo_status_t encode(void *closure, const unsigned char *data, unsigned length)
{
    encoder *e = closure;
    for (unsigned i = 0; i < length; i++) {
        e->waiting[e->count++] = data[i];
        if (e->count == 3)
            write_group(e);
    }
    return e->page->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static void write_image(pr_canvas *canvas, cairo_surface_t *image, double x, double y, double width,
                        double height)
{
    encoder e = {.page = canvas->page};
    pr_write(canvas->page,
             "<image x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" "
             "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
             "href=\"data:image/png;base64,",
             x, y, width, height);
    if (cairo_surface_write_to_png_stream(image, encode, &e) != CAIRO_STATUS_SUCCESS)
        canvas->page->failed = true;
    if (e.count > 0)
        write_group(&e);
    pr_write(canvas->page, "\"/>\n");
}

void pr_canvas_field(pr_canvas *canvas, double x, double y, double width, double height,
                     const pr_colour *colours, size_t rows, size_t columns)
{
    bool page = canvas->page != NULL;
    cairo_surface_t *image =
        make_image(colours, rows, columns, page || canvas->png ? 1 : (size_t)PIXELS);
    (page ? write_image : paint_image)(canvas, image, x, y, width, height);
    cairo_surface_destroy(image);
}
