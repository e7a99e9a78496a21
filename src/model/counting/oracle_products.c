/* Which product of a category: the largest of independent normals with variance 1. */
#include <float.h>

#include "model/counting/oracle_inside.h"

/* The largest of all lies within these of the largest mean, but for a chance of 1e-9. */
#define BELOW 6.0
#define ABOVE 8.0
#define STEP  0.25

/* P_j = integral over x of phi(x - b_j) prod_{k != j} Phi(x - b_k), by the trapezoidal rule, which is
 * as good as exact for functions that are smooth and vanish at both ends. */
void pr_argmax_chances(pr_real *log_chance, const float *base, size_t n, double *work)
{
    double *chance = work, *ratio = work + n, top = -DBL_MAX;
    for (size_t j = 0; j < n; j++) {
        top = base[j] > top ? base[j] : top;
        chance[j] = 0;
    }
    /* By number of steps: where a mean is so large that a step does not change it, x stays. */
    for (int step = 0; step <= (int)((BELOW + ABOVE) / STEP); step++) {
        double x = top - BELOW + step * STEP, all = STEP / sqrt(2 * M_PI);
        for (size_t j = 0; j < n; j++) {
            double z = x - base[j], below = z < BELOW ? erfc(-z * M_SQRT1_2) / 2 : 1;
            all *= below;
            ratio[j] = exp(-z * z / 2) / below;
        }
        for (size_t j = 0; j < n; j++)
            chance[j] += all * ratio[j];
    }
    for (size_t j = 0; j < n; j++)
        log_chance[j] = (pr_real)log(chance[j] > DBL_MIN ? chance[j] : DBL_MIN);
}
