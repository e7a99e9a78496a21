/* Masks drawn many blocks at a time, and their use. */
#include "math/dropout.h"

#include <assert.h>

pr_drop pr_drop_make(double p)
{
    assert(p >= 0 && p < 1);
    assert(p >= 0 && p < 1);
    uint32_t threshold = (uint32_t)(p * 65536 + 0.5);
    if (threshold > 65535)
        threshold = 65535;
    return (pr_drop){threshold, (pr_real)(65536.0 / (65536.0 - (double)threshold))};
}

/* Seven rounds are the fewest of Philox 4x32 that pass all statistical tests of its authors. Masks
 * over the whole item table are drawn at every step, so no more are used. Many blocks are drawn
 * together, one lane per block; a single row needs few. */
enum { ROUNDS = 7, MANY = 64, FEW = 16 };

typedef struct blocks {
    uint32_t x[4][MANY];
} blocks;

PR_INLINE void philox_rounds(blocks *b, uint32_t key0, uint32_t key1, size_t n)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++)
            PR_PHILOX_ROUND(b->x[0][i], b->x[1][i], b->x[2][i], b->x[3][i], key0, key1);
        PR_PHILOX_KEY(key0, key1);
    }
}

PR_INLINE void keep_bits(uint8_t *keep, const blocks *b, uint32_t threshold, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        for (uint32_t w = 0; w < 4; w++) {
            bits |= (uint32_t)((b->x[w][i] & 0xFFFF) >= threshold) << (2 * w);
            bits |= (uint32_t)((b->x[w][i] >> 16) >= threshold) << (2 * w + 1);
        }
        keep[i] = (uint8_t)bits;
    }
}

PR_INLINE void draw_together(uint8_t *out, const pr_rng *rng, const uint32_t place[3], size_t first,
                             uint32_t threshold, size_t n)
{
    blocks b;
    for (size_t i = 0; i < n; i++) {
        b.x[0][i] = place[0];
        b.x[1][i] = place[1];
        b.x[2][i] = place[2];
        b.x[3][i] = (uint32_t)(first + i);
    }
    philox_rounds(&b, rng->key[0], rng->key[1], n);
    keep_bits(out, &b, threshold, n);
}

PR_INLINE void drop_draw_any(uint8_t *keep, const pr_rng *rng, const uint32_t place[3],
                             size_t first, size_t bytes, pr_drop drop)
{
    for (size_t done = 0, n; done < bytes; done += n) {
        uint8_t out[MANY];
        n = bytes - done;
        if (n > FEW)
            draw_together(out, rng, place, first + done, drop.threshold, MANY);
        else
            draw_together(out, rng, place, first + done, drop.threshold, FEW);
        n = n < MANY ? n : MANY;
        memcpy(keep + done, out, n);
    }
}
PR_LEVELS(void, pr_drop_draw, drop_draw_any,
          (uint8_t * keep, const pr_rng *rng, const uint32_t place[3], size_t first, size_t bytes,
           pr_drop drop),
          (keep, rng, place, first, bytes, drop))

void pr_drop_draw_plain(uint8_t *keep, const pr_rng *rng, const uint32_t place[3], size_t first,
                        size_t bytes, pr_drop drop)
{
    for (size_t i = 0; i < bytes; i++) {
        pr_bits at = {{place[0], place[1], place[2], (uint32_t)(first + i)}};
        pr_bits random = pr_philox(rng, ROUNDS, at);
        keep[i] = 0;
        for (unsigned k = 0; k < 8; k++) {
            uint32_t half = random.word[k / 2] >> (k % 2 * 16) & 0xFFFF;
            if (half >= drop.threshold)
                keep[i] = (uint8_t)(keep[i] | 1u << k);
        }
    }
}

PR_INLINE pr_real kept(const uint8_t *keep, size_t i, pr_real x)
{
    return keep[i / 8] >> (i % 8) & 1 ? x : 0;
}

void pr_drop_forward_plain(pr_real *y, const pr_real *x, const uint8_t *keep, pr_real scale,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = kept(keep, i, scale * x[i]);
}

void pr_drop_backward_plain(pr_real *dx, const pr_real *dy, const uint8_t *keep, pr_real scale,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] += kept(keep, i, scale * dy[i]);
}

/* out = sixteen numbers times scale, or 0 where the bit in the two mask bytes is 0. */
PR_INLINE void mask_lanes(pr_lanes *out, const pr_real *x, const uint8_t *keep, pr_real scale)
{
    pr_lanes_load(out, x);
    *out *= scale;
#ifdef PR_REAL_DOUBLE
    for (size_t i = 0; i < PR_LANES; i++)
        (*out)[i] = kept(keep, i, (*out)[i]);
#else
    typedef int32_t whole __attribute__((vector_size(PR_LANES * sizeof(int32_t))));
    const whole bit = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                       1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
    int32_t word = keep[0] | keep[1] << 8;
    whole mask = ((word - (whole){0}) & bit) != 0;
    *out = (pr_lanes)((whole)*out & mask);
#endif
}

PR_INLINE void drop_forward_any(pr_real *y, const pr_real *x, const uint8_t *keep, pr_real scale,
                                size_t n)
{
    size_t i = 0;
    for (pr_lanes out; i + PR_LANES <= n; i += PR_LANES) {
        mask_lanes(&out, x + i, keep + i / 8, scale);
        memcpy(y + i, &out, sizeof out);
    }
    for (; i < n; i++)
        y[i] = kept(keep, i, scale * x[i]);
}
PR_LEVELS(void, pr_drop_forward, drop_forward_any,
          (pr_real * y, const pr_real *x, const uint8_t *keep, pr_real scale, size_t n),
          (y, x, keep, scale, n))

PR_INLINE void drop_backward_any(pr_real *dx, const pr_real *dy, const uint8_t *keep, pr_real scale,
                                 size_t n)
{
    size_t i = 0;
    for (pr_lanes out, sum; i + PR_LANES <= n; i += PR_LANES) {
        mask_lanes(&out, dy + i, keep + i / 8, scale);
        pr_lanes_load(&sum, dx + i);
        sum += out;
        memcpy(dx + i, &sum, sizeof sum);
    }
    for (; i < n; i++)
        dx[i] += kept(keep, i, scale * dy[i]);
}
PR_LEVELS(void, pr_drop_backward, drop_backward_any,
          (pr_real * dx, const pr_real *dy, const uint8_t *keep, pr_real scale, size_t n),
          (dx, dy, keep, scale, n))
