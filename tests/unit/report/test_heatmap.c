/* Heatmaps: colours at the ends of the scale and for colour-blind readers, files of each kind, names
 * that do not touch each other, orders that bring blocks together. */
#include "support/testing.h"

#include <cairo.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/rng.h"
#include "report/canvas.h"
#include "report/heatmap.h"

/* ---- colours ---- */

static pr_heat_scale scale_of(const double *numbers, size_t count, double limit)
{
    pr_heat_scale scale = {0};
    pr_heat_scale_see(&scale, numbers, count);
    pr_heat_scale_settle(&scale, limit);
    return scale;
}

static void scales_follow_the_numbers(void **state)
{
    (void)state;
    const double mixed[] = {.2, NAN, -.5, .1}, positive[] = {0, 3, 12}, zero[] = {0, 0};
    pr_heat_scale s = scale_of(mixed, 4, 0);
    assert_true(s.diverging && s.gaps && !s.cut);
    assert_close(s.limit, .5, 0);
    s = scale_of(positive, 3, 0);
    assert_true(!s.diverging && !s.gaps);
    assert_close(s.limit, 12, 0);
    s = scale_of(positive, 3, 10);
    assert_true(s.cut);
    assert_close(s.limit, 10, 0);
    s = scale_of(positive, 3, 20);
    assert_true(!s.cut);
    s = scale_of(zero, 2, 0);
    assert_close(s.limit, 1, 0);
}

static void numbers_are_written_short(void **state)
{
    (void)state;
    char text[32];
    const double limits[] = {.013, .62, 4.2, 37, 4000};
    const int decimals[] = {3, 2, 2, 1, 0};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(pr_heat_decimals(&(pr_heat_scale){.limit = limits[i]}), decimals[i]);
    assert_string_equal(pr_heat_text(-.254, 2, text, sizeof text), "−0.25");
    assert_string_equal(pr_heat_text(-.004, 2, text, sizeof text), "0.00"); /* no minus nothing */
    assert_string_equal(pr_heat_text(12.34, 1, text, sizeof text), "12.3");
}

static double brightness(pr_colour c)
{
    return .299 * c.red + .587 * c.green + .114 * c.blue;
}

static double linear(double c)
{
    return c <= .04045 ? c / 12.92 : pow((c + .055) / 1.055, 2.4);
}

/* What is left of a colour without the red or green cones: one number for red and green, one for blue
 * (after Vienot, Brettel and Mollon, 1999). */
static void seen_without(pr_colour c, bool red, double seen[2])
{
    double r = linear(c.red), g = linear(c.green), b = linear(c.blue);
    seen[0] = red ? .11238 * r + .88762 * g : .29275 * r + .70725 * g;
    seen[1] = red ? .00401 * r - .00401 * g + b : -.02234 * r + .02234 * g + b;
}

static void both_ends_are_told_apart(void **state)
{
    (void)state;
    pr_heat_scale s = {.limit = 1, .diverging = true};
    pr_colour zero = pr_heat_colour(&s, 0);
    assert_true(zero.red > .95 && zero.green > .95 && zero.blue > .95);
    double before[2] = {brightness(zero), brightness(zero)};
    for (int i = 1; i <= 20; i++) {
        pr_colour up = pr_heat_colour(&s, i / 20.), down = pr_heat_colour(&s, -i / 20.);
        assert_true(brightness(up) < before[0] && brightness(down) < before[1]);
        before[0] = brightness(up);
        before[1] = brightness(down);
        assert_true(up.red > up.blue && down.blue > down.red);
        for (int red = 0; red < 2 && i >= 5; red++) { /* a quarter of the limit and more */
            double a[2], b[2];
            seen_without(up, red, a);
            seen_without(down, red, b);
            assert_true(b[1] / b[0] > 1.5 * a[1] / a[0]);
        }
        pr_colour ink = pr_heat_ink(up);
        double contrast = brightness(ink) - brightness(up);
        assert_true(fabs(contrast) > .35);
    }
    assert_true(fabs(before[0] - before[1]) < .06); /* neither side looks stronger */
    pr_colour beyond = pr_heat_colour(&s, 7), end = pr_heat_colour(&s, 1);
    assert_close(brightness(beyond), brightness(end), 0);
    pr_colour gap = pr_heat_colour(&s, NAN); /* grey, and neither white nor dark */
    assert_true(fabs(gap.red - gap.blue) < .05 && brightness(gap) > .8 && brightness(gap) < .92);
}

/* ---- pictures ---- */

enum { MOST = 200 };

