/* Multi-head attention in three variants. All memory belongs to the caller; H must divide the
 * width. */
#ifndef PR_ATTENTION_H
#define PR_ATTENTION_H

#include "math/wide.h"

/* ---- one query over the items placed so far ----
 *
 * Keys and values are projected once, when an item is placed; here they are only read. */

/* The keys of one query. Key p is the first half of row at[p] + shift of kv[.,2·Dq]; its value is
 * the second half. */
typedef struct pr_keys {
    const size_t *at;
    size_t shift, n;
} pr_keys;

/* y[Dq] = heads side by side: sum over p of weight[h,p] · value_p[h], where weight[h] =
 * softmax over p of q[h]·key_p[h] / sqrt(Dq/H)                        (docs/math.md, Attention)
 * Keeps weight[H,n]. One key needs no query: its weight is 1 and q may be NULL. */
void pr_attention_forward(pr_real *y, pr_real *weight, const pr_real *q, const pr_real *kv,
                          const pr_keys *keys, size_t H, size_t Dq);
/* Sets dq[Dq] (left untouched if there is only one key) and adds into the keys' rows of dkv.
 * work[n] is scratch. */
void pr_attention_backward(pr_real *dq, pr_real *dkv, pr_real *work, const pr_real *dy,
                           const pr_real *weight, const pr_real *q, const pr_real *kv,
                           const pr_keys *keys, size_t H, size_t Dq);

/* ---- one query over items whose projections were computed beforehand, for serving ---- */

/* A row of `items` has `stride` numbers. For each head h of H it contains
 *   [h,Dq]      the vector that the query is multiplied by,
 *   [H + h,Dq]  the item's contribution to the output, with all later maps already applied,
 *   [2H·Dq + h] a number that is added to the product.
 * y[Dq] += the contributions of rows ids[n], weighted by softmax. Sets weight[H,n]. y may be q. */
void pr_item_attention(pr_real *y, pr_real *weight, const pr_real *q, const pr_real *items,
                       size_t stride, const int32_t *ids, size_t n, size_t H, size_t Dq);

/* ---- a sequence over itself ---- */

typedef struct pr_self_shape {
    size_t L, H, D; /* positions, heads, total width of all heads */
    bool causal;    /* a position sees itself and earlier ones; otherwise all positions */
} pr_self_shape;

/* Row stride of a weight matrix: a multiple of the lanes, so that a mask row is whole bytes. */
static inline size_t pr_self_stride(size_t L)
{
    return (L + PR_LANES - 1) / PR_LANES * PR_LANES;
}

/* A mask over the weights: one bit per weight, stride / 8 bytes per row, head by head. NULL: no
 * mask. */
typedef struct pr_self_mask {
    const uint8_t *keep;
    pr_real scale;
} pr_self_mask;

/* qkv[L,3D] holds query, key and value of each position. y[L,D] = heads side by side, row i: sum
 * over j of weight[h,i,j] · value_j[h], where weight[h,i] = softmax over j of query_i[h]·key_j[h] /
 * sqrt(D/H)                                                    (docs/math.md, Self-attention)
 * Keeps weight[H,L,stride] before the mask. work[L,stride] is scratch. */
void pr_self_attention_forward(pr_real *y, pr_real *weight, pr_real *work, const pr_real *qkv,
                               const pr_self_mask *mask, const pr_self_shape *shape);
/* Sets dqkv[L,3D]. work[2,L,stride] is scratch. */
void pr_self_attention_backward(pr_real *dqkv, pr_real *work, const pr_real *dy,
                                const pr_real *weight, const pr_real *qkv, const pr_self_mask *mask,
                                const pr_self_shape *shape);

/* The same, written as the definition; for tests. */
void pr_self_attention_forward_plain(pr_real *y, pr_real *weight, const pr_real *qkv,
                                     const pr_self_mask *mask, const pr_self_shape *shape);

#endif
