/* Scores to probabilities: softmax for models that score in logs, shares of the sum for counting
 * models. */
#include "model/chances.h"

#include <assert.h>
#include <math.h>

#include "math/layers.h"
#include "math/panels.h"
#include "math/topk.h"
#include "math/wide.h"

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

/* ---- by class ---- */

PR_INLINE double class_sums_any(double *mass, const pr_real *x, const size_t *offsets, size_t count)
{
    double total = 0;
    for (size_t c = 0; c <= count; c++) {
        mass[c] = (double)pr_sum(x + offsets[c], offsets[c + 1] - offsets[c]);
        total += mass[c];
    }
    return total;
}
PR_LOCAL_LEVELS(double, class_sums, class_sums_any,
                (double *mass, const pr_real *x, const size_t *offsets, size_t count),
                (mass, x, offsets, count))

/* One pass gathers the scores by class, one takes exponentials, one adds them up. */
pr_chances pr_chances_by_class(double *mass, pr_real *work, const pr_model *model,
                               const pr_real *scores, const uint32_t *order, const size_t *offsets,
                               size_t classes)
{
    size_t V = model->items;
    pr_chances c = {.shares = model->kind->scores_are_shares};
    pr_real top = c.shares ? 0 : -(pr_real)INFINITY;
    for (size_t i = 0; i < V && !c.shares; i++)
        top = scores[i] > top ? scores[i] : top;
    for (size_t k = 0; k < V; k++)
        work[k] = scores[order[k]] - top;
    if (!c.shares)
        pr_exp_all(work, work, V);
    for (size_t k = 0; c.shares && k < V; k++)
        work[k] = work[k] > 0 ? work[k] : 0;
    c.top = (double)top;
    c.sum = class_sums(mass, work, offsets, classes);
    c.log_sum = log(c.sum);
    return c;
}

/* ---- all of them ---- */

void pr_next_chances(pr_real *scores, size_t items, const int32_t *placed, size_t n)
{
    assert(items > 0);
    pr_real top = -INFINITY;
    double total = 0;
    for (size_t i = 0; i < n; i++)
        scores[placed[i]] = -INFINITY;
    for (size_t i = 0; i < items; i++)
        if (scores[i] > top)
            top = scores[i];
    for (size_t i = 0; i < items; i++)
        scores[i] = scores[i] > -INFINITY ? scores[i] - top : -INFINITY; /* NaN too */
    pr_exp_all(scores, scores, items);
    for (size_t i = 0; i < items; i++)
        total += scores[i];
    pr_real factor = total > 0 ? (pr_real)(1 / total) : 0;
    for (size_t i = 0; i < items; i++)
        scores[i] *= factor;
}

int32_t pr_chances_draw(const pr_real *chances, size_t items, double unit)
{
    assert(unit > 0 && unit < 1);
    double sum = 0;
    int32_t last = -1;
    for (size_t i = 0; i < items; i++) {
        if (!(chances[i] > 0))
            continue;
        sum += chances[i];
        last = (int32_t)i; /* rounding may leave the sum just below 1 */
        if (sum >= unit)
            break;
    }
    return last;
}
