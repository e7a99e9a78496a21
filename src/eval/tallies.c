/* Sums of baskets, gathered by user. */
#include "eval/tallies.h"

#include <stdlib.h>

#include "base/memory.h"

static size_t cutoffs_of(const pr_eval_protocol *p, pr_measure_id measure)
{
    return pr_measure_at_k(measure) ? p->k_count : 1;
}

size_t pr_protocol_measures(const pr_eval_protocol *p)
{
    size_t count = 0;
    for (size_t m = 0; m < p->rule->measure_count; m++)
        count += cutoffs_of(p, p->rule->measures[m].measure);
    return count;
}

pr_measure_id pr_protocol_measure(const pr_eval_protocol *p, size_t i, size_t *k)
{
    size_t m = 0;
    while (i >= cutoffs_of(p, p->rule->measures[m].measure))
        i -= cutoffs_of(p, p->rule->measures[m++].measure);
    *k = i;
    return p->rule->measures[m].measure;
}

static void add_basket(pr_tally *row, const pr_eval_protocol *p, const pr_evaluated *b,
                       pr_aspect aspect)
{
    double weight = (double)*pr_sums_weight(p, b->sums, aspect);
    if (weight == 0)
        return;
    for (size_t m = 0; m < p->rule->measure_count; m++) {
        const pr_measure_rule *rule = &p->rule->measures[m];
        const float *sum = pr_sums_column(p, b->sums, aspect, rule->column);
        for (size_t k = 0; k < cutoffs_of(p, rule->measure); k++, row++) {
            row->sum += rule->per_basket ? (double)sum[k] / weight : (double)sum[k];
            row->weight += rule->per_basket ? 1 : weight;
        }
    }
}

static int by_user(const void *left, const void *right)
{
    const pr_evaluated *a = *(const pr_evaluated *const *)left;
    const pr_evaluated *b = *(const pr_evaluated *const *)right;
    if (a->user != b->user)
        return a->user > b->user ? 1 : -1;
    return (a->session > b->session) - (a->session < b->session);
}

static void fill(pr_user_tallies *t, const pr_evaluation *e, const pr_evaluated **order,
                 pr_aspect aspect)
{
    for (size_t i = 0; i < e->count; i++)
        order[i] = &e->baskets[i];
    qsort(order, e->count, sizeof *order, by_user);
    for (size_t i = 0; i < e->count; i++) {
        if (t->count == 0 || t->users[t->count - 1] != order[i]->user)
            t->users[t->count++] = order[i]->user;
        add_basket(t->rows + (t->count - 1) * t->measures, &e->protocol, order[i], aspect);
    }
}

parsrec_status pr_user_tallies_make(pr_user_tallies *out, const pr_evaluation *e, pr_aspect aspect,
                                    parsrec_error *err)
{
    *out = (pr_user_tallies){.measures = pr_protocol_measures(&e->protocol)};
    const pr_evaluated **order = pr_alloc(e->count, sizeof *order);
    out->rows = pr_alloc_zero(e->count, out->measures * sizeof *out->rows);
    out->users = pr_alloc(e->count, sizeof *out->users);
    bool ready = order != NULL && out->rows != NULL && out->users != NULL;
    if (ready)
        fill(out, e, order, aspect);
    pr_free(order);
    return ready ? PARSREC_OK : pr_fail_memory(err);
}

void pr_user_tallies_free(pr_user_tallies *t)
{
    pr_free(t->rows);
    pr_free(t->users);
    *t = (pr_user_tallies){0};
}
