/* One pass gathers the scores by class, one takes exponentials, one adds them up. */
#include "explain/class_mass.h"

#include "math/exponential.h"
#include "model/chances.h"

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

static pr_real largest(const pr_real *x, size_t n)
{
    pr_real top = -(pr_real)INFINITY;
    for (size_t i = 0; i < n; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}

void pr_class_mass_set(pr_class_mass *m, pr_real *work, const pr_real *scores, const pr_axis *axis)
{
    size_t V = axis->item_count;
    pr_real most = m->shares ? 0 : largest(scores, V);
    m->top = (double)most;
    for (size_t k = 0; k < V; k++)
        work[k] = scores[axis->order[k]] - most;
    if (!m->shares)
        pr_exp_all(work, work, V);
    for (size_t k = 0; m->shares && k < V; k++)
        work[k] = work[k] > 0 ? work[k] : 0;
    m->all = class_sums(m->mass, work, axis->offsets, axis->count);
}

/* An item that a model of counts never saw has no chance at all; a small one stands for it. */
double pr_class_mass_log(const pr_class_mass *m, pr_real score)
{
    if (!m->shares)
        return (double)score - m->top - log(m->all);
    return log(fmax((double)score / m->all, PR_CHANCE_LEAST));
}
