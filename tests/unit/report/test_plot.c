/* plot: ticks, pictures of each kind, text curves. */
#include "support/testing.h"

#include <cairo.h>

#include "base/files.h"
#include "base/memory.h"
#include "report/canvas.h"
#include "report/charts.h"
#include "report/report.h"

static const double epochs[] = {1, 2, 3, 4, 5};
static const double loss[] = {7.1, 6.2, NAN, 5.4, 5.2};
static const double hits[] = {.21, .4, .52, .58, .61}, gain[] = {.1, .22, .31, .36, .39};

static void ticks_are_round_and_inside(void **state)
{
    (void)state;
    double first, step;
    pr_ticks(0.13, 0.97, 5, &first, &step);
    assert_close(step, 0.2, 1e-12);
    assert_close(first, 0.2, 1e-12);
    pr_ticks(1, 50, 8, &first, &step);
    assert_close(step, 5, 1e-12);
    assert_close(first, 5, 1e-12);
    pr_ticks(-3, 3, 6, &first, &step);
    assert_close(step, 1, 1e-12);
    assert_close(first, -3, 1e-12);
}

/* Pixels of the palette's first colour in a PNG file. */
static int count_colour(const char *path, pr_colour colour)
{
    cairo_surface_t *image = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
    const unsigned char *pixels = cairo_image_surface_get_data(image);
    int width = cairo_image_surface_get_width(image), count = 0;
    int stride = cairo_image_surface_get_stride(image);
    for (int y = 0; y < cairo_image_surface_get_height(image); y++) {
        for (int x = 0; x < width; x++) {
            const unsigned char *p = pixels + y * stride + 4 * x;
            count += abs(p[2] - (int)(colour.red * 255)) < 3 &&
                     abs(p[1] - (int)(colour.green * 255)) < 3 &&
                     abs(p[0] - (int)(colour.blue * 255)) < 3;
        }
    }
    cairo_surface_destroy(image);
    return count;
}

/* Ticks between two numbers that are neighbours never reached the second. */
static void curve_that_hardly_moves_is_drawn(void **state)
{
    (void)state;
    parsrec_error err;
    const double x[] = {1, 2}, y[] = {20000, nextafter(20000, 1e9)};
    pr_curve curve = {"loss", x, y, 2};
    pr_panel panel = {"loss", &curve, 1, NULL};
    pr_curves chart = {"Learning curves", "epoch", &panel, 1};
    char path[] = "/tmp/parsrec-plot-XXXXXX.svg";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    assert_ok(pr_curves_draw(&chart, path, &err));
    unlink(path);
}

static void curves_become_files(void **state)
{
    (void)state;
    parsrec_error err;
    pr_curve losses[] = {{"training", epochs, loss, 5}};
    pr_curve metrics[] = {{"HR@10", epochs, hits, 5}, {"NDCG@10", epochs, gain, 5}};
    pr_panel panels[] = {{"loss", losses, 1, NULL}, {"validation", metrics, 2, NULL}};
    pr_curves chart = {"Learning curves", "epoch", panels, 2};
    static const struct {
        const char *ending, *magic;
    } kinds[] = {{"png", "\x89PNG"}, {"svg", "<?xml"}, {"pdf", "%PDF"}};
    char folder[] = "/tmp/parsrec-plot-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    for (size_t k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/curves.%s", folder, kinds[k].ending);
        assert_ok(pr_curves_draw(&chart, path, &err));
        pr_mapping file;
        assert_ok(pr_file_map(&file, path, &err));
        assert_memory_equal(file.bytes, kinds[k].magic, strlen(kinds[k].magic));
        pr_file_unmap(&file);
        if (k == 0) {
            assert_true(count_colour(path, pr_palette(0)) > 500);
            assert_true(count_colour(path, pr_palette(1)) > 200);
        }
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/curves.gif", folder);
    assert_fails(pr_curves_draw(&chart, path, &err), PARSREC_E_ARGUMENT, ".png, .svg or .pdf");
    pr_panel empty[] = {{"nothing yet", losses, 0, NULL}};
    pr_curves nothing = {"Empty", "epoch", empty, 1};
    snprintf(path, sizeof path, "%s/empty.svg", folder);
    assert_ok(pr_curves_draw(&nothing, path, &err));
    unlink(path);
    rmdir(folder);
}

/* How far the first colour reaches to the right in each row of pixels that a bar's middle crosses. */
static int right_end(const char *path, pr_colour colour)
{
    cairo_surface_t *image = cairo_image_surface_create_from_png(path);
    const unsigned char *pixels = cairo_image_surface_get_data(image);
    int width = cairo_image_surface_get_width(image), end = 0;
    int stride = cairo_image_surface_get_stride(image);
    for (int y = 0; y < cairo_image_surface_get_height(image); y++)
        for (int x = end; x < width; x++) {
            const unsigned char *p = pixels + y * stride + 4 * x;
            if (abs(p[2] - (int)(colour.red * 255)) < 3 &&
                abs(p[1] - (int)(colour.green * 255)) < 3 &&
                abs(p[0] - (int)(colour.blue * 255)) < 3)
                end = x;
        }
    cairo_surface_destroy(image);
    return end;
}

/* Bars begin at the same place and their lengths are in the ratio of their values. */
static void bars_are_true_to_scale(void **state)
{
    (void)state;
    parsrec_error err;
    const char *rows[] = {"a", "b", "c"};
    const size_t colours[] = {0, 1, 2};
    pr_chart_bar bars[] = {{.8, .8, .8}, {.4, .4, .4}, {.2, .1, .3}};
    pr_bars chart = {"HR@10", rows, 3, NULL, 1, bars, colours, NAN, NULL, false};
    char folder[] = "/tmp/parsrec-plot-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/bars.png", folder);
    assert_ok(pr_bars_draw(&chart, path, &err));
    double a = right_end(path, pr_palette(0)), b = right_end(path, pr_palette(1));
    double c = right_end(path, pr_palette(2));
    assert_close((a - b) / (b - c), 2, 0.05);
    unlink(path);
    rmdir(folder);
}

