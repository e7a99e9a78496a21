/* Attention: one query over the placed items, one query over prepared items, and a sequence over
 * itself. */
#include "math/attention.h"

#include <assert.h>

#include "math/blas.h"
#include "math/dropout.h"
#include "math/wide.h"

/* ---- one query, head by head ---- */

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

/* ---- prepared items: two short products per item and head ---- */

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

/* ---- a sequence over itself ----
 *
 * In blocks of rows, so that under a causal mask most of the upper triangle is never computed. */

enum { BLOCK = 64 };

/* How many columns the rows before `end` can see. */
static size_t seen(const pr_self_shape *s, size_t end)
{
    return s->causal ? end : s->L;
}

static size_t block_end(const pr_self_shape *s, size_t begin)
{
    return s->L - begin < BLOCK ? s->L : begin + BLOCK;
}

/* x[n] = softmax of x[n]; columns n up to `width` become 0. */
PR_INLINE void softmax_row(pr_real *x, size_t n, size_t width)
{
    pr_real top = x[0], sum;
    for (size_t i = 1; i < n; i++)
        top = x[i] > top ? x[i] : top;
    for (size_t i = 0; i < n; i++)
        x[i] = pr_exp(x[i] - top);
    sum = pr_sum(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
    for (size_t i = n; i < width; i++)
        x[i] = 0;
}

PR_INLINE void softmax_rows_any(pr_real *weight, size_t begin, size_t end, size_t stride,
                                const pr_self_shape *s)
{
    for (size_t i = begin; i < end; i++)
        softmax_row(weight + i * stride, s->causal ? i + 1 : s->L, stride);
}
PR_LOCAL_LEVELS(void, softmax_rows, softmax_rows_any,
                (pr_real * weight, size_t begin, size_t end, size_t stride, const pr_self_shape *s),
                (weight, begin, end, stride, s))

PR_INLINE void scale_all_any(pr_real *x, pr_real scale, size_t rows, size_t cols, size_t stride)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < cols; i++)
            x[r * stride + i] *= scale;
}
PR_LOCAL_LEVELS(void, scale_all, scale_all_any,
                (pr_real * x, pr_real scale, size_t rows, size_t cols, size_t stride),
                (x, scale, rows, cols, stride))

/* Returns the weights that multiply the values: `weight` itself, or a masked copy in work. */
static const pr_real *masked(pr_real *work, const pr_real *weight, const pr_self_mask *mask,
                             size_t head, const pr_self_shape *s)
{
    size_t cells = s->L * pr_self_stride(s->L);
    if (mask->keep == NULL)
        return weight;
    pr_drop_forward(work, weight, mask->keep + head * cells / 8, mask->scale, cells);
    return work;
}

void pr_self_attention_forward(pr_real *y, pr_real *weight, pr_real *work, const pr_real *qkv,
                               const pr_self_mask *mask, const pr_self_shape *s)
{
    size_t width = s->D / s->H, row = 3 * s->D, stride = pr_self_stride(s->L);
    pr_real scale = 1 / pr_sqrt((pr_real)width);
    for (size_t h = 0; h < s->H; h++, weight += s->L * stride) {
        const pr_real *q = qkv + h * width, *k = q + s->D, *v = k + s->D;
        for (size_t at = 0; at < s->L; at += BLOCK) {
            size_t end = block_end(s, at), cols = seen(s, end);
            pr_real *w = weight + at * stride;
            pr_gemm(w, stride, pr_mat(q + at * row, row), pr_flip(k, row), 0, end - at, cols,
                    width);
            scale_all(w, scale, end - at, cols, stride);
            softmax_rows(weight, at, end, stride, s);
        }
        const pr_real *p = masked(work, weight, mask, h, s);
        for (size_t at = 0; at < s->L; at += BLOCK) {
            size_t end = block_end(s, at);
            pr_gemm(y + at * s->D + h * width, s->D, pr_mat(p + at * stride, stride),
                    pr_mat(v, row), 0, end - at, width, seen(s, end));
        }
    }
}

