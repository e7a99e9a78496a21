/* Dropout whose masks depend only on seed and place, not on the number of threads. A mask has one
 * bit per number, eight numbers per byte; byte b comes from Philox block b of the place. */
#ifndef PR_DROPOUT_H
#define PR_DROPOUT_H

#include "base/rng.h"
#include "math/wide.h"

typedef struct pr_drop {
    uint32_t threshold; /* a number is dropped if its 16 random bits are below this */
    pr_real scale;      /* kept numbers are multiplied by this, which preserves the mean */
} pr_drop;

/* p is rounded to a multiple of 2^-16; 0 <= p < 1. */
pr_drop pr_drop_make(double p);

static inline size_t pr_drop_bytes(size_t n)
{
    return (n + 7) / 8;
}

/* Fills keep[bytes] with the masks of blocks first .. first + bytes - 1 of the place. */
void pr_drop_draw(uint8_t *keep, const pr_rng *rng, const uint32_t place[3], size_t first,
                  size_t bytes, pr_drop drop);
void pr_drop_draw_plain(uint8_t *keep, const pr_rng *rng, const uint32_t place[3], size_t first,
                        size_t bytes, pr_drop drop);

/* y = kept ? scale·x : 0; y may be x.                                   (docs/math.md, Dropout) */
void pr_drop_forward(pr_real *y, const pr_real *x, const uint8_t *keep, pr_real scale, size_t n);
void pr_drop_forward_plain(pr_real *y, const pr_real *x, const uint8_t *keep, pr_real scale,
                           size_t n);
/* dx += kept ? scale·dy : 0 */
void pr_drop_backward(pr_real *dx, const pr_real *dy, const uint8_t *keep, pr_real scale, size_t n);
void pr_drop_backward_plain(pr_real *dx, const pr_real *dy, const uint8_t *keep, pr_real scale,
                            size_t n);

#endif
