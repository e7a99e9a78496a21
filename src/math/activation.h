/* ReLU. */
#ifndef PR_ACTIVATION_H
#define PR_ACTIVATION_H

#include "math/wide.h"

/* y = max(x, 0); y may be x. */
void pr_relu_forward(pr_real *y, const pr_real *x, size_t n);
/* dx += dy where y > 0. */
void pr_relu_backward(pr_real *dx, const pr_real *dy, const pr_real *y, size_t n);

#endif