/* Turns d, the gradient of the weights, into the gradient of the softmax input times scale. */
PR_INLINE void softmax_backward_any(pr_real *d, const pr_real *weight, pr_real scale, size_t begin,
                                    size_t end, size_t cols, size_t stride)
{
    for (size_t i = begin; i < end; i++) {
        pr_real *di = d + i * stride;
        const pr_real *w = weight + i * stride;
        pr_real along = pr_dot(di, w, cols);
        for (size_t j = 0; j < cols; j++)
            di[j] = scale * w[j] * (di[j] - along);
    }
}
PR_LOCAL_LEVELS(void, softmax_backward, softmax_backward_any,
                (pr_real * d, const pr_real *weight, pr_real scale, size_t begin, size_t end,
                 size_t cols, size_t stride),
                (d, weight, scale, begin, end, cols, stride))

static void mask_backward(pr_real *d, const pr_self_mask *mask, size_t head, size_t begin,
                          size_t end, const pr_self_shape *s)
{
    size_t stride = pr_self_stride(s->L), at = (head * s->L + begin) * stride;
    if (mask->keep != NULL)
        pr_drop_forward(d + begin * stride, d + begin * stride, mask->keep + at / 8, mask->scale,
                        (end - begin) * stride);
}

/* One head: dq, dk and dv are its columns of dqkv. */
static void head_backward(pr_real *dq, pr_real *work, const pr_real *dy, const pr_real *weight,
                          const pr_real *q, const pr_self_mask *mask, size_t head,
                          const pr_self_shape *s)
{
    size_t width = s->D / s->H, row = 3 * s->D, stride = pr_self_stride(s->L);
    const pr_real *k = q + s->D, *v = k + s->D;
    pr_real *dk = dq + s->D, *dv = dk + s->D, *d = work + s->L * stride;
    pr_real scale = 1 / pr_sqrt((pr_real)width);
    const pr_real *p = masked(work, weight, mask, head, s);
    for (size_t at = 0; at < s->L; at += BLOCK) {
        size_t end = block_end(s, at), cols = seen(s, end), rows = end - at;
        pr_real *db = d + at * stride;
        const pr_real *dyb = dy + at * s->D;
        pr_gemm(dv, row, pr_flip(p + at * stride, stride), pr_mat(dyb, s->D), 1, cols, width, rows);
        pr_gemm(db, stride, pr_mat(dyb, s->D), pr_flip(v, row), 0, rows, cols, width);
        mask_backward(d, mask, head, at, end, s);
        softmax_backward(d, weight, scale, at, end, cols, stride);
        pr_gemm(dq + at * row, row, pr_mat(db, stride), pr_mat(k, row), 0, rows, width, cols);
        pr_gemm(dk, row, pr_flip(db, stride), pr_mat(q + at * row, row), 1, cols, width, rows);
    }
}

void pr_self_attention_backward(pr_real *dqkv, pr_real *work, const pr_real *dy,
                                const pr_real *weight, const pr_real *qkv, const pr_self_mask *mask,
                                const pr_self_shape *s)
{
    size_t width = s->D / s->H, cells = s->L * pr_self_stride(s->L);
    memset(dqkv, 0, s->L * 3 * s->D * sizeof *dqkv);
    memset(work + cells, 0, cells * sizeof *work); /* the mask also covers columns that are never
                                                    * computed */
    for (size_t h = 0; h < s->H; h++)
        head_backward(dqkv + h * width, work, dy + h * width, weight + h * cells, qkv + h * width,
                      mask, h, s);
}

static pr_real kept(const pr_self_mask *mask, size_t at)
{
    if (mask->keep == NULL)
        return 1;
    return mask->keep[at / 8] >> (at % 8) & 1 ? mask->scale : 0;
}

void pr_self_attention_forward_plain(pr_real *y, pr_real *weight, const pr_real *qkv,
                                     const pr_self_mask *mask, const pr_self_shape *s)
{
    size_t width = s->D / s->H, stride = pr_self_stride(s->L);
    for (size_t h = 0; h < s->H; h++)
        for (size_t i = 0; i < s->L; i++) {
            size_t n = s->causal ? i + 1 : s->L, at = (h * s->L + i) * stride;
            const pr_real *q = qkv + i * 3 * s->D + h * width;
            pr_real *out = y + i * s->D + h * width;
            for (size_t j = 0; j < n; j++)
                weight[at + j] = pr_dot(q, qkv + j * 3 * s->D + s->D + h * width, width) /
                                 pr_sqrt((pr_real)width);
            softmax_row(weight + at, n, stride);
            memset(out, 0, width * sizeof *out);
            for (size_t j = 0; j < n; j++)
                pr_add_scaled(out, qkv + j * 3 * s->D + 2 * s->D + h * width,
                              kept(mask, at + j) * weight[at + j], width);
        }
}
