/* Cairo surfaces written into memory and then to a file at once; or SVG elements written as text,
 * without cairo. Every word and shape is drawn here twice, once for each. */
#include "report/canvas.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/cairo.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

enum {
    PNG_SCALE = 2,
    PIXELS = 4, /* of a box in a field, so that smoothing by a viewer stays at its edges */
    FONT_BYTES = 48 << 20,
};
static const double QUARTER_TURN = 3.14159265358979 / 2;

struct pr_canvas {
    char *path; /* NULL: a piece of a page, which has neither surface nor pen */
    bool png;
    cairo_surface_t *surface;
    cairo_t *pen;
    pr_writer file;
    pr_writer *page;
    char paint[48]; /* of the page's elements: "var(--ink);opacity:.5" */
};

/* ---- the palette ---- */

enum { ROLES = PR_SERIES + PR_SERIES_COLOURS };

/* The same hues twice: the dark ones are lighter, so that they stand out from dark paper. */
static const struct {
    const char *name;
    unsigned light, dark;
} roles[ROLES] = {
    {"paper", 0xFFFFFF, 0x15181C}, {"ink", 0x21262B, 0xE6E9EC}, {"quiet", 0x6B737B, 0x9AA3AC},
    {"s0", 0x0072B2, 0x4FA3E0},    {"s1", 0xD55E00, 0xF08A3C},  {"s2", 0x009E73, 0x2FBF95},
    {"s3", 0xCC79A7, 0xDD93BC},    {"s4", 0xE69F00, 0xF0B73A},  {"s5", 0x56B4E9, 0x8CCBF2},
    {"s6", 0x6A5ACD, 0xA79BF0},    {"s7", 0x7A6A53, 0xB8A68C},
};

static size_t wrapped(size_t role)
{
    return role < PR_SERIES ? role : PR_SERIES + (role - PR_SERIES) % PR_SERIES_COLOURS;
}