static const char *const words[] = {
    "LATTE FRESCO ALTA QUALITÀ PIÙ GIORNI 1L",
    "MOZZARELLA DI BUFALA CAMPANA D.O.P. 250G",
    "Té",
    "CAFFÈ MACINATO QUALITÀ ORO",
    "UOVA",
    "PROSCIUTTO CRUDO STAGIONATO 24 MESI AFFETTATO",
    "Pannolini misura 4 (7–18 kg)",
};

typedef struct example {
    char text[MOST][96];
    const char *names[MOST];
    size_t groups[MOST];
    double *cells; /* [2,n,n] */
    pr_heatmap_panel panels[3];
    pr_heatmap map;
} example;

static const char *const group_names[] = {"LATTICINI & UOVA", "DISPENSA <secca>", "BEVANDE"};

static void make_example(example *e, size_t n, size_t panels)
{
    for (size_t i = 0; i < n; i++) {
        snprintf(e->text[i], sizeof e->text[i], "%zu %s", i, words[i % 7]);
        e->names[i] = e->text[i];
        e->groups[i] = i * 3 / n;
    }
    e->cells = calloc(2 * n * n, sizeof *e->cells);
    for (size_t i = 0; i < n * n; i++) {
        e->cells[i] = i % n == i / n ? NAN : (double)(i % 17) / 16;
        e->cells[n * n + i] = i == 0 ? -1 : (double)(i % 5) / 4 - .5;
    }
    for (size_t p = 0; p < panels; p++)
        e->panels[p] = (pr_heatmap_panel){panels > 1 ? "people with a long group name" : NULL,
                                          e->cells + (p == 2 ? n * n : 0)};
    pr_heatmap_side side = {"recommended", e->names, n, NULL, e->groups, group_names};
    e->map = (pr_heatmap){.title = "What goes with what",
                          .subtitle = "a long line that says whose baskets, how many and when",
                          .rows = side,
                          .columns = side,
                          .panels = e->panels,
                          .panel_count = panels,
                          .scale_title = "attention, mean over heads"};
}

static char *page_of(const pr_heatmap *map)
{
    parsrec_error err;
    pr_writer page = {0};
    assert_ok(pr_heatmap_inline(map, &page, &err));
    char *text = pr_writer_take(&page);
    assert_non_null(text);
    return text;
}

static void maps_become_files(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {{"png", "\x89PNG"}, {"svg", "<?xml"}, {"pdf", "%PDF"}};
    parsrec_error err;
    char folder[] = "/tmp/parsrec-heat-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    const size_t sizes[] = {1, 4, MOST};
    for (size_t s = 0; s < 3; s++)
        for (size_t k = 0; k < 3; k++) {
            example e;
            make_example(&e, sizes[s], 3);
            snprintf(path, sizeof path, "%s/map.%s", folder, kinds[k][0]);
            assert_ok(pr_heatmap_draw(&e.map, path, &err));
            pr_mapping file;
            assert_ok(pr_file_map(&file, path, &err));
            assert_memory_equal(file.bytes, kinds[k][1], strlen(kinds[k][1]));
            pr_file_unmap(&file);
            free(e.cells);
            unlink(path);
        }
    example e;
    make_example(&e, 4, 1);
    snprintf(path, sizeof path, "%s/map.gif", folder);
    assert_fails(pr_heatmap_draw(&e.map, path, &err), PARSREC_E_ARGUMENT, ".png, .svg or .pdf");
    e.map.rows.count = 4001;
    assert_fails(pr_heatmap_draw(&e.map, path, &err), PARSREC_E_LIMIT, "draw categories");
    e.map.rows.count = 0;
    assert_fails(pr_heatmap_draw(&e.map, path, &err), PARSREC_E_ARGUMENT, "needs a row");
    free(e.cells);
    assert_int_equal(rmdir(folder), 0); /* nothing was left behind */
}

/* The colour in the middle of the cell, as points of the picture say where that is. */
static void assert_pixel(cairo_surface_t *image, double x, double y, pr_colour colour)
{
    const unsigned char *p = cairo_image_surface_get_data(image) +
                             (int)(2 * y) * cairo_image_surface_get_stride(image) + 8 * (int)x;
    assert_close(p[2], colour.red * 255, 1.01);
    assert_close(p[1], colour.green * 255, 1.01);
    assert_close(p[0], colour.blue * 255, 1.01);
}

/* Where the map begins: the first box on the page is the white below the cells. */
static void corner_of(const char *page, const char *element, double *x, double *y)
{
    const char *at = strstr(page, element);
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "x=\""), "x=\"%lf\" y=\"%lf\"", x, y), 2);
}

