/* Rows of a table looked up by number. */
#ifndef PR_EMBEDDING_H
#define PR_EMBEDDING_H

#include "math/wide.h"

/* y[B,D] = rows ids[B] of table[.,D]                                  (docs/math.md, Embedding) */
void pr_embedding_forward(pr_real *y, const pr_real *table, const int32_t *ids, size_t B, size_t D);
/* Adds row r of dy[B,D] into row ids[r] of dtable, in the order of rows. */
void pr_embedding_backward(pr_real *dtable, const pr_real *dy, const int32_t *ids, size_t B,
                           size_t D);

/* score[n] = table[ids[i]] · o[D] */
void pr_embedding_scores(pr_real *score, const pr_real *table, const int32_t *ids, const pr_real *o,
                         size_t n, size_t D);

#endif
