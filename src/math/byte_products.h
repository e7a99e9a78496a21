/* Products of bytes, 64 rows at a time: the inner loop of the sieve (coarse.c) and the search
 * (search.c). Processors have instructions for them that compilers do not generate from plain loops,
 * hence intrinsics beside a plain version. All versions give the same integer sums.
 *
 * A row of a table is unsigned: code + PR_BYTE_SHIFT, with codes from -127 to 127. A query is signed,
 * from -63 to 63, so that the sum of two products fits sixteen bits on processors before AVX-512.
 * The shift adds PR_BYTE_SHIFT · (sum of the query) to each sum. 64 rows are stored together, four
 * columns at a time; missing columns are zero in the query.
 *
 * Each version sets sums[64] of a block's codes and returns a bit for each row whose sum is at least
 * `least`. They are inline so that a scan over blocks keeps its sums in registers. */
#ifndef PR_BYTE_PRODUCTS_H
#define PR_BYTE_PRODUCTS_H

#include <assert.h>
#include <string.h>

#include "math/shapes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PR_ONE_LEVEL)
#include <immintrin.h>
#define PR_HAS_BYTE_PRODUCTS
#define PR_BYTES_AVX2   __attribute__((target("avx2")))
#define PR_BYTES_AVX512 __attribute__((target("avx512f,avx512bw,avx512vnni")))
#endif

enum {
    PR_BYTE_BLOCK = 64,      /* rows */
    PR_BYTE_GROUP = 4,       /* columns that one instruction adds up */
    PR_BYTE_CODE_MOST = 127, /* of a table */
    PR_BYTE_QUERY_MOST = 63, /* of a query */
    PR_BYTE_SHIFT = 128,     /* makes the code of a table unsigned */
};

static inline size_t pr_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Where the code of a row and column is, in a block of `width` columns. */
static inline size_t pr_byte_at(size_t row, size_t column)
{
    assert(row < PR_BYTE_BLOCK);
    return column / PR_BYTE_GROUP * PR_BYTE_GROUP * PR_BYTE_BLOCK + row * PR_BYTE_GROUP +
           column % PR_BYTE_GROUP;
}

static inline uint64_t pr_bytes_plain(int32_t *sums, const uint8_t *codes, const int8_t *x,
                                      size_t width, int32_t least)
{
    uint64_t found = 0;
    memset(sums, 0, PR_BYTE_BLOCK * sizeof *sums);
    for (size_t i = 0; i < width; i += PR_BYTE_GROUP, codes += PR_BYTE_BLOCK * PR_BYTE_GROUP)
        for (size_t r = 0; r < PR_BYTE_BLOCK; r++)
            for (size_t j = 0; j < PR_BYTE_GROUP; j++)
                sums[r] += codes[r * PR_BYTE_GROUP + j] * x[i + j];
    for (size_t r = 0; r < PR_BYTE_BLOCK; r++)
        found |= (uint64_t)(sums[r] >= least) << r;
    return found;
}

#ifdef PR_HAS_BYTE_PRODUCTS
PR_BYTES_AVX512 static inline uint64_t pr_bytes_avx512(int32_t *sums, const uint8_t *codes,
                                                       const int8_t *x, size_t width, int32_t least)
{
    __m512i sum[PR_BYTE_BLOCK / 16], bar = _mm512_set1_epi32(least);
    uint64_t found = 0;
#pragma GCC unroll 4
    for (size_t v = 0; v < PR_BYTE_BLOCK / 16; v++)
        sum[v] = _mm512_setzero_si512();
    for (size_t i = 0; i < width; i += PR_BYTE_GROUP, codes += PR_BYTE_BLOCK * PR_BYTE_GROUP) {
        int32_t four;
        memcpy(&four, x + i, sizeof four);
        __m512i query = _mm512_set1_epi32(four);
#pragma GCC unroll 4
        for (size_t v = 0; v < PR_BYTE_BLOCK / 16; v++)
            sum[v] = _mm512_dpbusd_epi32(sum[v], _mm512_loadu_si512(codes + v * 64), query);
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < PR_BYTE_BLOCK / 16; v++) {
        _mm512_storeu_si512(sums + v * 16, sum[v]);
        found |= (uint64_t)_mm512_cmpge_epi32_mask(sum[v], bar) << (v * 16);
    }
    return found;
}

PR_BYTES_AVX2 static inline uint64_t pr_bytes_avx2(int32_t *sums, const uint8_t *codes,
                                                   const int8_t *x, size_t width, int32_t least)
{
    __m256i sum[PR_BYTE_BLOCK / 8], ones = _mm256_set1_epi16(1), bar = _mm256_set1_epi32(least - 1);
    uint64_t found = 0;
#pragma GCC unroll 8
    for (size_t v = 0; v < PR_BYTE_BLOCK / 8; v++)
        sum[v] = _mm256_setzero_si256();
    for (size_t i = 0; i < width; i += PR_BYTE_GROUP, codes += PR_BYTE_BLOCK * PR_BYTE_GROUP) {
        int32_t four;
        memcpy(&four, x + i, sizeof four);
        __m256i query = _mm256_set1_epi32(four);
#pragma GCC unroll 8
        for (size_t v = 0; v < PR_BYTE_BLOCK / 8; v++) {
            __m256i row = _mm256_loadu_si256((const void *)(codes + v * 32));
            __m256i pairs = _mm256_maddubs_epi16(row, query);
            sum[v] = _mm256_add_epi32(sum[v], _mm256_madd_epi16(pairs, ones));
        }
    }
#pragma GCC unroll 8
    for (size_t v = 0; v < PR_BYTE_BLOCK / 8; v++) {
        _mm256_storeu_si256((void *)(sums + v * 8), sum[v]);
        __m256i larger = _mm256_cmpgt_epi32(sum[v], bar);
        found |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(larger)) << (v * 8);
    }
    return found;
}
#endif

/* The best of three functions for this processor, made from the versions above. */
#ifdef PR_HAS_BYTE_PRODUCTS
#define PR_BYTES_CHOOSE(plain, avx2, avx512)                                               \
    (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") ? (avx512) \
     : __builtin_cpu_supports("avx2")                                           ? (avx2)   \
                                                                                : (plain))
#else
#define PR_BYTES_CHOOSE(plain, avx2, avx512) (plain)
#endif

#endif
