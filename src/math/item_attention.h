/* Attention over items whose part in it was worked out beforehand. */
#ifndef PR_ITEM_ATTENTION_H
#define PR_ITEM_ATTENTION_H

#include "math/shapes.h"

/* A row of `items`, `stride` long, has for each head h of H
 *   [h,Dq]      what the query is multiplied with,
 *   [H + h,Dq]  what the item adds, all maps behind the attention included,
 *   [2H·Dq + h] a number that is added to the product.
 * y[Dq] += the rows ids[n], weighted by softmax; weight[H,n] are the weights. y may be q[Dq]. */
void pr_item_attention(pr_real *y, pr_real *weight, const pr_real *q, const pr_real *items,
                       size_t stride, const int32_t *ids, size_t n, size_t H, size_t Dq);

#endif
