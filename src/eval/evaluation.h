/* Runs models over the baskets of a protocol, and keeps the sums of each basket, from which
 * intervals and comparisons are made. protocol.h describes the room. */
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

/* The baskets to evaluate and the sums of the last run, made once and used for every epoch or
 * model. It has a copy of the protocol; what that points to must outlive it. */
typedef struct pr_evaluation {
    const pr_dataset *data;
    pr_eval_protocol protocol;
    pr_evaluated *baskets; /* by steps, most first */
    float *sums;           /* of all baskets, in the order of `baskets` */
    size_t count;          /* of baskets */
    size_t largest;        /* items of the largest basket */
    size_t longest;        /* steps of the longest walk */
    bool complete;         /* the last run finished: sums and `others` of all baskets are set */
    pr_ordered_file *dump; /* the next run writes what is ranked to it (score_dump.h); or NULL */
    pr_ranks *ranks;       /* that divide the baskets; not with a dump. NULL: one process */
} pr_evaluation;

/* Whether the model learns from the sessions of this split: with newest = on its last epochs take in the
 * validation sessions. */
bool pr_eval_is_learnt(const pr_model *model, parsrec_split split);

parsrec_status pr_evaluation_init(pr_evaluation *e, const pr_dataset *data,
                                  const pr_eval_protocol *protocol, parsrec_error *err);
void pr_evaluation_free(pr_evaluation *e); /* a zeroed one is fine */

/* The evaluation that training validates with: the paper's protocol. If no validation basket has
 * two items, as in plain sequences, it is the rule `next`, over the whole catalogue unless that is
 * very large. users[users] says who is evaluated, NULL: everybody; it must outlive the
 * evaluation. */
parsrec_status pr_evaluation_validation(pr_evaluation *e, const pr_dataset *data, size_t held_out,
                                        const bool *users, parsrec_error *err);

/* Runs a model over all baskets on the pool's threads and sets *scores, the sums and `others` of
 * each basket, and `complete`. The result does not depend on the number of threads or ranks. All
 * ranks call it, and each gets the sums of all baskets. E_STOPPED when the hooks ask. */
parsrec_status pr_evaluation_run(pr_evaluation *e, const pr_model *model, pr_pool *pool,
                                 const parsrec_hooks *hooks, pr_scores *scores, parsrec_error *err);

/* Memory that a run takes with this number of threads, for an estimate beforehand. */
size_t pr_evaluation_bytes(const pr_evaluation *e, const pr_model *model, unsigned threads);

/* What a random ranker scores against the candidates of the last run, which must be complete. Every
 * candidate of a basket has one random number for all steps. The mean of several draws. */
parsrec_status pr_evaluation_chance(const pr_evaluation *e, pr_scores *scores, parsrec_error *err);

/* Counts again what a model counts, so that it knows nothing of the sessions that a part evaluates:
 * from all that precedes them, of the users marked in counted[users] or, with NULL, of all users.
 * *out, which the caller frees, is NULL if the model can be evaluated as it is. */
parsrec_status pr_evaluation_recount(pr_model **out, const pr_model *model, const pr_dataset *data,
                                     pr_split_part part, const bool *counted, pr_pool *pool,
                                     const parsrec_hooks *hooks, parsrec_error *err);

/* Fails if an evaluation of models that hold out `held_out` sessions has nobody to evaluate: asked
 * before a training that would be in vain. Reads the files that the options name, so their mistakes are
 * found too (eval.c). */
parsrec_status pr_eval_check(const pr_dataset *data, const parsrec_eval_options *options,
                             size_t held_out, parsrec_error *err);
/* The same for the validation of a training. */
parsrec_status pr_eval_check_validation(const pr_dataset *data, size_t held_out,
                                        parsrec_error *err);

/* The object that parsrec_eval_json writes (eval.c). The caller owns it; NULL when out of
 * memory. */
json_t *pr_eval_json(const char *model, const char *data, const parsrec_eval_options *options,
                     const parsrec_eval_report *report);

#endif
