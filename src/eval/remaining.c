/* The paper's rule: at each step any item that remains in the basket is a right answer, and the best
 * of them is placed next when it ranks high enough. */
#include "eval/protocol.h"

enum { HITS, GAIN, COLUMNS };

static const pr_measure_rule measures[] = {
    {PR_HR, HITS, false},
    {PR_NDCG, GAIN, false},
    {PR_SESS_PREC, HITS, true},
};

/* The best remaining item of an aspect, the first in stored order among equals; `size` when there is
 * none. */
static size_t best_of(const pr_step *s, pr_aspect aspect)
{
    size_t best = s->size;
    for (size_t i = 0; i < s->size; i++)
        if (!s->taken[i] && pr_step_has(s, aspect, i) &&
            (best == s->size || s->mine[i] > s->mine[best]))
            best = i;
    return best;
}

static size_t first_remaining(const pr_step *s)
{
    size_t first = 0;
    while (s->taken[first])
        first++;
    return first;
}

static size_t count(const pr_step *s, float *sums)
{
    size_t best[PR_ASPECTS], rank[PR_ASPECTS];
    for (pr_aspect a = PR_ALL; a < PR_ASPECTS; a++) {
        best[a] = best_of(s, a);
        if (best[a] == s->size)
            continue;
        /* The best of all is also the best of its aspect. */
        rank[a] = a != PR_ALL && best[a] == best[PR_ALL] ? rank[PR_ALL] : pr_step_above(s, best[a]);
        pr_sums_rank(s->protocol, sums, a, rank[a]);
    }
    return rank[PR_ALL] < s->protocol->place_k ? best[PR_ALL] : first_remaining(s);
}

const pr_rule pr_remaining = {
    .name = "remaining",
    .summary = "any item that remains in the basket is a right answer (the paper's)",
    .smallest = 2,
    .columns = COLUMNS,
    .measures = measures,
    .measure_count = sizeof measures / sizeof *measures,
    .count = count,
};