pr_colour pr_palette_role(size_t role, bool dark)
{
    unsigned rgb = dark ? roles[wrapped(role)].dark : roles[wrapped(role)].light;
    return (pr_colour){(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0};
}

pr_colour pr_palette(size_t i)
{
    return pr_palette_role(PR_SERIES + i, false);
}

const char *pr_palette_name(size_t role)
{
    return roles[wrapped(role)].name;
}

void pr_palette_css(pr_writer *writer, bool dark)
{
    for (size_t r = 0; r < ROLES; r++)
        pr_write(writer, "--%s:#%06x;", roles[r].name, dark ? roles[r].dark : roles[r].light);
}

/* ---- making and finishing ---- */

bool pr_canvas_ready(const parsrec_hooks *hooks)
{
    parsrec_error err = {0};
    if (pr_cairo_load(&err) == PARSREC_OK)
        return true;
    pr_say(hooks, PARSREC_LOG_WARNING, "no pictures are written: %s", err.message);
    return false;
}

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

/* Fontconfig reads its files at the first word that is drawn, and crashes where its memory ends (2.14). So
 * there has to be room for it. */
static parsrec_status check_room(parsrec_error *err)
{
    void *room = pr_alloc(FONT_BYTES, 1);
    if (room == NULL)
        return pr_fail_memory(err);
    pr_free(room);
    return PARSREC_OK;
}

static parsrec_status make_surface(pr_canvas *canvas, double width, double height,
                                   parsrec_error *err)
{
    const char *path = canvas->path;
    bool svg = ends_with(path, ".svg"), pdf = ends_with(path, ".pdf");
    canvas->png = ends_with(path, ".png");
    if (!canvas->png && !svg && !pdf)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: a picture is .png, .svg or .pdf; choose one of these endings", path);
    PR_TRY(pr_cairo_load(err));
    PR_TRY(check_room(err));
    if (canvas->png)
        canvas->surface = pr_cairo.image_surface_create(
            CAIRO_FORMAT_RGB24, (int)(width * PNG_SCALE), (int)(height * PNG_SCALE));
    else if (svg)
        canvas->surface = pr_cairo.svg_surface_create_for_stream(collect, canvas, width, height);
    else
        canvas->surface = pr_cairo.pdf_surface_create_for_stream(collect, canvas, width, height);
    canvas->pen = pr_cairo.create(canvas->surface);
    return pr_cairo.status(canvas->pen) == CAIRO_STATUS_SUCCESS ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_canvas_new(pr_canvas **out, const char *path, double width, double height,
                             parsrec_error *err)
{
    *out = NULL;
    pr_canvas *canvas = pr_alloc_zero(1, sizeof *canvas);
    if (canvas == NULL || (canvas->path = pr_copy_string(path, strlen(path))) == NULL) {
        pr_free(canvas);
        return pr_fail_memory(err);
    }
    parsrec_status status = make_surface(canvas, width, height, err);
    if (status != PARSREC_OK) {
        pr_canvas_abort(canvas);
        return status;
    }
    if (canvas->png)
        pr_cairo.scale(canvas->pen, PNG_SCALE, PNG_SCALE);
    pr_canvas_role(canvas, PR_PAPER, 1);
    pr_cairo.paint(canvas->pen);
    *out = canvas;
    return PARSREC_OK;
}

parsrec_status pr_canvas_inline(pr_canvas **out, pr_writer *page, const char *label, double width,
                                double height, parsrec_error *err)
{
    assert(page != NULL && label != NULL);
    *out = pr_alloc_zero(1, sizeof **out);
    if (*out == NULL)
        return pr_fail_memory(err);
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
        pr_cairo.destroy(canvas->pen);
    if (canvas->surface != NULL)
        pr_cairo.surface_destroy(canvas->surface);
    pr_writer_free(&canvas->file);
    pr_free(canvas->path);
    pr_free(canvas);
}

static parsrec_status finish_file(pr_canvas *canvas, parsrec_error *err)
{
    cairo_status_t drawn = pr_cairo.status(canvas->pen);
    if (drawn == CAIRO_STATUS_SUCCESS && canvas->png)
        drawn = pr_cairo.surface_write_to_png_stream(canvas->surface, collect, canvas);
    pr_cairo.surface_finish(canvas->surface);
    if (drawn == CAIRO_STATUS_SUCCESS)
        drawn = pr_cairo.surface_status(canvas->surface);
    if (drawn == CAIRO_STATUS_SUCCESS)
        return pr_writer_save(&canvas->file, canvas->path, err);
    if (drawn == CAIRO_STATUS_NO_MEMORY || canvas->file.failed)
        return pr_fail_memory(err);
    return pr_fail(err, PARSREC_E_IO, "%s: cannot be drawn: %s", canvas->path,
                   pr_cairo.status_to_string(drawn));
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

/* ---- the colour of what is drawn ---- */

void pr_canvas_role(pr_canvas *canvas, size_t role, double opacity)
{
    assert(opacity >= 0 && opacity <= 1);
    pr_canvas_colour(canvas, pr_palette_role(role, false), opacity);
    snprintf(canvas->paint, sizeof canvas->paint, "var(--%s)", pr_palette_name(role));
    if (opacity < 1)
        snprintf(canvas->paint + strlen(canvas->paint),
                 sizeof canvas->paint - strlen(canvas->paint), ";opacity:%.3g", opacity);
}

void pr_canvas_colour(pr_canvas *canvas, pr_colour c, double opacity)
{
    if (canvas->pen != NULL)
        pr_cairo.set_source_rgba(canvas->pen, c.red, c.green, c.blue, opacity);
    snprintf(canvas->paint, sizeof canvas->paint, "rgb(%.0f %.0f %.0f/%.3g)", c.red * 255,
             c.green * 255, c.blue * 255, opacity);
}

/* ---- words ---- */

/* Widths of the letters from space to tilde, in thousandths of the size: those of DejaVu Sans, one of
 * the wider fonts. What a browser will take is not known, and this way a page does not depend on the
 * fonts of the machine that wrote it. */
static const unsigned short letter_widths[2][95] = {
    {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
     636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
     1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
     603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
     500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
     635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838},
    {348,  456, 521, 838, 696, 1002, 872, 306,  457, 457, 523, 838, 380, 415,  380, 365,
     696,  696, 696, 696, 696, 696,  696, 696,  696, 696, 400, 400, 838, 838,  838, 580,
     1000, 774, 762, 734, 830, 683,  683, 821,  837, 372, 372, 775, 637, 995,  837, 850,
     733,  850, 770, 720, 682, 812,  774, 1103, 771, 724, 725, 457, 365, 457,  838, 500,
     500,  675, 716, 593, 716, 678,  435, 716,  712, 343, 343, 665, 343, 1042, 712, 687,
     716,  716, 493, 595, 478, 712,  652, 924,  645, 652, 582, 712, 365, 712,  838}};

static double page_text_width(double size, bool bold, const char *text)
{
    enum { USUAL = 620, WIDE = 1000, FIRST_WIDE_BYTE = 0xE3 }; /* Asian letters begin at U+3000 */
    unsigned sum = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
        if (*c >= ' ' && *c <= '~')
            sum += letter_widths[bold][*c - ' '];
        else if (*c >= 0xC0) /* the first byte of a letter */
            sum += *c >= FIRST_WIDE_BYTE ? WIDE : USUAL;
    return sum * size / 1000;
}

double pr_canvas_text_width(pr_canvas *canvas, double size, bool bold, const char *text)
{
    if (canvas->page != NULL)
        return page_text_width(size, bold, text);
    cairo_text_extents_t extents;
    pr_cairo.select_font_face(canvas->pen, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                              bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    pr_cairo.set_font_size(canvas->pen, size);
    pr_cairo.text_extents(canvas->pen, text, &extents);
    return extents.x_advance;
}

char *pr_canvas_fitted(pr_canvas *canvas, double size, bool bold, double width, const char *text,
                       char *buffer, size_t buffer_size)
{
    static const char dots[] = "…";
    assert(buffer_size > sizeof dots);
    size_t n = strlen(text);
    if (n < buffer_size && pr_canvas_text_width(canvas, size, bold, text) <= width) {
        memcpy(buffer, text, n + 1);
        return buffer;
    }
    if (n > buffer_size - sizeof dots)
        n = buffer_size - sizeof dots;
    do {
        n = pr_utf8_cut(text, strlen(text), n);
        memcpy(buffer, text, n);
        memcpy(buffer + n, dots, sizeof dots);
    } while (n > 0 && pr_canvas_text_width(canvas, size, bold, buffer) > width && n-- > 0);
    return buffer;
}

static void write_text(pr_canvas *canvas, double x, double y, double size, pr_align align,
                       bool bold, bool upward, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    pr_write(canvas->page, "<text x=\"%.6g\" y=\"%.6g\" font-size=\"%.6g\" text-anchor=\"%s\"%s ",
             x, y, size, anchors[align], bold ? " font-weight=\"600\"" : "");
    if (upward)
        pr_write(canvas->page, "transform=\"rotate(-90 %.6g %.6g)\" ", x, y);
    pr_write(canvas->page, "style=\"fill:%s\">", canvas->paint);
    pr_write_escaped(canvas->page, text);
    pr_write(canvas->page, "</text>\n");
}

static void draw_text(pr_canvas *canvas, double x, double y, double size, pr_align align, bool bold,
                      bool upward, const char *text)
{
    double width = pr_canvas_text_width(canvas, size, bold, text);
    double back = align == PR_LEFT ? 0 : align == PR_RIGHT ? width : width / 2;
    pr_cairo.save(canvas->pen);
    pr_cairo.translate(canvas->pen, x, y);
    if (upward)
        pr_cairo.rotate(canvas->pen, -QUARTER_TURN);
    pr_cairo.move_to(canvas->pen, -back, 0);
    pr_cairo.show_text(canvas->pen, text);
    pr_cairo.restore(canvas->pen);
}

void pr_canvas_text(pr_canvas *canvas, double x, double y, double size, pr_align align, bool bold,
                    const char *text)
{
    assert(text != NULL);
    (canvas->page != NULL ? write_text : draw_text)(canvas, x, y, size, align, bold, false, text);
}

void pr_canvas_text_upward(pr_canvas *canvas, double x, double y, double size, pr_align align,
                           bool bold, const char *text)
{
    (canvas->page != NULL ? write_text : draw_text)(canvas, x, y, size, align, bold, true, text);
}

/* ---- shapes ---- */

void pr_canvas_path(pr_canvas *canvas, const pr_point *points, size_t count, double width)
{
    if (count == 0)
        return;
    if (canvas->page != NULL) {
        pr_write(canvas->page, "<path d=\"");
        for (size_t i = 0; i < count; i++)
            pr_write(canvas->page, "%c%.6g %.6g", i == 0 ? 'M' : 'L', points[i].x, points[i].y);
        pr_write(canvas->page,
                 "\" style=\"fill:none;stroke:%s;stroke-width:%.6g;stroke-linejoin:round\"/>\n",
                 canvas->paint, width);
        return;
    }
    pr_cairo.set_line_width(canvas->pen, width);
    pr_cairo.set_line_join(canvas->pen, CAIRO_LINE_JOIN_ROUND);
    pr_cairo.new_path(canvas->pen); /* drawing words leaves a current point */
    for (size_t i = 0; i < count; i++)
        pr_cairo.line_to(canvas->pen, points[i].x, points[i].y);
    pr_cairo.stroke(canvas->pen);
}

static void draw_line(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width,
                      bool dashed)
{
    static const double dashes[] = {4, 3};
    if (canvas->page != NULL) {
        pr_write(canvas->page,
                 "<line x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" "
                 "style=\"stroke:%s;stroke-width:%.6g%s\"/>\n",
                 x0, y0, x1, y1, canvas->paint, width, dashed ? ";stroke-dasharray:4 3" : "");
        return;
    }
    pr_cairo.set_line_width(canvas->pen, width);
    pr_cairo.set_dash(canvas->pen, dashes, dashed ? 2 : 0, 0);
    pr_cairo.move_to(canvas->pen, x0, y0);
    pr_cairo.line_to(canvas->pen, x1, y1);
    pr_cairo.stroke(canvas->pen);
    pr_cairo.set_dash(canvas->pen, dashes, 0, 0);
}

void pr_canvas_line(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width)
{
    draw_line(canvas, x0, y0, x1, y1, width, false);
}

void pr_canvas_dashed(pr_canvas *canvas, double x0, double y0, double x1, double y1, double width)
{
    draw_line(canvas, x0, y0, x1, y1, width, true);
}

void pr_canvas_dot(pr_canvas *canvas, double x, double y, double radius)
{
    if (canvas->page != NULL) {
        pr_write(canvas->page, "<circle cx=\"%.6g\" cy=\"%.6g\" r=\"%.6g\" style=\"fill:%s\"/>\n",
                 x, y, radius, canvas->paint);
        return;
    }
    pr_cairo.new_path(canvas->pen);
    pr_cairo.arc(canvas->pen, x, y, radius, 0, 4 * QUARTER_TURN);
    pr_cairo.fill(canvas->pen);
}

void pr_canvas_box(pr_canvas *canvas, double x, double y, double width, double height)
{
    pr_canvas_noted_box(canvas, x, y, width, height, NULL);
}

void pr_canvas_noted_box(pr_canvas *canvas, double x, double y, double width, double height,
                         const char *note)
{
    if (canvas->page == NULL) {
        pr_cairo.rectangle(canvas->pen, x, y, width, height);
        pr_cairo.fill(canvas->pen);
        return;
    }
    pr_write(canvas->page,
             "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" style=\"fill:%s\"", x, y,
             width, height, canvas->paint);
    if (note == NULL) {
        pr_write(canvas->page, "/>\n");
        return;
    }
    pr_write(canvas->page, "><title>");
    pr_write_escaped(canvas->page, note);
    pr_write(canvas->page, "</title></rect>\n");
}

/* ---- fields of many boxes, as one image: a box each would make a heavy page ---- */

static cairo_surface_t *make_image(const pr_colour *colours, size_t rows, size_t columns,
                                   size_t pixels)
{
    cairo_surface_t *image = pr_cairo.image_surface_create(
        CAIRO_FORMAT_RGB24, (int)(columns * pixels), (int)(rows * pixels));
    if (pr_cairo.surface_status(image) != CAIRO_STATUS_SUCCESS)
        return image;
    unsigned char *bytes = pr_cairo.image_surface_get_data(image);
    size_t stride = (size_t)pr_cairo.image_surface_get_stride(image);
    for (size_t y = 0; y < rows * pixels; y++)
        for (size_t x = 0; x < columns * pixels; x++) {
            pr_colour c = colours[y / pixels * columns + x / pixels];
            uint32_t pixel = (uint32_t)(c.red * 255 + .5) << 16 |
                             (uint32_t)(c.green * 255 + .5) << 8 | (uint32_t)(c.blue * 255 + .5);
            memcpy(bytes + y * stride + 4 * x, &pixel, sizeof pixel);
        }
    pr_cairo.surface_mark_dirty(image);
    return image;
}

static void paint_image(pr_canvas *canvas, cairo_surface_t *image, double x, double y, double width,
                        double height)
{
    pr_cairo.save(canvas->pen);
    pr_cairo.translate(canvas->pen, x, y);
    pr_cairo.scale(canvas->pen, width / pr_cairo.image_surface_get_width(image),
                   height / pr_cairo.image_surface_get_height(image));
    pr_cairo.set_source_surface(canvas->pen, image, 0, 0);
    pr_cairo.pattern_set_filter(pr_cairo.get_source(canvas->pen), CAIRO_FILTER_NEAREST);
    pr_cairo.paint(canvas->pen);
    pr_cairo.restore(canvas->pen);
}

/* On a page the image is inside the page: a PNG file as base 64. */

typedef struct encoder {
    pr_writer *page;
    unsigned char waiting[3];
    size_t count;
    uLong crc; /* of the chunk so far */
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
    memset(e->waiting, 0, sizeof e->waiting);
    e->count = 0;
}

static void encode(encoder *e, const unsigned char *data, size_t length)
{
    if (length > 0) /* without bytes zlib would begin a new sum */
        e->crc = crc32_z(e->crc, data, length);
    for (size_t i = 0; i < length; i++) {
        e->waiting[e->count++] = data[i];
        if (e->count == sizeof e->waiting)
            write_group(e);
    }
}

static void encode_number(encoder *e, size_t number)
{
    const unsigned char bytes[] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                   (unsigned char)(number >> 8), (unsigned char)number};
    encode(e, bytes, sizeof bytes);
}

static void encode_chunk(encoder *e, const char kind[5], const unsigned char *data, size_t length)
{
    encode_number(e, length);
    e->crc = crc32(0, NULL, 0);
    encode(e, (const unsigned char *)kind, 4);
    encode(e, data, length);
    encode_number(e, e->crc);
}

/* Lines of a PNG image of 8-bit RGB, each after a byte that says "not filtered". */
static void fill_lines(unsigned char *lines, const pr_colour *colours, size_t rows, size_t columns)
{
    for (size_t y = 0; y < rows; y++) {
        *lines++ = 0;
        for (size_t x = 0; x < columns; x++) {
            pr_colour c = colours[y * columns + x];
            *lines++ = (unsigned char)(c.red * 255 + .5);
            *lines++ = (unsigned char)(c.green * 255 + .5);
            *lines++ = (unsigned char)(c.blue * 255 + .5);
        }
    }
}

static bool encode_png(encoder *e, const pr_colour *colours, size_t rows, size_t columns)
{
    static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    unsigned char header[13] = {0};
    uLong raw = (uLong)(rows * (1 + 3 * columns));
    uLongf packed = compressBound(raw);
    unsigned char *lines = pr_alloc(raw, 1), *bytes = pr_alloc(packed, 1);
    bool good = lines != NULL && bytes != NULL;
    if (good) {
        fill_lines(lines, colours, rows, columns);
        good = compress2(bytes, &packed, lines, raw, Z_BEST_COMPRESSION) == Z_OK;
    }
    for (size_t i = 0; i < 4; i++) {
        header[i] = (unsigned char)(columns >> (24 - 8 * i));
        header[4 + i] = (unsigned char)(rows >> (24 - 8 * i));
    }
    header[8] = 8; /* bits */
    header[9] = 2; /* red, green, blue */
    if (good) {
        encode(e, signature, sizeof signature);
        encode_chunk(e, "IHDR", header, sizeof header);
        encode_chunk(e, "IDAT", bytes, packed);
        encode_chunk(e, "IEND", NULL, 0);
    }
    pr_free(lines);
    pr_free(bytes);
    return good;
}

static void write_image(pr_canvas *canvas, double x, double y, double width, double height,
                        const pr_colour *colours, size_t rows, size_t columns)
{
    encoder e = {.page = canvas->page};
    pr_write(canvas->page,
             "<image x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" "
             "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
             "href=\"data:image/png;base64,",
             x, y, width, height);
    if (!encode_png(&e, colours, rows, columns))
        canvas->page->failed = true;
    if (e.count > 0)
        write_group(&e);
    pr_write(canvas->page, "\"/>\n");
}

void pr_canvas_field(pr_canvas *canvas, double x, double y, double width, double height,
                     const pr_colour *colours, size_t rows, size_t columns)
{
    assert(rows > 0 && columns > 0);
    if (canvas->page != NULL) {
        write_image(canvas, x, y, width, height, colours, rows, columns);
        return;
    }
    cairo_surface_t *image = make_image(colours, rows, columns, canvas->png ? 1 : (size_t)PIXELS);
    paint_image(canvas, image, x, y, width, height);
    pr_cairo.surface_destroy(image);
}
