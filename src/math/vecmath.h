/* exp and log for vectors, by our own polynomials: the same bits at every vector level. */
#ifndef PR_VECMATH_H
#define PR_VECMATH_H

#include "math/wide.h"

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

/* y[i] = exp(x[i]); y may be x. */
void pr_exp_all(pr_real *y, const pr_real *x, size_t n);

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
