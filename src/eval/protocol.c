/* Options checked, files read, and the digest of all that. */
#include "eval/protocol.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "eval/user_groups.h"

_Static_assert(PARSREC_MEASURES_MOST == (int)PR_COLUMNS_MOST * (int)PR_CUTOFFS,
               "room for all measures in the public report");

const char *parsrec_protocol_name(parsrec_protocol protocol)
{
    return (size_t)protocol < PARSREC_PROTOCOLS ? pr_rules[protocol]->name : "unknown";
}

pr_eval_protocol pr_protocol_paper(pr_split_part part)
{
    return (pr_eval_protocol){.rule = &pr_rule_remaining,
                              .part = part,
                              .held_out = 1,
                              .tested = 1,
                              .negatives = 100,
                              .seed = 5,
                              .place_k = 10,
                              .k = {1, 5, 10},
                              .k_count = 3};
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

parsrec_status pr_protocol_rule(pr_eval_protocol *p, const parsrec_eval_options *o,
                                parsrec_error *err)
{
    *p = pr_protocol_paper(o->split == PARSREC_SPLIT_VALID ? PR_VALID : PR_TEST);
    if ((size_t)o->protocol >= PARSREC_PROTOCOLS)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is no protocol number %d", (int)o->protocol);
    if (o->place_k < 1)
        return pr_fail(err, PARSREC_E_ARGUMENT, "at least 1 place is needed");
    if (o->k_count < 1 || o->k_count > PR_CUTOFFS)
        return pr_fail(err, PARSREC_E_ARGUMENT, "1 to %d cutoffs can be reported", PR_CUTOFFS);
    p->rule = pr_rules[o->protocol];
    p->exclude_seen = o->exclude_seen;
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

static parsrec_status read_source(pr_eval_protocol *p, const parsrec_eval_options *o,
                                  const pr_dataset *data, parsrec_error *err)
{
    pr_scope scope = pr_scope_before(p->part, p->held_out);
    if (o->candidates == PARSREC_CANDIDATES_UNIFORM)
        return PARSREC_OK;
    if (o->negatives == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the whole catalogue leaves no candidates to choose");
    if (o->candidates == PARSREC_CANDIDATES_POPULAR)
        return pr_source_popular(&p->source, data, &scope, err);
    if (o->candidates == PARSREC_CANDIDATES_FILE && o->candidates_path != NULL)
        return pr_source_listed(&p->source, data, o->candidates_path, err);
    return pr_fail(err, PARSREC_E_ARGUMENT,
                   "candidates come from the catalogue, by popularity or from a file that has a "
                   "name");
}

static parsrec_status read_users(const bool **users, const char *path, const pr_dataset *data,
                                 parsrec_error *err)
{
    if (path == NULL)
        return PARSREC_OK;
    bool *members = pr_alloc(data->users, sizeof *members);
    *users = members;
    return members == NULL ? pr_fail_memory(err) : pr_user_list_read(members, path, data, err);
}

parsrec_status pr_protocol_init(pr_eval_protocol *p, const parsrec_eval_options *o,
                                const pr_dataset *data, size_t held_out, parsrec_error *err)
{
    PR_TRY(pr_protocol_rule(p, o, err));
    p->negatives = o->negatives < data->items ? (size_t)o->negatives : data->items;
    p->held_out = held_out;
    p->tested = o->last > 0 ? (size_t)o->last : held_out;
    if (p->tested > held_out) /* the model has learnt from sessions to be predicted */
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the model was trained with last=%zu, so it has seen some of the last %zu "
                       "sessions of a user; train it with last=%zu",
                       held_out, p->tested, p->tested);
    PR_TRY(read_source(p, o, data, err));
    PR_TRY(read_users(&p->users, o->users_path, data, err));
    return read_users(&p->counted, o->count_users_path, data, err);
}

void pr_protocol_free(pr_eval_protocol *p)
{
    pr_source_free(&p->source);
    pr_free((void *)(uintptr_t)p->users);
    pr_free((void *)(uintptr_t)p->counted);
    *p = (pr_eval_protocol){0};
}

/* ---- the digest ---- */

static XXH64_hash_t digest(XXH64_hash_t so_far, const void *bytes, size_t size)
{
    return XXH3_64bits_withSeed(bytes, size, so_far);
}

parsrec_status pr_protocol_fingerprint(char out[17], const pr_eval_protocol *p,
                                       const pr_dataset *data, const pr_model *model,
                                       parsrec_error *err)
{
    char words[160];
    json_t *json = pr_config_json(&model->config);
    char *config = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    if (config == NULL)
        return pr_fail_memory(err);
    XXH64_hash_t sum = digest(0, config, strlen(config));
    const char *checksum = pr_dataset_checksum(data);
    sum = digest(sum, model->kind->name, strlen(model->kind->name));
    sum = digest(sum, checksum, strlen(checksum));
    snprintf(words, sizeof words, "%s/%d/%zu/%zu/%zu/%d/%d/%zu/%llu", p->rule->name, (int)p->part,
             p->held_out, p->tested, p->negatives, (int)p->source.kind, (int)p->exclude_seen,
             p->place_k, (unsigned long long)p->seed);
    sum = digest(sum, words, strlen(words));
    for (size_t k = 0; k < p->k_count; k++) {
        snprintf(words, sizeof words, "@%zu", p->k[k]);
        sum = digest(sum, words, strlen(words));
    }
    const pr_candidate_source *s = &p->source;
    if (s->kind == PARSREC_CANDIDATES_FILE) {
        sum = digest(sum, s->offsets, (data->users + 1) * sizeof *s->offsets);
        sum = digest(sum, s->items, (size_t)s->offsets[data->users] * sizeof *s->items);
    }
    if (p->users != NULL)
        sum = digest(sum, p->users, data->users * sizeof *p->users);
    if (p->counted != NULL && model->kind->count != NULL)
        sum = digest(sum, p->counted, data->users * sizeof *p->counted);
    snprintf(out, 17, "%016llx", (unsigned long long)sum);
    pr_free(config);
    return PARSREC_OK;
}
