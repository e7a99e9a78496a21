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

double pr_bpr_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real less, pr_real factor,
                           size_t N, size_t B)
{
    pr_real *top = work, *sum = work + B;
    double loss = 0;
    tops(top, score, N, B);
    softmax_sums(sum, top, score, N, B);
    for (size_t r = 0; r < B; r++) {
        pr_real right = 0, squares = 0, dt = 0;
        for (size_t n = 0; n < N; n++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            right += w * logistic(t[r] - x);
            squares += w > 0 ? w * x * x : 0;
        }
        if (!(right > 0)) { /* all barred, or too far off to tell: nothing is learnt */
            for (size_t n = 0; n < N; n++)
                score[n * B + r] = 0;
            t[r] = 0;
            continue;
        }
        loss += (double)(less * squares - pr_log(right));
        for (size_t n = 0; n < N; n++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            pr_real s = w > 0 ? logistic(t[r] - x) : 0, slope = w * s * (1 - s) / right;
            dt -= slope;
            score[n * B + r] =
                w > 0
                    ? factor * (slope - w * (s / right - 1) + less * w * (2 * x + x * x - squares))
                    : 0;
        }
        t[r] = factor * dt;
    }
    return loss;
}

double pr_top1_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real factor, size_t N,
                            size_t B)
{
    pr_real *top = work, *sum = work + B;
    double loss = 0;
    tops(top, score, N, B);
    softmax_sums(sum, top, score, N, B);
    for (size_t r = 0; r < B; r++) {
        pr_real all = 0, dt = 0;
        for (size_t n = 0; n < N; n++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            all += w > 0 ? w * (logistic(x - t[r]) + logistic(x * x)) : 0;
        }
        loss += (double)all;
        for (size_t n = 0; n < N; n++) {
            pr_real x = score[n * B + r], w = weight_of(x, top[r], sum[r]);
            pr_real a = w > 0 ? logistic(x - t[r]) : 0, b = w > 0 ? logistic(x * x) : 0;
            dt -= w * a * (1 - a);
            score[n * B + r] =
                w > 0 ? factor * w * (a * (1 - a) + 2 * x * b * (1 - b) + a + b - all) : 0;
        }
        t[r] = factor * dt;
    }
    return loss;
}

double pr_shared_softmax_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real more,
                                  pr_real factor, size_t N, size_t B)
{
    pr_real *top = work, *sum = work + B;
    double loss = 0;
    tops(top, score, N, B);
    for (size_t r = 0; r < B; r++) {
        top[r] = t[r] > top[r] + more ? t[r] - more : top[r];
        sum[r] = 0;
    }
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++) {
            pr_real x = score[n * B + r];
            score[n * B + r] = x > PR_BARRED ? pr_exp(x - top[r]) : 0;
            sum[r] += score[n * B + r];
        }
    for (size_t r = 0; r < B; r++) {
        pr_real own = pr_exp(t[r] - more - top[r]), all = sum[r] + own;
        loss += (double)(pr_log(all) - (t[r] - more - top[r]));
        t[r] = factor * (own / all - 1);
        sum[r] = factor / all;
    }
    for (size_t n = 0; n < N; n++)
        for (size_t r = 0; r < B; r++)
            score[n * B + r] *= sum[r];
    return loss;
}
