/* Tables of measures and rules, and what rules share. */
#include "eval/protocol.h"

#include <math.h>
#include <string.h>

#include "eval/metrics.h"

const pr_rule *const pr_rules[] = {&pr_remaining, &pr_next, &pr_basket_list, NULL};

const pr_rule *pr_rule_find(const char *name)
{
    for (size_t i = 0; pr_rules[i] != NULL; i++)
        if (strcmp(pr_rules[i]->name, name) == 0)
            return pr_rules[i];
    return NULL;
}

static const struct {
    const char *name;
    bool at_k, split;
} measures[] = {
#define MEASURE_ROW(id, name, at_k, split) {name, at_k, split},
    PR_MEASURE_MAP(MEASURE_ROW)
#undef MEASURE_ROW
};

const char *pr_measure_name(pr_measure_id measure)
{
    return measures[measure].name;
}

bool pr_measure_at_k(pr_measure_id measure)
{
    return measures[measure].at_k;
}

bool pr_measure_split(pr_measure_id measure)
{
    return measures[measure].split;
}

pr_eval_protocol pr_protocol_paper(pr_split_part part)
{
    return (pr_eval_protocol){.rule = &pr_remaining,
                              .part = part,
                              .held = 1,
                              .last = 1,
                              .negatives = 100,
                              .seed = 5,
                              .place_k = 10,
                              .k = {1, 5, 10},
                              .k_count = 3};
}

size_t pr_step_above(const pr_step *step, size_t i)
{
    if (!(step->mine[i] > -INFINITY))
        return SIZE_MAX;
    if (step->above != NULL)
        return step->above[i];
    return pr_rank(step->mine[i], step->theirs, step->their_count);
}

void pr_sums_rank(const pr_eval_protocol *p, float *sums, pr_aspect aspect, size_t rank)
{
    float *hits = pr_sums_column(p, sums, aspect, 0), *gain = pr_sums_column(p, sums, aspect, 1);
    *pr_sums_weight(p, sums, aspect) += 1;
    for (size_t k = 0; k < p->k_count; k++) {
        hits[k] += rank < p->k[k] ? 1.0f : 0.0f;
        gain[k] += (float)pr_gain(rank, p->k[k]);
    }
}
