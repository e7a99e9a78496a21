/* Adam for dense parameters and for rows with a gradient, SGD, and gradient clipping. */
#include "math/optimise.h"

typedef struct rates {
    pr_real keep1, add1, keep2, add2; /* of the two moments */
    pr_real keep;                     /* of the weight */
    pr_real step, spread, eps;        /* w -= step · m / (sqrt(v) · spread + eps) */
} rates;

/* The factors of the moments and the step, rounded once from double. */
static rates rates_of(const pr_adam *a, bool eps_first)
{
    double c1 = 1 - pow(a->beta1, (double)a->step), c2 = 1 - pow(a->beta2, (double)a->step);
    rates r = {(pr_real)a->beta1,
               (pr_real)(1 - a->beta1),
               (pr_real)a->beta2,
               (pr_real)(1 - a->beta2),
               (pr_real)(1 - a->rate * a->decay),
               (pr_real)(a->rate / c1),
               (pr_real)(1 / sqrt(c2)),
               (pr_real)a->eps};
    if (eps_first) {
        r.step = (pr_real)(a->rate * sqrt(c2) / c1);
        r.spread = 1;
    }
    return r;
}

PR_INLINE void update(pr_real *restrict w, pr_real *restrict m, pr_real *restrict v,
                      const pr_real *restrict g, rates r, pr_real clip, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pr_real d = clip * g[i];
        m[i] = r.keep1 * m[i] + r.add1 * d;
        v[i] = r.keep2 * v[i] + r.add2 * d * d;
        w[i] = r.keep * w[i] - r.step * m[i] / (pr_sqrt(v[i]) * r.spread + r.eps);
    }
}

PR_INLINE void adam_update_any(pr_real *w, pr_real *m, pr_real *v, const pr_real *g,
                               const pr_adam *adam, pr_real clip, size_t n)
{
    update(w, m, v, g, rates_of(adam, false), clip, n);
}
PR_LEVELS(void, pr_adam_update, adam_update_any,
          (pr_real * w, pr_real *m, pr_real *v, const pr_real *g, const pr_adam *adam, pr_real clip,
           size_t n),
          (w, m, v, g, adam, clip, n))

PR_INLINE void adam_update_row_any(pr_real *w, pr_real *m, pr_real *v, const pr_real *g,
                                   const pr_adam *adam, pr_real clip, size_t n)
{
    update(w, m, v, g, rates_of(adam, true), clip, n);
}
PR_LEVELS(void, pr_adam_update_row, adam_update_row_any,
          (pr_real * w, pr_real *m, pr_real *v, const pr_real *g, const pr_adam *adam, pr_real clip,
           size_t n),
          (w, m, v, g, adam, clip, n))

PR_INLINE void adam_update_rows_any(pr_real *w, pr_real *m, pr_real *v, const pr_real *g,
                                    const int32_t *ids, const pr_adam *adam, pr_real clip, size_t n,
                                    size_t rows, size_t D)
{
    rates r = rates_of(adam, true);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)ids[i] * D;
        if ((size_t)ids[i] < rows)
            update(w + at, m + at, v + at, g + i * D, r, clip, D);
    }
}
PR_LEVELS(void, pr_adam_update_rows, adam_update_rows_any,
          (pr_real * w, pr_real *m, pr_real *v, const pr_real *g, const int32_t *ids,
           const pr_adam *adam, pr_real clip, size_t n, size_t rows, size_t D),
          (w, m, v, g, ids, adam, clip, n, rows, D))

PR_INLINE void scale_any(pr_real *w, pr_real by, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] *= by;
}
PR_LOCAL_LEVELS(void, scale, scale_any, (pr_real * w, pr_real by, size_t n), (w, by, n))

void pr_adam_decay(pr_real *w, const pr_adam *adam, uint64_t steps, size_t n)
{
    scale(w, (pr_real)pow(1 - adam->rate * adam->decay, (double)steps), n);
}

PR_INLINE void sgd_update_any(pr_real *w, const pr_real *g, pr_real rate, pr_real clip, size_t n)
{
    pr_add_scaled(w, g, -rate * clip, n);
}
PR_LEVELS(void, pr_sgd_update, sgd_update_any,
          (pr_real * w, const pr_real *g, pr_real rate, pr_real clip, size_t n),
          (w, g, rate, clip, n))

PR_INLINE double sum_squares_any(const pr_real *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i += 1024)
        sum += (double)pr_dot(x + i, x + i, n - i < 1024 ? n - i : 1024);
    return sum;
}
PR_LEVELS(double, pr_sum_squares, sum_squares_any, (const pr_real *x, size_t n), (x, n))

pr_real pr_clip_factor(double sum_squares, double limit)
{
    double norm = sqrt(sum_squares);
    return limit > 0 && norm > limit ? (pr_real)(limit / (norm + 1e-6)) : 1;
}
