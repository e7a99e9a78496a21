/* Linear maps and biases. */
#ifndef PR_LINEAR_H
#define PR_LINEAR_H

#include "math/wide.h"

/* y[B,O] = x[B,I] · w[O,I]ᵀ + b[O]                                        (docs/math.md, Linear) */
void pr_linear_forward(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b, size_t B,
                       size_t I, size_t O);
void pr_linear_forward_plain(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b,
                             size_t B, size_t I, size_t O);

/* Adds into dx[B,I], dw[O,I], db[O]; any of them may be NULL. x and w must be as in the forward
 * pass. */
void pr_linear_backward(pr_real *dx, pr_real *dw, pr_real *db, const pr_real *dy, const pr_real *x,
                        const pr_real *w, size_t B, size_t I, size_t O);

/* Sets every row of y[B,O] to b[O]. */
void pr_bias_spread(pr_real *y, const pr_real *b, size_t B, size_t O);
/* db[O] += the sum of the rows of dy[B,O]. */
void pr_bias_backward(pr_real *db, const pr_real *dy, size_t B, size_t O);
/* y[n] += x[n] */
void pr_add(pr_real *y, const pr_real *x, size_t n);

#endif
