/* a <- a + c (w - a) with c = (LATE + 1) / (n + LATE) for the n-th weights added. The share of the
 * n-th in the average is about proportional to n^LATE: it is an average over the last part of a
 * run, about 1 / (LATE + 2) of it, however long the run is. It needs no window of earlier weights
 * and no correction for its beginning, where c = 1, and a run that is made longer continues the
 * same average. */
#include "train/average.h"

#include <assert.h>

enum {
    LATE = 8,     /* the larger, the later the weights that count */
    SPAN = 65536, /* numbers per task */
};

uint64_t pr_average_count(uint64_t epochs, uint64_t batch, uint64_t batches)
{
    uint64_t each = batches < PR_AVERAGES_PER_EPOCH ? batches : PR_AVERAGES_PER_EPOCH;
    assert(batches > 0 && batch <= batches);
    return epochs * each + batch * each / batches;
}

typedef struct adding {
    pr_real *average;
    const pr_real *weights;
    size_t n;
    pr_real share;
} adding;

static void add_span(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const adding *a = context;
    size_t end = (task + 1) * SPAN < a->n ? (task + 1) * SPAN : a->n;
    for (size_t i = task * SPAN; i < end; i++)
        a->average[i] += a->share * (a->weights[i] - a->average[i]);
}

void pr_average_add(pr_real *average, const pr_model *model, uint64_t count, pr_pool *pool)
{
    assert(count > 0);
    pr_real share = (pr_real)((LATE + 1.0) / ((double)count + LATE));
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        adding a = {average + p->at, model->weights + p->at, pr_param_size(p), share};
        if (!p->counted)
            pr_pool_run(pool, add_span, &a, (a.n + SPAN - 1) / SPAN);
    }
}
