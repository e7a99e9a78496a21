/* Multi-head attention of a whole sequence over itself, by matrix products head by head. */
#ifndef PR_SELF_ATTENTION_H
#define PR_SELF_ATTENTION_H

#include "math/wide.h"

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
