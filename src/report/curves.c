/* Line charts with axes, ticks and a name at the end of each curve. */
#include "report/charts.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/canvas.h"

/* On a page the picture is narrower, so that its words stay readable on a phone. */
enum {
    WIDTH = 640,
    PAGE_WIDTH = 480,
    PANEL = 240,
    LEFT = 64,
    RIGHT = 130,
    TOP = 44,
    GAP = 26,
    BOTTOM = 46
};

void pr_ticks(double low, double high, int wanted, double *first, double *step)
{
    assert(high > low && wanted > 0);
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

/* A range that is never empty, with a margin above and below. Ends that differ by rounding alone are one: between
 * them a tick and the next could be the same number. */
static void settle(double *low, double *high, double air)
{
    if (*low > *high) {
        *low = 0;
        *high = 1;
    }
    double margin = (*high - *low) * air;
    if (*high - *low < 1e-12 * fmax(1, fmax(fabs(*low), fabs(*high))))
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

static size_t colour_of(const pr_panel *panel, size_t curve)
{
    return panel->colours != NULL ? panel->colours[curve] : curve;
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
        pr_canvas_role(canvas, PR_QUIET, 0.35);
        pr_canvas_line(canvas, f->left, y_at(f, y), f->left + f->width, y_at(f, y), 0.6);
        pr_canvas_role(canvas, PR_INK, 1);
        snprintf(text, sizeof text, "%.4g", fabs(y) < step * 1e-6 ? 0 : y);
        pr_canvas_text(canvas, f->left - 8, y_at(f, y) + 4, 11, PR_RIGHT, false, text);
    }
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, f->left, f->top - 8, 12, PR_LEFT, true, label);
    pr_canvas_line(canvas, f->left, f->top + f->height, f->left + f->width, f->top + f->height, 1);
    pr_ticks(f->x_low, f->x_high, 8, &first, &step);
    bool whole = f->x_low == floor(f->x_low) && f->x_high == floor(f->x_high);
    if (step < 1 && whole) { /* few epochs: no halves of them */
        step = 1;
        first = ceil(f->x_low);
    }
    for (double x = first; x <= f->x_high + step * 1e-9; x += step) {
        pr_canvas_line(canvas, x_at(f, x), f->top + f->height, x_at(f, x), f->top + f->height + 4,
                       1);
        snprintf(text, sizeof text, "%.6g", x);
        if (with_x)
            pr_canvas_text(canvas, x_at(f, x), f->top + f->height + 17, 11, PR_CENTRE, false, text);
    }
}

/* A stretch of a curve without a gap. */
static void draw_stretch(pr_canvas *canvas, const frame *f, const double *x, const double *y,
                         size_t count)
{
    enum { AT_ONCE = 256 };
    pr_point points[AT_ONCE];
    for (size_t first = 0; first < count; first += AT_ONCE - 1) { /* pieces share an end */
        size_t n = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (size_t i = 0; i < n; i++)
            points[i] = (pr_point){x_at(f, x[first + i]), y_at(f, y[first + i])};
        pr_canvas_path(canvas, points, n, 1.8);
    }
}

static void draw_curve(pr_canvas *canvas, const frame *f, const pr_curve *curve, size_t colour)
{
    pr_canvas_role(canvas, PR_SERIES + colour, 1);
    for (size_t i = 0, end; i < curve->count; i = end + 1) {
        for (end = i; end < curve->count && isfinite(curve->y[end]);)
            end++;
        draw_stretch(canvas, f, curve->x + i, curve->y + i, end - i);
    }
    for (size_t i = 0; i < curve->count && curve->count <= 60; i++)
        if (isfinite(curve->y[i]))
            pr_canvas_dot(canvas, x_at(f, curve->x[i]), y_at(f, curve->y[i]), 2.2);
}

/* Names are where their curves end, moved apart so that none covers another. */
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
        char name[64];
        double x = f->left + f->width + 12, y = place[i] - fmax(over, 0);
        pr_canvas_role(canvas, PR_SERIES + colour_of(panel, order[i]), 1);
        pr_canvas_dot(canvas, x, y, 4);
        pr_canvas_role(canvas, PR_INK, 1);
        pr_canvas_text(canvas, x + 8, y + 4, 12, PR_LEFT, false,
                       pr_canvas_fitted(canvas, 12, false, RIGHT - 24, panel->curves[order[i]].name,
                                        name, sizeof name));
    }
}

