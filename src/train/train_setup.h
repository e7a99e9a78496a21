/* A training run: everything it holds, taken before the first batch. */
#ifndef PR_TRAIN_SETUP_H
#define PR_TRAIN_SETUP_H

#include "data/batches.h"
#include "train/beginning.h"
#include "train/checkpoint.h"

typedef struct pr_train_run {
    const pr_train_plan *plan;
    const pr_dataset *data;
    pr_pool *pool;
    const parsrec_hooks *hooks;
    pr_run_state state;
    pr_beginning beginning;
    pr_batches batches;
    pr_evaluation evaluation;
    pr_basket *baskets;          /* of the batch under way */
    const char *good_checkpoint; /* the last one that was written or read; NULL: none yet */
    double epoch_began, last_checkpoint;
    uint64_t items_before; /* of this epoch, learnt from by an earlier process */
} pr_train_run;

/* Expects plan, data, pool, hooks and state.result; takes the rest, from a checkpoint if the plan
 * says so. Tells how much memory that will be. */
parsrec_status pr_run_set_up(pr_train_run *r, parsrec_error *err);
void pr_run_tear_down(pr_train_run *r); /* also of one half set up */

#endif
