/* Layer norm, one row at a time while the row is in the L1 cache. */
#include "math/layer_norm.h"

PR_INLINE void layer_norm_forward_any(pr_real *y, pr_real *unit, pr_real *rate, const pr_real *x,
                                      const pr_real *gain, const pr_real *shift, pr_real eps,
                                      size_t B, size_t D)
{
    for (size_t r = 0; r < B; r++) {
        const pr_real *in = x + r * D;
        pr_real *u = unit + r * D, *out = y + r * D;
        pr_real mean = pr_sum(in, D) / (pr_real)D;
        for (size_t i = 0; i < D; i++)
            u[i] = in[i] - mean;
        pr_real s = 1 / pr_sqrt(pr_dot(u, u, D) / (pr_real)D + eps);
        for (size_t i = 0; i < D; i++) {
            u[i] *= s;
            out[i] = gain[i] * u[i] + shift[i];
        }
        rate[r] = s;
    }
}
PR_LEVELS(void, pr_layer_norm_forward, layer_norm_forward_any,
          (pr_real * y, pr_real *unit, pr_real *rate, const pr_real *x, const pr_real *gain,
           const pr_real *shift, pr_real eps, size_t B, size_t D),
          (y, unit, rate, x, gain, shift, eps, B, D))

PR_INLINE void layer_norm_backward_any(pr_real *dx, pr_real *dgain, pr_real *dshift,
                                       const pr_real *dy, const pr_real *unit, const pr_real *rate,
                                       const pr_real *gain, size_t B, size_t D)
{
    for (size_t r = 0; r < B; r++) {
        const pr_real *u = unit + r * D, *din = dy + r * D;
        pr_real *out = dx + r * D;
        for (size_t i = 0; i < D; i++) {
            dgain[i] += din[i] * u[i];
            dshift[i] += din[i];
            out[i] = din[i] * gain[i];
        }
        pr_real mean = pr_sum(out, D) / (pr_real)D;
        pr_real along = pr_dot(out, u, D) / (pr_real)D;
        for (size_t i = 0; i < D; i++)
            out[i] = rate[r] * (out[i] - mean - u[i] * along);
    }
}
PR_LEVELS(void, pr_layer_norm_backward, layer_norm_backward_any,
          (pr_real * dx, pr_real *dgain, pr_real *dshift, const pr_real *dy, const pr_real *unit,
           const pr_real *rate, const pr_real *gain, size_t B, size_t D),
          (dx, dgain, dshift, dy, unit, rate, gain, B, D))
