/* Counter-based random numbers (Philox 4x32-10): a draw is a function of seed, purpose and place,
 * so results do not depend on the number of threads or on the order of work. */
#ifndef PR_RNG_H
#define PR_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct pr_rng {
    uint32_t key[2];
} pr_rng;

typedef struct pr_bits {
    uint32_t word[4];
} pr_bits;

/* One generator for each purpose: equal seeds with different purposes are independent. */
pr_rng pr_rng_make(uint64_t seed, uint64_t purpose);

/* Philox 4x32 with a number of rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as
 * 1, 2, 3; SC 2011). A round is two products and exclusive ors; then the key moves on. */
#define PR_PHILOX_ROUND(a, b, c, d, key0, key1)                                           \
    do {                                                                                  \
        uint64_t first = UINT64_C(0xD2511F53) * (a), second = UINT64_C(0xCD9E8D57) * (c); \
        (a) = (uint32_t)(second >> 32) ^ (b) ^ (key0);                                    \
        (b) = (uint32_t)second;                                                           \
        (c) = (uint32_t)(first >> 32) ^ (d) ^ (key1);                                     \
        (d) = (uint32_t)first;                                                            \
    } while (0)
#define PR_PHILOX_KEY(key0, key1) ((key0) += UINT32_C(0x9E3779B9), (key1) += UINT32_C(0xBB67AE85))

static inline pr_bits pr_philox(const pr_rng *rng, int rounds, pr_bits at)
{
    uint32_t a = at.word[0], b = at.word[1], c = at.word[2], d = at.word[3];
    uint32_t key0 = rng->key[0], key1 = rng->key[1];
    for (int round = 0; round < rounds; round++) {
        PR_PHILOX_ROUND(a, b, c, d, key0, key1);
        PR_PHILOX_KEY(key0, key1);
    }
    return (pr_bits){{a, b, c, d}};
}

/* 128 random bits of one place. */
static inline pr_bits pr_rng_at(const pr_rng *rng, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return pr_philox(rng, 10, (pr_bits){{a, b, c, d}});
}

/* Uniform in (0, 1), never an end point; multiples of 2^-32 plus half a step. */
static inline double pr_unit32(uint32_t bits)
{
    return ((double)bits + 0.5) * 0x1p-32;
}

/* Uniform in (0, 1) with 53 bits. */
static inline double pr_unit53(uint32_t high, uint32_t low)
{
    uint64_t bits = (uint64_t)high << 21 | low >> 11;
    return ((double)bits + 0.5) * 0x1p-53;
}

/* Draws one after the other, for places that need an unknown number of them. */
typedef struct pr_stream {
    pr_rng rng;
    uint32_t place[3], block;
    pr_bits bits;
    unsigned left;
} pr_stream;

pr_stream pr_stream_at(const pr_rng *rng, uint32_t a, uint32_t b, uint32_t c);
uint32_t pr_stream_u32(pr_stream *s);
double pr_stream_unit(pr_stream *s);                /* (0, 1), 53 bits */
uint32_t pr_stream_below(pr_stream *s, uint32_t n); /* 0..n-1, unbiased; n > 0 */
double pr_stream_normal(pr_stream *s);              /* N(0, 1) */
void pr_stream_shuffle(pr_stream *s, void *array, size_t n, size_t size);

/* Inverse of the standard normal distribution function, relative error below 1e-15. */
double pr_normal_quantile(double p);

#endif
