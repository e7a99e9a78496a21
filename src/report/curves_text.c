/* Curves for a terminal: each character cell holds two by four braille dots. */
#include "report/curves.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { DOTS_X = 2, DOTS_Y = 4, MARGIN = 10 };

typedef struct grid {
    size_t columns, rows;
    double x_low, x_high, y_low, y_high;
    unsigned char *cells; /* dot pattern of each cell */
} grid;

static void set_dot(grid *g, size_t x, size_t y)
{
    static const unsigned char bits[DOTS_Y][DOTS_X] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    g->cells[y / DOTS_Y * g->columns + x / DOTS_X] |= bits[y % DOTS_Y][x % DOTS_X];
}

static double scaled(double v, double low, double high, size_t dots)
{
    return high > low ? (v - low) / (high - low) * (double)(dots - 1) : 0;
}

static void draw_segment(grid *g, double x0, double y0, double x1, double y1)
{
    double steps = fmax(1, ceil(fmax(fabs(x1 - x0), fabs(y1 - y0))));
    for (double i = 0; i <= steps; i++) {
        double x = x0 + (x1 - x0) * i / steps, y = y0 + (y1 - y0) * i / steps;
        set_dot(g, (size_t)lround(x), (size_t)lround(y));
    }
}

static void draw(grid *g, const pr_curve *curve)
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

static void measure(grid *g, const pr_panel *panel)
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

static char *append_cell(char *out, unsigned char dots)
{
    if (dots == 0) {
        *out++ = ' ';
        return out;
    }
    /* U+2800 plus the pattern, in UTF-8. */
    *out++ = (char)0xE2;
    *out++ = (char)(0xA0 | dots >> 6);
    *out++ = (char)(0x80 | (dots & 0x3F));
    return out;
}

static char *append_rows(char *out, const grid *g)
{
    for (size_t row = 0; row < g->rows; row++) {
        char label[32] = "";
        if (row == 0 || row + 1 == g->rows)
            snprintf(label, sizeof label, "%.4g", row == 0 ? g->y_high : g->y_low);
        out += sprintf(out, "%*s |", MARGIN - 2, label);
        for (size_t c = 0; c < g->columns; c++)
            out = append_cell(out, g->cells[row * g->columns + c]);
        while (out[-1] == ' ')
            out--;
        *out++ = '\n';
    }
    return out;
}

char *pr_curves_text(const pr_panel *panel, size_t columns, size_t rows)
{
    grid g = {.columns = columns > MARGIN + 8 ? columns - MARGIN : 8, .rows = rows > 2 ? rows : 2};
    measure(&g, panel);
    size_t legend = 64;
    for (size_t c = 0; c < panel->count; c++)
        legend += strlen(panel->curves[c].name) + 2;
    g.cells = pr_alloc_zero(g.columns * g.rows, 1);
    char *text = pr_alloc(g.rows * (g.columns * 3 + 48) + legend + strlen(panel->label), 1);
    if (g.cells != NULL && text != NULL) {
        for (size_t c = 0; g.y_low <= g.y_high && c < panel->count; c++)
            draw(&g, &panel->curves[c]);
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