/* Small maps and large ones, which are drawn in another way, have each cell's colour in its place, also
 * when another order is asked for. */
static void cells_have_their_colours(void **state)
{
    (void)state;
    parsrec_error err;
    char path[] = "/tmp/parsrec-heat-XXXXXX.png";
    close(mkstemps(path, 4));
    for (size_t large = 0; large < 2; large++) {
        size_t n = large == 1 ? 144 : 3, order[144];
        double *cells = calloc(n * n, sizeof *cells), x, y, cell = large == 1 ? 5 : 44;
        example e;
        make_example(&e, n, 1);
        cells[0 * n + 1] = 2;
        cells[1 * n + 2] = -2;
        cells[2 * n + 0] = NAN;
        for (size_t i = 0; i < n; i++)
            order[i] = n - 1 - i;
        e.panels[0].cells = cells;
        e.map.rows.order = order;
        char *page = page_of(&e.map);
        corner_of(page, large == 1 ? "<image" : "<rect", &x, &y);
        assert_ok(pr_heatmap_draw(&e.map, path, &err));
        cairo_surface_t *image = cairo_image_surface_create_from_png(path);
        pr_heat_scale s = {.limit = 2, .diverging = true};
        double last = (double)n - 1; /* rows are upside down, columns are not */
        y += 1;                      /* at the upper edge, clear of numbers and hatches */
        assert_pixel(image, x + 1.5 * cell, y + last * cell, pr_heat_colour(&s, 2));
        assert_pixel(image, x + 2.5 * cell, y + (last - 1) * cell, pr_heat_colour(&s, -2));
        assert_pixel(image, x + .3 * cell, y + (last - 2) * cell, pr_heat_colour(&s, NAN));
        assert_pixel(image, x + .5 * cell, y + last * cell, pr_heat_colour(&s, 0));
        cairo_surface_destroy(image);
        free(cells);
        free(e.cells);
        pr_free(page);
    }
    unlink(path);
}

static int letter_value(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* The image inside a page, which is written without cairo, is a PNG file that cairo reads. */
static void images_in_pages_are_png(void **state)
{
    (void)state;
    enum { N = 144 };
    static const char begin[] = "data:image/png;base64,";
    char path[] = "/tmp/parsrec-heat-XXXXXX.png";
    int fd = mkstemps(path, 4);
    double *cells = calloc(N * N, sizeof *cells);
    example e;
    make_example(&e, N, 1);
    cells[0 * N + 1] = 2;
    cells[143 * N + 2] = -2;
    e.panels[0].cells = cells;
    char *page = page_of(&e.map);
    const char *at = strstr(page, begin);
    assert_non_null(at);
    uint32_t bits = 0;
    int held = 0;
    for (at += strlen(begin); letter_value(*at) >= 0; at++) {
        bits = bits << 6 | (uint32_t)letter_value(*at);
        held += 6;
        if (held >= 8) {
            unsigned char byte = (unsigned char)(bits >> (held - 8));
            assert_int_equal(write(fd, &byte, 1), 1);
            held -= 8;
        }
    }
    close(fd);
    cairo_surface_t *image = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
    assert_int_equal(cairo_image_surface_get_width(image), N);
    assert_int_equal(cairo_image_surface_get_height(image), N);
    pr_heat_scale s = {.limit = 2, .diverging = true};
    assert_pixel(image, .5, 0, pr_heat_colour(&s, 0)); /* assert_pixel counts two pixels a point */
    const unsigned char *first = cairo_image_surface_get_data(image) + 4;
    assert_close(first[2], pr_heat_colour(&s, 2).red * 255, 1.01);
    const unsigned char *last =
        cairo_image_surface_get_data(image) + 143 * cairo_image_surface_get_stride(image) + 8;
    assert_close(last[0], pr_heat_colour(&s, -2).blue * 255, 1.01);
    cairo_surface_destroy(image);
    free(cells);
    free(e.cells);
    pr_free(page);
    unlink(path);
}

static void pages_say_what_cells_are(void **state)
{
    (void)state;
    example e;
    make_example(&e, 4, 1);
    char *page = page_of(&e.map);
    assert_non_null(strstr(page, ">1 MOZZARELLA DI BUFALA"));
    assert_non_null(strstr(page, "<title>0 LATTE FRESCO ALTA QUALITÀ PIÙ GIORNI 1L × 1 MOZZARELLA "
                                 "DI BUFALA CAMPANA D.O.P. 250G: 0.062</title>"));
    assert_non_null(strstr(page, ": no data</title>"));
    assert_non_null(strstr(page, ">no data</text>"));
    assert_non_null(strstr(page, ">0.88</text>")); /* the end of the colour bar */
    assert_non_null(strstr(page, ">attention, mean over heads</text>"));
    assert_non_null(strstr(page, "fill:var(--ink)"));
    assert_non_null(strstr(page, "rotate(-90"));
    pr_free(page);
    e.map.limit = .5;
    page = page_of(&e.map);
    assert_non_null(strstr(page, ">≥ 0.50</text>"));
    pr_free(page);
    free(e.cells);
    make_example(&e, MOST, 1); /* no room for all names: groups */
    page = page_of(&e.map);
    assert_non_null(strstr(page, ">DISPENSA &lt;secca&gt;</text>"));
    assert_null(strstr(page, "://"));
    assert_null(strstr(page, "UOVA</title>"));
    pr_free(page);
    free(e.cells);
}

/* ---- no name touches another ---- */

typedef struct box {
    double left, top, right, bottom;
    char text[512];
} box;

/* Entities count as one wide letter. */
static void put_letter_for_entity(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++, to++) {
        bool entity = *from == '&';
        from = entity ? strchr(from, ';') : from;
        *to = entity ? 'W' : *from;
    }
    *to = '\0';
}

