/* ReLU and GELU. */
#ifndef PR_ACTIVATION_H
#define PR_ACTIVATION_H

#include "math/wide.h"

/* y = max(x, 0); y may be x. */
void pr_relu_forward(pr_real *y, const pr_real *x, size_t n);
/* dx += dy where y > 0. */
void pr_relu_backward(pr_real *dx, const pr_real *dy, const pr_real *y, size_t n);
/* The same in place: sets dx to 0 where x <= 0. x may be the input or the output of ReLU. */
void pr_relu_through(pr_real *dx, const pr_real *x, size_t n);

/* y = x · s(2a), where a = sqrt(2/π)·(x + 0.044715·x³) and s is the logistic function: the usual
 * tanh approximation. y may be x.                                        (docs/math.md, GELU) */
void pr_gelu_forward(pr_real *y, const pr_real *x, size_t n);
/* dx = dy · y'(x); dx may be dy. */
void pr_gelu_backward(pr_real *dx, const pr_real *dy, const pr_real *x, size_t n);

#endif
