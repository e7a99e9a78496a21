/* Layer norm over the columns of each row. */
#ifndef PR_LAYER_NORM_H
#define PR_LAYER_NORM_H

#include "math/wide.h"

/* y[B,D] = gain · (x - mean) / sqrt(variance + eps) + shift          (docs/math.md, Layer norm)
 * Keeps unit[B,D] (before gain and shift) and rate[B] = 1/sqrt(variance + eps) for backward. */
void pr_layer_norm_forward(pr_real *y, pr_real *unit, pr_real *rate, const pr_real *x,
                           const pr_real *gain, const pr_real *shift, pr_real eps, size_t B,
                           size_t D);
/* Sets dx[B,D]; adds into dgain[D], dshift[D]. dx may be dy. */
void pr_layer_norm_backward(pr_real *dx, pr_real *dgain, pr_real *dshift, const pr_real *dy,
                            const pr_real *unit, const pr_real *rate, const pr_real *gain, size_t B,
                            size_t D);

#endif
