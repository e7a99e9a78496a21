/* Softmax for models that score by exponents, shares of the sum for those that count. */
#include "model/chances.h"

#include <math.h>

#include "math/panels.h"
#include "math/topk.h"
#include "math/vecmath.h"

static double sum_of_shares(const pr_real *scores, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += scores[i] > 0 ? (double)scores[i] : 0;
    return sum;
}

pr_chances pr_chances_of(const pr_model *model, const pr_real *scores)
{
    pr_chances c = {.shares = model->kind->scores_are_shares};
    pr_real top = c.shares ? 0 : pr_top(scores, model->items);
    c.sum = c.shares ? sum_of_shares(scores, model->items) : pr_exp_sum(scores, top, model->items);
    c.top = (double)top;
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
