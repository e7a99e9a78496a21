/* Multi-head attention, three kinds. */
#ifndef PR_ATTENTION_H
#define PR_ATTENTION_H

#include "math/wide.h"

/* ---- one query over the items placed so far ----
 *
 * Keys and values are projected once, when an item is placed; here they are only read. */

/* The keys of one query: key p is row at[p] + shift of kv[.,2·Dq], its value the second half. */
typedef struct pr_keys {
    const size_t *at;
    size_t shift, n;
} pr_keys;

/* y[Dq] = heads side by side: sum over p of weight[h,p] · value_p[h], where weight[h] =
 * softmax over p of q[h]·key_p[h] / sqrt(Dq/H)                        (docs/math.md, Attention)
 * Keeps weight[H,n]. One key needs no query: its weight is 1 and q may be NULL. */
void pr_attention_forward(pr_real *y, pr_real *weight, const pr_real *q, const pr_real *kv,
                          const pr_keys *keys, size_t H, size_t Dq);
/* Sets dq[Dq] (untouched with one key), adds into the keys' rows of dkv. work[n] is scratch. */
void pr_attention_backward(pr_real *dq, pr_real *dkv, pr_real *work, const pr_real *dy,
                           const pr_real *weight, const pr_real *q, const pr_real *kv,
                           const pr_keys *keys, size_t H, size_t Dq);

/* ---- one query over items whose products with the maps are prepared, for answers ---- */

/* A row of `items`, `stride` long, has for each head h of H
 *   [h,Dq]      what the query is multiplied with,
 *   [H + h,Dq]  what the item adds, all maps behind the attention included,
 *   [2H·Dq + h] a number that is added to the product.
 * y[Dq] += the rows ids[n], weighted by softmax; weight[H,n] are the weights. y may be q[Dq]. */
void pr_item_attention(pr_real *y, pr_real *weight, const pr_real *q, const pr_real *items,
                       size_t stride, const int32_t *ids, size_t n, size_t H, size_t Dq);

/* ---- a sequence over itself ---- */

typedef struct pr_self_shape {
    size_t L, H, D; /* positions, heads, width of all heads */
    bool causal;    /* a position sees itself and those before it; else all */
} pr_self_shape;

/* Rows of a weight matrix lie so far apart: whole lanes, and whole bytes of a mask. */
static inline size_t pr_self_stride(size_t L)
{
    return (L + PR_LANES - 1) / PR_LANES * PR_LANES;
}

/* A mask over the weights: one bit a number, stride / 8 bytes a row, head after head; or NULL. */
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

/* The same by definition. */
void pr_self_attention_forward_plain(pr_real *y, pr_real *weight, const pr_real *qkv,
                                     const pr_self_mask *mask, const pr_self_shape *shape);

#endif
