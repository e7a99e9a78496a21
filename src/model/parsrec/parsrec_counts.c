/* What PARSRec counts instead of learning: neighbours, dates, pairs, and what the mix weighs. The
 * network is trained beside counts of the training sessions. A finished model counts all sessions
 * before those to be predicted, as counting models do (docs/math.md, Counted again). */
#include <string.h>

#include "base/memory.h"
#include "model/parsrec/parsrec_net.h"

static void count_bought(pr_real *popular, size_t items, uint32_t *bought, const pr_counted *from)
{
    const pr_dataset *data = from->data;
    for (size_t u = 0; u < data->users; u++) {
        int64_t end = data->session_offsets[pr_counted_end(from, u)];
        for (int64_t a = data->session_offsets[data->user_offsets[u]]; a < end; a++)
            bought[data->action_items[a]]++;
    }
    for (size_t i = 0; i < items; i++)
        popular[i] = pr_log(1 + (pr_real)bought[i]);
}

/* Their number is known only now, so the model's weights move to a block of another size. */
static parsrec_status count_lifts(pr_model *model, const pr_arnn_dims *d, const pr_counted *from,
                                  parsrec_error *err)
{
    static const char *const sized[] = {"lifts.to", "lifts.logs", NULL};
    pr_lifts found;
    PR_TRY(pr_lifts_count(&found, d->lifts, d->after, from, err));
    size_t count = found.ends[model->items - 1];
    parsrec_status status = pr_model_resize(model, sized, count, err);
    if (status == PARSREC_OK) {
        pr_lifts to = pr_arnn_view_of(model, model->weights).lifts;
        memcpy(to.ends, found.ends, model->items * sizeof *to.ends);
        if (count > 0) {
            memcpy(to.to, found.to, count * sizeof *to.to);
            memcpy(to.logs, found.logs, count * sizeof *to.logs);
        }
    }
    pr_lifts_free(&found);
    return status;
}

parsrec_status pr_arnn_count_sales(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    uint32_t *bought = pr_alloc_zero(model->items, sizeof *bought);
    if (bought == NULL)
        return pr_fail_memory(err);
    count_bought(pr_arnn_view_of(model, model->weights).popular, model->items, bought, from);
    pr_free(bought);
    return d.lifts > 0 ? count_lifts(model, &d, from, err) : PARSREC_OK;
}

parsrec_status pr_arnn_recount(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    pr_arnn_view v = pr_arnn_view_of(model, model->weights);
    if (d.neighbours > 0)
        PR_TRY(pr_near_count(&v.near, d.neighbours, from, err));
    if (d.times)
        PR_TRY(pr_purchase_times_count(&v.times, from, err));
    if (d.pairs > 0)
        PR_TRY(pr_pairs_recount(&v.pairs, from, err));
    return d.mix ? pr_arnn_count_sales(model, from, err) : PARSREC_OK;
}
