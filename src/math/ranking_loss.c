/* Two passes: the sums of a row with its loss, then the gradients. */
#include "math/ranking_loss.h"

#include "math/sampled_loss.h"
#include "math/softmax_loss.h"

PR_INLINE pr_real logistic(pr_real x)
{
    pr_real e = pr_exp(x < 0 ? x : -x);
    return (x < 0 ? e : 1) / (1 + e);
}

/* top[B] = the largest score of each row. */
PR_INLINE void tops_any(pr_real *restrict top, const pr_real *restrict score, size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        top[r] = PR_BARRED;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            top[r] = score[n * B + r] > top[r] ? score[n * B + r] : top[r];
}
PR_LOCAL_LEVELS(void, tops, tops_any, (pr_real * top, const pr_real *score, size_t N, size_t B),
                (top, score, N, B))

/* exp(score - top), the softmax weight up to the sum over the row; 0 for barred items. */
PR_INLINE pr_real share_of(pr_real score, pr_real top)
{
    return score > PR_BARRED ? pr_exp(score - top) : 0;
}

/* In the passes below the rows are the inner loop, so that they fill vectors; the sums of a row run over the items
 * in order, and are divided by the sum of its weights at the end. */

/* The sums of shares become what turns a sum of shares into one of weights; 0 where all items are barred. */
static void invert(pr_real *by, size_t B)
{
    for (size_t r = 0; r < B; r++)
        by[r] = by[r] > 0 ? 1 / by[r] : 0;
}

PR_INLINE void bpr_max_sums_any(pr_real *restrict sum, pr_real *restrict right,
                                pr_real *restrict squares, const pr_real *restrict score,
                                const pr_real *restrict t, const pr_real *restrict top, size_t N,
                                size_t B)
{
    for (size_t r = 0; r < B; r++)
        sum[r] = right[r] = squares[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], e = share_of(x, top[r]);
            sum[r] += e;
            right[r] += e * logistic(t[r] - x);
            squares[r] += e > 0 ? e * x * x : 0;
        }
}
PR_LOCAL_LEVELS(void, bpr_max_sums, bpr_max_sums_any,
                (pr_real * sum, pr_real *right, pr_real *squares, const pr_real *score,
                 const pr_real *t, const pr_real *top, size_t N, size_t B),
                (sum, right, squares, score, t, top, N, B))

/* With by[B] = factor / sum of shares, or 0 for a row that learns nothing, and over[B] = 1 / right:
 *   dscore = by · share · (1 − s² / right + less · (2 score + score² − squares))
 *   dt = −by · sum of share · s (1 − s) / right */
PR_INLINE void bpr_max_gradients_any(pr_real *restrict score, pr_real *restrict t,
                                     pr_real *restrict dt, const pr_real *restrict top,
                                     const pr_real *restrict by, const pr_real *restrict over,
                                     const pr_real *restrict squares, pr_real less, size_t N,
                                     size_t B)
{
    for (size_t r = 0; r < B; r++)
        dt[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], w = by[r] * share_of(x, top[r]);
            pr_real s = logistic(t[r] - x);
            pr_real d = w * (1 - s * s * over[r] + less * (2 * x + x * x - squares[r]));
            dt[r] -= w * (s * (1 - s));
            score[n * B + r] = w > 0 ? d : 0;
        }
    for (size_t r = 0; r < B; r++)
        t[r] = dt[r] * over[r];
}
PR_LOCAL_LEVELS(void, bpr_max_gradients, bpr_max_gradients_any,
                (pr_real * score, pr_real *t, pr_real *dt, const pr_real *top, const pr_real *by,
                 const pr_real *over, const pr_real *squares, pr_real less, size_t N, size_t B),
                (score, t, dt, top, by, over, squares, less, N, B))

