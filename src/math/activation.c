/* ReLU and GELU, forward and backward. */
#include "math/activation.h"

#include "math/vecmath.h"

PR_INLINE void relu_forward_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i]; /* NaN stays NaN */
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

PR_INLINE void relu_through_any(pr_real *dx, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] = x[i] > 0 ? dx[i] : 0;
}
PR_LEVELS(void, pr_relu_through, relu_through_any, (pr_real * dx, const pr_real *x, size_t n),
          (dx, x, n))

/* s(2a), the logistic function of twice a. */
PR_INLINE pr_real gelu_share(pr_real x)
{
    const pr_real slope = (pr_real)0.7978845608028654, bend = (pr_real)0.044715;
    return 1 / (1 + pr_exp(-2 * slope * (x + bend * x * x * x)));
}

PR_INLINE void gelu_forward_any(pr_real *y, const pr_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * gelu_share(x[i]);
}
PR_LEVELS(void, pr_gelu_forward, gelu_forward_any, (pr_real * y, const pr_real *x, size_t n),
          (y, x, n))

PR_INLINE void gelu_backward_any(pr_real *dx, const pr_real *dy, const pr_real *x, size_t n)
{
    const pr_real slope = (pr_real)0.7978845608028654, bend = (pr_real)0.044715;
    for (size_t i = 0; i < n; i++) {
        pr_real s = gelu_share(x[i]);
        pr_real inner = 2 * slope * (1 + 3 * bend * x[i] * x[i]);
        dx[i] = dy[i] * (s + x[i] * s * (1 - s) * inner);
    }
}
PR_LEVELS(void, pr_gelu_backward, gelu_backward_any,
          (pr_real * dx, const pr_real *dy, const pr_real *x, size_t n), (dx, dy, x, n))
