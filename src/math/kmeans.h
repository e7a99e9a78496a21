/* Rows that are alike, by k-means: the same clusters for the same rows and seed. */
#ifndef PR_KMEANS_H
#define PR_KMEANS_H

#include "base/status.h"
#include "math/shapes.h"

/* cluster[n], 0..k-1, of the rows x[n,D]: of several starts (far apart from each other, by chance) the
 * one that ends with the smallest squared distances. Cluster 0 is the largest; of equal sizes the one
 * with the first row comes first. 1 <= k <= n; where fewer than k rows differ, some are empty. */
parsrec_status pr_kmeans(int32_t *cluster, const pr_real *x, size_t n, size_t D, size_t k,
                         uint64_t seed, parsrec_error *err);

#endif
