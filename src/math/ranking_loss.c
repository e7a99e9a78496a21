/* Two passes: the softmax of the row with the loss, then the gradients. */
#include "math/ranking_loss.h"

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

/* top[B] is the largest score, sum[B] the sum of exp(score - top); 1 where all items are barred. */
PR_INLINE void softmax_sums_any(pr_real *restrict sum, const pr_real *restrict top,
                                const pr_real *restrict score, size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        sum[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            sum[r] += score[n * B + r] > PR_BARRED ? pr_exp(score[n * B + r] - top[r]) : 0;
    for (size_t r = 0; r < B; r++)
        sum[r] = sum[r] > 0 ? sum[r] : 1;
}
PR_LOCAL_LEVELS(void, softmax_sums, softmax_sums_any,
                (pr_real * sum, const pr_real *top, const pr_real *score, size_t N, size_t B),
                (sum, top, score, N, B))

PR_INLINE pr_real weight_of(pr_real score, pr_real top, pr_real sum)
{
    return score > PR_BARRED ? pr_exp(score - top) / sum : 0;
}

/* In all passes below the rows are the inner loop, so that they fill vectors; the sums of a row run over the items
 * in order. */

/* right[B]: the sum of w · s(t − score); squares[B]: that of w · score². */
PR_INLINE void bpr_max_sums_any(pr_real *restrict right, pr_real *restrict squares,
                                const pr_real *restrict score, const pr_real *restrict t,
                                const pr_real *restrict top, const pr_real *restrict sum, size_t N,
                                size_t B)
{
    for (size_t r = 0; r < B; r++)
        right[r] = squares[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            right[r] += w * logistic(t[r] - x);
            squares[r] += w > 0 ? w * x * x : 0;
        }
}
PR_LOCAL_LEVELS(void, bpr_max_sums, bpr_max_sums_any,
                (pr_real * right, pr_real *squares, const pr_real *score, const pr_real *t,
                 const pr_real *top, const pr_real *sum, size_t N, size_t B),
                (right, squares, score, t, top, sum, N, B))

PR_INLINE void bpr_max_gradients_any(pr_real *restrict score, pr_real *restrict dt,
                                     const pr_real *restrict t, const pr_real *restrict top,
                                     const pr_real *restrict sum, const pr_real *restrict right,
                                     const pr_real *restrict squares, pr_real less, pr_real factor,
                                     size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        dt[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            w = right[r] > 0 ? w : 0;
            pr_real s = w > 0 ? logistic(t[r] - x) : 0, slope = w * s * (1 - s) / right[r];
            pr_real d = slope - w * (s / right[r] - 1) + less * w * (2 * x + x * x - squares[r]);
            dt[r] -= w > 0 ? slope : 0;
            score[n * B + r] = w > 0 ? factor * d : 0;
        }
}
PR_LOCAL_LEVELS(void, bpr_max_gradients, bpr_max_gradients_any,
                (pr_real * score, pr_real *dt, const pr_real *t, const pr_real *top,
                 const pr_real *sum, const pr_real *right, const pr_real *squares, pr_real less,
                 pr_real factor, size_t N, size_t B),
                (score, dt, t, top, sum, right, squares, less, factor, N, B))

double pr_bpr_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real less, pr_real factor,
                           size_t N, size_t B)
{
    pr_real *top = work, *sum = work + B, *right = work + 2 * B, *squares = work + 3 * B;
    pr_real *dt = work + 4 * B;
    double loss = 0;
    tops(top, score, N, B);
    softmax_sums(sum, top, score, N, B);
    bpr_max_sums(right, squares, score, t, top, sum, N, B);
    bpr_max_gradients(score, dt, t, top, sum, right, squares, less, factor, N, B);
    for (size_t r = 0; r < B; r++) {
        if (right[r] > 0) /* else all are barred, or too far off to tell: nothing is learnt */
            loss += (double)(less * squares[r] - pr_log(right[r]));
        t[r] = right[r] > 0 ? factor * dt[r] : 0;
    }
    return loss;
}

PR_INLINE void top1_max_sums_any(pr_real *restrict all, const pr_real *restrict score,
                                 const pr_real *restrict t, const pr_real *restrict top,
                                 const pr_real *restrict sum, size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        all[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            all[r] += w > 0 ? w * (logistic(x - t[r]) + logistic(x * x)) : 0;
        }
}
PR_LOCAL_LEVELS(void, top1_max_sums, top1_max_sums_any,
                (pr_real * all, const pr_real *score, const pr_real *t, const pr_real *top,
                 const pr_real *sum, size_t N, size_t B),
                (all, score, t, top, sum, N, B))

PR_INLINE void top1_max_gradients_any(pr_real *restrict score, pr_real *restrict dt,
                                      const pr_real *restrict t, const pr_real *restrict top,
                                      const pr_real *restrict sum, const pr_real *restrict all,
                                      pr_real factor, size_t N, size_t B)
{
    for (size_t r = 0; r < B; r++)
        dt[r] = 0;
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            pr_real a = w > 0 ? logistic(x - t[r]) : 0, b = w > 0 ? logistic(x * x) : 0;
            pr_real d = factor * w * (a * (1 - a) + 2 * x * b * (1 - b) + a + b - all[r]);
            dt[r] -= w * a * (1 - a);
            score[n * B + r] = w > 0 ? d : 0;
        }
}
PR_LOCAL_LEVELS(void, top1_max_gradients, top1_max_gradients_any,
                (pr_real * score, pr_real *dt, const pr_real *t, const pr_real *top,
                 const pr_real *sum, const pr_real *all, pr_real factor, size_t N, size_t B),
                (score, dt, t, top, sum, all, factor, N, B))

double pr_top1_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real factor, size_t N,
                            size_t B)
{
    pr_real *top = work, *sum = work + B, *all = work + 2 * B, *dt = work + 3 * B;
    double loss = 0;
    tops(top, score, N, B);
    softmax_sums(sum, top, score, N, B);
    top1_max_sums(all, score, t, top, sum, N, B);
    top1_max_gradients(score, dt, t, top, sum, all, factor, N, B);
    for (size_t r = 0; r < B; r++) {
        loss += (double)all[r];
        t[r] = factor * dt[r];
    }
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
            pr_real x = score[n * B + r], e = x > PR_BARRED ? pr_exp(x - top[r]) : 0;
            score[n * B + r] = e;
            sum[r] += e;
        }
}
PR_LOCAL_LEVELS(void, shared_exponentials, shared_exponentials_any,
                (pr_real * score, pr_real *sum, const pr_real *top, size_t N, size_t B),
                (score, sum, top, N, B))

PR_INLINE void shared_gradients_any(pr_real *restrict score, const pr_real *restrict by, size_t N,
                                    size_t B)
{
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            score[n * B + r] *= by[r];
}
PR_LOCAL_LEVELS(void, shared_gradients, shared_gradients_any,
                (pr_real * score, const pr_real *by, size_t N, size_t B), (score, by, N, B))

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
    shared_gradients(score, sum, N, B);
    return loss;
}
