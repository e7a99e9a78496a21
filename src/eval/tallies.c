/* Sums of baskets, gathered by user. */
#include "eval/tallies.h"

#include "base/memory.h"

static size_t cutoffs_of(const pr_protocol *p, pr_measure measure)
{
    return pr_measure_at_k(measure) ? p->k_count : 1;
}

size_t pr_tally_count(const pr_protocol *p)
{
    size_t count = 0;
    for (size_t m = 0; m < p->rule->measure_count; m++)
        count += cutoffs_of(p, p->rule->measures[m].measure);
    return count;
}

pr_measure pr_tally_measure(const pr_protocol *p, size_t i, size_t *k)
{
    size_t m = 0;
    while (i >= cutoffs_of(p, p->rule->measures[m].measure))
        i -= cutoffs_of(p, p->rule->measures[m++].measure);
    *k = i;
    return p->rule->measures[m].measure;
}

static void add_basket(pr_tally *row, const pr_protocol *p, const pr_evaluated *b)
{
    double weight = (double)*pr_sums_weight(p, b->sums, PR_ALL);
    for (size_t m = 0; m < p->rule->measure_count; m++) {
        const pr_measure_rule *rule = &p->rule->measures[m];
        const float *sum = pr_sums_column(p, b->sums, PR_ALL, rule->column);
        for (size_t k = 0; k < cutoffs_of(p, rule->measure); k++, row++) {
            row->sum += rule->per_basket ? (double)sum[k] / weight : (double)sum[k];
            row->weight += rule->per_basket ? 1 : weight;
        }
    }
}

/* row_of[user] becomes the user's row, counted from 0 in the order of users. */
static size_t number_users(uint32_t *row_of, const pr_evaluation *e)
{
    size_t rows = 0;
    for (size_t i = 0; i < e->count; i++)
        row_of[e->baskets[i].user] = 1;
    for (size_t u = 0; u < e->data->users; u++)
        if (row_of[u] != 0)
            row_of[u] = (uint32_t)rows++;
    return rows;
}

parsrec_status pr_tallies_of(pr_tallies *out, const pr_evaluation *e, parsrec_error *err)
{
    size_t measures = pr_tally_count(&e->protocol);
    uint32_t *row_of = pr_alloc_zero(e->data->users, sizeof *row_of);
    size_t users = row_of != NULL ? number_users(row_of, e) : 0;
    pr_tally *rows = pr_alloc_zero(users, measures * sizeof *rows);
    if (row_of == NULL || rows == NULL) {
        pr_free(row_of);
        pr_free(rows);
        return pr_fail_memory(err);
    }
    for (size_t i = 0; i < e->count; i++)
        add_basket(rows + row_of[e->baskets[i].user] * measures, &e->protocol, &e->baskets[i]);
    pr_free(row_of);
    *out = (pr_tallies){rows, users, measures};
    return PARSREC_OK;
}
