/* A name stands beside its point, at the first of several places where it covers nothing. */
#include "report/charts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/canvas.h"

enum { WIDTH = 480, HEIGHT = 340, LEFT = 52, RIGHT = 16, TOP = 40, BOTTOM = 50, RADIUS = 4 };
enum { NAME_SIZE = 11, NAME_WIDTH = 110 };

typedef struct box {
    double x, y, width, height;
} box;

typedef struct frame {
    double x_low, x_high, y_low, y_high; /* x: logarithms to base 10 */
    box *taken;                          /* points, then names */
    size_t taken_count;
} frame;

static bool shown(const pr_scatter_point *p)
{
    return isfinite(p->y) && isfinite(p->x) && p->x > 0;
}

static double x_at(const frame *f, double log_x)
{
    return LEFT + (log_x - f->x_low) / (f->x_high - f->x_low) * (WIDTH - LEFT - RIGHT);
}

static double y_at(const frame *f, double y)
{
    return TOP + (f->y_high - y) / (f->y_high - f->y_low) * (HEIGHT - TOP - BOTTOM);
}

static void measure(frame *f, const pr_scatter *chart)
{
    f->x_low = f->y_low = DBL_MAX;
    f->x_high = f->y_high = -DBL_MAX;
    for (size_t i = 0; i < chart->count; i++) {
        const pr_scatter_point *p = &chart->points[i];
        if (!shown(p))
            continue;
        f->x_low = fmin(f->x_low, log10(p->x));
        f->x_high = fmax(f->x_high, log10(p->x));
        f->y_low = fmin(f->y_low, p->y);
        f->y_high = fmax(f->y_high, p->y);
    }
    if (f->x_low > f->x_high)
        f->x_low = f->y_low = f->x_high = f->y_high = 0;
    double x_air = fmax(0.08 * (f->x_high - f->x_low), 0.15);
    double y_air = fmax(0.08 * (f->y_high - f->y_low), 1e-3);
    f->x_low -= x_air;
    f->x_high += x_air;
    f->y_low -= y_air;
    f->y_high += y_air;
}

static void draw_axes(pr_canvas *canvas, const frame *f, const char *x_label)
{
    char text[32];
    double first, step, floor_y = HEIGHT - BOTTOM;
    pr_ticks(f->y_low, f->y_high, 5, &first, &step);
    for (double y = first; y <= f->y_high + step * 1e-9; y += step) {
        pr_canvas_role(canvas, PR_QUIET, 0.35);
        pr_canvas_line(canvas, LEFT, y_at(f, y), WIDTH - RIGHT, y_at(f, y), 0.6);
        pr_canvas_role(canvas, PR_INK, 1);
        snprintf(text, sizeof text, "%.4g", fabs(y) < step * 1e-6 ? 0 : y);
        pr_canvas_text(canvas, LEFT - 8, y_at(f, y) + 4, 11, PR_RIGHT, false, text);
    }
    pr_canvas_line(canvas, LEFT, floor_y, WIDTH - RIGHT, floor_y, 1);
    /* powers of ten, with 2 and 5 between them where there is room */
    bool between = f->x_high - f->x_low < 3;
    for (int power = (int)floor(f->x_low); power <= (int)ceil(f->x_high); power++) {
        static const double steps[] = {1, 2, 5};
        for (size_t i = 0; i < (between ? 3 : 1); i++) {
            double at = power + log10(steps[i]);
            if (at < f->x_low || at > f->x_high)
                continue;
            pr_canvas_line(canvas, x_at(f, at), floor_y, x_at(f, at), floor_y + 4, 1);
            snprintf(text, sizeof text, "%.6g", steps[i] * pow(10, power));
            pr_canvas_text(canvas, x_at(f, at), floor_y + 17, 11, PR_CENTRE, false, text);
        }
    }
    pr_canvas_text(canvas, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 12, 12, PR_CENTRE, false,
                   x_label);
}

static double overlap(const box *a, const box *b)
{
    double width = fmin(a->x + a->width, b->x + b->width) - fmax(a->x, b->x);
    double height = fmin(a->y + a->height, b->y + b->height) - fmax(a->y, b->y);
    return width > 0 && height > 0 ? width * height : 0;
}

