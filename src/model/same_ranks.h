/* Whether all ranks have the same: those that differ would not work on one model. */
#ifndef PR_SAME_RANKS_H
#define PR_SAME_RANKS_H

#include "data/dataset.h"
#include "model/model.h"
#include "ranks/ranks.h"

/* Compares program, processor, data set, settings and weights; `more` is said beside the settings. The
 * first difference fails on all ranks. Does nothing without ranks. */
parsrec_status pr_same_ranks(pr_ranks *ranks, const pr_model *model, const pr_dataset *data,
                             const char *more, parsrec_error *err);

#endif
