/* Kernels for serving. This file is compiled with contraction on (docs/adr/0009). Every output
 * of a map is one sum over the inputs in order, no matter which rows and outputs are computed
 * together. */
#include "math/panels.h"

#include <assert.h>

#include "math/wide.h"

enum {
    VECTORS = PR_PANEL / PR_LANES,
    TOGETHER = 6, /* rows: their sums and a line of the panel use 28 of 32 registers */
    CHAINS = 8,   /* concurrent sums of single outputs, to hide the latency of additions */
};

size_t pr_panels_size(size_t I, size_t O)
{
    return (O + PR_PANEL - 1) / PR_PANEL * PR_PANEL * I;
}

/* ---- making panels ---- */

/* Of two rows r and r + d of a square: the entries that stay in the row, and those that change places. */
#define LOWER(d, k) ((k) & (d) ? PR_LANES + (k) - (d) : (k))
#define UPPER(d, k) ((k) & (d) ? PR_LANES + (k) : (k) + (d))
#define EACH(of, d)                                                                           \
    of(d, 0), of(d, 1), of(d, 2), of(d, 3), of(d, 4), of(d, 5), of(d, 6), of(d, 7), of(d, 8), \
        of(d, 9), of(d, 10), of(d, 11), of(d, 12), of(d, 13), of(d, 14), of(d, 15)
#define EXCHANGE(rows, d)                                                                      \
    _Pragma("GCC unroll 16") for (size_t r = 0; r < PR_LANES; r++) if ((r & (d)) == 0)         \
    {                                                                                          \
        pr_lanes low = __builtin_shufflevector((rows)[r], (rows)[r + (d)], EACH(LOWER, d));    \
        (rows)[r + (d)] = __builtin_shufflevector((rows)[r], (rows)[r + (d)], EACH(UPPER, d)); \
        (rows)[r] = low;                                                                       \
    }

static_assert(PR_LANES == 16, "a square has sixteen rows");

/* to[i, o] = from[o, i] of sixteen outputs and inputs: halves, quarters and so on change places. */
PR_INLINE void turn_square(pr_real *to, const pr_real *from, size_t stride)
{
    pr_lanes rows[PR_LANES];
#pragma GCC unroll 16
    for (size_t r = 0; r < PR_LANES; r++)
        pr_lanes_load(&rows[r], from + r * stride);
    EXCHANGE(rows, 1)
    EXCHANGE(rows, 2)
    EXCHANGE(rows, 4)
    EXCHANGE(rows, 8)
#pragma GCC unroll 16
    for (size_t r = 0; r < PR_LANES; r++)
        pr_lanes_store(to + r * PR_PANEL, &rows[r]);
}

PR_INLINE void make_any(pr_real *panels, const pr_real *w, size_t stride, size_t I, size_t O)
{
    for (size_t first = 0; first < O; first += PR_PANEL, panels += PR_PANEL * I) {
        size_t squares = O - first >= PR_PANEL ? I / PR_LANES * PR_LANES : 0;
        for (size_t o = 0; o < PR_PANEL; o += PR_LANES)
            for (size_t i = 0; i < squares; i += PR_LANES)
                turn_square(panels + i * PR_PANEL + o, w + (first + o) * stride + i, stride);
        for (size_t i = squares; i < I; i++)
            for (size_t o = 0; o < PR_PANEL; o++)
                panels[i * PR_PANEL + o] = first + o < O ? w[(first + o) * stride + i] : 0;
    }
}
PR_LOCAL_LEVELS(void, make, make_any,
                (pr_real * panels, const pr_real *w, size_t stride, size_t I, size_t O),
                (panels, w, stride, I, O))

void pr_panels_make(pr_real *panels, const pr_real *w, size_t stride, size_t I, size_t O)
{
    assert(stride >= I);
    make(panels, w, stride, I, O);
}

/* ---- all outputs ---- */

/* Loaded once: for two or three rows a compiler would reload it for each of them. */
typedef volatile pr_lanes once __attribute__((may_alias));