/* The next <text> element, from its attributes and the width of its letters. */
static const char *next_text(const char *page, pr_canvas *ruler, box *b)
{
    char anchor[16];
    double x, y, size;
    const char *at = strstr(page, "<text ");
    if (at == NULL)
        return NULL;
    assert_int_equal(sscanf(at,
                            "<text x=\"%lf\" y=\"%lf\" font-size=\"%lf\" text-anchor=\"%15[a-z]",
                            &x, &y, &size, anchor),
                     4);
    const char *begin = strchr(at, '>') + 1, *end = strchr(begin, '<');
    snprintf(b->text, sizeof b->text, "%.*s", (int)(end - begin), begin);
    put_letter_for_entity(b->text);
    bool bold = strstr(at, "font-weight") != NULL && strstr(at, "font-weight") < begin;
    bool upward = strstr(at, "rotate(-90") != NULL && strstr(at, "rotate(-90") < begin;
    double width = pr_canvas_text_width(ruler, size, bold, b->text);
    double back = anchor[0] == 's' ? 0 : anchor[0] == 'e' ? width : width / 2;
    b->left = upward ? x - .75 * size : x - back;
    b->right = upward ? x + .2 * size : b->left + width;
    b->bottom = upward ? y + back : y + .2 * size;
    b->top = upward ? b->bottom - width : y - .75 * size;
    return end;
}

