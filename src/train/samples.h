/* From a data set's places to what a trainer takes: views of baskets and the sizes to be ready for. */
#ifndef PR_SAMPLES_H
#define PR_SAMPLES_H

#include "data/batches.h"
#include "model/model.h"

/* Views of the baskets of one batch, in the caller's array of batch_size. The number is left 0. */
pr_batch pr_batch_view(const pr_batches *batches, size_t batch, const pr_dataset *data,
                       pr_basket *baskets);

/* What a model learns from. */
pr_windows pr_windows_of(const pr_model *model);

/* The largest sizes of any batch of a data set. */
pr_limits pr_limits_of(const pr_dataset *data, const pr_model *model);

#endif
