/* Times of tokens, and attention head by head as the formulas of intervals.h have it. */
#include "model/sequence/intervals.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "math/blas.h"
#include "math/dropout.h"
#include "math/layers.h"

/* ---- times ---- */

/* Where session s begins among the items of the history. */
static size_t begin_of(const pr_history *h, size_t s)
{
    return (size_t)(h->sessions[s] - h->sessions[0]);
}

static int64_t time_of(const pr_history *h, size_t s)
{
    return h->times != NULL ? h->times[s] : (int64_t)s;
}

size_t pr_interval_times(int64_t *when, const pr_history *h, size_t from, size_t end,
                         bool separated)
{
    size_t n = 0, s = 0;
    for (size_t i = from; i < end; i++) {
        while (h->sessions != NULL && s + 1 < h->session_count && begin_of(h, s + 1) <= i)
            s++;
        int64_t time = h->sessions != NULL && h->session_count > 0 ? time_of(h, s) : 0;
        if (separated && h->sessions != NULL && i > from && begin_of(h, s) == i)
            when[n++] = time;
        when[n++] = time;
    }
    return n;
}

/* Without a date the basket is as old as the last session, or one unit younger where units are sessions. */
int64_t pr_interval_now(const pr_history *h)
{
    if (h->sessions == NULL || h->session_count == 0)
        return 0;
    if (h->times == NULL)
        return (int64_t)h->session_count;
    int64_t last = h->times[h->session_count - 1];
    return h->now != PR_NO_TIME && h->now > last ? h->now : last;
}

/* ---- scratch ---- */

typedef struct scratch {
    size_t stride, R;  /* of a row of positions; rows of the interval tables */
    uint16_t *between; /* [L,stride]: the interval row of each pair */
    pr_real *mixed;    /* [L,stride]: weights after the mask; their gradients */
    pr_real *by_row;   /* [L,R]: products with interval rows, or sums over pairs of one row */
    pr_real *sums;     /* [L,R] */
} scratch;

static size_t rows_of(const pr_encoder_dims *d)
{
    return d->intervals + 1;
}

size_t pr_interval_work(const pr_encoder_dims *d, size_t longest)
{
    return 2 * longest * pr_self_stride(longest) + 2 * longest * rows_of(d);
}

static scratch scratch_of(pr_real *work, const pr_encoder_dims *d, size_t L)
{
    scratch s = {.stride = pr_self_stride(L), .R = rows_of(d)};
    s.mixed = work;
    s.by_row = s.mixed + L * s.stride;
    s.sums = s.by_row + L * s.R;
    s.between = (uint16_t *)(void *)(s.sums + L * s.R);
    return s;
}

/* The unit is the shortest time between two positions so far that is not 0. */
static void measure(const scratch *s, const int64_t *when, size_t L)
{
    uint64_t unit = 0, most = s->R - 1;
    for (size_t i = 0; i < L; i++) {
        assert(i == 0 || when[i] >= when[i - 1]);
        uint64_t apart = i > 0 ? (uint64_t)when[i] - (uint64_t)when[i - 1] : 0;
        unit = apart > 0 && (unit == 0 || apart < unit) ? apart : unit;
        for (size_t j = 0; j <= i; j++) {
            uint64_t units = unit > 0 ? ((uint64_t)when[i] - (uint64_t)when[j]) / unit : 0;
            s->between[i * s->stride + j] = (uint16_t)(units < most ? units : most);
        }
    }
}

/* sums[L,R] = for each position the sum of x over the pairs of one interval row. */
static void sum_by_row(const scratch *s, const pr_real *x, size_t L)
{
    memset(s->sums, 0, L * s->R * sizeof *s->sums);
    for (size_t i = 0; i < L; i++)
        for (size_t j = 0; j <= i; j++)
            s->sums[i * s->R + s->between[i * s->stride + j]] += x[i * s->stride + j];
}

/* Row i of weights after the mask of its head. */
static void mask_row(pr_real *to, const pr_real *weight, const pr_self_mask *mask, size_t row,
                     size_t stride)
{
    if (mask->keep == NULL)
        memcpy(to, weight, stride * sizeof *to);
    else
        pr_drop_forward(to, weight, mask->keep + row * stride / 8, mask->scale, stride);
}

/* ---- forward ---- */

static void softmax_row(pr_real *x, size_t n, size_t stride)
{
    pr_real top = x[0], sum = 0;
    for (size_t j = 1; j < n; j++)
        top = x[j] > top ? x[j] : top;
    for (size_t j = 0; j < n; j++) {
        x[j] = pr_exp(x[j] - top);
        sum += x[j];
    }
    for (size_t j = 0; j < n; j++)
        x[j] /= sum;
    memset(x + n, 0, (stride - n) * sizeof *x);
}

