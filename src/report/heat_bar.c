/* The colour bar of a heatmap, and marks that maps have too. */
#include <math.h>
#include <stdio.h>

#include "report/curves.h"
#include "report/heatmap_inside.h"

void pr_heat_hatch(pr_canvas *canvas, double x, double y, double side)
{
    static const pr_colour hatch = {.6, .64, .67};
    pr_canvas_colour(canvas, hatch, 1);
    pr_canvas_line(canvas, x + 1, y + side - 1, x + side - 1, y + 1, 0.8);
}

void pr_heat_frame(pr_canvas *canvas, double x, double y, double width, double height)
{
    const pr_point corners[] = {
        {x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}};
    pr_canvas_path(canvas, corners, 5, 0.8);
}

static double low_of(const pr_heat_scale *scale)
{
    return scale->diverging ? -scale->limit : 0;
}

static double bar_y(const pr_heat_layout *l, double number)
{
    double low = low_of(&l->scale), high = l->scale.limit;
    return l->bar_y + l->bar_h * (high - number) / (high - low);
}

static void draw_tick(pr_canvas *canvas, const pr_heat_layout *l, double number, bool cut)
{
    char text[64], whole[80];
    double y = bar_y(l, number), x = l->bar_x + PR_HEAT_BAR;
    pr_canvas_role(canvas, PR_QUIET, 1);
    pr_canvas_line(canvas, x, y, x + 3, y, 0.8);
    pr_canvas_role(canvas, PR_INK, 1);
    snprintf(whole, sizeof whole, "%s%s",
             !cut         ? ""
             : number < 0 ? "≤ "
                          : "≥ ",
             pr_heat_value(&l->scale, number, l->decimals, text, sizeof text));
    pr_canvas_text(canvas, x + 6, y + 3.6, PR_HEAT_TICK_SIZE, PR_LEFT, false, whole);
}

/* Keeps clear of both ends. */
static bool has_room(const pr_heat_layout *l, double number)
{
    enum { CLEAR = 14 };
    return bar_y(l, number) > bar_y(l, l->scale.limit) + CLEAR &&
           bar_y(l, number) < bar_y(l, low_of(&l->scale)) - CLEAR;
}

/* Round factors and one through them, from 1 outwards, as far as they keep clear of each other. */
static void draw_factors(pr_canvas *canvas, const pr_heat_layout *l)
{
    static const double factors[] = {1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
    double last = 0;
    if (has_room(l, 0))
        draw_tick(canvas, l, 0, false);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        double number = log(factors[i]);
        if (bar_y(l, last) - bar_y(l, number) < 14)
            continue;
        if (has_room(l, number))
            draw_tick(canvas, l, number, false);
        if (has_room(l, -number))
            draw_tick(canvas, l, -number, false);
        last = number;
    }
}

/* The ends, and round numbers between them that keep clear of these. */
static void draw_ticks(pr_canvas *canvas, const pr_heat_layout *l)
{
    double first, step, low = low_of(&l->scale), high = l->scale.limit;
    pr_ticks(low, high, 5, &first, &step);
    if (l->scale.unit == PR_HEAT_TIMES)
        draw_factors(canvas, l);
    else
        for (double v = first; v <= high; v += step)
            if (has_room(l, v))
                draw_tick(canvas, l, v, false);
    draw_tick(canvas, l, low, l->scale.cut && l->scale.diverging);
    draw_tick(canvas, l, high, l->scale.cut);
}

static void draw_colours(pr_canvas *canvas, const pr_heat_layout *l, const char *title)
{
    enum { STEPS = 128 };
    char name[PR_HEAT_NAME_BYTES];
    pr_colour colours[STEPS];
    double low = low_of(&l->scale), high = l->scale.limit;
    for (size_t i = 0; i < STEPS; i++)
        colours[i] = pr_heat_colour(&l->scale, high - (high - low) * ((double)i + .5) / STEPS);
    pr_canvas_field(canvas, l->bar_x, l->bar_y, PR_HEAT_BAR, l->bar_h, colours, STEPS, 1);
    pr_canvas_role(canvas, PR_QUIET, 1);
    pr_heat_frame(canvas, l->bar_x, l->bar_y, PR_HEAT_BAR, l->bar_h);
    draw_ticks(canvas, l);
    pr_canvas_role(canvas, PR_QUIET, 1);
    if (title != NULL)
        pr_canvas_text_upward(
            canvas, l->bar_end - 4, l->bar_y + l->bar_h / 2, PR_HEAT_SMALL, PR_CENTRE, false,
            pr_canvas_fitted(canvas, PR_HEAT_SMALL, false, l->bar_h, title, name, sizeof name));
}

static void draw_gap_legend(pr_canvas *canvas, const pr_heat_layout *l)
{
    double y = l->bar_y + l->bar_h + 16;
    pr_canvas_colour(canvas, pr_heat_colour(&l->scale, NAN), 1);
    pr_canvas_box(canvas, l->bar_x, y, PR_HEAT_BAR, PR_HEAT_BAR);
    if (l->boxes)
        pr_heat_hatch(canvas, l->bar_x, y, PR_HEAT_BAR);
    pr_canvas_role(canvas, PR_INK, 1);
    pr_canvas_text(canvas, l->bar_x + PR_HEAT_BAR + 6, y + 10.6, PR_HEAT_TICK_SIZE, PR_LEFT, false,
                   "no data");
}

void pr_heat_bar(pr_canvas *canvas, const pr_heat_layout *layout, const char *title)
{
    draw_colours(canvas, layout, title);
    if (layout->scale.gaps)
        draw_gap_legend(canvas, layout);
}
