/* How much memory a training takes, and what of it lies in files so that it stays below
 * --max-memory.
 *
 * Nothing that is chosen changes a number of the model: blocks move, what is computed does not. So
 * the choice may depend on the number of threads and differ after a resume. Blocks move in the
 * order of pr_block_use (model/storage.h), rarely used ones first, until the rest fits: the weights
 * of the best epoch, the items' own rows during validation, the average of the weights; then user
 * rows with both moments, of which every batch touches some. With these the pages of a data set
 * that is mapped from one file may leave memory too; one that was joined from shards lies in memory
 * and stays there. */
#ifndef PR_MEMORY_PLAN_H
#define PR_MEMORY_PLAN_H

#include "train/train_setup.h"

/* Estimates what the outlined run takes, chooses where its blocks lie (plan->storage) and reports
 * both through the hooks. Must come before any block is taken. E_LIMIT if the run cannot stay below
 * plan->max_memory. */
parsrec_status pr_memory_choose(pr_train_run *r, const pr_limits *limits, parsrec_error *err);

#endif
