/* What a mix is fitted to: the validation sessions, and counts of the training sessions. */
#include "train/mixing.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/histories.h"
#include "data/split.h"
#include "model/parsrec/parsrec_net.h"

/* A gain in the mean log chance of an item below this is nothing. */
static const double nothing = 0.005;

static void tell(const pr_model *model, const double worth[PR_MIX_STAGES],
                 const parsrec_hooks *hooks)
{
    static const char *const stages[] = {"first step", "later steps"};
    const pr_real *w = pr_model_reals(model, "mix.weights");
    size_t n = pr_params_find(&model->params, "mix.weights")->cols;
    for (size_t i = 0; i < PR_MIX_STAGES; i++, w += n) {
        char text[400];
        size_t used = 0;
        for (size_t k = 0; k < n; k++)
            used += (size_t)snprintf(
                text + used, sizeof text - used, k == 0 ? "%s %.3f" : ", %s %+.3f",
                strchr(model->kind->shown_name(model, i * n + k), ':') + 2, (double)w[k]);
        assert(used < sizeof text);
        pr_say(hooks, PARSREC_LOG_INFO, "mix, %s: %s", stages[i], text);
        if (worth[i] < nothing)
            pr_say(hooks, PARSREC_LOG_WARNING,
                   "mix, %s: the network adds nothing to the counts (log chance of an item %+.3f)",
                   stages[i], worth[i]);
        else if (worth[i] >= nothing)
            pr_say(hooks, PARSREC_LOG_INFO,
                   "mix, %s: the network adds %.3f to the log chance of an item under counts alone",
                   stages[i], worth[i]);
    }
}

parsrec_status pr_mix_fit(pr_model *model, const pr_dataset *data, uint64_t seed, pr_pool *pool,
                          const parsrec_hooks *hooks, parsrec_error *err)
{
    size_t last = (size_t)model->config.last;
    if (model->kind->fit_mix == NULL || pr_params_find(&model->params, "mix.weights") == NULL)
        return PARSREC_OK;
    pr_basket *baskets = pr_alloc(data->users, sizeof *baskets);
    uint32_t *bought = pr_alloc_zero(data->items, sizeof *bought);
    double worth[PR_MIX_STAGES];
    pr_mix_data from = {.baskets = baskets, .bought = bought, .seed = seed, .pool = pool};
    parsrec_status status = baskets != NULL && bought != NULL ? PARSREC_OK : pr_fail_memory(err);
    for (size_t u = 0; status == PARSREC_OK && u < data->users; u++) {
        int64_t end = data->session_offsets[pr_split_train_end(data, u, last)];
        for (int64_t a = data->session_offsets[data->user_offsets[u]]; a < end; a++)
            bought[data->action_items[a]]++;
        int64_t session = pr_split_session(data, u, PR_VALID, last);
        if (session < 0)
            continue;
        int64_t begin = data->session_offsets[session];
        baskets[from.count++] = (pr_basket){
            .user = pr_known_user(data, u),
            .history = pr_history_before(data, u, (size_t)session),
            .items = data->action_items + begin,
            .size = (size_t)(data->session_offsets[session + 1] - begin),
            .features = pr_features_of_session(data, u, (size_t)session),
        };
    }
    if (status == PARSREC_OK)
        status = model->kind->fit_mix(model, &from, worth, err);
    if (status == PARSREC_OK)
        tell(model, worth, hooks);
    pr_free(baskets);
    pr_free(bought);
    return status;
}
