/* Two short products an item and head, in place of the maps of query and attention. */
#include "math/item_attention.h"

#include "math/exponential.h"

PR_INLINE void item_attention_any(pr_real *y, pr_real *weight, const pr_real *q,
                                  const pr_real *items, size_t stride, const int32_t *ids, size_t n,
                                  size_t H, size_t Dq)
{
    for (size_t h = 0; h < H; h++) {
        pr_real *w = weight + h * n;
        for (size_t p = 0; p < n && n > 1; p++) {
            const pr_real *item = items + (size_t)ids[p] * stride;
            w[p] = pr_dot(item + h * Dq, q, Dq) + item[2 * H * Dq + h];
        }
        if (n > 1)
            pr_softmax_few(w, n);
        else
            w[0] = 1;
    }
    for (size_t h = 0; h < H; h++)
        for (size_t p = 0; p < n; p++)
            pr_add_scaled(y, items + (size_t)ids[p] * stride + (H + h) * Dq, weight[h * n + p], Dq);
}
PR_LEVELS(void, pr_item_attention, item_attention_any,
          (pr_real * y, pr_real *weight, const pr_real *q, const pr_real *items, size_t stride,
           const int32_t *ids, size_t n, size_t H, size_t Dq),
          (y, weight, q, items, stride, ids, n, H, Dq))
