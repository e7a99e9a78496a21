/* The three protocols: what is a right answer at a step, what is counted, and what is placed. */
#include <assert.h>
#include <math.h>

#include "eval/protocol.h"

/* How many of the others rank above own item i; SIZE_MAX for one that is not recommended. */
static size_t above(const pr_rule_step *step, size_t i)
{
    if (!(step->mine[i] > -INFINITY))
        return SIZE_MAX;
    if (step->above != NULL)
        return step->above[i];
    return pr_rank(step->mine[i], step->theirs, step->their_count);
}

/* ---- remaining: the paper's ---- */

enum { HITS, GAIN, STEP_COLUMNS };

static const pr_measure_rule remaining_measures[] = {
    {PR_HR, HITS, false},
    {PR_NDCG, GAIN, false},
    {PR_SESS_PREC, HITS, true},
};

/* The best remaining item of an aspect, the first in stored order among equals; `size` when there is
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
    .columns = STEP_COLUMNS,
    .measures = remaining_measures,
    .measure_count = sizeof remaining_measures / sizeof *remaining_measures,
    .count_step = count_remaining,
};

/* ---- next: the items of a session in stored order, each given those before it ---- */

enum { RECIPROCAL = STEP_COLUMNS, NEXT_COLUMNS };

static const pr_measure_rule next_measures[] = {
    {PR_HR, HITS, false},
    {PR_NDCG, GAIN, false},
    {PR_MRR, RECIPROCAL, false},
    {PR_SESS_PREC, HITS, true},
};

static size_t count_next(const pr_rule_step *s, float *sums)
{
    size_t target = s->number, rank = above(s, target);
    /* Over the whole catalogue the later items of the session are wrong answers like all others;
     * sampled items never come from the session. */
    if (rank != SIZE_MAX && s->protocol->negatives == 0)
        rank += pr_rank(s->mine[target], s->mine + target + 1, s->size - target - 1);
    const pr_aspect aspects[] = {PR_ALL, s->seen[target] ? PR_REPEAT : PR_FRESH};
    for (size_t a = 0; a < 2; a++) {
        pr_sums_rank(s->protocol, sums, aspects[a], rank);
        *pr_sums_column(s->protocol, sums, aspects[a], RECIPROCAL) +=
            rank == SIZE_MAX ? 0.0f : (float)(1 / ((double)rank + 1));
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

enum { LIST_RECALL, LIST_PRECISION, LIST_NDCG, LIST_NDCG_WHOLE, LIST_PHR, LIST_COLUMNS };

static const pr_measure_rule list_measures[] = {
    {PR_RECALL, LIST_RECALL, true}, {PR_PRECISION, LIST_PRECISION, true},
    {PR_NDCG, LIST_NDCG, true},     {PR_NDCG_WHOLE, LIST_NDCG_WHOLE, true},
    {PR_PHR, LIST_PHR, true},
};

/* Own items take positions in the list as well: before item i come those with a higher score and, of
 * equal ones, those stored earlier. */
static size_t position_of(const pr_rule_step *s, size_t i)
{
    size_t position = above(s, i);
    if (position == SIZE_MAX)
        return position;
    for (size_t j = 0; j < s->size; j++)
        position += j < i ? s->mine[j] >= s->mine[i] : s->mine[j] > s->mine[i];
    return position;
}

/* Turns the weight (items), hits and gains of a basket into its measures. */
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
        for (size_t a = 0; a < 2; a++) {
            float *hits = pr_sums_column(p, sums, aspects[a], LIST_RECALL);
            float *gain = pr_sums_column(p, sums, aspects[a], LIST_NDCG);
            *pr_sums_weight(p, sums, aspects[a]) += 1;
            for (size_t k = 0; k < p->k_count; k++) {
                hits[k] += position < p->k[k] ? 1.0f : 0.0f;
                gain[k] += (float)pr_gain(position, p->k[k]);
            }
        }
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