/* One panel and R rows. R is a compile-time constant, so the sums stay in registers. */
PR_INLINE void panel_rows(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                          const pr_real *panel, size_t I, size_t R)
{
    pr_lanes sum[TOGETHER][VECTORS];
#pragma GCC unroll 6
    for (size_t r = 0; r < R; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            if (add)
                pr_lanes_load(&sum[r][v], y + r * y_stride + v * PR_LANES);
            else
                sum[r][v] = (pr_lanes){0};
    for (size_t i = 0; i < I; i++) {
        pr_lanes line[VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            line[v] = ((const once *)(panel + i * PR_PANEL))[v];
#pragma GCC unroll 6
        for (size_t r = 0; r < R; r++)
#pragma GCC unroll 4
            for (size_t v = 0; v < VECTORS; v++)
                sum[r][v] += line[v] * x[r * x_stride + i];
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < R; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            pr_lanes_store(y + r * y_stride + v * PR_LANES, &sum[r][v]);
}

PR_INLINE void panel_some(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                          const pr_real *panel, size_t I, size_t R)
{
    switch (R) {
    case 1:
        panel_rows(y, y_stride, add, x, x_stride, panel, I, 1);
        break;
    case 2:
        panel_rows(y, y_stride, add, x, x_stride, panel, I, 2);
        break;
    case 3:
        panel_rows(y, y_stride, add, x, x_stride, panel, I, 3);
        break;
    case 4:
        panel_rows(y, y_stride, add, x, x_stride, panel, I, 4);
        break;
    case 5:
        panel_rows(y, y_stride, add, x, x_stride, panel, I, 5);
        break;
    default:
        panel_rows(y, y_stride, add, x, x_stride, panel, I, TOGETHER);
    }
}

/* The last outputs, fewer than a full panel. */
PR_INLINE void panel_rest(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                          const pr_real *panel, size_t B, size_t I, size_t rest)
{
    pr_real whole[PR_PANEL] = {0};
    for (size_t r = 0; r < B; r++) {
        memcpy(whole, y + r * y_stride, rest * sizeof *whole);
        panel_rows(whole, 0, add, x + r * x_stride, 0, panel, I, 1);
        memcpy(y + r * y_stride, whole, rest * sizeof *whole);
    }
}

PR_INLINE void panels_any(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                          const pr_real *panels, size_t B, size_t I, size_t O, size_t together)
{
    size_t o = 0;
    for (; o + PR_PANEL <= O; o += PR_PANEL)
        for (size_t r = 0; r < B; r += together)
            panel_some(y + r * y_stride + o, y_stride, add, x + r * x_stride, x_stride,
                       panels + o * I, I, B - r < together ? B - r : together);
    if (o < O)
        panel_rest(y + o, y_stride, add, x, x_stride, panels + o * I, B, I, O - o);
}

PR_INLINE void narrow_any(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                          const pr_real *panels, size_t B, size_t I, size_t O)
{
    panels_any(y, y_stride, add, x, x_stride, panels, B, I, O, 1);
}
PR_LOCAL_LEVELS(void, narrow, narrow_any,
                (pr_real * y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                 const pr_real *panels, size_t B, size_t I, size_t O),
                (y, y_stride, add, x, x_stride, panels, B, I, O))

#ifdef PR_HAS_AVX512
/* Only AVX-512 has enough registers for the sums of several rows. */
__attribute__((target(PR_AVX512_TARGET))) static void wide(pr_real *y, size_t y_stride, bool add,
                                                           const pr_real *x, size_t x_stride,
                                                           const pr_real *panels, size_t B,
                                                           size_t I, size_t O)
{
    panels_any(y, y_stride, add, x, x_stride, panels, B, I, O, TOGETHER);
}
#endif

void pr_panels_map(pr_real *y, size_t y_stride, bool add, const pr_real *x, size_t x_stride,
                   const pr_real *panels, size_t B, size_t I, size_t O)
{
#ifdef PR_HAS_AVX512
    if (B > 1 && PR_HAS_AVX512) {
        wide(y, y_stride, add, x, x_stride, panels, B, I, O);
        return;
    }
#endif
    narrow(y, y_stride, add, x, x_stride, panels, B, I, O);
}

/* ---- some outputs ---- */

typedef pr_real chains __attribute__((vector_size(CHAINS * sizeof(pr_real))));

/* Vectors here too: a compiler may not fuse products and sums in a scalar loop as it does in
 * vectors. */
PR_INLINE void some_any(pr_real *y, const pr_real *x, const pr_real *w, const int32_t *ids,
                        size_t n, size_t I)
{
    for (size_t first = 0; first < n; first += CHAINS) {
        const pr_real *row[CHAINS];
        chains sum = {0};
        for (size_t c = 0; c < CHAINS; c++) { /* past the end the last one is repeated */
            size_t at = first + c < n ? first + c : n - 1;
            row[c] = w + (size_t)ids[at] * I;
            sum[c] = y[at];
        }
        for (size_t i = 0; i < I; i++) {
            chains line = {row[0][i], row[1][i], row[2][i], row[3][i],
                           row[4][i], row[5][i], row[6][i], row[7][i]};
            sum += line * x[i];
        }
        for (size_t c = 0; c < CHAINS && first + c < n; c++)
            y[first + c] = sum[c];
    }
}
PR_LEVELS(void, pr_panels_add_some, some_any,
          (pr_real * y, const pr_real *x, const pr_real *w, const int32_t *ids, size_t n, size_t I),
          (y, x, w, ids, n, I))

/* ---- the sum under a softmax ---- */

/* Few enough numbers of one sign for a single-precision sum to be as accurate as they are. */
enum { EXP_BLOCK = 16 * PR_LANES };

PR_INLINE double exp_sum_any(const pr_real *x, pr_real top, size_t n)
{
    double sum = 0;
    size_t i = 0;
    for (size_t end; i + PR_LANES <= n; i = end) {
        pr_real sums[PR_LANES] = {0};
        end = n - i < EXP_BLOCK ? i + (n - i) / PR_LANES * PR_LANES : i + EXP_BLOCK;
        for (; i < end; i += PR_LANES)
            for (size_t j = 0; j < PR_LANES; j++)
                sums[j] += pr_exp(x[i + j] - top);
        sum += (double)pr_sum(sums, PR_LANES);
    }
    for (; i < n; i++)
        sum += (double)pr_exp(x[i] - top);
    return sum;
}
PR_LEVELS(double, pr_exp_sum, exp_sum_any, (const pr_real *x, pr_real top, size_t n), (x, top, n))
