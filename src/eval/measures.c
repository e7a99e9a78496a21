/* Ranks and gains; sums by basket, over all baskets, and by user. */
#include "eval/measures.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "eval/protocol.h"

/* ---- ranks and gains ---- */

size_t pr_rank(float score, const float *others, size_t count)
{
    size_t rank = 0;
    for (size_t i = 0; i < count; i++)
        rank += !(others[i] < score);
    return rank;
}

double pr_gain(size_t rank, size_t k)
{
    assert(k > 0);
    return rank < k ? 1 / log2((double)rank + 2) : 0;
}

double pr_ideal(size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pr_gain(i, count);
    return sum;
}

/* ---- the table ---- */

const pr_measure_info pr_measure_table[PR_MEASURES] = {
#define MEASURE_ROW(id, name, brief, legend, at_k, split) {name, brief, legend, at_k, split},
    PR_MEASURE_MAP(MEASURE_ROW)
#undef MEASURE_ROW
};

const pr_measure_info *pr_measure_named(const char *name)
{
    for (size_t m = 0; m < PR_MEASURES; m++)
        if (strcmp(pr_measure_table[m].name, name) == 0)
            return &pr_measure_table[m];
    return NULL;
}

char *pr_measure_title(const parsrec_measure *m, char *buffer, size_t size)
{
    if (m->k == 0)
        snprintf(buffer, size, "%s", m->name);
    else
        snprintf(buffer, size, "%s@%llu", m->name, (unsigned long long)m->k);
    return buffer;
}

/* ---- sums of one basket ---- */

/* Sums of one aspect. */
static size_t stride(const pr_eval_protocol *p)
{
    return 1 + p->rule->columns * p->k_count;
}

size_t pr_sums_count(const pr_eval_protocol *p)
{
    return PR_ASPECTS * stride(p);
}

float *pr_sums_column(const pr_eval_protocol *p, float *sums, pr_aspect aspect, size_t column)
{
    assert(aspect < PR_ASPECTS && column < p->rule->columns && p->rule->columns <= PR_COLUMNS_MOST);
    return sums + aspect * stride(p) + 1 + column * p->k_count;
}

float *pr_sums_weight(const pr_eval_protocol *p, float *sums, pr_aspect aspect)
{
    assert(aspect < PR_ASPECTS);
    return sums + aspect * stride(p);
}

void pr_sums_rank(const pr_eval_protocol *p, float *sums, pr_aspect aspect, size_t rank)
{
    float *hits = pr_sums_column(p, sums, aspect, PR_COLUMN_HITS);
    float *gain = pr_sums_column(p, sums, aspect, PR_COLUMN_GAIN);
    *pr_sums_weight(p, sums, aspect) += 1;
    for (size_t k = 0; k < p->k_count; k++) {
        hits[k] += rank < p->k[k] ? 1.0f : 0.0f;
        gain[k] += (float)pr_gain(rank, p->k[k]);
    }
}

/* ---- sums of all baskets ---- */

void pr_scores_sum(pr_scores *scores, const pr_eval_protocol *p, const pr_evaluated *baskets,
                   size_t count)
{
    *scores = (pr_scores){.baskets = count};
    for (size_t i = 0; i < count; i++)
        scores->steps += baskets[i].steps - baskets[i].unasked;
    for (pr_aspect a = PR_ALL; a < PR_ASPECTS; a++) {
        double counted = 0; /* baskets that have anything of the aspect */
        for (size_t i = 0; i < count; i++) {
            double weight = (double)*pr_sums_weight(p, baskets[i].sums, a);
            if (weight == 0)
                continue;
            counted += 1;
            scores->weight[a] += weight;
            for (size_t m = 0; m < p->rule->measure_count; m++) {
                const pr_rule_measure *rule = &p->rule->measures[m];
                const float *sum = pr_sums_column(p, baskets[i].sums, a, rule->column);
                double *value = scores->value[a][rule->measure];
                for (size_t k = 0; k < p->k_count; k++)
                    value[k] += rule->per_basket ? (double)sum[k] / weight : (double)sum[k];
            }
        }
        for (size_t m = 0; m < p->rule->measure_count && counted > 0; m++)
            for (size_t k = 0; k < p->k_count; k++)
                scores->value[a][p->rule->measures[m].measure][k] /=
                    p->rule->measures[m].per_basket ? counted : scores->weight[a];
    }
}

/* ---- what each user adds ---- */

static size_t cutoffs_of(const pr_eval_protocol *p, pr_measure_id measure)
{
    return pr_measure_table[measure].at_k ? p->k_count : 1;
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
    assert(i < pr_protocol_measures(p));
    size_t m = 0;
    while (i >= cutoffs_of(p, p->rule->measures[m].measure))
        i -= cutoffs_of(p, p->rule->measures[m++].measure);
    *k = i;
    return p->rule->measures[m].measure;
}

static void add_basket(parsrec_share *row, const pr_eval_protocol *p, const pr_evaluated *b,
                       pr_aspect aspect)
{
    double weight = (double)*pr_sums_weight(p, b->sums, aspect);
    if (weight == 0)
        return;
    for (size_t m = 0; m < p->rule->measure_count; m++) {
        const pr_rule_measure *rule = &p->rule->measures[m];
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

parsrec_status pr_user_tallies_make(pr_user_tallies *out, const pr_eval_protocol *p,
                                    const pr_evaluated *baskets, size_t count, pr_aspect aspect,
                                    parsrec_error *err)
{
    *out = (pr_user_tallies){.measures = pr_protocol_measures(p)};
    const pr_evaluated **order = pr_alloc(count, sizeof *order);
    out->rows = pr_alloc_zero(count, out->measures * sizeof *out->rows);
    out->users = pr_alloc(count, sizeof *out->users);
    bool ready = order != NULL && out->rows != NULL && out->users != NULL;
    for (size_t i = 0; ready && i < count; i++)
        order[i] = &baskets[i];
    if (ready)
        qsort(order, count, sizeof *order, by_user);
    for (size_t i = 0; ready && i < count; i++) {
        if (out->user_count == 0 || out->users[out->user_count - 1] != order[i]->user)
            out->users[out->user_count++] = order[i]->user;
        add_basket(out->rows + (out->user_count - 1) * out->measures, p, order[i], aspect);
    }
    pr_free(order);
    return ready ? PARSREC_OK : pr_fail_memory(err);
}

void pr_user_tallies_free(pr_user_tallies *t)
{
    pr_free(t->rows);
    pr_free(t->users);
    *t = (pr_user_tallies){0};
}
