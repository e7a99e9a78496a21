/* Weighted sums of table rows: the history of a user as a bag of items. */
#ifndef PR_BAG_H
#define PR_BAG_H

#include "math/wide.h"

/* B bags: row r holds pairs offsets[r] .. offsets[r+1] of (item, weight), every item once. */
typedef struct pr_bags {
    const int32_t *items;
    const pr_real *weights;
    const size_t *offsets; /* [B + 1] */
} pr_bags;

/* y[B,D] = sum over a row's pairs of weight · table[item]            (docs/math.md, History bag)
 * `dense`, room for B·V numbers or NULL, is used when the bags are full enough for one matrix
 * product to beat looking rows up. */
void pr_bag_forward(pr_real *y, const pr_real *table, const pr_bags *bags, pr_real *dense, size_t B,
                    size_t V, size_t D);
/* Adds weight · dy[r] into dtable[item]. */
void pr_bag_backward(pr_real *dtable, const pr_real *dy, const pr_bags *bags, pr_real *dense,
                     size_t B, size_t V, size_t D);

#endif
