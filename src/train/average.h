/* An average of late weights (docs/math.md, The average of late weights). Weights are added a few
 * times per epoch, not after every batch: a batch does not visit the whole catalogue, and an
 * addition does. */
#ifndef PR_AVERAGE_H
#define PR_AVERAGE_H

#include "base/threads.h"
#include "model/model.h"

/* Additions per epoch, if it has as many batches. */
enum { PR_AVERAGES_PER_EPOCH = 8 };

/* How often weights have been added after `epochs` whole epochs of `batches` batches and `batch`
 * batches of the next one. */
uint64_t pr_average_count(uint64_t epochs, uint64_t batch, uint64_t batches);

/* Adds the model's weights to an average of the same layout, for the `count`-th time
 * (pr_average_count). The average begins as a copy of the first weights, so parameters that are
 * counted and not learnt are right from the start and are left alone. */
void pr_average_add(pr_real *average, const pr_model *model, uint64_t count, pr_pool *pool);

#endif
