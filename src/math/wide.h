/* Vector code without intrinsics. A body written once as plain loops is compiled for each vector
 * level (AVX-512, AVX2, base), and every call uses the best level the processor has. Sums run in
 * sixteen lanes at every level, so that all levels give the same bits. */
#ifndef PR_WIDE_H
#define PR_WIDE_H

#include <string.h>

#include "math/shapes.h"

#define PR_INLINE static inline __attribute__((always_inline))

/* PR_LEVELS(type, name, body, (parameters), (arguments)) defines `type name(parameters)`, which
 * calls the PR_INLINE function `body`. PR_LOCAL_LEVELS makes it static. */
#define PR_LEVELS(...)       PR_LEVELS_IN(, __VA_ARGS__)
#define PR_LOCAL_LEVELS(...) PR_LEVELS_IN(static, __VA_ARGS__)

/* PR_ONE_LEVEL compiles only the base level, for the test that compares them. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(PR_ONE_LEVEL)
#define PR_AVX512_TARGET "avx512f,fma"
#define PR_HAS_AVX512    __builtin_cpu_supports("avx512f")
#define PR_AVX2_TARGET   "avx2,fma"
#define PR_HAS_AVX2      (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#define PR_LEVELS_IN(scope, type, name, body, parameters, arguments)               \
    __attribute__((target(PR_AVX512_TARGET))) static type body##_avx512 parameters \
    {                                                                              \
        return body arguments;                                                     \
    }                                                                              \
    __attribute__((target(PR_AVX2_TARGET))) static type body##_avx2 parameters     \
    {                                                                              \
        return body arguments;                                                     \
    }                                                                              \
    scope type name parameters                                                     \
    {                                                                              \
        if (PR_HAS_AVX512)                                                         \
            return body##_avx512 arguments;                                        \
        if (PR_HAS_AVX2)                                                           \
            return body##_avx2 arguments;                                          \
        return body arguments;                                                     \
    }
#else
#define PR_LEVELS_IN(scope, type, name, body, parameters, arguments) \
    scope type name parameters                                       \
    {                                                                \
        return body arguments;                                       \
    }
#endif

enum { PR_LANES = 16 };
typedef pr_real pr_lanes __attribute__((vector_size(PR_LANES * sizeof(pr_real))));

/* Lanes are passed by address: passed by value, their layout would depend on the level. */
PR_INLINE void pr_lanes_load(pr_lanes *lanes, const pr_real *from)
{
    memcpy(lanes, from, sizeof *lanes);
}

PR_INLINE void pr_lanes_store(pr_real *to, const pr_lanes *lanes)
{
    memcpy(to, lanes, sizeof *lanes);
}

PR_INLINE pr_real pr_lanes_sum(const pr_lanes *lanes)
{
    pr_real half[PR_LANES];
    memcpy(half, lanes, sizeof half);
    for (size_t width = PR_LANES / 2; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++)
            half[i] += half[i + width];
    return half[0];
}

PR_INLINE pr_real pr_dot(const pr_real *x, const pr_real *y, size_t n)
{
    pr_lanes sum = {0}, a, b;
    size_t i = 0;
    for (; i + PR_LANES <= n; i += PR_LANES) {
        pr_lanes_load(&a, x + i);
        pr_lanes_load(&b, y + i);
        sum += a * b;
    }
    pr_real rest = 0;
    for (; i < n; i++)
        rest += x[i] * y[i];
    return pr_lanes_sum(&sum) + rest;
}

/* Eight rows of x, `stride` apart, at once, with exactly the bits of pr_dot. Independent sums keep
 * the unit busy, and their lanes are reduced together in fewer steps. */
enum { PR_DOTS = 8 };
typedef pr_real pr_half_lanes __attribute__((vector_size(PR_LANES / 2 * sizeof(pr_real))));

/* Adds lanes that are `width` apart in two vectors; one vector holds both results. */
#define PR_FOLD_8(a, b)                                                                      \
    (__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) + \
     __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
#define PR_FOLD_4(a, b)                                                                        \
    (__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) + \
     __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))
#define PR_FOLD_2(a, b)                                                                        \
    (__builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) + \
     __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31))

PR_INLINE void pr_lanes_sum_eight(pr_real sums[PR_DOTS], const pr_lanes s[PR_DOTS])
{
    pr_lanes low = PR_FOLD_4(PR_FOLD_8(s[0], s[1]), PR_FOLD_8(s[2], s[3]));
    pr_lanes high = PR_FOLD_4(PR_FOLD_8(s[4], s[5]), PR_FOLD_8(s[6], s[7]));
    pr_lanes all = PR_FOLD_2(low, high);
    pr_half_lanes folded = __builtin_shufflevector(all, all, 0, 2, 4, 6, 8, 10, 12, 14) +
                           __builtin_shufflevector(all, all, 1, 3, 5, 7, 9, 11, 13, 15);
    memcpy(sums, &folded, sizeof folded);
}

