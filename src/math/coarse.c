/* Byte products have special instructions that compilers do not generate from plain loops, hence
 * intrinsics here, beside a plain version for other processors. A query uses seven bits so that the
 * sum of two products fits in sixteen bits on older processors. */
#include "math/coarse.h"

#include <assert.h>

#include "math/topk.h"
#include "math/wide.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PR_ONE_LEVEL)
#include <immintrin.h>
#define HAS_BYTE_PRODUCTS
#endif

enum {
    BLOCK = 64,      /* rows */
    GROUP = 4,       /* columns */
    CODE_MOST = 127, /* largest code of a table */
    QUERY_MOST = 63, /* largest code of a query before it is shifted to be unsigned */
    QUERY_SHIFT = 64,
};

static const pr_real TOO_LARGE = (pr_real)1e30; /* the square of a larger value would not be
                                                 * finite */

static size_t up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

size_t pr_coarse_bytes(size_t rows, size_t width)
{
    size_t whole = up(rows, BLOCK);
    return whole * up(width, GROUP) + whole * sizeof(int32_t) + whole * sizeof(pr_real);
}

/* ---- quantising a table ---- */

static pr_real largest(const pr_real *x, size_t n)
{
    pr_real most = 0;
    for (size_t i = 0; i < n && most == most; i++) { /* stops at a NaN */
        pr_real size = x[i] < 0 ? -x[i] : x[i];
        most = size <= most ? most : size;
    }
    return most;
}

static int8_t *code_at(const pr_coarse *c, size_t row, size_t column)
{
    size_t width = up(c->width, GROUP);
    return c->codes + row / BLOCK * BLOCK * width + column / GROUP * GROUP * BLOCK +
           row % BLOCK * GROUP + column % GROUP;
}

/* Updates the largest length of a row's codes and of its rounding error, in steps. */
static void make_row(pr_coarse *c, size_t row, const pr_real *from)
{
    pr_real most = largest(from, c->width), step = most / CODE_MOST;
    double length = 0, error = 0;
    int32_t sum = 0;
    if (!(step < TOO_LARGE)) {
        c->error = (pr_real)INFINITY;
        return;
    }
    for (size_t i = 0; i < c->width; i++) {
        pr_real exact = step > 0 ? from[i] / step : 0;
        double code = (double)(int)(exact + (exact < 0 ? (pr_real)-0.5 : (pr_real)0.5));
        *code_at(c, row, i) = (int8_t)code;
        sum += (int32_t)code;
        length += code * code;
        error += ((double)exact - code) * ((double)exact - code);
    }
    c->steps[row] = step;
    c->offsets[row] = sum * QUERY_SHIFT;
    c->length = (pr_real)fmax((double)c->length, sqrt(length));
    c->error = (pr_real)fmax((double)c->error, sqrt(error));
}

void pr_coarse_make(pr_coarse *coarse, void *memory, const pr_real *table, size_t rows,
                    size_t width)
{
    assert(width <= PR_COARSE_WIDTH_MOST);
    size_t whole = up(rows, BLOCK);
    memset(memory, 0, pr_coarse_bytes(rows, width));
    *coarse = (pr_coarse){.rows = rows, .width = width, .codes = memory};
    coarse->steps = (pr_real *)(void *)(coarse->codes + whole * up(width, GROUP));
    coarse->offsets = (int32_t *)(void *)(coarse->steps + whole);
    for (size_t r = 0; r < rows; r++)
        make_row(coarse, r, table + r * width);
}

/* ---- quantising a query ---- */

/* |x·w - step·codes·…| ≤ |x| · |error of w| + |error of x| · |codes of w|, plus the rounding of the
 * exact sums of up to `width` additions each. */
static pr_real slack_of(const pr_coarse *c, double length, double error)
{
    double rounding = 2 * (double)c->width * 1.2e-7 * length * (double)(c->length + c->error);
    return (pr_real)((length * (double)c->error + error * (double)c->length + rounding) * 1.0001);
}

/* Codes of x in `width` columns; also the squared lengths of x and of its rounding error, in
 * steps. */
PR_INLINE void code_any(uint8_t *codes, const pr_real *x, pr_real step, size_t width,
                        pr_real *length, pr_real *error)
{
    pr_real lengths[PR_LANES] = {0}, errors[PR_LANES] = {0};
    pr_real scale = step > 0 ? 1 / step : 0;
    for (size_t first = 0; first < width; first += PR_LANES)
        for (size_t i = 0; i < PR_LANES && first + i < width; i++) {
            pr_real exact = x[first + i] * scale;
            int32_t code = (int32_t)(exact + (pr_real)(QUERY_SHIFT + 0.5));
            pr_real lost = exact - (pr_real)(code - QUERY_SHIFT);
            codes[first + i] = (uint8_t)code;
            lengths[i] += exact * exact;
            errors[i] += lost * lost;
        }
    *length = pr_sum(lengths, PR_LANES);
    *error = pr_sum(errors, PR_LANES);
}
PR_LOCAL_LEVELS(void, code, code_any,
                (uint8_t * codes, const pr_real *x, pr_real step, size_t width, pr_real *length,
                 pr_real *error),
                (codes, x, step, width, length, error))