double pr_bpr_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real less, pr_real factor,
                           size_t N, size_t B)
{
    pr_real *top = work, *by = work + B, *right = work + 2 * B, *squares = work + 3 * B;
    double loss = 0;
    tops(top, score, N, B);
    bpr_max_sums(by, right, squares, score, t, top, N, B);
    invert(by, B);
    for (size_t r = 0; r < B; r++) {
        right[r] *= by[r];
        squares[r] *= by[r];
        bool learns = right[r] > 0; /* else all are barred, or too far off to tell */
        if (learns)
            loss += (double)(less * squares[r] - pr_log(right[r]));
        by[r] = learns ? factor * by[r] : 0;
        right[r] = learns ? 1 / right[r] : 0;
    }
    bpr_max_gradients(score, t, work + 4 * B, top, by, right, squares, less, N, B);
    return loss;
}

PR_INLINE void top1_max_sums_any(pr_real *restrict sum, pr_real *restrict all,
                                 const pr_real *restrict score, const pr_real *restrict t,
                                 const pr_real *restrict top, size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        sum[r] = all[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], e = share_of(x, top[r]);
            sum[r] += e;
            all[r] += e * (logistic(x - t[r]) + logistic(x * x));
        }
}
PR_LOCAL_LEVELS(void, top1_max_sums, top1_max_sums_any,
                (pr_real * sum, pr_real *all, const pr_real *score, const pr_real *t,
                 const pr_real *top, size_t N, size_t B),
                (sum, all, score, t, top, N, B))

PR_INLINE void top1_max_gradients_any(pr_real *restrict score, pr_real *restrict t,
                                      pr_real *restrict dt, const pr_real *restrict top,
                                      const pr_real *restrict by, const pr_real *restrict all,
                                      size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        dt[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], w = by[r] * share_of(x, top[r]);
            pr_real a = logistic(x - t[r]), b = logistic(x * x);
            pr_real d = w * (a * (1 - a) + 2 * x * b * (1 - b) + a + b - all[r]);
            dt[r] -= w * (a * (1 - a));
            score[n * B + r] = w > 0 ? d : 0;
        }
    for (size_t r = 0; r < B; r++)
        t[r] = dt[r];
}
PR_LOCAL_LEVELS(void, top1_max_gradients, top1_max_gradients_any,
                (pr_real * score, pr_real *t, pr_real *dt, const pr_real *top, const pr_real *by,
                 const pr_real *all, size_t N, size_t B),
                (score, t, dt, top, by, all, N, B))

double pr_top1_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real factor, size_t N,
                            size_t B)
{
    pr_real *top = work, *by = work + B, *all = work + 2 * B;
    double loss = 0;
    tops(top, score, N, B);
    top1_max_sums(by, all, score, t, top, N, B);
    invert(by, B);
    for (size_t r = 0; r < B; r++) {
        all[r] *= by[r];
        loss += (double)all[r];
        by[r] *= factor;
    }
    top1_max_gradients(score, t, work + 3 * B, top, by, all, N, B);
    return loss;
}

/* The scores become exponentials, sum[B] their sums. */
PR_INLINE void shared_exponentials_any(pr_real *restrict score, pr_real *restrict sum,
                                       const pr_real *restrict top, size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        sum[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real e = share_of(score[n * B + r], top[r]);
            score[n * B + r] = e;
            sum[r] += e;
        }
}
PR_LOCAL_LEVELS(void, shared_exponentials, shared_exponentials_any,
                (pr_real * score, pr_real *sum, const pr_real *top, size_t N, size_t B),
                (score, sum, top, N, B))

double pr_shared_softmax_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real more,
                                  pr_real factor, size_t N, size_t B)
{
    pr_real *top = work, *sum = work + B;
    double loss = 0;
    tops(top, score, N, B);
    for (size_t r = 0; r < B; r++)
        top[r] = t[r] > top[r] + more ? t[r] - more : top[r];
    shared_exponentials(score, sum, top, N, B);
    for (size_t r = 0; r < B; r++) {
        pr_real own = pr_exp(t[r] - more - top[r]), all = sum[r] + own;
        loss += (double)(pr_log(all) - (t[r] - more - top[r]));
        t[r] = factor * (own / all - 1);
        sum[r] = factor / all;
    }
    pr_drawn_scale(score, sum, N, B);
    return loss;
}
