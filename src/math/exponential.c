/* The vector form of exp. */
#include "math/exponential.h"

PR_INLINE void exp_all_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = pr_exp(x[i]);
}
PR_LEVELS(void, pr_exp_all, exp_all_any, (pr_real * y, const pr_real *x, size_t n), (y, x, n))

PR_INLINE double exp_sum_any(const pr_real *x, pr_real top, size_t n)
{
    double sums[PR_LANES] = {0}, sum = 0;
    pr_real e[PR_LANES];
    size_t i = 0;
    for (; i + PR_LANES <= n; i += PR_LANES) {
        for (size_t j = 0; j < PR_LANES; j++)
            e[j] = pr_exp(x[i + j] - top);
        for (size_t j = 0; j < PR_LANES; j++)
            sums[j] += (double)e[j];
    }
    for (; i < n; i++)
        sum += (double)pr_exp(x[i] - top);
    for (size_t j = 0; j < PR_LANES; j++)
        sum += sums[j];
    return sum;
}
PR_LEVELS(double, pr_exp_sum, exp_sum_any, (const pr_real *x, pr_real top, size_t n), (x, top, n))
