/* Runs models through a protocol: baskets side by side on all threads, and what each basket scored is
 * kept, so that intervals and comparisons can be made from it. */
#ifndef PR_EVALUATION_H
#define PR_EVALUATION_H

#include "base/hooks.h"
#include "base/ordered_file.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "eval/protocol.h"
#include "model/model.h"

/* One evaluated basket. */
typedef struct pr_evaluated {
    uint32_t user, session, size;
    uint32_t steps;  /* of its walk */
    uint32_t others; /* items it was ranked against, known after a run */
    float *sums;     /* as protocol.h lays them out */
} pr_evaluated;

typedef struct pr_scores {
    size_t baskets, steps;
    double weight[PR_ASPECTS]; /* steps of each aspect, or baskets where a basket is one step */
    double value[PR_ASPECTS][PR_MEASURES][PR_CUTOFFS]; /* a measure without cutoff stands at 0 */
} pr_scores;

/* The baskets to evaluate and room for their sums, made once and used for every epoch or model. */
typedef struct pr_evaluation {
    const pr_dataset *data;
    pr_eval_protocol protocol;
    pr_evaluated *baskets; /* by steps, most first */
    float *sums;           /* of all baskets */
    size_t count, largest; /* items of the largest basket */
    size_t longest;        /* steps of the longest walk */
    pr_ordered_file *dump; /* takes what is ranked (eval/score_dump.h) in one run; or NULL */
} pr_evaluation;

parsrec_status pr_evaluation_init(pr_evaluation *e, const pr_dataset *data,
                                  const pr_eval_protocol *protocol, parsrec_error *err);
void pr_evaluation_free(pr_evaluation *e); /* a zeroed one is fine */

/* What training validates with: the paper's protocol or, where no validation basket has two items,
 * as in plain sequences, the rule `next`, over the whole catalogue unless that is very large. */
parsrec_status pr_evaluation_validation(pr_evaluation *e, const pr_dataset *data, size_t held,
                                        parsrec_error *err);

/* Runs a model over all baskets on the pool's threads; the result does not depend on their number. */
parsrec_status pr_evaluation_run(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                                 const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err);

/* Memory that a run takes on so many threads, for an estimate beforehand. */
size_t pr_evaluation_bytes(const pr_evaluation *e, const pr_model *model, unsigned threads);

/* What a ranker that knows nothing gets on the candidates of the last run: every candidate of a basket
 * has a number drawn once. Mean of several draws. */
parsrec_status pr_evaluation_chance(const pr_evaluation *e, pr_scores *scores, parsrec_error *err);

/* Measures out of the sums of baskets. */
void pr_evaluation_sum(const pr_evaluation *e, const pr_evaluated *baskets, pr_scores *scores);

#endif
