/* Which baskets are evaluated, and what their sums make together. */
#include "eval/evaluation.h"

#include <stdlib.h>

#include "base/memory.h"

static size_t size_of(const pr_dataset *data, int64_t session)
{
    return (size_t)(data->session_offsets[session + 1] - data->session_offsets[session]);
}

static int longer_first(const void *left, const void *right)
{
    const pr_evaluated *a = left, *b = right;
    if (a->steps != b->steps)
        return a->steps > b->steps ? -1 : 1;
    return (a->session > b->session) - (a->session < b->session);
}

/* The sessions of a user that a protocol evaluates: from *first up to the one returned. */
static int64_t sessions_of(const pr_dataset *data, size_t user, const pr_eval_protocol *p,
                           int64_t *first)
{
    *first = pr_split_session(data, user, p->part, p->held);
    if (*first < 0 || (p->users != NULL && !p->users[user]))
        return *first;
    if (p->part == PR_VALID)
        return *first + 1;
    *first = data->user_offsets[user + 1] - (int64_t)p->last;
    return data->user_offsets[user + 1];
}

static void add_sessions(pr_evaluation *e, size_t user)
{
    int64_t first, end = sessions_of(e->data, user, &e->protocol, &first);
    for (int64_t s = first; s < end; s++) {
        size_t size = size_of(e->data, s);
        if (size < e->protocol.rule->smallest)
            continue;
        if (e->baskets != NULL)
            e->baskets[e->count] =
                (pr_evaluated){.user = (uint32_t)user,
                               .session = (uint32_t)s,
                               .size = (uint32_t)size,
                               .steps = e->protocol.rule->one_step ? 1 : (uint32_t)size};
        e->count++;
        e->largest = size > e->largest ? size : e->largest;
    }
}

/* Counts the baskets, or lists them once there is room for them. */
static void gather(pr_evaluation *e)
{
    e->count = 0;
    for (size_t u = 0; u < e->data->users; u++)
        add_sessions(e, u);
}

/* Candidates from a file: as many as the longest list has, and some for every basket. */
static parsrec_status check_lists(pr_evaluation *e, parsrec_error *err)
{
    const pr_candidate_source *s = e->protocol.source;
    if (s == NULL || s->kind != PR_SOURCE_LISTED)
        return PARSREC_OK;
    for (size_t i = 0; i < e->count; i++) {
        uint32_t user = e->baskets[i].user;
        pr_excerpt hold;
        if (s->offsets[user] == s->offsets[user + 1])
            return pr_fail(err, PARSREC_E_INPUT, "user %s has no candidates in the file",
                           pr_show(&hold, pr_name(&e->data->user_keys, user)));
    }
    e->protocol.negatives = s->longest;
    return PARSREC_OK;
}

parsrec_status pr_evaluation_init(pr_evaluation *e, const pr_dataset *data,
                                  const pr_eval_protocol *protocol, parsrec_error *err)
{
    *e = (pr_evaluation){.data = data, .protocol = *protocol};
    gather(e);
    size_t width = pr_sums_count(protocol);
    e->baskets = pr_alloc(e->count, sizeof *e->baskets);
    e->sums = pr_alloc_zero(e->count, width * sizeof *e->sums);
    if (e->baskets == NULL || e->sums == NULL) {
        pr_evaluation_free(e);
        return pr_fail_memory(err);
    }
    gather(e);
    qsort(e->baskets, e->count, sizeof *e->baskets, longer_first);
    for (size_t i = 0; i < e->count; i++)
        e->baskets[i].sums = e->sums + i * width;
    e->longest = e->count > 0 ? e->baskets[0].steps : 0;
    parsrec_status status = check_lists(e, err);
    if (status != PARSREC_OK)
        pr_evaluation_free(e);
    return status;
}

void pr_evaluation_free(pr_evaluation *e)
{
    pr_free(e->baskets);
    pr_free(e->sums);
    *e = (pr_evaluation){0};
}

parsrec_status pr_evaluation_validation(pr_evaluation *e, const pr_dataset *data, size_t held,
                                        parsrec_error *err)
{
    enum { LARGE_CATALOGUE = 20000 };
    pr_eval_protocol p = pr_protocol_paper(PR_VALID);
    p.held = held;
    PR_TRY(pr_evaluation_init(e, data, &p, err));
    if (e->count > 0)
        return PARSREC_OK;
    pr_evaluation_free(e);
    p.rule = &pr_next;
    if (data->items <= LARGE_CATALOGUE)
        p.negatives = 0;
    return pr_evaluation_init(e, data, &p, err);
}

/* ---- sums ---- */

static void add_basket(pr_scores *scores, const pr_eval_protocol *p, const pr_evaluated *b,
                       pr_aspect aspect)
{
    double weight = (double)*pr_sums_weight(p, b->sums, aspect);
    if (weight == 0)
        return;
    scores->weight[aspect] += weight;
    for (size_t m = 0; m < p->rule->measure_count; m++) {
        const pr_measure_rule *rule = &p->rule->measures[m];
        const float *sum = pr_sums_column(p, b->sums, aspect, rule->column);
        for (size_t k = 0; k < p->k_count; k++)
            scores->value[aspect][rule->measure][k] +=
                rule->per_basket ? (double)sum[k] / weight : (double)sum[k];
    }
}

void pr_evaluation_sum(const pr_evaluation *e, const pr_evaluated *baskets, pr_scores *scores)
{
    const pr_eval_protocol *p = &e->protocol;
    *scores = (pr_scores){.baskets = e->count};
    for (size_t i = 0; i < e->count; i++)
        scores->steps += baskets[i].steps;
    for (pr_aspect a = PR_ALL; a < PR_ASPECTS; a++) {
        double counted = 0;
        for (size_t i = 0; i < e->count; i++) {
            add_basket(scores, p, &baskets[i], a);
            counted += *pr_sums_weight(p, baskets[i].sums, a) > 0 ? 1 : 0;
        }
        for (size_t m = 0; m < p->rule->measure_count && counted > 0; m++)
            for (size_t k = 0; k < p->k_count; k++)
                scores->value[a][p->rule->measures[m].measure][k] /=
                    p->rule->measures[m].per_basket ? counted : scores->weight[a];
    }
}