static double height_of(const pr_curves *chart)
{
    return TOP + BOTTOM + (double)chart->count * (PANEL + GAP);
}

static void draw(pr_canvas *canvas, const pr_curves *chart, double width)
{
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, LEFT, 24, 15, PR_LEFT, true, chart->title);
    for (size_t p = 0; p < chart->count; p++) {
        frame f = {.left = LEFT,
                   .top = TOP + GAP + (double)p * (PANEL + GAP),
                   .width = width - LEFT - RIGHT,
                   .height = PANEL - GAP};
        measure(&f, &chart->panels[p]);
        draw_axes(canvas, &f, chart->panels[p].label, p + 1 == chart->count);
        for (size_t c = 0; c < chart->panels[p].count; c++)
            draw_curve(canvas, &f, &chart->panels[p].curves[c], colour_of(&chart->panels[p], c));
        draw_names(canvas, &f, &chart->panels[p]);
    }
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, LEFT + (width - LEFT - RIGHT) / 2, height_of(chart) - 14, 12, PR_CENTRE,
                   false, chart->x_label);
}

parsrec_status pr_curves_draw(const pr_curves *chart, const char *path, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_new(&canvas, path, WIDTH, height_of(chart), err));
    draw(canvas, chart, WIDTH);
    return pr_canvas_finish(canvas, err);
}

parsrec_status pr_curves_inline(const pr_curves *chart, pr_writer *page, parsrec_error *err)
{
    pr_canvas *canvas;
    PR_TRY(pr_canvas_inline(&canvas, page, chart->title, PAGE_WIDTH, height_of(chart), err));
    draw(canvas, chart, PAGE_WIDTH);
    return pr_canvas_finish(canvas, err);
}

/* ---- for a terminal: each character cell holds two by four braille dots ---- */

enum { DOTS_X = 2, DOTS_Y = 4, MARGIN = 10 };

typedef struct grid {
    size_t columns, rows;
    double x_low, x_high, y_low, y_high;
    unsigned char *cells; /* dot pattern of each cell */
} grid;

static double scaled(double v, double low, double high, size_t dots)
{
    return high > low ? (v - low) / (high - low) * (double)(dots - 1) : 0;
}

static void draw_segment(grid *g, double x0, double y0, double x1, double y1)
{
    static const unsigned char bits[DOTS_Y][DOTS_X] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    double steps = fmax(1, ceil(fmax(fabs(x1 - x0), fabs(y1 - y0))));
    for (double i = 0; i <= steps; i++) {
        size_t x = (size_t)lround(x0 + (x1 - x0) * i / steps);
        size_t y = (size_t)lround(y0 + (y1 - y0) * i / steps);
        g->cells[y / DOTS_Y * g->columns + x / DOTS_X] |= bits[y % DOTS_Y][x % DOTS_X];
    }
}

static void draw_dots(grid *g, const pr_curve *curve)
{
    size_t wide = g->columns * DOTS_X, high = g->rows * DOTS_Y;
    double last_x = NAN, last_y = NAN;
    for (size_t i = 0; i < curve->count; i++) {
        double x = scaled(curve->x[i], g->x_low, g->x_high, wide);
        double y = (double)(high - 1) - scaled(curve->y[i], g->y_low, g->y_high, high);
        if (isfinite(y))
            draw_segment(g, isfinite(last_y) ? last_x : x, isfinite(last_y) ? last_y : y, x, y);
        last_x = x;
        last_y = y;
    }
}

static void measure_grid(grid *g, const pr_panel *panel)
{
    g->x_low = g->y_low = HUGE_VAL;
    g->x_high = g->y_high = -HUGE_VAL;
    for (size_t c = 0; c < panel->count; c++) {
        for (size_t i = 0; i < panel->curves[c].count; i++) {
            g->x_low = fmin(g->x_low, panel->curves[c].x[i]);
            g->x_high = fmax(g->x_high, panel->curves[c].x[i]);
            if (!isfinite(panel->curves[c].y[i]))
                continue;
            g->y_low = fmin(g->y_low, panel->curves[c].y[i]);
            g->y_high = fmax(g->y_high, panel->curves[c].y[i]);
        }
    }
}

