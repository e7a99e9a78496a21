/* Softmax for models that score by exponents, shares of the sum for those that count. */
#include "explain/chances.h"

#include <math.h>

#include "math/exponential.h"
#include "model/recommend.h"

pr_chances pr_chances_of(const pr_model *model, const pr_real *scores, const uint8_t *placed,
                         pr_real *spare)
{
    pr_chances c = {.top = -HUGE_VAL, .shares = model->kind->scores_are_shares};
    size_t n = 0;
    for (size_t i = 0; i < model->items; i++)
        if (placed == NULL || (placed[i] & PR_PLACED) == 0) {
            spare[n++] = scores[i];
            c.top = (double)scores[i] > c.top ? (double)scores[i] : c.top;
        }
    for (size_t i = 0; i < n; i++)
        spare[i] = c.shares ? (spare[i] > 0 ? spare[i] : 0) : spare[i] - (pr_real)c.top;
    if (!c.shares)
        pr_exp_all(spare, spare, n);
    for (size_t i = 0; i < n; i++)
        c.sum += (double)spare[i];
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
