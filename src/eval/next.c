/* One fixed target at a time: the items of a session in stored order, each given those before it. */
#include "eval/metrics.h"
#include "eval/protocol.h"

enum { HITS, GAIN, RECIPROCAL, COLUMNS };

static const pr_measure_rule measures[] = {
    {PR_HR, HITS, false},
    {PR_NDCG, GAIN, false},
    {PR_MRR, RECIPROCAL, false},
    {PR_SESS_PREC, HITS, true},
};

/* Over the whole catalogue the later items of the session are wrong answers like all others;
 * sampled items never come from the session. */
static size_t rank_of(const pr_step *s, size_t target)
{
    size_t rank = pr_step_above(s, target);
    if (rank == SIZE_MAX || s->protocol->negatives > 0)
        return rank;
    return rank + pr_rank(s->mine[target], s->mine + target + 1, s->size - target - 1);
}

static size_t count(const pr_step *s, float *sums)
{
    size_t target = s->number, rank = rank_of(s, target);
    const pr_aspect aspects[] = {PR_ALL, s->seen[target] ? PR_REPEAT : PR_FRESH};
    for (size_t a = 0; a < 2; a++) {
        pr_sums_rank(s->protocol, sums, aspects[a], rank);
        *pr_sums_column(s->protocol, sums, aspects[a], RECIPROCAL) +=
            rank == SIZE_MAX ? 0.0f : (float)(1 / ((double)rank + 1));
    }
    return target;
}

const pr_rule pr_next = {
    .name = "next",
    .summary = "one fixed target at a time, in stored order",
    .smallest = 1,
    .columns = COLUMNS,
    .measures = measures,
    .measure_count = sizeof measures / sizeof *measures,
    .count = count,
};
