/* Line charts with axes, ticks and a name at the end of each curve. */
#include "plot/curves.h"

#include <float.h>
#include <math.h>

#include "plot/canvas.h"

enum { WIDTH = 640, PANEL = 240, LEFT = 64, RIGHT = 130, TOP = 44, GAP = 26, BOTTOM = 46 };

static const pr_colour ink = {0.13, 0.15, 0.17}, grey = {0.55, 0.58, 0.6};

void pr_ticks(double low, double high, int wanted, double *first, double *step)
{
    double raw = (high - low) / wanted;
    double power = pow(10, floor(log10(raw)));
    double factor = raw / power;
    *step = power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
    *first = ceil(low / *step - 1e-9) * *step;
}

/* The rectangle of a panel and the numbers at its edges. */
typedef struct frame {
    double left, top, width, height;
    double x_low, x_high, y_low, y_high;
} frame;

static void widen(double value, double *low, double *high)
{
    if (!isfinite(value))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* A range that never is empty, with a little air above and below. */
static void settle(double *low, double *high, double air)
{
    if (*low > *high) {
        *low = 0;
        *high = 1;
    }
    double margin = (*high - *low) * air;
    if (*high - *low < 1e-12)
        margin = fmax(fabs(*high) * 0.1, 1e-3);
    *low -= margin;
    *high += margin;
}

static void measure(frame *f, const pr_panel *panel)
{
    f->y_low = f->x_low = DBL_MAX;
    f->y_high = f->x_high = -DBL_MAX;
    for (size_t c = 0; c < panel->count; c++) {
        for (size_t i = 0; i < panel->curves[c].count; i++) {
            widen(panel->curves[c].x[i], &f->x_low, &f->x_high);
            widen(panel->curves[c].y[i], &f->y_low, &f->y_high);
        }
    }
    settle(&f->x_low, &f->x_high, 0);
    settle(&f->y_low, &f->y_high, 0.06);
}

static double x_at(const frame *f, double x)
{
    return f->left + (x - f->x_low) / (f->x_high - f->x_low) * f->width;
}

static double y_at(const frame *f, double y)
{
    return f->top + (f->y_high - y) / (f->y_high - f->y_low) * f->height;
}

static void draw_axes(pr_canvas *canvas, const frame *f, const char *label, bool with_x)
{
    char text[32];
    double first, step;
    pr_ticks(f->y_low, f->y_high, 5, &first, &step);
    for (double y = first; y <= f->y_high + step * 1e-9; y += step) {
        pr_canvas_colour(canvas, grey, 0.35);
        pr_canvas_line(canvas, f->left, y_at(f, y), f->left + f->width, y_at(f, y), 0.6);
        pr_canvas_colour(canvas, ink, 1);
        snprintf(text, sizeof text, "%.4g", fabs(y) < step * 1e-6 ? 0 : y);
        pr_canvas_text(canvas, f->left - 8, y_at(f, y) + 4, 11, PR_RIGHT, false, text);
    }
    pr_canvas_colour(canvas, ink, 1);
    pr_canvas_text(canvas, f->left, f->top - 8, 12, PR_LEFT, true, label);
    pr_canvas_line(canvas, f->left, f->top + f->height, f->left + f->width, f->top + f->height, 1);
    pr_ticks(f->x_low, f->x_high, 8, &first, &step);
    for (double x = first; x <= f->x_high + step * 1e-9; x += step) {
        pr_canvas_line(canvas, x_at(f, x), f->top + f->height, x_at(f, x), f->top + f->height + 4,
                       1);
        snprintf(text, sizeof text, "%.6g", x);
        if (with_x)
            pr_canvas_text(canvas, x_at(f, x), f->top + f->height + 17, 11, PR_CENTRE, false, text);
    }
}

static void draw_curve(pr_canvas *canvas, const frame *f, const pr_curve *curve, pr_colour colour)
{
    cairo_t *pen = pr_canvas_pen(canvas);
    bool drawing = false;
    pr_canvas_colour(canvas, colour, 1);
    cairo_set_line_width(pen, 1.8);
    cairo_set_line_join(pen, CAIRO_LINE_JOIN_ROUND);
    for (size_t i = 0; i < curve->count; i++) {
        if (!isfinite(curve->y[i])) {
            drawing = false;
            continue;
        }
        double x = x_at(f, curve->x[i]), y = y_at(f, curve->y[i]);
        if (drawing)
            cairo_line_to(pen, x, y);
        else
            cairo_move_to(pen, x, y);
        drawing = true;
    }
    cairo_stroke(pen);
    for (size_t i = 0; i < curve->count && curve->count <= 60; i++) {
        if (!isfinite(curve->y[i]))
            continue;
        cairo_arc(pen, x_at(f, curve->x[i]), y_at(f, curve->y[i]), 2.2, 0, 2 * 3.14159265);
        cairo_fill(pen);
    }
}

/* Names stand where their curves end, pushed apart so that none covers another. */
static void draw_names(pr_canvas *canvas, const frame *f, const pr_panel *panel)
{
    enum { MOST = 16, LINE = 15 };
    double place[MOST];
    size_t order[MOST], n = 0;
    for (size_t c = 0; c < panel->count && n < MOST; c++) {
        const pr_curve *curve = &panel->curves[c];
        size_t i = curve->count;
        while (i > 0 && !isfinite(curve->y[i - 1]))
            i--;
        place[n] = i > 0 ? y_at(f, curve->y[i - 1]) : f->top + f->height;
        size_t at = n++;
        for (order[at] = c; at > 0 && place[at] < place[at - 1]; at--) {
            double p = place[at];
            place[at] = place[at - 1];
            place[at - 1] = p;
            size_t o = order[at];
            order[at] = order[at - 1];
            order[at - 1] = o;
        }
    }
    for (size_t i = 1; i < n; i++)
        place[i] = fmax(place[i], place[i - 1] + LINE);
    double over = n > 0 ? place[n - 1] - (f->top + f->height) : 0;
    for (size_t i = 0; i < n; i++) {
        pr_canvas_colour(canvas, pr_palette(order[i]), 1);
        pr_canvas_text(canvas, f->left + f->width + 10, place[i] - fmax(over, 0) + 4, 12, PR_LEFT,
                       true, panel->curves[order[i]].name);
    }
}

parsrec_status pr_curves_draw(const pr_curves *chart, const char *path, parsrec_error *err)
{
    pr_canvas *canvas;
    double height = TOP + BOTTOM + (double)chart->count * (PANEL + GAP);
    PR_TRY(pr_canvas_new(&canvas, path, WIDTH, height, err));
    pr_canvas_colour(canvas, ink, 1);
    pr_canvas_text(canvas, LEFT, 24, 15, PR_LEFT, true, chart->title);
    for (size_t p = 0; p < chart->count; p++) {
        frame f = {.left = LEFT,
                   .top = TOP + GAP + (double)p * (PANEL + GAP),
                   .width = WIDTH - LEFT - RIGHT,
                   .height = PANEL - GAP};
        measure(&f, &chart->panels[p]);
        draw_axes(canvas, &f, chart->panels[p].label, p + 1 == chart->count);
        for (size_t c = 0; c < chart->panels[p].count; c++)
            draw_curve(canvas, &f, &chart->panels[p].curves[c], pr_palette(c));
        draw_names(canvas, &f, &chart->panels[p]);
    }
    pr_canvas_colour(canvas, ink, 1);
    pr_canvas_text(canvas, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, height - 14, 12, PR_CENTRE, false,
                   chart->x_label);
    return pr_canvas_finish(canvas, err);
}
