/* Losses against sampled items: binary cross entropy, sampled softmax and pairwise. */
#include "math/sampled_loss.h"

#include "math/softmax_loss.h"
#include "math/wide.h"

/* ---- binary cross entropy, one row at a time ---- */

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

/* ---- sampled softmax and pairwise loss: every loop runs over adjacent rows ---- */

PR_INLINE void raise_top_any(pr_real *restrict top, const pr_real *restrict score, size_t N,
                             size_t B)
{
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            top[r] = score[n * B + r] > top[r] ? score[n * B + r] : top[r];
}
PR_LOCAL_LEVELS(void, raise_top, raise_top_any,
                (pr_real * top, const pr_real *score, size_t N, size_t B), (top, score, N, B))

void pr_drawn_top(pr_real *top, const pr_real *score, size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        top[r] = PR_BARRED;
    raise_top(top, score, N, B);
}

PR_INLINE void add_to_items_any(pr_real *restrict score, const pr_real *restrict more, size_t N,
                                size_t B)
{
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            score[n * B + r] += more[n];
}
PR_LOCAL_LEVELS(void, add_to_items, add_to_items_any,
                (pr_real * score, const pr_real *more, size_t N, size_t B), (score, more, N, B))

/* score = exp(score - top), sum[B] += the sum over items. */
PR_INLINE void exponentials_any(pr_real *restrict score, pr_real *restrict sum,
                                const pr_real *restrict top, size_t N, size_t B)
{
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real e = pr_exp(score[n * B + r] - top[r]);
            score[n * B + r] = e;
            sum[r] += e;
        }
}
PR_LOCAL_LEVELS(void, exponentials, exponentials_any,
                (pr_real * score, pr_real *sum, const pr_real *top, size_t N, size_t B),
                (score, sum, top, N, B))

PR_INLINE void scale_rows_any(pr_real *restrict score, const pr_real *restrict by, size_t N,
                              size_t B)
{
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            score[n * B + r] *= by[r];
}
PR_LEVELS(void, pr_drawn_scale, scale_rows_any,
          (pr_real * score, const pr_real *by, size_t N, size_t B), (score, by, N, B))

void pr_drawn_exponentials(pr_real *score, pr_real *top, pr_real *sum, const pr_real *more,
                           size_t N, size_t B)
{
    add_to_items(score, more, N, B);
    raise_top(top, score, N, B);
    memset(sum, 0, B * sizeof *sum);
    exponentials(score, sum, top, N, B);
}

/* Largest x whose exponential is computed; beyond it log(1 + exp(x)) is x. */
#define MOST ((pr_real)80)

/* With x = score - t: score = exp(x) for x up to MOST, 0 for barred items. count[B] = the number of
 * items that are not barred; loss[B] = the sum of x beyond MOST. */
PR_INLINE void odds_any(pr_real *restrict score, pr_real *restrict loss, pr_real *restrict count,
                        const pr_real *restrict t, const pr_real *restrict times, size_t N,
                        size_t B)
{
    memset(loss, 0, B * sizeof *loss);
    memset(count, 0, B * sizeof *count);
    for (size_t n = 0; n < N; n++) {
        pr_real each = times[n];
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r] - t[r], beyond = x > MOST ? x - MOST : 0;
            count[r] += score[n * B + r] > PR_BARRED ? each : 0;
            loss[r] += each * beyond;
            score[n * B + r] = pr_exp(x - beyond);
        }
    }
}
PR_LOCAL_LEVELS(void, odds, odds_any,
                (pr_real * score, pr_real *loss, pr_real *count, const pr_real *t,
                 const pr_real *times, size_t N, size_t B),
                (score, loss, count, t, times, N, B))

/* Adds the sum of log(1 + odds) to loss[B]; score, the odds, becomes the gradient. */
PR_INLINE void pairs_any(pr_real *restrict score, pr_real *restrict loss,
                         const pr_real *restrict times, size_t N, size_t B)
{
    for (size_t n = 0; n < N; n++) {
        pr_real each = times[n];
        for (size_t r = 0; r < B; r++) {
            pr_real all = 1 + score[n * B + r];
            loss[r] += each * pr_ln(all);
            score[n * B + r] *= each / all;
        }
    }
}
PR_LOCAL_LEVELS(void, pairs, pairs_any,
                (pr_real * score, pr_real *loss, const pr_real *times, size_t N, size_t B),
                (score, loss, times, N, B))

/* t[B] = minus the sum of each row. */
PR_INLINE void minus_sums_any(pr_real *restrict t, const pr_real *restrict score, size_t N,
                              size_t B)
{
    memset(t, 0, B * sizeof *t);
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            t[r] -= score[n * B + r];
}
PR_LOCAL_LEVELS(void, minus_sums, minus_sums_any,
                (pr_real * t, const pr_real *score, size_t N, size_t B), (t, score, N, B))

double pr_pairwise_gradient(pr_real *score, pr_real *t, pr_real *work, const pr_real *times,
                            pr_real factor, size_t N, size_t B)
{
    pr_real *sum = work, *count = work + B;
    double loss = 0;
    odds(score, sum, count, t, times, N, B);
    pairs(score, sum, times, N, B);
    for (size_t r = 0; r < B; r++) {
        pr_real many = count[r] > 0 ? count[r] : 1; /* all items may be barred */
        loss += (double)(sum[r] / many);
        count[r] = factor / many;
    }
    pr_drawn_scale(score, count, N, B);
    minus_sums(t, score, N, B);
    return loss;
}