/* What a name at this place would cover, and how far it would stick out of the picture. */
static double cost_of(const frame *f, const box *at)
{
    double cost = 0;
    for (size_t i = 0; i < f->taken_count; i++)
        cost += overlap(at, &f->taken[i]);
    cost += 100 * fmax(0, LEFT - at->x) + 100 * fmax(0, at->x + at->width - (WIDTH - 2));
    return cost + 100 * fmax(0, TOP - 8 - at->y) +
           100 * fmax(0, at->y + at->height - (HEIGHT - BOTTOM));
}

static box place_name(const frame *f, double x, double y, double width)
{
    enum { RINGS = 4, PLACES = 8 };
    static const double right[PLACES] = {1, -1, 0, 0, 1, 1, -1, -1},
                        down[PLACES] = {0, 0, -1, 1, -1, 1, -1, 1};
    box best = {0};
    double least = DBL_MAX, height = NAME_SIZE + 2;
    for (int ring = 0; ring < RINGS && least > 0; ring++)
        for (int i = 0; i < PLACES && least > 0; i++) {
            double gap = RADIUS + 3 + ring * 9.0;
            box at = {x - width / 2 + right[i] * (width / 2 + gap),
                      y - height / 2 + down[i] * (height / 2 + gap), width, height};
            double cost = cost_of(f, &at);
            if (cost < least) {
                least = cost;
                best = at;
            }
        }
    return best;
}

static void draw_point(pr_canvas *canvas, frame *f, const pr_scatter_point *p)
{
    char name[64];
    double x = x_at(f, log10(p->x)), y = y_at(f, p->y);
    pr_canvas_fitted(canvas, NAME_SIZE, false, NAME_WIDTH, p->name, name, sizeof name);
    double width = pr_canvas_text_width(canvas, NAME_SIZE, false, name);
    box at = place_name(f, x, y, width);
    f->taken[f->taken_count++] = at;
    double end = fmin(fmax(x, at.x), at.x + at.width);
    pr_canvas_role(canvas, PR_QUIET, 0.8);
    if (hypot(end - x, at.y + at.height / 2 - y) > 2.5 * RADIUS + at.height / 2)
        pr_canvas_line(canvas, x, y, end, at.y > y ? at.y : at.y + at.height, 0.7);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, at.x, at.y + at.height - 3, NAME_SIZE, PR_LEFT, false, name);
}

/* Draws and finishes the canvas. */
static parsrec_status draw(pr_canvas *canvas, const pr_scatter *chart, parsrec_error *err)
{
    char title[160];
    frame f = {.taken = pr_alloc(2 * chart->count, sizeof *f.taken)};
    if (f.taken == NULL) {
        pr_canvas_abort(canvas);
        return pr_fail_memory(err);
    }
    measure(&f, chart);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(
        canvas, 8, 20, 14, PR_LEFT, true,
        pr_canvas_fitted(canvas, 14, true, WIDTH - 16, chart->title, title, sizeof title));
    draw_axes(canvas, &f, chart->x_label);
    for (size_t i = 0; i < chart->count; i++) {
        const pr_scatter_point *p = &chart->points[i];
        if (!shown(p))
            continue;
        double x = x_at(&f, log10(p->x)), y = y_at(&f, p->y);
        pr_canvas_role(canvas, PR_SERIES + p->colour, 1);
        pr_canvas_dot(canvas, x, y, RADIUS);
        f.taken[f.taken_count++] = (box){x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS};
    }
    for (size_t i = 0; i < chart->count; i++)
        if (shown(&chart->points[i]))
            draw_point(canvas, &f, &chart->points[i]);
    pr_free(f.taken);
    return pr_canvas_finish(canvas, err);
}

parsrec_status pr_scatter_draw(const pr_scatter *chart, const char *path, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_new(&canvas, path, WIDTH, HEIGHT, err));
    return draw(canvas, chart, err);
}

parsrec_status pr_scatter_inline(const pr_scatter *chart, pr_writer *page, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_inline(&canvas, page, chart->title, WIDTH, HEIGHT, err));
    return draw(canvas, chart, err);
}
