/* What a mix is fitted to: the validation sessions, and counts of the training sessions; weights set
 * aside; and the last counts of a model. */
#include "train/mixing.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/histories.h"
#include "data/split.h"
#include "model/parsrec/parsrec_net.h"
#include "model/user_rows.h"

static void log_weights(const pr_model *model, const double worth[PR_MIX_STAGES],
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
        if (isnan(worth[i])) /* nothing was fitted */
            continue;
        if (w[0] == 0) /* that of the score */
            pr_say(hooks, PARSREC_LOG_WARNING,
                   "mix, %s: the network adds nothing to the counts (log chance of an item %+.3f); "
                   "they answer alone",
                   stages[i], worth[i]);
        else
            pr_say(hooks, PARSREC_LOG_INFO,
                   "mix, %s: the network adds %.3f to the log chance of an item under counts alone",
                   stages[i], worth[i]);
    }
}

/* Every question about a basket (parsrec_mix.c) takes scores of the whole catalogue. So in a large one
 * fewer are asked, as many as keep questions times items below this, but never fewer than
 * QUESTIONS_LEAST. */
static const double pairs_most = 1e9;
enum { QUESTIONS_LEAST = 1000 };

static size_t questions_most(size_t items)
{
    double fit = pairs_most / (double)items;
    return fit > PR_MIX_QUESTIONS  ? PR_MIX_QUESTIONS
           : fit < QUESTIONS_LEAST ? QUESTIONS_LEAST
                                   : (size_t)fit;
}

/* Validation sessions into baskets[out->questions], evenly spread where there are more than a mix
 * needs. With ranks, their users are asked for from all of them (pr_user_rows_bring). */
static parsrec_status gather(pr_mix_data *out, pr_basket *baskets, pr_user_rows *rows,
                             const pr_dataset *data, size_t last, const parsrec_hooks *hooks,
                             parsrec_error *err)
{
    size_t all = 0, at = 0, most = out->questions;
    for (size_t u = 0; u < data->users; u++)
        all += pr_split_session(data, u, PR_VALID, last) >= 0;
    size_t wanted = all < most ? all : most;
    if (wanted < all && most < PR_MIX_QUESTIONS)
        pr_say(hooks, PARSREC_LOG_INFO,
               "the mix is fitted to %zu of %zu validation sessions, evenly spread, because the "
               "catalogue is large",
               wanted, all);
    for (size_t u = 0; u < data->users && out->count < wanted; u++) {
        int64_t session = pr_split_session(data, u, PR_VALID, last);
        if (session < 0 || at++ < out->count * all / wanted)
            continue;
        int64_t begin = data->session_offsets[session];
        baskets[out->count++] = (pr_basket){
            .user = pr_known_user(data, u),
            .history = pr_history_before(data, u, (size_t)session),
            .items = data->action_items + begin,
            .size = (size_t)(data->session_offsets[session + 1] - begin),
            .features = pr_features_of_session(data, u, (size_t)session),
        };
        PR_TRY(pr_user_rows_want_all(rows, pr_known_user(data, u), err));
    }
    return PARSREC_OK;
}

parsrec_status pr_mix_fit(pr_model *model, const pr_dataset *data, uint64_t seed, pr_pool *pool,
                          const parsrec_hooks *hooks, parsrec_error *err)
{
    size_t last = (size_t)model->config.last;
    if (model->kind->fit_mix == NULL || pr_params_find(&model->params, "mix.weights") == NULL)
        return PARSREC_OK;
    size_t questions = questions_most(data->items);
    pr_basket *baskets = pr_alloc(questions, sizeof *baskets);
    double worth[PR_MIX_STAGES] = {NAN, NAN}; /* stays so where nobody can be validated */
    pr_counted counted = {.data = data, .scope = pr_scope_before(PR_VALID, last), .pool = pool};
    pr_mix_data from = {
        .baskets = baskets, .questions = questions, .from = &counted, .seed = seed, .pool = pool};
    parsrec_status status = baskets != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = gather(&from, baskets, model->user_rows, data, last, hooks, err);
    if (status == PARSREC_OK)
        status = pr_user_rows_bring(model->user_rows, model, err);
    if (status == PARSREC_OK)
        status = model->kind->fit_mix(model, &from, worth, err);
    if (status == PARSREC_OK)
        log_weights(model, worth, hooks);
    pr_free(baskets);
    return status;
}

size_t pr_mix_bytes(const pr_model *model, size_t sessions)
{
    size_t questions = questions_most(model->items);
    if (model->kind->mix_bytes == NULL)
        return 0;
    return model->kind->mix_bytes(model, sessions < questions ? sessions : questions, questions);
}

parsrec_status pr_aside_take(pr_aside *aside, pr_real *weights, const pr_model *model,
                             parsrec_error *err)
{
    *aside = (pr_aside){.weights = weights,
                        .at = pr_alloc(model->params.count, sizeof *aside->at),
                        .storage = model->storage};
    if (aside->at == NULL) {
        pr_aside_free(aside);
        return pr_fail_memory(err);
    }
    for (size_t i = 0; i < model->params.count; i++)
        aside->at[i] = model->params.list[i].at;
    return PARSREC_OK;
}

void pr_aside_exchange(pr_aside *aside, pr_model *model)
{
    for (size_t i = 0; aside->weights != NULL && i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        pr_real *here = model->weights + p->at, *there = aside->weights + aside->at[i];
        for (size_t k = 0, n = p->counted ? 0 : pr_param_size(p); k < n; k++) {
            pr_real moved = here[k];
            here[k] = there[k];
            there[k] = moved;
        }
    }
}

void pr_aside_free(pr_aside *aside)
{
    pr_storage_give(aside->storage, aside->weights);
    pr_free(aside->at);
    *aside = (pr_aside){0};
}

parsrec_status pr_count_again(pr_model *model, const pr_dataset *data, pr_pool *pool,
                              parsrec_error *err)
{
    pr_counted from = {
        .data = data, .scope = pr_scope_before(PR_TEST, (size_t)model->config.last), .pool = pool};
    if (model->kind->recount == NULL || model->config.count == PR_COUNT_TRAIN)
        return PARSREC_OK;
    return model->kind->recount(model, &from, err);
}
