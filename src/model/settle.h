/* Settings that are left to the data: loss, batch, epochs and, for sequence models, the length. They are
 * functions of the data set alone, so that a finished model can be compared with what is wanted. */
#ifndef PR_SETTLE_H
#define PR_SETTLE_H

#include "data/dataset.h"
#include "model/model.h"

/* Chooses what is 0, `loss = auto`, and `user.shrink = -1`: 100, but less where users have more than ten
 * training baskets each, 1,000 divided by their mean number. Sequence models: a sequence is a user's training sessions. The length has room
 * for the whole sequence of 95 users in 100, for the sessions that are held out and for the open
 * basket; batches have about equally many items; BERT4Rec, which predicts a part of them, takes twice
 * as many batches (docs/training.md). */
void pr_settle_sizes(pr_config *config, const pr_model_kind *kind, const pr_dataset *data);

/* `wanted` as training on these data settles it; `order = auto`, which looks into the baskets, and
 * `recall.time = auto` are taken from `found`. */
pr_config pr_settled(const pr_config *wanted, const pr_model_kind *kind, const pr_dataset *data,
                     const pr_config *found);

#endif
