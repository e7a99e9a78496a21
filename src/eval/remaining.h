/* The paper's protocol: at each step any item that remains in the basket is a right answer
 * (docs/evaluation.md). */
#ifndef PR_REMAINING_H
#define PR_REMAINING_H

#include "base/hooks.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "data/split.h"
#include "model/model.h"

enum { PR_CUTOFFS = 8 };

typedef struct pr_protocol {
    pr_part part;
    size_t negatives;     /* items drawn to rank a basket's own items against */
    uint64_t seed;        /* of the candidates */
    size_t place_k;       /* the best remaining item is placed when it ranks among so many */
    size_t k[PR_CUTOFFS]; /* cutoffs reported, k_count of them */
    size_t k_count;
    size_t smallest; /* baskets with fewer items are left out */
} pr_protocol;

/* 100 negatives, place 10, k = 1, 5, 10, baskets of two items or more. */
pr_protocol pr_protocol_paper(pr_part part);

/* One evaluated basket. */
typedef struct pr_basket_score {
    uint32_t user, session, steps;
    float hits[PR_CUTOFFS]; /* steps that hit */
    float gain[PR_CUTOFFS]; /* sum over steps */
} pr_basket_score;

typedef struct pr_scores {
    size_t baskets, steps;
    double hit_rate[PR_CUTOFFS], ndcg[PR_CUTOFFS], session_precision[PR_CUTOFFS];
} pr_scores;

/* The baskets to evaluate and room for their scores, made once and used for every epoch or model. */
typedef struct pr_evaluation {
    const pr_dataset *data;
    pr_protocol protocol;
    pr_basket_score *baskets; /* by size, largest first */
    size_t count, largest;
} pr_evaluation;

parsrec_status pr_evaluation_init(pr_evaluation *e, const pr_dataset *data,
                                  const pr_protocol *protocol, parsrec_error *err);
void pr_evaluation_free(pr_evaluation *e); /* a zeroed one is fine */

/* Runs a model over all baskets on the pool's threads; the result does not depend on their number. */
parsrec_status pr_evaluation_run(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                                 const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err);

/* Memory that a run takes on so many threads, for an estimate beforehand. */
size_t pr_evaluation_bytes(const pr_evaluation *e, const pr_model *model, unsigned threads);

/* What a ranker that knows nothing gets: every candidate of a basket has a number drawn once. */
parsrec_status pr_evaluation_chance(const pr_evaluation *e, pr_scores *scores, parsrec_error *err);

#endif
