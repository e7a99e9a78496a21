/* log for vectors, by a series of our own: the same bits at every vector level. */
#ifndef PR_LOGARITHM_H
#define PR_LOGARITHM_H

#include "math/wide.h"

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
