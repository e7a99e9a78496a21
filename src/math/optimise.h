/* Parameter updates and the gradient norm, as loops over ranges of the parameter block. */
#ifndef PR_OPTIMISE_H
#define PR_OPTIMISE_H

#include "math/wide.h"

typedef struct pr_adam {
    double rate, beta1, beta2, eps;
    uint64_t step; /* 1 at the first update */
    double decay;  /* decoupled weight decay: w is first multiplied by 1 - rate · decay */
} pr_adam;

/* w -= rate · (m / c1) / (sqrt(v / c2) + eps), c = 1 - beta^step     (docs/math.md, Optimisers)
 * `clip` multiplies the gradient first. */
void pr_adam_update(pr_real *w, pr_real *m, pr_real *v, const pr_real *g, const pr_adam *adam,
                    pr_real clip, size_t n);
/* For embedding rows that have a gradient. The moments of other rows stay as they are, and eps is
 * added to sqrt(v) before the bias correction. */
void pr_adam_update_row(pr_real *w, pr_real *m, pr_real *v, const pr_real *g, const pr_adam *adam,
                        pr_real clip, size_t n);
/* The same for rows ids[n] of a table of `rows` rows and D columns; row i of g is that of ids[i]. Ids
 * beyond the table are left out. */
void pr_adam_update_rows(pr_real *w, pr_real *m, pr_real *v, const pr_real *g, const int32_t *ids,
                         const pr_adam *adam, pr_real clip, size_t n, size_t rows, size_t D);
/* w -= rate · clip · g */
void pr_sgd_update(pr_real *w, const pr_real *g, pr_real rate, pr_real clip, size_t n);
/* w *= (1 - rate · decay)^steps: the decay of `steps` updates at once. */
void pr_adam_decay(pr_real *w, const pr_adam *adam, uint64_t steps, size_t n);

/* Sum of squares; finite if all numbers are. */
double pr_sum_squares(const pr_real *x, size_t n);
/* The factor that brings the gradient norm down to at most `limit`; a limit of 0 or less never
 * clips. */
pr_real pr_clip_factor(double sum_squares, double limit);

#endif
