/* A user's past as a bag of items with weights. */
#ifndef PR_HISTORY_H
#define PR_HISTORY_H

#include "data/batch.h"
#include "math/shapes.h"
#include "model/config.h"

/* How many of the newest items count under `config`. */
size_t pr_history_count(const pr_history *history, const pr_config *config);

/* Writes each distinct item once with its weight, in the order of first appearance; returns how
 * many, at most pr_history_count. slots[V] must be zero and is zero again afterwards. */
size_t pr_history_bag(int32_t *items, pr_real *weights, int32_t *slots, const pr_history *history,
                      const pr_config *config);

#endif