static void names_keep_apart(void **state)
{
    (void)state;
    enum { BOXES = 4000 };
    static box boxes[BOXES];
    parsrec_error err;
    pr_writer nowhere = {0};
    pr_canvas *ruler;
    assert_ok(pr_canvas_inline(&ruler, &nowhere, "", 1, 1, &err));
    const size_t sizes[] = {1, 4, 20, 45, 60, 61, 66, 100, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 4; i++) {
        example e;
        size_t count = 0;
        double width, height;
        make_example(&e, sizes[i / 4], i % 2 == 0 ? 1 : 3);
        if (i / 2 % 2 == 0)
            e.map.rows.group_names = e.map.columns.group_names = NULL;
        char *page = page_of(&e.map);
        assert_int_equal(
            sscanf(strstr(page, "viewBox"), "viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
        for (const char *at = page; (at = next_text(at, ruler, &boxes[count])) != NULL; count++) {
            const box *b = &boxes[count];
            if (b->left < 0 || b->top < 0 || b->right > width || b->bottom > height)
                fail_msg("%zu rows: '%s' leaves the picture", sizes[i / 4], b->text);
            for (size_t j = 0; j < count; j++)
                if (b->left < boxes[j].right && boxes[j].left < b->right &&
                    b->top < boxes[j].bottom && boxes[j].top < b->bottom)
                    fail_msg("%zu rows: '%s' touches '%s'", sizes[i / 4], b->text, boxes[j].text);
            assert_true(count + 1 < BOXES);
        }
        assert_true(count > 6);
        if (sizes[i / 4] <= 60) /* every row has its name, and each panel every column */
            assert_true(count >= (1 + e.map.panel_count) * sizes[i / 4]);
        pr_free(page);
        free(e.cells);
    }
    pr_canvas_abort(ruler);
    pr_writer_free(&nowhere);
}

static void out_of_memory_leaves_nothing(void **state)
{
    (void)state;
    parsrec_error err;
    example e;
    make_example(&e, 100, 3);
    char path[] = "/tmp/parsrec-heat-none.png";
    parsrec_status status = PARSREC_E_MEMORY;
    size_t after = 0;
    for (; status != PARSREC_OK && after < 1000; after++) {
        pr_memory_fail_after(after);
        status = pr_heatmap_draw(&e.map, path, &err);
        pr_memory_fail_after(SIZE_MAX);
        if (status != PARSREC_OK)
            assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_int_equal(status, PARSREC_OK);
    assert_true(after > 4);
    unlink(path);
    free(e.cells);
}

/* ---- orders ---- */

static void groups_stand_together(void **state)
{
    (void)state;
    parsrec_error err;
    const size_t groups[] = {2, 0, 2, 5, 0}, expected[] = {1, 4, 0, 2, 3};
    size_t order[5];
    assert_ok(pr_heatmap_order_groups(order, groups, 5, &err));
    assert_memory_equal(order, expected, sizeof expected);
}

/* Blocks that were shuffled and blurred come together again. */
static void clusters_find_blocks(void **state)
{
    (void)state;
    enum { N = 60, BLOCKS = 5 };
    static double alike[N * N];
    parsrec_error err;
    pr_rng rng = pr_rng_make(3, 1);
    pr_stream s = pr_stream_at(&rng, 0, 0, 0);
    size_t block[N], order[N];
    bool seen[N] = {false};
    for (size_t i = 0; i < N; i++)
        block[i] = pr_stream_below(&s, BLOCKS);
    for (size_t i = 0; i < N * N; i++)
        alike[i] = (block[i / N] == block[i % N] ? .5 : 0) + .3 * pr_stream_below(&s, 1000) / 1000;
    assert_ok(pr_heatmap_order_clusters(order, alike, N, &err));
    size_t changes = 0;
    for (size_t i = 0; i < N; i++) {
        assert_true(order[i] < N && !seen[order[i]]);
        seen[order[i]] = true;
        changes += i > 0 && block[order[i]] != block[order[i - 1]];
    }
    assert_int_equal(changes, BLOCKS - 1);
}

/* Points on a line, shuffled: neighbours stay neighbours where clusters touch too. */
static void clusters_turn_their_ends(void **state)
{
    (void)state;
    enum { N = 8 };
    const double at[N] = {7, 0, 20, 1, 21, 8, 22.5, 2.5};
    const size_t rising[N] = {1, 3, 7, 0, 5, 2, 4, 6};
    double alike[N * N];
    size_t order[N];
    parsrec_error err;
    for (size_t i = 0; i < N * N; i++)
        alike[i] = -fabs(at[i / N] - at[i % N]);
    assert_ok(pr_heatmap_order_clusters(order, alike, N, &err));
    bool falls = order[0] == rising[N - 1];
    for (size_t i = 0; i < N; i++)
        assert_int_equal(order[i], rising[falls ? N - 1 - i : i]);
}

static void odd_similarities_are_ordered_too(void **state)
{
    (void)state;
    parsrec_error err;
    size_t order[4] = {9, 9, 9, 9}, sum = 0;
    double alike[16];
    for (size_t i = 0; i < 16; i++)
        alike[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
    assert_ok(pr_heatmap_order_clusters(order, alike, 4, &err));
    for (size_t i = 0; i < 4; i++)
        sum |= (size_t)1 << order[i];
    assert_int_equal(sum, 15);
    assert_ok(pr_heatmap_order_clusters(order, alike, 1, &err));
    assert_int_equal(order[0], 0);
    assert_ok(pr_heatmap_order_clusters(order, alike, 0, &err));
    pr_memory_fail_after(0);
    assert_fails(pr_heatmap_order_clusters(order, alike, 4, &err), PARSREC_E_MEMORY, "memory");
    pr_memory_fail_after(1);
    assert_fails(pr_heatmap_order_clusters(order, alike, 4, &err), PARSREC_E_MEMORY, "memory");
    pr_memory_fail_after(SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_follow_the_numbers),
        cmocka_unit_test(numbers_are_written_short),
        cmocka_unit_test(both_ends_are_told_apart),
        cmocka_unit_test(maps_become_files),
        cmocka_unit_test(cells_have_their_colours),
        cmocka_unit_test(images_in_pages_are_png),
        cmocka_unit_test(pages_say_what_cells_are),
        cmocka_unit_test(names_keep_apart),
        cmocka_unit_test(out_of_memory_leaves_nothing),
        cmocka_unit_test(groups_stand_together),
        cmocka_unit_test(clusters_find_blocks),
        cmocka_unit_test(clusters_turn_their_ends),
        cmocka_unit_test(odd_similarities_are_ordered_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
