/* Numbers to the colours of a heatmap: blue below zero, orange to brown above, nearly white at zero.
 * The two sides differ in blue and yellow, which colour-blind readers tell apart, and both grow darker
 * away from zero, so that a grey print still shows how strong a cell is. */
#ifndef PR_HEAT_SCALE_H
#define PR_HEAT_SCALE_H

#include <stddef.h>

#include "report/canvas.h"

/* How numbers are shown: as they are, as factors of which they are the logarithms ("×2.1"), or as percentages of
 * 1 ("12 %"). */
typedef enum pr_heat_unit { PR_HEAT_PLAIN, PR_HEAT_TIMES, PR_HEAT_PERCENT } pr_heat_unit;

typedef struct pr_heat_scale {
    double limit;   /* the number with the strongest colour; above 0 */
    bool diverging; /* from -limit; else from 0, when no number is below it */
    bool cut;       /* some numbers lie beyond the limit and get the colour of its end */
    bool gaps;      /* some are not known */
    pr_heat_unit unit;
} pr_heat_scale;

/* Begins zeroed, takes in numbers, then is settled: on the limit that is given, or with 0 on the largest
 * number seen. */
void pr_heat_scale_see(pr_heat_scale *scale, const double *numbers, size_t count);
void pr_heat_scale_settle(pr_heat_scale *scale, double limit);

pr_colour pr_heat_colour(const pr_heat_scale *scale, double number); /* NaN: quiet grey */
/* What can be read on top of it: nearly black or white. */
pr_colour pr_heat_ink(pr_colour background);

/* Digits after the point with which the numbers of this scale are told apart. */
int pr_heat_decimals(const pr_heat_scale *scale);
/* A number with so many of them and a true minus sign, in buffer. Returns buffer. */
char *pr_heat_text(double number, int decimals, char *buffer, size_t size);
/* A number as the unit of the scale shows it, in buffer. Returns buffer. */
char *pr_heat_value(const pr_heat_scale *scale, double number, int decimals, char *buffer,
                    size_t size);

#endif
