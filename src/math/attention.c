/* Attention of one query, head by head. */
#include "math/attention.h"

#include "math/exponential.h"

PR_INLINE size_t key_row(const pr_keys *keys, size_t p, size_t Dq)
{
    return (keys->at[p] + keys->shift) * 2 * Dq;
}

PR_INLINE void attention_forward_any(pr_real *y, pr_real *weight, const pr_real *q,
                                     const pr_real *kv, const pr_keys *keys, size_t H, size_t Dq)
{
    size_t n = keys->n, width = Dq / H;
    if (n == 1) {
        for (size_t h = 0; h < H; h++)
            weight[h] = 1;
        memcpy(y, kv + key_row(keys, 0, Dq) + Dq, Dq * sizeof *y);
        return;
    }
    pr_real scale = 1 / pr_sqrt((pr_real)width);
    memset(y, 0, Dq * sizeof *y);
    for (size_t h = 0; h < H; h++) {
        pr_real *w = weight + h * n;
        for (size_t p = 0; p < n; p++)
            w[p] = scale * pr_dot(q + h * width, kv + key_row(keys, p, Dq) + h * width, width);
        pr_softmax_few(w, n);
        for (size_t p = 0; p < n; p++)
            pr_add_scaled(y + h * width, kv + key_row(keys, p, Dq) + Dq + h * width, w[p], width);
    }
}
PR_LEVELS(void, pr_attention_forward, attention_forward_any,
          (pr_real * y, pr_real *weight, const pr_real *q, const pr_real *kv, const pr_keys *keys,
           size_t H, size_t Dq),
          (y, weight, q, kv, keys, H, Dq))

PR_INLINE void attention_backward_any(pr_real *dq, pr_real *dkv, pr_real *work, const pr_real *dy,
                                      const pr_real *weight, const pr_real *q, const pr_real *kv,
                                      const pr_keys *keys, size_t H, size_t Dq)
{
    size_t n = keys->n, width = Dq / H;
    if (n == 1) {
        pr_add_scaled(dkv + key_row(keys, 0, Dq) + Dq, dy, 1, Dq);
        return;
    }
    pr_real scale = 1 / pr_sqrt((pr_real)width);
    memset(dq, 0, Dq * sizeof *dq);
    for (size_t h = 0; h < H; h++) {
        const pr_real *w = weight + h * n, *d = dy + h * width;
        pr_real mean = 0;
        for (size_t p = 0; p < n; p++) {
            size_t value = key_row(keys, p, Dq) + Dq + h * width;
            work[p] = pr_dot(d, kv + value, width);
            mean += w[p] * work[p];
            pr_add_scaled(dkv + value, d, w[p], width);
        }
        for (size_t p = 0; p < n; p++) {
            size_t key = key_row(keys, p, Dq) + h * width;
            pr_real ds = scale * w[p] * (work[p] - mean);
            pr_add_scaled(dq + h * width, kv + key, ds, width);
            pr_add_scaled(dkv + key, q + h * width, ds, width);
        }
    }
}
PR_LEVELS(void, pr_attention_backward, attention_backward_any,
          (pr_real * dq, pr_real *dkv, pr_real *work, const pr_real *dy, const pr_real *weight,
           const pr_real *q, const pr_real *kv, const pr_keys *keys, size_t H, size_t Dq),
          (dq, dkv, work, dy, weight, q, kv, keys, H, Dq))
