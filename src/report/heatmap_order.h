/* Orders of rows in which a heatmap shows its blocks. */
#ifndef PR_HEATMAP_ORDER_H
#define PR_HEATMAP_ORDER_H

#include <stddef.h>

#include "base/status.h"

/* order[n]: rows of group 0 first, then of group 1, ...; within a group as they stood. */
parsrec_status pr_heatmap_order_groups(size_t *order, const size_t *groups, size_t n,
                                       parsrec_error *err);

/* order[n]: rows that are alike stand together. similarity[n,n] is larger for what is more alike; both
 * triangles count by their mean, NaN as the least. Clusters by average linkage, whose sides are turned
 * so that the rows which touch are as alike as can be. Takes time and memory n². */
parsrec_status pr_heatmap_order_clusters(size_t *order, const double *similarity, size_t n,
                                         parsrec_error *err);

#endif
