/* Factor models, learnt by ranking what was bought above what was not, pair by pair (Rendle and others, 2009).
 *
 *   bpr    score = bias + user · item
 *   fpmc   the same + the mean over the items just before of last · next (Rendle and others, 2010)
 *
 * A training sample is a basket; each of its items is a target, against `negatives` items drawn uniformly from those
 * that are not in the basket. What is just before a target are the items placed before it or, for the first one, the
 * user's last session. Unknown users share one row, which `anyone` of the samples train. */
#ifndef PR_FACTORS_H
#define PR_FACTORS_H

#include "model/model.h"

extern const pr_model_kind pr_bpr, pr_fpmc;

#endif
