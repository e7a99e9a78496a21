/* Users who are alike in what a model has learnt of them. */
#ifndef PR_USER_CLUSTERS_H
#define PR_USER_CLUSTERS_H

#include "model/model.h"

/* cluster[users] says who takes part: -1 stays out; the others get 0..clusters-1, the largest cluster
 * first, by k-means over their rows of the model. E_UNSUPPORTED for a model that has no such rows,
 * E_ARGUMENT for more clusters than users. */
parsrec_status pr_user_clusters(int32_t *cluster, const pr_model *model, size_t clusters,
                                parsrec_error *err);

#endif
