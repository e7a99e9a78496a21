/* k-means clustering of rows. The same rows and seed give the same clusters. */
#ifndef PR_KMEANS_H
#define PR_KMEANS_H

#include "base/status.h"
#include "math/shapes.h"

/* Sets cluster[n] to 0..k-1 for the rows x[n,D]. The best of several k-means++ starts is used, by
 * the sum of squared distances. Cluster 0 is the largest; equal sizes are ordered by their first
 * row. 1 <= k <= n. If fewer than k rows are distinct, some clusters are empty. */
parsrec_status pr_kmeans(int32_t *cluster, const pr_real *x, size_t n, size_t D, size_t k,
                         uint64_t seed, parsrec_error *err);

#endif
