/* Evaluation for the public. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/loaded.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/xxh3.h"
#include "eval/eval_json.h"
#include "eval/tallies.h"
#include "train/count_model.h"

_Static_assert(PARSREC_CUTOFFS_MOST == (int)PR_CUTOFFS, "as many cutoffs outside as inside");

static const pr_rule *const rules[] = {&pr_remaining, &pr_next};
enum { RULES = sizeof rules / sizeof *rules };

const char *parsrec_protocol_name(parsrec_protocol protocol)
{
    return (size_t)protocol < RULES ? rules[protocol]->name : "unknown";
}

parsrec_eval_options parsrec_eval_default(void)
{
    pr_protocol p = pr_protocol_paper(PR_TEST);
    parsrec_eval_options o = {
        .negatives = p.negatives, .k_count = p.k_count, .place_k = p.place_k, .seed = p.seed};
    for (size_t i = 0; i < p.k_count; i++)
        o.k[i] = p.k[i];
    return o;
}

static parsrec_status set_cutoffs(pr_protocol *p, const parsrec_eval_options *o, parsrec_error *err)
{
    if (o->k_count < 1 || o->k_count > PR_CUTOFFS)
        return pr_fail(err, PARSREC_E_ARGUMENT, "1 to %d cutoffs can be reported", PR_CUTOFFS);
    p->k_count = o->k_count;
    for (size_t i = 0; i < o->k_count; i++) {
        if (o->k[i] < 1)
            return pr_fail(err, PARSREC_E_ARGUMENT, "a cutoff is at least 1");
        p->k[i] = (size_t)o->k[i];
    }
    return PARSREC_OK;
}

/* Sessions that the model has learnt from would flatter it. */
static parsrec_status set_last(pr_protocol *p, const parsrec_eval_options *o,
                               const pr_config *config, parsrec_error *err)
{
    p->held = (size_t)config->last;
    p->last = o->last > 0 ? (size_t)o->last : p->held;
    if (o->last <= p->held)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "the model was trained with last=%zu, so it has seen some of the last %llu "
                   "sessions of a user; train it with last=%llu",
                   p->held, (unsigned long long)o->last, (unsigned long long)o->last);
}

static parsrec_status set_rule(pr_protocol *p, const parsrec_eval_options *o, parsrec_error *err)
{
    *p = pr_protocol_paper(o->split == PARSREC_SPLIT_VALID ? PR_VALID : PR_TEST);
    if ((size_t)o->protocol >= RULES)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is no protocol number %d", (int)o->protocol);
    if (o->place_k < 1)
        return pr_fail(err, PARSREC_E_ARGUMENT, "at least 1 place is needed");
    p->rule = rules[o->protocol];
    p->exclude_seen = o->exclude_seen;
    p->place_k = (size_t)o->place_k;
    p->seed = o->seed;
    return set_cutoffs(p, o, err);
}

static parsrec_status make_protocol(pr_protocol *p, const parsrec_eval_options *o,
                                    const pr_model *model, parsrec_error *err)
{
    PR_TRY(set_rule(p, o, err));
    p->negatives = o->negatives < model->items ? (size_t)o->negatives : model->items;
    return set_last(p, o, &model->config, err);
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
    size_t used = (size_t)snprintf(
        words, sizeof words, "%s/%d/%zu/%d/%zu/%zu/%llu/%s/%s", p->rule->name, p->part,
        p->negatives, p->exclude_seen, p->last, p->place_k, (unsigned long long)p->seed,
        data->file != NULL ? pr_container_checksum(data->file) : "", model->kind->name);
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
    pr_scope scope = pr_scope_before(e->protocol.part, e->protocol.held);
    pr_model *counted;
    if (model->kind->count == NULL)
        return pr_evaluation_run(e, model, pool, hooks, scores, err);
    PR_TRY(pr_count_model(&counted, model->kind->name, &model->config, e->data, &scope, pool, hooks,
                          err));
    parsrec_status status = pr_evaluation_run(e, counted, pool, hooks, scores, err);
    pr_model_free(counted);
    return status;
}

/* ---- the report ---- */

static double value_of(const pr_scores *s, pr_aspect aspect, pr_measure m, size_t k)
{
    bool told = s->weight[aspect] > 0 && (aspect == PR_ALL || pr_measure_split(m));
    return told ? s->value[aspect][m][k] : NAN;
}

