/* An average of late weights (docs/math.md, The average of late weights). Weights are added a few times per
 * epoch, not per batch: nothing in a batch goes over the catalogue. */
#ifndef PR_AVERAGE_H
#define PR_AVERAGE_H

#include "base/threads.h"
#include "model/model.h"

/* How often weights have been added after `epochs` whole epochs of `batches` batches and `batch` batches
 * of the next one. */
uint64_t pr_average_count(uint64_t epochs, uint64_t batch, uint64_t batches);

/* Adds the model's weights to an average of the same layout; `count` as above, with these. What is counted
 * and not learnt stays as it is: an average begins as a copy of the first weights. */
void pr_average_add(pr_real *average, const pr_model *model, uint64_t count, pr_pool *pool);

#endif
