/* Clusters of users with similar embeddings. */
#ifndef PR_USER_CLUSTERS_H
#define PR_USER_CLUSTERS_H

#include "model/model.h"

/* On entry cluster[users] is -1 for users to leave out. The others get 0..clusters-1, the largest
 * cluster first, by k-means over their rows of the user table. E_UNSUPPORTED for a model without a
 * user table, E_ARGUMENT for more clusters than users. */
parsrec_status pr_user_clusters(int32_t *cluster, const pr_model *model, size_t clusters,
                                parsrec_error *err);

#endif
