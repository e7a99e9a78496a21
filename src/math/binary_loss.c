/* Binary cross entropy with its gradients, a row at a time. */
#include "math/binary_loss.h"

/* log(1 + exp(s)) without overflow. */
static double soft_plus(double s)
{
    return (s > 0 ? s : 0) + log1p(exp(s > 0 ? -s : s));
}

static pr_real logistic(pr_real s)
{
    return (pr_real)(1 / (1 + exp(-(double)s)));
}

PR_INLINE double binary_gradient_any(pr_real *do_, pr_real *dtable, const pr_real *o,
                                     const pr_real *table, const int32_t *ids, pr_real factor,
                                     size_t B, size_t N, size_t D)
{
    double loss = 0;
    memset(do_, 0, B * D * sizeof *do_);
    for (size_t r = 0; r < B; r++)
        for (size_t i = 0; i < N; i++) {
            size_t at = (size_t)ids[r * N + i] * D;
            pr_real s = pr_dot(o + r * D, table + at, D);
            pr_real d = factor * (i == 0 ? -logistic(-s) : logistic(s));
            loss += soft_plus(i == 0 ? -(double)s : (double)s);
            pr_add_scaled(do_ + r * D, table + at, d, D);
            pr_add_scaled(dtable + at, o + r * D, d, D);
        }
    return loss;
}
PR_LEVELS(double, pr_binary_gradient, binary_gradient_any,
          (pr_real * do_, pr_real *dtable, const pr_real *o, const pr_real *table,
           const int32_t *ids, pr_real factor, size_t B, size_t N, size_t D),
          (do_, dtable, o, table, ids, factor, B, N, D))
