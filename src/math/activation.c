/* ReLU, forward and backward. */
#include "math/activation.h"

PR_INLINE void relu_forward_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i]; /* NaN passes */
}
PR_LEVELS(void, pr_relu_forward, relu_forward_any, (pr_real * y, const pr_real *x, size_t n),
          (y, x, n))

PR_INLINE void relu_backward_any(pr_real *dx, const pr_real *dy, const pr_real *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] += y[i] > 0 ? dy[i] : 0;
}
PR_LEVELS(void, pr_relu_backward, relu_backward_any,
          (pr_real * dx, const pr_real *dy, const pr_real *y, size_t n), (dx, dy, y, n))
