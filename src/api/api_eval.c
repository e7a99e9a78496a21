/* Evaluation for the public. */
#include <stdio.h>
#include <string.h>

#include "api/loaded.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/xxh3.h"
#include "eval/remaining.h"
#include "train/count_model.h"

_Static_assert(PARSREC_CUTOFFS_MOST == (int)PR_CUTOFFS, "as many cutoffs outside as inside");

parsrec_eval_options parsrec_eval_default(void)
{
    pr_protocol p = pr_protocol_paper(PR_TEST);
    parsrec_eval_options o = {
        .negatives = p.negatives, .k_count = p.k_count, .place_k = p.place_k, .seed = p.seed};
    for (size_t i = 0; i < p.k_count; i++)
        o.k[i] = p.k[i];
    return o;
}

static parsrec_status make_protocol(pr_protocol *p, const parsrec_eval_options *o, size_t items,
                                    parsrec_error *err)
{
    *p = pr_protocol_paper(o->split == PARSREC_SPLIT_VALID ? PR_VALID : PR_TEST);
    if (o->k_count < 1 || o->k_count > PR_CUTOFFS)
        return pr_fail(err, PARSREC_E_ARGUMENT, "1 to %d cutoffs can be reported", PR_CUTOFFS);
    if (o->negatives < 1 || o->place_k < 1)
        return pr_fail(err, PARSREC_E_ARGUMENT, "at least 1 sampled item and 1 place are needed");
    p->negatives = o->negatives < items ? (size_t)o->negatives : items;
    p->place_k = (size_t)o->place_k;
    p->seed = o->seed;
    p->k_count = o->k_count;
    for (size_t i = 0; i < o->k_count; i++) {
        if (o->k[i] < 1)
            return pr_fail(err, PARSREC_E_ARGUMENT, "a cutoff is at least 1");
        p->k[i] = (size_t)o->k[i];
    }
    return PARSREC_OK;
}

static bool same_names(const pr_names *a, const pr_names *b)
{
    return a->count == b->count && a->offsets[a->count] == b->offsets[b->count] &&
           memcmp(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets) == 0 &&
           memcmp(a->bytes, b->bytes, (size_t)a->offsets[a->count]) == 0;
}

static parsrec_status check_same_shop(const pr_dataset *inside, const pr_dataset *data,
                                      parsrec_error *err)
{
    if (same_names(&inside->user_keys, &data->user_keys) &&
        same_names(&inside->item_keys, &data->item_keys))
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_INPUT,
                   "the data set has other users or items than the model was trained on (%zu and "
                   "%zu, the model %zu and %zu); evaluate on the data set of its training",
                   data->users, data->items, inside->users, inside->items);
}

/* Two results can be compared when everything but the model is the same; this is what they stand on,
 * the model's kind and settings included. */
static parsrec_status add_fingerprint(const pr_model *model, const pr_dataset *data,
                                      const pr_protocol *p, parsrec_eval_report *report,
                                      parsrec_error *err)
{
    json_t *json = pr_config_json(&model->config);
    char *config = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    if (config == NULL)
        return pr_fail_memory(err);
    char words[256];
    size_t used = (size_t)snprintf(words, sizeof words, "remaining/%d/%zu/%zu/%llu/%s/%s", p->part,
                                   p->negatives, p->place_k, (unsigned long long)p->seed,
                                   data->file != NULL ? pr_container_checksum(data->file) : "",
                                   model->kind->name);
    for (size_t k = 0; k < p->k_count && used < sizeof words; k++)
        used += (size_t)snprintf(words + used, sizeof words - used, "/%zu", p->k[k]);
    XXH64_hash_t sum =
        XXH3_64bits_withSeed(words, strlen(words), XXH3_64bits(config, strlen(config)));
    snprintf(report->fingerprint, sizeof report->fingerprint, "%016llx", (unsigned long long)sum);
    pr_free(config);
    return PARSREC_OK;
}

/* What a model that counts may know here is what was before the sessions evaluated: counted again. */
static parsrec_status run_model(const pr_model *model, pr_evaluation *e, pr_pool *pool,
                                const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err)
{
    pr_scope scope = pr_scope_before(e->protocol.part);
    pr_model *counted;
    if (model->kind->count == NULL)
        return pr_evaluation_run(e, model, pool, hooks, scores, err);
    PR_TRY(pr_count_model(&counted, model->kind->name, &model->config, e->data, &scope, pool, hooks,
                          err));
    parsrec_status status = pr_evaluation_run(e, counted, pool, hooks, scores, err);
    pr_model_free(counted);
    return status;
}

static parsrec_status evaluate(const pr_model *model, pr_evaluation *e, unsigned threads,
                               parsrec_eval_report *report, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    pr_pool *pool;
    pr_scores scores, chance;
    if (e->count == 0)
        return pr_fail(
            err, PARSREC_E_INPUT,
            "nobody can be evaluated: no user has three sessions, the evaluated one with "
            "at least %zu items",
            e->protocol.smallest);
    PR_TRY(pr_pool_new(&pool, threads, err));
    parsrec_status status = run_model(model, e, pool, hooks, &scores, err);
    pr_pool_free(pool);
    PR_TRY(status);
    PR_TRY(pr_evaluation_chance(e, &chance, err));
    report->baskets = scores.baskets;
    report->steps = scores.steps;
    for (size_t k = 0; k < e->protocol.k_count; k++) {
        report->hit_rate[k] = scores.hit_rate[k];
        report->ndcg[k] = scores.ndcg[k];
        report->session_precision[k] = scores.session_precision[k];
        report->random_hit_rate[k] = chance.hit_rate[k];
    }
    return PARSREC_OK;
}

parsrec_status parsrec_eval(const parsrec_model *loaded, const parsrec_data *data,
                            const parsrec_eval_options *options, parsrec_eval_report *report,
                            const parsrec_hooks *hooks, parsrec_error *err)
{
    if (loaded == NULL || data == NULL || options == NULL || report == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval needs model, data and options");
    const pr_model *model = loaded->file.model;
    double began = pr_now();
    pr_protocol protocol;
    pr_evaluation e;
    *report = (parsrec_eval_report){0};
    PR_TRY(check_same_shop(loaded->file.data, data, err));
    PR_TRY(make_protocol(&protocol, options, data->items, err));
    PR_TRY(pr_evaluation_init(&e, data, &protocol, err));
    parsrec_status status = evaluate(model, &e, options->threads, report, hooks, err);
    if (status == PARSREC_OK)
        status = add_fingerprint(model, data, &protocol, report, err);
    pr_evaluation_free(&e);
    report->seconds = pr_now() - began;
    return status;
}
