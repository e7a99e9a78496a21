/* Table rows looked up by index, and weighted sums of them. Indices must be valid rows. */
#ifndef PR_EMBEDDING_H
#define PR_EMBEDDING_H

#include "math/wide.h"

/* y[B,D] = rows ids[B] of table[.,D]                                  (docs/math.md, Embedding) */
void pr_embedding_forward(pr_real *y, const pr_real *table, const int32_t *ids, size_t B, size_t D);
/* Adds row r of dy[B,D] into row ids[r] of dtable, in ascending order of r. */
void pr_embedding_backward(pr_real *dtable, const pr_real *dy, const int32_t *ids, size_t B,
                           size_t D);

/* score[n] = table[ids[n]] · o[D] */
void pr_embedding_scores(pr_real *score, const pr_real *table, const int32_t *ids, const pr_real *o,
                         size_t n, size_t D);

/* ---- bags: weighted sums of rows, such as a user's history ---- */

/* B bags: row r has the pairs offsets[r] .. offsets[r+1] - 1 of (item, weight), each item at most
 * once. */
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
