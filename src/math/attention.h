/* Multi-head attention of one query over the items placed so far. Keys and values are projected
 * once, when an item is placed; here they are only read. */
#ifndef PR_ATTENTION_H
#define PR_ATTENTION_H

#include "math/wide.h"

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

#endif
