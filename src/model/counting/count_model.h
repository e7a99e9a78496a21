/* Models that count: made anew from a data set wherever they are needed, so that nothing of the
 * sessions to be predicted is in them. */
#ifndef PR_COUNT_MODEL_H
#define PR_COUNT_MODEL_H

#include "data/counted.h"
#include "model/model.h"

/* Counts what `scope` allows, or as much less or more as the setting `count` says. E_ARGUMENT for a kind that learns. */
parsrec_status pr_count_model(pr_model **out, const char *kind, const pr_config *config,
                              const pr_dataset *data, const pr_scope *scope, pr_pool *pool,
                              const parsrec_hooks *hooks, parsrec_error *err);

#endif
