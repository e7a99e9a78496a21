/* Softmax for models that score by exponents, shares of the sum for those that count. */
#include "explain/chances.h"

#include <math.h>

#include "math/exponential.h"
#include "model/recommend.h"

/* Eight at a time: one after the other, each would wait for the one before. */
enum { LANES = 8 };

static double largest(const pr_real *x, size_t n)
{
    pr_real best[LANES];
    size_t i = 0;
    for (size_t j = 0; j < LANES; j++)
        best[j] = -(pr_real)INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            best[j] = x[i + j] > best[j] ? x[i + j] : best[j];
    for (; i < n; i++)
        best[0] = x[i] > best[0] ? x[i] : best[0];
    for (size_t j = 1; j < LANES; j++)
        best[0] = best[j] > best[0] ? best[j] : best[0];
    return (double)best[0];
}

static double sum_of(const pr_real *x, size_t n)
{
    double sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            sums[j] += (double)x[i + j];
    for (; i < n; i++)
        sum += (double)x[i];
    for (size_t j = 0; j < LANES; j++)
        sum += sums[j];
    return sum;
}

/* Scores of what is not placed, without a branch for each; spare has room for all. */
static size_t pick(pr_real *spare, const pr_real *scores, const uint8_t *placed, size_t items)
{
    size_t n = 0;
    for (size_t i = 0; i < items; i++) {
        spare[n] = scores[i];
        n += placed == NULL || (placed[i] & PR_PLACED) == 0;
    }
    return n;
}

pr_chances pr_chances_of(const pr_model *model, const pr_real *scores, const uint8_t *placed,
                         pr_real *spare)
{
    size_t n = pick(spare, scores, placed, model->items);
    pr_chances c = {.top = largest(spare, n), .shares = model->kind->scores_are_shares};
    pr_real top = (pr_real)c.top;
    for (size_t i = 0; i < n; i++)
        spare[i] = c.shares ? (spare[i] > 0 ? spare[i] : 0) : spare[i] - top;
    if (!c.shares)
        pr_exp_all(spare, spare, n);
    c.sum = sum_of(spare, n);
    c.log_sum = log(c.sum);
    return c;
}

double pr_log_chance(const pr_chances *c, pr_real score)
{
    const double least = log(PR_CHANCE_LEAST);
    if (!c->shares)
        return (double)score - c->top - c->log_sum;
    return score > 0 && c->sum > 0 ? fmax(log((double)score / c->sum), least) : least;
}