void pr_interval_attention_forward(pr_real *y, pr_real *weight, pr_real *work, pr_real *qkv,
                                   const int64_t *when, const pr_encoder_view *w,
                                   const pr_encoder_dims *d, const pr_self_mask *mask,
                                   const pr_self_shape *shape)
{
    size_t L = shape->L, D = shape->D, N = D / shape->H;
    scratch s = scratch_of(work, d, L);
    pr_real scale = 1 / pr_sqrt((pr_real)N);
    measure(&s, when, L);
    for (size_t j = 0; j < L; j++) {
        pr_add(qkv + j * 3 * D + D, w->position_key + j * D, D);
        pr_add(qkv + j * 3 * D + 2 * D, w->position_value + j * D, D);
    }
    for (size_t h = 0; h < shape->H; h++) {
        const pr_real *q = qkv + h * N, *k = q + D, *v = k + D;
        pr_real *wh = weight + h * L * s.stride;
        pr_gemm(wh, s.stride, pr_mat(q, 3 * D), pr_flip(k, 3 * D), 0, L, L, N);
        pr_gemm(s.by_row, s.R, pr_mat(q, 3 * D), pr_flip(w->interval_key + h * N, D), 0, L, s.R, N);
        for (size_t i = 0; i < L; i++) {
            pr_real *row = wh + i * s.stride;
            for (size_t j = 0; j <= i; j++)
                row[j] = scale * (row[j] + s.by_row[i * s.R + s.between[i * s.stride + j]]);
            softmax_row(row, i + 1, s.stride);
            mask_row(s.mixed + i * s.stride, row, mask, h * L + i, s.stride);
        }
        sum_by_row(&s, s.mixed, L);
        pr_gemm(y + h * N, D, pr_mat(s.mixed, s.stride), pr_mat(v, 3 * D), 0, L, N, L);
        pr_gemm(y + h * N, D, pr_mat(s.sums, s.R), pr_mat(w->interval_value + h * N, D), 1, L, N,
                s.R);
    }
}

/* ---- backward ---- */

/* mixed[L,stride], the gradient of the weights after the mask, becomes that of what the softmax was of. */
static void softmax_backward(const scratch *s, const pr_real *weight, const pr_self_mask *mask,
                             size_t head, size_t L, pr_real scale)
{
    for (size_t i = 0; i < L; i++) {
        pr_real *row = s->mixed + i * s->stride, sum = 0;
        const pr_real *w = weight + i * s->stride;
        mask_row(row, row, mask, head * L + i, s->stride);
        for (size_t j = 0; j <= i; j++)
            sum += w[j] * row[j];
        for (size_t j = 0; j <= i; j++)
            row[j] = scale * w[j] * (row[j] - sum);
        memset(row + i + 1, 0, (s->stride - i - 1) * sizeof *row);
    }
}

void pr_interval_attention_backward(pr_real *dqkv, pr_real *work, const pr_real *dy,
                                    const pr_real *weight, const pr_real *qkv, const int64_t *when,
                                    const pr_encoder_view *w, pr_encoder_view *g,
                                    const pr_encoder_dims *d, const pr_self_mask *mask,
                                    const pr_self_shape *shape)
{
    size_t L = shape->L, D = shape->D, N = D / shape->H;
    scratch s = scratch_of(work, d, L);
    measure(&s, when, L);
    for (size_t h = 0; h < shape->H; h++) {
        const pr_real *q = qkv + h * N, *k = q + D, *v = k + D, *dh = dy + h * N;
        pr_real *dq = dqkv + h * N, *dk = dq + D, *dv = dk + D;
        const pr_real *wh = weight + h * L * s.stride;
        for (size_t i = 0; i < L; i++)
            mask_row(s.mixed + i * s.stride, wh + i * s.stride, mask, h * L + i, s.stride);
        pr_gemm(dv, 3 * D, pr_flip(s.mixed, s.stride), pr_mat(dh, D), 0, L, N, L);
        sum_by_row(&s, s.mixed, L);
        pr_gemm(g->interval_value + h * N, D, pr_flip(s.sums, s.R), pr_mat(dh, D), 1, s.R, N, L);
        pr_gemm(s.mixed, s.stride, pr_mat(dh, D), pr_flip(v, 3 * D), 0, L, L, N);
        pr_gemm(s.by_row, s.R, pr_mat(dh, D), pr_flip(w->interval_value + h * N, D), 0, L, s.R, N);
        for (size_t i = 0; i < L; i++) {
            pr_real *row = s.mixed + i * s.stride;
            for (size_t j = 0; j <= i; j++)
                row[j] += s.by_row[i * s.R + s.between[i * s.stride + j]];
            memset(row + i + 1, 0, (s.stride - i - 1) * sizeof *row);
        }
        softmax_backward(&s, wh, mask, h, L, 1 / pr_sqrt((pr_real)N));
        sum_by_row(&s, s.mixed, L);
        pr_gemm(dq, 3 * D, pr_mat(s.mixed, s.stride), pr_mat(k, 3 * D), 0, L, N, L);
        pr_gemm(dq, 3 * D, pr_mat(s.sums, s.R), pr_mat(w->interval_key + h * N, D), 1, L, N, s.R);
        pr_gemm(dk, 3 * D, pr_flip(s.mixed, s.stride), pr_mat(q, 3 * D), 0, L, N, L);
        pr_gemm(g->interval_key + h * N, D, pr_flip(s.sums, s.R), pr_mat(q, 3 * D), 1, s.R, N, L);
    }
    for (size_t j = 0; j < L; j++) {
        pr_add(g->position_key + j * D, dqkv + j * 3 * D + D, D);
        pr_add(g->position_value + j * D, dqkv + j * 3 * D + 2 * D, D);
    }
}
