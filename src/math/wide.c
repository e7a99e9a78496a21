/* exp over an array. */
#include "math/wide.h"

PR_INLINE void exp_all_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = pr_exp(x[i]);
}
PR_LEVELS(void, pr_exp_all, exp_all_any, (pr_real * y, const pr_real *x, size_t n), (y, x, n))
