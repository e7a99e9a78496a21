/* One model of a comparison on its way to a file that can be evaluated. */
#ifndef PR_CONTENDER_H
#define PR_CONTENDER_H

#include "compare/comparison.h"

/* What has to be done for it. */
typedef enum pr_task_kind {
    PR_CONTENDER_READY,  /* there is a model that can be taken as it is */
    PR_CONTENDER_RESUME, /* a training was interrupted */
    PR_CONTENDER_TRAIN,  /* there is nothing yet */
} pr_task_kind;

/* How models that learn are trained. */
typedef struct pr_recipe {
    uint64_t epochs, patience, seed, last;
    unsigned threads;
    bool retrain; /* what was made otherwise is removed and made again */
} pr_recipe;

/* Finds out, without changing anything unless recipe->retrain. A model under the name that was made
 * with other settings, seed or data is an error: it may have taken hours. */
parsrec_status pr_contender_plan(pr_contender *r, pr_task_kind *task, const parsrec_comparison *c,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err);

/* Does it. */
parsrec_status pr_contender_train(pr_contender *r, pr_task_kind task, const parsrec_data *data,
                                  const pr_recipe *recipe, const parsrec_hooks *hooks,
                                  parsrec_error *err);

/* The model, loaded or counted from the data, which must outlive it. */
parsrec_status pr_contender_open(parsrec_model **model, const pr_contender *r,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err);

/* Evaluates it and reads its log. Every row must have the users of the row that came first. */
parsrec_status pr_contender_evaluate(parsrec_comparison *c, pr_contender *r,
                                     const parsrec_data *data, const pr_recipe *recipe,
                                     const parsrec_hooks *hooks, parsrec_error *err);

#endif
