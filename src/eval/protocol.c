/* A protocol from its options and files, its fingerprint, and the three rules. */
#include "eval/protocol.h"

#include <assert.h>
#include <math.h>
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

size_t pr_users_spread(bool *users, const pr_dataset *data, pr_split_part part, size_t held_out,
                       size_t most, size_t *of)
{
    size_t total = 0, place = 0;
    for (size_t u = 0; u < data->users; u++) {
        users[u] = users[u] && pr_split_session(data, u, part, held_out) >= 0;
        total += users[u];
    }
    size_t wanted = total < most ? total : most;
    for (size_t u = 0; u < data->users; u++)
        if (users[u]) {
            users[u] = (place + 1) * wanted / total != place * wanted / total;
            place++;
        }
    if (of != NULL)
        *of = total;
    return wanted;
}

/* Restricts the protocol to `most` users. If there are no more than that it stays as it is, and so
 * does its fingerprint. */
static parsrec_status limit_users(pr_eval_protocol *p, const pr_dataset *data, uint64_t most,
                                  parsrec_error *err)
{
    bool *users = pr_alloc(data->users, sizeof *users);
    size_t of;
    if (users == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < data->users; u++)
        users[u] = p->users == NULL || p->users[u];
    if (pr_users_spread(users, data, p->part, p->held_out, (size_t)most, &of) == of) {
        pr_free(users);
        return PARSREC_OK;
    }
    pr_free((void *)(uintptr_t)p->users);
    p->users = users;
    return PARSREC_OK;
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
    if (o->most_users > 0)
        PR_TRY(limit_users(p, data, o->most_users, err));
    return read_users(&p->counted, o->count_users_path, data, err);
}

void pr_protocol_free(pr_eval_protocol *p)
{
    pr_source_free(&p->source);
    pr_free((void *)(uintptr_t)p->users);
    pr_free((void *)(uintptr_t)p->counted);
    *p = (pr_eval_protocol){0};
}

/* ---- the fingerprint ---- */

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

/* ---- the rules: what is a right answer at a step, what is counted, and what is placed ---- */

/* How many of the others rank above own item i; SIZE_MAX if it is not recommended. */
static size_t above(const pr_rule_step *step, size_t i)
{
    if (!(step->mine[i] > -INFINITY))
        return SIZE_MAX;
    if (step->above != NULL)
        return step->above[i];
    return pr_rank(step->mine[i], step->theirs, step->their_count);
}

/* ---- remaining: the paper's ---- */

static const pr_rule_measure remaining_measures[] = {
    {PR_HR, PR_COLUMN_HITS, false},
    {PR_NDCG, PR_COLUMN_GAIN, false},
    {PR_SESS_PREC, PR_COLUMN_HITS, true},
};

/* The best remaining item of an aspect, the first in stored order among equals; `size` if there is
 * none. */
static size_t best_of(const pr_rule_step *s, pr_aspect aspect)
{
    size_t best = s->size;
    for (size_t i = 0; i < s->size; i++) {
        bool counts = aspect == PR_ALL || s->seen[i] == (aspect == PR_REPEAT);
        if (!s->taken[i] && counts && (best == s->size || s->mine[i] > s->mine[best]))
            best = i;
    }
    return best;
}

static size_t count_remaining(const pr_rule_step *s, float *sums)
{
    size_t best[PR_ASPECTS], rank[PR_ASPECTS];
    for (pr_aspect a = PR_ALL; a < PR_ASPECTS; a++) {
        best[a] = best_of(s, a);
        if (best[a] == s->size)
            continue;
        /* The best of all is also the best of its aspect. */
        rank[a] = a != PR_ALL && best[a] == best[PR_ALL] ? rank[PR_ALL] : above(s, best[a]);
        pr_sums_rank(s->protocol, sums, a, rank[a]);
    }
    assert(best[PR_ALL] < s->size);
    if (rank[PR_ALL] < s->protocol->place_k)
        return best[PR_ALL];
    size_t first = 0;
    while (s->taken[first])
        first++;
    return first;
}

const pr_rule pr_rule_remaining = {
    .name = "remaining",
    .summary = "any item that remains in the basket is a right answer",
    .smallest = 2,
    .columns = PR_COLUMNS_SHARED,
    .measures = remaining_measures,
    .measure_count = sizeof remaining_measures / sizeof *remaining_measures,
    .count_step = count_remaining,
};

/* ---- next: the items of a session in stored order, each given those before it ---- */

enum { RECIPROCAL = PR_COLUMNS_SHARED, RECIPROCAL_AT, NEXT_COLUMNS };

static const pr_rule_measure next_measures[] = {
    {PR_HR, PR_COLUMN_HITS, false},       {PR_NDCG, PR_COLUMN_GAIN, false},
    {PR_MRR, RECIPROCAL, false},          {PR_MRR_AT, RECIPROCAL_AT, false},
    {PR_SESS_PREC, PR_COLUMN_HITS, true},
};

