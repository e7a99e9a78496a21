/* The sum under a softmax, for answers: compiled with contraction on, as the products in panels are (docs/adr/0009). */
#include "math/exponential.h"

/* Few enough numbers of one sign for a sum in single precision to be as good as they are. */
enum { BLOCK = 16 * PR_LANES };

PR_INLINE double exp_sum_any(const pr_real *x, pr_real top, size_t n)
{
    double sum = 0;
    size_t i = 0;
    for (size_t end; i + PR_LANES <= n; i = end) {
        pr_real sums[PR_LANES] = {0};
        end = n - i < BLOCK ? i + (n - i) / PR_LANES * PR_LANES : i + BLOCK;
        for (; i < end; i += PR_LANES)
            for (size_t j = 0; j < PR_LANES; j++)
                sums[j] += pr_exp(x[i + j] - top);
        sum += (double)pr_sum(sums, PR_LANES);
    }
    for (; i < n; i++)
        sum += (double)pr_exp(x[i] - top);
    return sum;
}
PR_LEVELS(double, pr_exp_sum, exp_sum_any, (const pr_real *x, pr_real top, size_t n), (x, top, n))
