/* Next-basket prediction: one list before the basket starts, and all of the basket to be found in it. */
#include "eval/metrics.h"
#include "eval/protocol.h"

enum { RECALL, PRECISION, NDCG, NDCG_WHOLE, PHR, COLUMNS };

static const pr_measure_rule measures[] = {
    {PR_RECALL, RECALL, true}, {PR_PRECISION, PRECISION, true},
    {PR_NDCG, NDCG, true},     {PR_NDCG_WHOLE, NDCG_WHOLE, true},
    {PR_PHR, PHR, true},
};

/* Own items take places in the list as well: before item i come those with a higher score and, of
 * equal ones, those stored earlier. */
static size_t place_of(const pr_step *s, size_t i)
{
    size_t place = pr_step_above(s, i);
    if (place == SIZE_MAX)
        return place;
    for (size_t j = 0; j < s->size; j++)
        place += j < i ? s->mine[j] >= s->mine[i] : s->mine[j] > s->mine[i];
    return place;
}

/* Hits and gains, first in the columns of recall and NDCG. */
static void add(const pr_eval_protocol *p, float *sums, pr_aspect aspect, size_t place)
{
    float *hits = pr_sums_column(p, sums, aspect, RECALL);
    float *gain = pr_sums_column(p, sums, aspect, NDCG);
    *pr_sums_weight(p, sums, aspect) += 1;
    for (size_t k = 0; k < p->k_count; k++) {
        hits[k] += place < p->k[k] ? 1.0f : 0.0f;
        gain[k] += (float)pr_gain(place, p->k[k]);
    }
}

/* Turns them into measures of one basket; the weight was the number of items so far. */
static void finish(const pr_eval_protocol *p, float *sums, pr_aspect aspect)
{
    float *column[COLUMNS], *weight = pr_sums_weight(p, sums, aspect);
    size_t size = (size_t)*weight;
    if (size == 0)
        return;
    for (size_t c = 0; c < COLUMNS; c++)
        column[c] = pr_sums_column(p, sums, aspect, c);
    for (size_t k = 0; k < p->k_count; k++) {
        double hits = (double)column[RECALL][k], gain = (double)column[NDCG][k];
        column[RECALL][k] = (float)(hits / (double)size);
        column[PRECISION][k] = (float)(hits / (double)p->k[k]);
        column[NDCG][k] = (float)(gain / pr_ideal(size < p->k[k] ? size : p->k[k]));
        column[NDCG_WHOLE][k] = (float)(gain / pr_ideal(size));
        column[PHR][k] = hits > 0 ? 1 : 0;
    }
    *weight = 1;
}

static size_t count(const pr_step *s, float *sums)
{
    for (size_t i = 0; i < s->size; i++) {
        size_t place = place_of(s, i);
        add(s->protocol, sums, PR_ALL, place);
        add(s->protocol, sums, s->seen[i] ? PR_REPEAT : PR_FRESH, place);
    }
    for (pr_aspect a = PR_ALL; a < PR_ASPECTS; a++)
        finish(s->protocol, sums, a);
    return 0;
}

const pr_rule pr_basket_list = {
    .name = "basket",
    .summary = "one list before the basket starts, all of the basket to be found in it",
    .smallest = 1,
    .one_step = true,
    .columns = COLUMNS,
    .measures = measures,
    .measure_count = sizeof measures / sizeof *measures,
    .count = count,
};