static void add_measure(parsrec_eval_report *report, const pr_protocol *p, pr_measure m, size_t k,
                        const pr_scores *scores, const pr_scores *chance)
{
    report->measures[report->measure_count++] =
        (parsrec_measure){.name = pr_measure_name(m),
                          .k = pr_measure_at_k(m) ? p->k[k] : 0,
                          .value = value_of(scores, PR_ALL, m, k),
                          .random = value_of(chance, PR_ALL, m, k),
                          .repeat = value_of(scores, PR_REPEAT, m, k),
                          .fresh = value_of(scores, PR_FRESH, m, k),
                          .repeat_random = value_of(chance, PR_REPEAT, m, k),
                          .fresh_random = value_of(chance, PR_FRESH, m, k)};
}

static void fill_report(parsrec_eval_report *report, const pr_protocol *p, const pr_scores *scores,
                        const pr_scores *chance)
{
    report->baskets = scores->baskets;
    report->steps = scores->steps;
    report->repeat_steps = (uint64_t)scores->weight[PR_REPEAT];
    report->fresh_steps = (uint64_t)scores->weight[PR_FRESH];
    for (size_t i = 0; i < p->rule->measure_count; i++) {
        pr_measure m = p->rule->measures[i].measure;
        for (size_t k = 0; k < (pr_measure_at_k(m) ? p->k_count : 1); k++)
            add_measure(report, p, m, k, scores, chance);
    }
}

parsrec_status parsrec_eval_measures(const parsrec_eval_options *options,
                                     parsrec_measure measures[PARSREC_MEASURES_MOST], size_t *count,
                                     parsrec_error *err)
{
    if (options == NULL || measures == NULL || count == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval_measures needs options and room");
    pr_protocol p;
    parsrec_eval_report report = {0};
    const pr_scores none = {0};
    PR_TRY(set_rule(&p, options, err));
    fill_report(&report, &p, &none, &none);
    *count = report.measure_count;
    memcpy(measures, report.measures, report.measure_count * sizeof *measures);
    return PARSREC_OK;
}

_Static_assert(sizeof(parsrec_share) == sizeof(pr_tally), "a tally by another name");

/* Rows of tallies are in the order of users, so their numbers are those of the users evaluated. */
static void tell_rows(const pr_tallies *t, const bool *evaluated, const parsrec_eval_options *o)
{
    parsrec_share shares[PARSREC_MEASURES_MOST];
    for (size_t user = 0, row = 0; row < t->users; user++) {
        if (!evaluated[user])
            continue;
        memcpy(shares, t->rows + row++ * t->measures, t->measures * sizeof *shares);
        o->on_user(o->user_context, user, shares, t->measures);
    }
}

static parsrec_status tell_users(const pr_evaluation *e, const parsrec_eval_options *o,
                                 parsrec_error *err)
{
    if (o->on_user == NULL)
        return PARSREC_OK;
    pr_tallies t;
    bool *evaluated = pr_alloc_zero(e->data->users, sizeof *evaluated);
    if (evaluated == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < e->count; i++)
        evaluated[e->baskets[i].user] = true;
    parsrec_status status = pr_tallies_of(&t, e, err);
    if (status == PARSREC_OK) {
        tell_rows(&t, evaluated, o);
        pr_free((void *)(uintptr_t)t.rows);
    }
    pr_free(evaluated);
    return status;
}

parsrec_status parsrec_eval_json(char **out, const char *model, const char *data,
                                 const parsrec_eval_options *options,
                                 const parsrec_eval_report *report, parsrec_error *err)
{
    if (out == NULL || model == NULL || data == NULL || options == NULL || report == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_eval_json needs names and a report");
    *out = pr_eval_json_text(pr_eval_json(model, data, options, report));
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
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
            "nobody can be evaluated: no user has %zu sessions, an evaluated one with at "
            "least %zu item%s",
            e->protocol.held + 2, e->protocol.rule->smallest,
            e->protocol.rule->smallest == 1 ? "" : "s");
    PR_TRY(pr_pool_new(&pool, threads, err));
    parsrec_status status = run_model(model, e, pool, hooks, &scores, err);
    pr_pool_free(pool);
    PR_TRY(status);
    PR_TRY(pr_evaluation_chance(e, &chance, err));
    fill_report(report, &e->protocol, &scores, &chance);
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
    PR_TRY(make_protocol(&protocol, options, model, err));
    PR_TRY(pr_evaluation_init(&e, data, &protocol, err));
    parsrec_status status = evaluate(model, &e, options->threads, report, hooks, err);
    if (status == PARSREC_OK)
        status = add_fingerprint(model, data, &protocol, report, err);
    if (status == PARSREC_OK)
        status = tell_users(&e, options, err);
    pr_evaluation_free(&e);
    report->seconds = pr_now() - began;
    return status;
}
