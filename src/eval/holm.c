/* Several tests at once. */
#include <math.h>

#include "eval/significance.h"

/* How many tests have a smaller p than that. */
static size_t count_smaller(const double *p, size_t count, double than)
{
    size_t smaller = 0;
    for (size_t i = 0; i < count; i++)
        smaller += p[i] < than;
    return smaller;
}

/* The smallest p counts for all tests, the next for one fewer, and so on; a corrected p is never below
 * one before it. Comparisons with NaN are false, so that those count nowhere. */
void pr_holm(double *corrected, const double *p, size_t count)
{
    size_t tests = count_smaller(p, count, INFINITY);
    for (size_t i = 0; i < count; i++) {
        corrected[i] = p[i];
        for (size_t other = 0; !isnan(p[i]) && other < count; other++)
            if (p[other] <= p[i])
                corrected[i] =
                    fmin(1, fmax(corrected[i],
                                 p[other] * (double)(tests - count_smaller(p, count, p[other]))));
    }
}