static size_t count_next(const pr_rule_step *s, float *sums)
{
    size_t target = s->number;
    assert(target < s->size && !s->taken[target]);
    if (s->unasked)
        return target;
    size_t rank = above(s, target);
    /* Over the whole catalogue the later items of the session are wrong answers like all others;
     * sampled items never come from the session. */
    if (rank != SIZE_MAX && s->protocol->negatives == 0)
        rank += pr_rank(s->mine[target], s->mine + target + 1, s->size - target - 1);
    const pr_aspect aspects[] = {PR_ALL, s->seen[target] ? PR_REPEAT : PR_FRESH};
    for (size_t a = 0; a < 2; a++) {
        pr_sums_rank(s->protocol, sums, aspects[a], rank);
        float part = rank == SIZE_MAX ? 0.0f : (float)(1 / ((double)rank + 1));
        *pr_sums_column(s->protocol, sums, aspects[a], RECIPROCAL) += part;
        float *at = pr_sums_column(s->protocol, sums, aspects[a], RECIPROCAL_AT);
        for (size_t k = 0; k < s->protocol->k_count; k++)
            at[k] += rank < s->protocol->k[k] ? part : 0;
    }
    return target;
}

const pr_rule pr_rule_next = {
    .name = "next",
    .summary = "one fixed target at a time",
    .smallest = 1,
    .columns = NEXT_COLUMNS,
    .measures = next_measures,
    .measure_count = sizeof next_measures / sizeof *next_measures,
    .count_step = count_next,
};

/* ---- basket: one list before the basket starts ---- */

/* Hits and gains are counted item by item; finish_list then turns their columns into Recall and
 * NDCG. */
enum {
    LIST_RECALL = PR_COLUMN_HITS,
    LIST_NDCG = PR_COLUMN_GAIN,
    LIST_PRECISION = PR_COLUMNS_SHARED,
    LIST_NDCG_WHOLE,
    LIST_PHR,
    LIST_COLUMNS
};

static const pr_rule_measure list_measures[] = {
    {PR_RECALL, LIST_RECALL, true}, {PR_PRECISION, LIST_PRECISION, true},
    {PR_NDCG, LIST_NDCG, true},     {PR_NDCG_WHOLE, LIST_NDCG_WHOLE, true},
    {PR_PHR, LIST_PHR, true},
};

/* Own items take positions in the list as well: before item i are those with a higher score and
 * those with the same score that are stored earlier. */
static size_t position_of(const pr_rule_step *s, size_t i)
{
    size_t position = above(s, i);
    if (position == SIZE_MAX)
        return position;
    for (size_t j = 0; j < s->size; j++)
        position += j < i ? s->mine[j] >= s->mine[i] : s->mine[j] > s->mine[i];
    return position;
}

/* Turns the hits and gains of an aspect, whose weight is the number of items so far, into measures
 * of one basket, whose weight is 1. */
static void finish_list(const pr_eval_protocol *p, float *sums, pr_aspect aspect)
{
    float *column[LIST_COLUMNS], *weight = pr_sums_weight(p, sums, aspect);
    size_t size = (size_t)*weight;
    if (size == 0)
        return;
    for (size_t c = 0; c < LIST_COLUMNS; c++)
        column[c] = pr_sums_column(p, sums, aspect, c);
    for (size_t k = 0; k < p->k_count; k++) {
        double hits = (double)column[LIST_RECALL][k], gain = (double)column[LIST_NDCG][k];
        column[LIST_RECALL][k] = (float)(hits / (double)size);
        column[LIST_PRECISION][k] = (float)(hits / (double)p->k[k]);
        column[LIST_NDCG][k] = (float)(gain / pr_ideal(size < p->k[k] ? size : p->k[k]));
        column[LIST_NDCG_WHOLE][k] = (float)(gain / pr_ideal(size));
        column[LIST_PHR][k] = hits > 0 ? 1 : 0;
    }
    *weight = 1;
}

static size_t count_list(const pr_rule_step *s, float *sums)
{
    const pr_eval_protocol *p = s->protocol;
    for (size_t i = 0; i < s->size; i++) {
        size_t position = position_of(s, i);
        const pr_aspect aspects[] = {PR_ALL, s->seen[i] ? PR_REPEAT : PR_FRESH};
        for (size_t a = 0; a < 2; a++)
            pr_sums_rank(p, sums, aspects[a], position);
    }
    for (pr_aspect a = PR_ALL; a < PR_ASPECTS; a++)
        finish_list(p, sums, a);
    return 0;
}

const pr_rule pr_rule_basket = {
    .name = "basket",
    .summary = "one list for the whole basket, made before it begins",
    .smallest = 1,
    .one_step = true,
    .columns = LIST_COLUMNS,
    .measures = list_measures,
    .measure_count = sizeof list_measures / sizeof *list_measures,
    .count_step = count_list,
};

const pr_rule *const pr_rules[PARSREC_PROTOCOLS] = {
    [PARSREC_PROTOCOL_REMAINING] = &pr_rule_remaining,
    [PARSREC_PROTOCOL_NEXT] = &pr_rule_next,
    [PARSREC_PROTOCOL_BASKET] = &pr_rule_basket,
};