static char *append_rows(char *out, const grid *g)
{
    for (size_t row = 0; row < g->rows; row++) {
        char label[32] = "";
        if (row == 0 || row + 1 == g->rows)
            snprintf(label, sizeof label, "%.4g", row == 0 ? g->y_high : g->y_low);
        out += sprintf(out, "%*s |", MARGIN - 2, label);
        for (size_t c = 0; c < g->columns; c++) {
            unsigned char dots = g->cells[row * g->columns + c];
            if (dots == 0) {
                *out++ = ' ';
                continue;
            }
            *out++ = (char)0xE2; /* U+2800 plus the pattern, in UTF-8 */
            *out++ = (char)(0xA0 | dots >> 6);
            *out++ = (char)(0x80 | (dots & 0x3F));
        }
        while (out[-1] == ' ')
            out--;
        *out++ = '\n';
    }
    return out;
}

char *pr_curves_text(const pr_panel *panel, size_t columns, size_t rows)
{
    grid g = {.columns = columns > MARGIN + 8 ? columns - MARGIN : 8, .rows = rows > 2 ? rows : 2};
    measure_grid(&g, panel);
    size_t legend = 64;
    for (size_t c = 0; c < panel->count; c++)
        legend += strlen(panel->curves[c].name) + 2;
    g.cells = pr_alloc_zero(g.columns * g.rows, 1);
    char *text = pr_alloc(g.rows * (g.columns * 3 + 48) + legend + strlen(panel->label), 1);
    if (g.cells != NULL && text != NULL) {
        for (size_t c = 0; g.y_low <= g.y_high && c < panel->count; c++)
            draw_dots(&g, &panel->curves[c]);
        char *out = append_rows(text, &g);
        out += sprintf(out, "%*s %s:", MARGIN - 1, "", panel->label);
        for (size_t c = 0; c < panel->count; c++)
            out += sprintf(out, "%s %s", c > 0 ? "," : "", panel->curves[c].name);
        strcpy(out, "\n");
    } else {
        pr_free(text);
        text = NULL;
    }
    pr_free(g.cells);
    return text;
}

/* ---- learning curves: epochs become columns, columns curves ---- */

enum { MEASURES = 3 };

/* The columns of all epochs, so that each can be a curve. */
typedef struct columns {
    double *block, *number, *loss, *measure[MEASURES];
    pr_curve losses[1], measures[MEASURES];
    pr_panel panels[2];
} columns;

static const char *const measure_names[MEASURES] = {"HR@10", "NDCG@10", "Sess-Prec@10"};

static parsrec_status make_columns(columns *c, const parsrec_epoch *epochs, size_t count,
                                   parsrec_error *err)
{
    c->block = pr_alloc(count * (2 + MEASURES), sizeof *c->block);
    if (c->block == NULL)
        return pr_fail_memory(err);
    c->number = c->block;
    c->loss = c->block + count;
    c->losses[0] = (pr_curve){"training", c->number, c->loss, count};
    for (size_t m = 0; m < MEASURES; m++) {
        c->measure[m] = c->block + (2 + m) * count;
        c->measures[m] = (pr_curve){measure_names[m], c->number, c->measure[m], count};
    }
    for (size_t i = 0; i < count; i++) {
        c->number[i] = epochs[i].number;
        c->loss[i] = epochs[i].loss;
        c->measure[0][i] = epochs[i].hit_rate_10;
        c->measure[1][i] = epochs[i].ndcg_10;
        c->measure[2][i] = epochs[i].session_precision_10;
    }
    c->panels[0] = (pr_panel){"loss of a predicted item", c->losses, 1, NULL};
    c->panels[1] = (pr_panel){"validation", c->measures, MEASURES, NULL};
    return PARSREC_OK;
}

parsrec_status parsrec_curves_text(char **out, const parsrec_epoch *epochs, size_t count,
                                   size_t columns_wide, parsrec_error *err)
{
    if (out == NULL || (epochs == NULL && count > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_curves_text needs out and epochs");
    columns c;
    *out = NULL;
    PR_TRY(make_columns(&c, epochs, count, err));
    *out = pr_curves_text(&c.panels[1], columns_wide, 10);
    pr_free(c.block);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

parsrec_status pr_learning_curves(const parsrec_epoch *epochs, size_t count, const char *png,
                                  const char *svg, parsrec_error *err)
{
    columns c;
    PR_TRY(make_columns(&c, epochs, count, err));
    pr_curves chart = {"Learning curves", "epoch", c.panels, 2};
    parsrec_status status = pr_curves_draw(&chart, png, err);
    if (status == PARSREC_OK)
        status = pr_curves_draw(&chart, svg, err);
    pr_free(c.block);
    return status;
}