/* A decade is as long wherever it lies; what cannot be shown is left out. */
static void points_are_true_to_their_logarithms(void **state)
{
    (void)state;
    parsrec_error err;
    const pr_scatter_point points[] = {
        {"a", 0.1, .2, 0}, {"b", 1, .4, 1}, {"c", 100, .3, 2}, {"d", 0, .3, 3}, {"e", 5, NAN, 4}};
    pr_scatter chart = {"NDCG@10 and its cost", "seconds", points, 5};
    char folder[] = "/tmp/parsrec-plot-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/points.png", folder);
    assert_ok(pr_scatter_draw(&chart, path, &err));
    double a = right_end(path, pr_palette(0)), b = right_end(path, pr_palette(1));
    double c = right_end(path, pr_palette(2));
    assert_close((c - b) / (b - a), 2, 0.05);
    for (size_t i = 3; i < 5; i++)
        assert_true(right_end(path, pr_palette(i)) <= 0);
    chart.count = 0;
    assert_ok(pr_scatter_draw(&chart, path, &err));
    unlink(path);
    rmdir(folder);
}

/* A page follows light and dark, escapes what it is given, and names no other host. */
static void page_stands_alone(void **state)
{
    (void)state;
    parsrec_error err;
    const char *rows[] = {"<script>alert(1)</script>", "a & b"};
    const pr_report_column columns[] = {{.heading = "name"},
                                        {.heading = "a \"b\\ </style>\n", .kind = PR_REPORT_NUMBER},
                                        {.heading = "c"}};
    const char *series[] = {"repeat", "new"};
    pr_chart_bar bars[] = {{.8, .7, .9}, {NAN, 0, 0}, {.2, .1, .3}, {0, 0, 0}};
    pr_bars chart = {"\"HR@10\"", rows, 2, series, 2, bars, NULL, 0.1, "random", false};
    pr_curve curve = {"'x'", epochs, loss, 5};
    pr_panel panel = {"loss", &curve, 1, NULL};
    pr_curves curves = {"Learning", "epoch", &panel, 1};
    pr_writer page = {0};
    pr_report report = {0};
    pr_report_add(&report, PR_REPORT_TITLE, "Models <b>");
    pr_report_table(&report, columns, 3);
    pr_report_row(&report, PR_ROW_PLAIN, rows[0]);
    pr_report_number(&report, 1, PR_BEST);
    assert_ok(pr_bars_inline(&chart, pr_report_open(&report, PR_REPORT_CHART), &err));
    assert_ok(pr_curves_inline(&curves, pr_report_open(&report, PR_REPORT_CHART), &err));
    assert_ok(pr_report_write(&page, &report, PARSREC_TEXT_HTML, &err));
    pr_report_free(&report);
    char *text = pr_writer_take(&page);
    assert_non_null(text);
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    assert_non_null(strstr(text, "fill:var(--s1)"));
    assert_non_null(strstr(text, "Models &lt;b&gt;"));
    assert_non_null(strstr(text, "aria-label=\"&quot;HR@10&quot;\""));
    assert_non_null(strstr(text, "a &amp; b"));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "://"));
    assert_null(strstr(text, "<b>"));
    assert_non_null(
        strstr(text, "--h1:&quot;a \\&quot;b\\\\ &lt;/style&gt; &quot;;--h2:&quot;c&quot;"));
    pr_free(text);
}

/* Names of any length fit, cut between characters. */
static void long_names_are_cut(void **state)
{
    (void)state;
    parsrec_error err;
    pr_writer page = {0};
    pr_canvas *canvas;
    char name[16];
    assert_ok(pr_canvas_inline(&canvas, &page, "x", 10, 10, &err));
    assert_string_equal(pr_canvas_fitted(canvas, 12, false, 1000, "short", name, sizeof name),
                        "short");
    assert_string_equal(pr_canvas_fitted(canvas, 12, false, 1000, "ééééééééé", name, sizeof name),
                        "éééééé…");
    assert_string_equal(pr_canvas_fitted(canvas, 12, false, 0, "ééééééééé", name, sizeof name),
                        "…");
    pr_canvas_abort(canvas);
    pr_writer_free(&page);
}

static void text_curve_rises(void **state)
{
    (void)state;
    pr_curve curve = {"HR@10", epochs, hits, 5};
    pr_panel panel = {"validation", &curve, 1, NULL};
    char *text = pr_curves_text(&panel, 40, 5);
    assert_non_null(text);
    assert_non_null(strstr(text, "0.61 |"));
    assert_non_null(strstr(text, "0.21 |"));
    assert_non_null(strstr(text, "validation: HR@10"));
    /* The end of the curve is on the top line, its beginning on the bottom line. */
    const char *top_end = strchr(text, '\n');
    assert_true((unsigned char)top_end[-1] >= 0x80);
    const char *bottom = strstr(text, "0.21 |");
    assert_int_equal((unsigned char)bottom[6], 0xE2);
    pr_free(text);
    pr_panel nothing = {"nothing", &curve, 0, NULL};
    text = pr_curves_text(&nothing, 10, 1);
    assert_non_null(text);
    pr_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(curves_become_files),
        cmocka_unit_test(curve_that_hardly_moves_is_drawn),
        cmocka_unit_test(bars_are_true_to_scale),
        cmocka_unit_test(points_are_true_to_their_logarithms),
        cmocka_unit_test(page_stands_alone),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(text_curve_rises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
