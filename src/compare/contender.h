/* One model of a comparison on its way to a file that can be evaluated. */
#ifndef PR_CONTENDER_H
#define PR_CONTENDER_H

#include "compare/comparison.h"

/* How models that learn are trained. */
typedef struct pr_recipe {
    uint64_t epochs, patience, last;
    uint64_t seed, seeds; /* the first, and how many */
    unsigned threads;
    bool retrain; /* what was made otherwise is removed and made again */
} pr_recipe;

/* Makes the attempts and finds out what has to be done for each, without changing anything unless
 * recipe->retrain. A model under the name that was made with other settings, seed or data is an error: it
 * may have taken hours. */
parsrec_status pr_contender_plan(pr_contender *r, const parsrec_comparison *c,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err);

/* Does it for one attempt. Several may be at work at the same time. */
parsrec_status pr_contender_train(const pr_contender *r, const pr_attempt *a,
                                  const parsrec_data *data, const pr_recipe *recipe,
                                  const parsrec_hooks *hooks, parsrec_error *err);

/* Evaluates the next attempt and reads its log. All must have the users of the one that came first. */
parsrec_status pr_contender_evaluate(parsrec_comparison *c, pr_contender *r,
                                     const parsrec_data *data, const pr_recipe *recipe,
                                     const parsrec_hooks *hooks, parsrec_error *err);

/* The model, loaded or counted from the data, which must outlive it. */
parsrec_status pr_contender_open(parsrec_model **model, const pr_contender *r, const pr_attempt *a,
                                 const parsrec_data *data, const pr_recipe *recipe,
                                 const parsrec_hooks *hooks, parsrec_error *err);

#endif
