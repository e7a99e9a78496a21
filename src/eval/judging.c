/* Options checked, files read, and the digest of all that. */
#include "eval/judging.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "eval/user_groups.h"

_Static_assert(PARSREC_CUTOFFS_MOST == (int)PR_CUTOFFS, "as many cutoffs outside as inside");
_Static_assert(PARSREC_MEASURES_MOST == (int)PR_COLUMNS_MOST * (int)PR_CUTOFFS,
               "room for all measures outside");

static const pr_rule *const rules[] = {&pr_remaining, &pr_next, &pr_basket_list};
enum { RULES = sizeof rules / sizeof *rules };

const char *parsrec_protocol_name(parsrec_protocol protocol)
{
    return (size_t)protocol < RULES ? rules[protocol]->name : "unknown";
}

parsrec_eval_options parsrec_eval_default(void)
{
    pr_eval_protocol p = pr_protocol_paper(PR_TEST);
    parsrec_eval_options o = {
        .negatives = p.negatives, .k_count = p.k_count, .place_k = p.place_k, .seed = p.seed};
    for (size_t i = 0; i < p.k_count; i++)
        o.k[i] = p.k[i];
    return o;
}

/* ---- numbers ---- */

static parsrec_status set_cutoffs(pr_eval_protocol *p, const parsrec_eval_options *o,
                                  parsrec_error *err)
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
static parsrec_status set_last(pr_eval_protocol *p, const parsrec_eval_options *o, size_t held,
                               parsrec_error *err)
{
    p->held = held;
    p->last = o->last > 0 ? (size_t)o->last : held;
    if (o->last <= held)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "the model was trained with last=%zu, so it has seen some of the last %llu "
                   "sessions of a user; train it with last=%llu",
                   held, (unsigned long long)o->last, (unsigned long long)o->last);
}

parsrec_status pr_judging_rule(pr_eval_protocol *p, const parsrec_eval_options *o,
                               parsrec_error *err)
{
    if ((size_t)o->protocol >= RULES)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is no protocol number %d", (int)o->protocol);
    if (o->place_k < 1)
        return pr_fail(err, PARSREC_E_ARGUMENT, "at least 1 place is needed");
    *p = pr_protocol_paper(o->split == PARSREC_SPLIT_VALID ? PR_VALID : PR_TEST);
    p->rule = rules[o->protocol];
    p->exclude_seen = o->exclude_seen;
    p->place_k = (size_t)o->place_k;
    p->seed = o->seed;
    return set_cutoffs(p, o, err);
}

static parsrec_status set_numbers(pr_eval_protocol *p, const parsrec_eval_options *o, size_t items,
                                  size_t held, parsrec_error *err)
{
    PR_TRY(pr_judging_rule(p, o, err));
    p->negatives = o->negatives < items ? (size_t)o->negatives : items;
    return set_last(p, o, held, err);
}

/* ---- files ---- */

static parsrec_status set_source(pr_judging *j, const parsrec_eval_options *o,
                                 const pr_dataset *data, parsrec_error *err)
{
    pr_scope scope = pr_scope_before(j->protocol.part, j->protocol.held);
    j->protocol.source = &j->source;
    if (o->candidates != PARSREC_CANDIDATES_UNIFORM && o->negatives == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the whole catalogue leaves no candidates to choose");
    switch (o->candidates) {
    case PARSREC_CANDIDATES_UNIFORM:
        return PARSREC_OK;
    case PARSREC_CANDIDATES_POPULAR:
        return pr_source_popular(&j->source, data, &scope, err);
    case PARSREC_CANDIDATES_FILE:
        if (o->candidates_path != NULL)
            return pr_source_listed(&j->source, data, o->candidates_path, err);
    }
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "candidates come from the catalogue, by popularity or "
                   "from a file that has a name");
}

static parsrec_status read_users(bool **users, const char *path, const pr_dataset *data,
                                 parsrec_error *err)
{
    if (path == NULL)
        return PARSREC_OK;
    *users = pr_alloc(data->users, sizeof **users);
    return *users == NULL ? pr_fail_memory(err) : pr_user_list_read(*users, path, data, err);
}

static parsrec_status set_users(pr_judging *j, const parsrec_eval_options *o,
                                const pr_dataset *data, parsrec_error *err)
{
    PR_TRY(read_users(&j->users, o->users_path, data, err));
    j->protocol.users = j->users;
    return read_users(&j->counted, o->count_users_path, data, err);
}

parsrec_status pr_judging_init(pr_judging *j, const parsrec_eval_options *options,
                               const pr_dataset *data, size_t held, parsrec_error *err)
{
    *j = (pr_judging){0};
    parsrec_status status = set_numbers(&j->protocol, options, data->items, held, err);
    if (status == PARSREC_OK)
        status = set_source(j, options, data, err);
    if (status == PARSREC_OK)
        status = set_users(j, options, data, err);
    if (status != PARSREC_OK)
        pr_judging_free(j);
    return status;
}

void pr_judging_free(pr_judging *j)
{
    pr_source_free(&j->source);
    pr_free(j->users);
    pr_free(j->counted);
    *j = (pr_judging){0};
}

/* ---- the digest ---- */

static XXH64_hash_t digest(XXH64_hash_t so_far, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, so_far);
}

static XXH64_hash_t digest_protocol(XXH64_hash_t sum, const pr_eval_protocol *p)
{
    char words[160];
    snprintf(words, sizeof words, "%s/%d/%zu/%zu/%zu/%d/%d/%zu/%llu", p->rule->name, (int)p->part,
             p->held, p->last, p->negatives, (int)p->source->kind, (int)p->exclude_seen, p->place_k,
             (unsigned long long)p->seed);
    sum = digest(sum, words, strlen(words));
    for (size_t k = 0; k < p->k_count; k++) {
        snprintf(words, sizeof words, "@%zu", p->k[k]);
        sum = digest(sum, words, strlen(words));
    }
    return sum;
}

parsrec_status pr_judging_fingerprint(char out[17], const pr_judging *j, const pr_dataset *data,
                                      const pr_model *model, parsrec_error *err)
{
    json_t *json = pr_config_json(&model->config);
    char *config = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    if (config == NULL)
        return pr_fail_memory(err);
    XXH64_hash_t sum = digest(0, config, strlen(config));
    const char *checksum = pr_dataset_checksum(data);
    sum = digest(sum, model->kind->name, strlen(model->kind->name));
    sum = digest(sum, checksum, strlen(checksum));
    sum = digest_protocol(sum, &j->protocol);
    if (j->source.kind == PARSREC_CANDIDATES_FILE) {
        sum = digest(sum, j->source.offsets, (data->users + 1) * sizeof *j->source.offsets);
        sum = digest(sum, j->source.items,
                     (size_t)j->source.offsets[data->users] * sizeof *j->source.items);
    }
    if (j->users != NULL)
        sum = digest(sum, j->users, data->users * sizeof *j->users);
    if (j->counted != NULL && model->kind->count != NULL)
        sum = digest(sum, j->counted, data->users * sizeof *j->counted);
    snprintf(out, 17, "%016llx", (unsigned long long)sum);
    pr_free(config);
    return PARSREC_OK;
}
