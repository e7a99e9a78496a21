/* cairo, loaded when the first picture is drawn. Call pr_cairo_load before anything else; then
 * pr_cairo.create is cairo_create, and so on. */
#ifndef PR_CAIRO_H
#define PR_CAIRO_H

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include "base/library.h"

/* clang-format off */
#define PR_CAIRO(X)                                                                             \
    X(arc) X(create) X(destroy) X(fill) X(get_source) X(image_surface_create)                   \
    X(image_surface_get_data) X(image_surface_get_height) X(image_surface_get_stride)           \
    X(image_surface_get_width) X(line_to) X(move_to) X(new_path) X(paint) X(pattern_set_filter) \
    X(pdf_surface_create_for_stream) X(rectangle) X(restore) X(rotate) X(save) X(scale)         \
    X(select_font_face) X(set_dash) X(set_font_size) X(set_line_join) X(set_line_width)         \
    X(set_source_rgba) X(set_source_surface) X(show_text) X(status) X(status_to_string)         \
    X(stroke) X(surface_destroy) X(surface_finish) X(surface_mark_dirty) X(surface_status)      \
    X(surface_write_to_png_stream) X(svg_surface_create_for_stream) X(text_extents)             \
    X(translate) X(version_string)
/* clang-format on */

typedef struct pr_cairo_table {
#define PR_CAIRO_MEMBER(name) __typeof__(&cairo_##name) name;
    PR_CAIRO(PR_CAIRO_MEMBER)
#undef PR_CAIRO_MEMBER
} pr_cairo_table;

extern pr_cairo_table pr_cairo;
extern pr_library pr_cairo_library;

static inline parsrec_status pr_cairo_load(parsrec_error *err)
{
    return pr_library_load(&pr_cairo_library, err);
}

#endif
