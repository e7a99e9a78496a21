/* Runs models through a protocol, and keeps what each basket scored, so that intervals and comparisons
 * can be made from it. */
#ifndef PR_EVALUATION_H
#define PR_EVALUATION_H

#include "base/json.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/writer.h"
#include "data/dataset.h"
#include "eval/protocol.h"
#include "model/model.h"
#include "ranks/ranks.h"

/* The baskets to evaluate and room for their sums, made once and used for every epoch or model. What the
 * protocol points to must outlive it. */
typedef struct pr_evaluation {
    const pr_dataset *data;
    pr_eval_protocol protocol;
    pr_evaluated *baskets; /* by steps, most first */
    float *sums;           /* of all baskets */
    size_t count, largest; /* items of the largest basket */
    size_t longest;        /* steps of the longest walk */
    bool complete;         /* the last run finished: sums and `others` of all baskets are set */
    pr_ordered_file *dump; /* takes what is ranked (eval/score_dump.h) in one run; or NULL */
    pr_ranks *ranks;       /* that divide the baskets among them; not with a dump. NULL: none */
} pr_evaluation;

parsrec_status pr_evaluation_init(pr_evaluation *e, const pr_dataset *data,
                                  const pr_eval_protocol *protocol, parsrec_error *err);
void pr_evaluation_free(pr_evaluation *e); /* a zeroed one is fine */

/* What training validates with: the paper's protocol or, where no validation basket has two items,
 * as in plain sequences, the rule `next`, over the whole catalogue unless that is very large. users:
 * [users], who is evaluated; NULL: everybody. It must outlive the evaluation. */
parsrec_status pr_evaluation_validation(pr_evaluation *e, const pr_dataset *data, size_t held_out,
                                        const bool *users, parsrec_error *err);

/* Runs a model over all baskets on the pool's threads; the result does not depend on their number. */
parsrec_status pr_evaluation_run(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                                 const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err);

/* Memory that a run takes with this number of threads, for an estimate beforehand. */
size_t pr_evaluation_bytes(const pr_evaluation *e, const pr_model *model, unsigned threads);

/* What a random ranker gets on the candidates of the last run, which must be complete: every candidate of a basket has a random
 * number, drawn once. Mean of several draws. */
parsrec_status pr_evaluation_chance(const pr_evaluation *e, pr_scores *scores, parsrec_error *err);

/* A report as the members of parsrec_eval_json; NULL when out of memory. */
json_t *pr_eval_json(const char *model, const char *data, const parsrec_eval_options *options,
                     const parsrec_eval_report *report);

#endif
