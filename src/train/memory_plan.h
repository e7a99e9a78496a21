/* How much memory a training takes, and what of it lies in files so that it keeps below --max-memory.
 *
 * Nothing that is chosen changes a number of the model: blocks move, what is computed does not. So the choice
 * may depend on the number of threads and differ after a resume. What moves, in this order, until the rest
 * fits: the weights of the best epoch, the items' own rows during validation, the average of the weights; then
 * user rows with both moments, of which every batch touches some. The data set is a file already. */
#ifndef PR_MEMORY_PLAN_H
#define PR_MEMORY_PLAN_H

#include "train/train_setup.h"

/* Estimates what the outlined run takes, chooses where its blocks lie (plan->storage) and says so. Fails with
 * a sentence if it cannot keep below plan->max_memory. Before any block is taken. */
parsrec_status pr_memory_choose(pr_train_run *r, const pr_limits *limits, parsrec_error *err);

#endif