void pr_coarse_ask(pr_coarse_query *query, const pr_coarse *coarse, const pr_real *x)
{
    size_t width = coarse->width;
    pr_real length, error;
    query->step = largest(x, width) / QUERY_MOST;
    query->slack = (pr_real)INFINITY;
    if (!(query->step < TOO_LARGE))
        return;
    memset(query->codes + width, QUERY_SHIFT, up(width, GROUP) - width);
    code(query->codes, x, query->step, width, &length, &error);
    query->slack = query->step * slack_of(coarse, sqrt((double)length), sqrt((double)error));
}

/* ---- sums ---- */

/* sums[BLOCK] of one block of rows. */
static void block_plain(int32_t *sums, const int8_t *codes, const uint8_t *x, size_t width)
{
    memset(sums, 0, BLOCK * sizeof *sums);
    for (size_t i = 0; i < width; i += GROUP, codes += BLOCK * GROUP)
        for (size_t r = 0; r < BLOCK; r++)
            for (size_t j = 0; j < GROUP; j++)
                sums[r] += codes[r * GROUP + j] * x[i + j];
}

#ifdef HAS_BYTE_PRODUCTS
__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void block_avx512(int32_t *sums,
                                                                                const int8_t *codes,
                                                                                const uint8_t *x,
                                                                                size_t width)
{
    __m512i sum[BLOCK / 16];
#pragma GCC unroll 4
    for (size_t v = 0; v < BLOCK / 16; v++)
        sum[v] = _mm512_setzero_si512();
    for (size_t i = 0; i < width; i += GROUP, codes += BLOCK * GROUP) {
        int32_t four;
        memcpy(&four, x + i, sizeof four);
        __m512i query = _mm512_set1_epi32(four);
#pragma GCC unroll 4
        for (size_t v = 0; v < BLOCK / 16; v++)
            sum[v] = _mm512_dpbusd_epi32(sum[v], query, _mm512_loadu_si512(codes + v * 64));
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < BLOCK / 16; v++)
        _mm512_storeu_si512(sums + v * 16, sum[v]);
}

__attribute__((target("avx2"))) static void block_avx2(int32_t *sums, const int8_t *codes,
                                                       const uint8_t *x, size_t width)
{
    __m256i sum[BLOCK / 8], ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (size_t v = 0; v < BLOCK / 8; v++)
        sum[v] = _mm256_setzero_si256();
    for (size_t i = 0; i < width; i += GROUP, codes += BLOCK * GROUP) {
        int32_t four;
        memcpy(&four, x + i, sizeof four);
        __m256i query = _mm256_set1_epi32(four);
#pragma GCC unroll 8
        for (size_t v = 0; v < BLOCK / 8; v++) {
            __m256i row = _mm256_loadu_si256((const void *)(codes + v * 32));
            __m256i pairs = _mm256_maddubs_epi16(query, row);
            sum[v] = _mm256_add_epi32(sum[v], _mm256_madd_epi16(pairs, ones));
        }
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < BLOCK / 8; v++)
        _mm256_storeu_si256((void *)(sums + v * 8), sum[v]);
}
#endif

typedef void block_sums(int32_t *sums, const int8_t *codes, const uint8_t *x, size_t width);

static block_sums *best_sums(void)
{
#ifdef HAS_BYTE_PRODUCTS
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"))
        return block_avx512;
    if (__builtin_cpu_supports("avx2"))
        return block_avx2;
#endif
    return block_plain;
}

PR_INLINE void scale_any(pr_real *least, const int32_t *sums, const int32_t *offsets,
                         const pr_real *steps, pr_real step, pr_real slack, size_t n)
{
    for (size_t i = 0; i < n; i++)
        least[i] = steps[i] * ((pr_real)(sums[i] - offsets[i]) * step - slack);
}
PR_LOCAL_LEVELS(void, scale, scale_any,
                (pr_real * least, const int32_t *sums, const int32_t *offsets, const pr_real *steps,
                 pr_real step, pr_real slack, size_t n),
                (least, sums, offsets, steps, step, slack, n))

void pr_coarse_least(pr_real *least, const pr_coarse *c, const pr_coarse_query *query)
{
    block_sums *sum = best_sums();
    size_t width = up(c->width, GROUP);
    int32_t sums[BLOCK];
    for (size_t r = 0; r < c->rows; r += BLOCK) {
        sum(sums, c->codes + r * width, query->codes, width);
        scale(least + r, sums, c->offsets + r, c->steps + r, query->step, query->slack,
              c->rows - r < BLOCK ? c->rows - r : BLOCK);
    }
}

/* ---- candidates ---- */

PR_INLINE void most_any(pr_real *scores, const pr_real *steps, pr_real more, size_t n)
{
    pr_add_scaled(scores, steps, more, n);
}
PR_LOCAL_LEVELS(void, raise, most_any,
                (pr_real * scores, const pr_real *steps, pr_real more, size_t n),
                (scores, steps, more, n))

size_t pr_coarse_reach(int32_t *rows, const pr_coarse *coarse, const pr_coarse_query *query,
                       pr_real *least, pr_real bar)
{
    pr_real rounding = (pr_real)1e-6 * (1 + (bar < 0 ? -bar : bar)); /* of the terms added since */
    raise(least, coarse->steps, 2 * query->slack, coarse->rows);
    return pr_at_least(rows, least, coarse->rows, bar - rounding);
}
