/* The items a basket's own items are ranked against: drawn once for a basket from a seed of their
 * own, so that every model sees the same. */
#ifndef PR_CANDIDATES_H
#define PR_CANDIDATES_H

#include "base/rng.h"
#include "base/status.h"

/* Scratch of one thread. */
typedef struct pr_candidates {
    pr_rng rng;
    size_t items;    /* of the catalogue */
    uint32_t *stamp; /* [items]: the draw in which an item was last taken */
    uint32_t draw;
} pr_candidates;

parsrec_status pr_candidates_init(pr_candidates *c, size_t items, uint64_t seed,
                                  parsrec_error *err);
void pr_candidates_free(pr_candidates *c); /* a zeroed one is fine */

/* Draws `wanted` different items that are not in the basket, uniformly, whether or not the user ever
 * had them; all of them when there are no more. The place is (user, session). Returns how many. */
size_t pr_candidates_draw(pr_candidates *c, uint32_t user, uint32_t session, const int32_t *basket,
                          size_t basket_size, size_t wanted, int32_t *out);

#endif