PR_INLINE void pr_dot_eight(pr_real dots[PR_DOTS], const pr_real *x, size_t stride,
                            const pr_real *y, size_t n)
{
    pr_lanes sum[PR_DOTS] = {{0}}, a, b;
    pr_real rest[PR_DOTS] = {0};
    size_t i = 0;
    for (; i + PR_LANES <= n; i += PR_LANES) {
        pr_lanes_load(&b, y + i);
        for (size_t r = 0; r < PR_DOTS; r++) {
            pr_lanes_load(&a, x + r * stride + i);
            sum[r] += a * b;
        }
    }
    for (; i < n; i++)
        for (size_t r = 0; r < PR_DOTS; r++)
            rest[r] += x[r * stride + i] * y[i];
    pr_lanes_sum_eight(dots, sum);
    for (size_t r = 0; r < PR_DOTS; r++)
        dots[r] += rest[r];
}

PR_INLINE pr_real pr_sum(const pr_real *x, size_t n)
{
    pr_lanes sum = {0}, a;
    size_t i = 0;
    for (; i + PR_LANES <= n; i += PR_LANES) {
        pr_lanes_load(&a, x + i);
        sum += a;
    }
    pr_real rest = 0;
    for (; i < n; i++)
        rest += x[i];
    return pr_lanes_sum(&sum) + rest;
}

/* y += factor * x */
PR_INLINE void pr_add_scaled(pr_real *restrict y, const pr_real *restrict x, pr_real factor,
                             size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

/* ---- exp and log by our own polynomials: the same bits at every vector level ---- */

/* x = n·ln 2 + r with |r| <= ln(2)/2; the Taylor series of exp(r) to r^7 is off by 5e-9 at most,
 * and 2^n goes into the exponent bits. Within 2 units in the last place of libm on [-87, 88];
 * below it is 0, above it stays at exp(88). NaN stays NaN. (docs/math.md, Exponential) */
PR_INLINE pr_real pr_exp(pr_real x)
{
#ifdef PR_REAL_DOUBLE
    return exp(x);
#else
    const float magic = 0x1.8p23f; /* adding it rounds to an integer in the low bits */
    const float ln2_high = 0x1.62e400p-1f, ln2_low = 0x1.7f7d1cp-20f;
    float in = x > 88.0f ? 88.0f : x;
    in = in < -87.0f ? -87.0f : in;
    float shifted = in * 0x1.715476p+0f + magic;
    float n = shifted - magic;
    float r = (in - n * ln2_high) - n * ln2_low;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23; /* the low bits of `shifted` are n */
    float power;
    memcpy(&power, &bits, sizeof power);
    float y = p * power;
    return x < -87.0f ? 0.0f : y;
#endif
}

PR_INLINE pr_real pr_logistic(pr_real x)
{
    return 1 / (1 + pr_exp(-x));
}

/* x[n] = softmax of x, for short rows such as attention weights; n must be at least 1. */
PR_INLINE void pr_softmax_few(pr_real *x, size_t n)
{
    pr_real top = x[0], sum = 0;
    for (size_t p = 1; p < n; p++)
        top = x[p] > top ? x[p] : top;
    for (size_t p = 0; p < n; p++) {
        x[p] = pr_exp(x[p] - top);
        sum += x[p];
    }
    for (size_t p = 0; p < n; p++)
        x[p] /= sum;
}

/* The natural logarithm of a normal positive number: x = 2^n·m with sqrt(1/2) <= m < sqrt(2), and
 * log m = 2·artanh(t), t = (m - 1) / (m + 1), by its series to t^9, which is off by 3e-9 at most.
 * (docs/math.md, Logarithm) */
PR_INLINE pr_real pr_ln(pr_real x)
{
#ifdef PR_REAL_DOUBLE
    return log(x);
#else
    const uint32_t root_half = 0x3f3504f3u;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t n = (int32_t)(bits - root_half) >> 23;
    bits -= (uint32_t)n << 23;
    float m;
    memcpy(&m, &bits, sizeof m);
    float t = (m - 1.0f) / (m + 1.0f), s = t * t;
    float p = 2.0f / 9;
    p = p * s + 2.0f / 7;
    p = p * s + 2.0f / 5;
    p = p * s + 2.0f / 3;
    p = p * s + 2.0f;
    return (float)n * 0x1.62e430p-1f + p * t;
#endif
}

#endif
