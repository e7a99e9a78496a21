/* The items a basket's own items are ranked against: drawn once for a basket from a seed of their
 * own, so that every model sees the same. */
#ifndef PR_CANDIDATES_H
#define PR_CANDIDATES_H

#include "base/rng.h"
#include "base/status.h"
#include "data/batch.h"
#include "eval/candidate_source.h"

/* Scratch of one thread. */
typedef struct pr_candidate_set {
    pr_rng rng;
    const pr_candidate_source *source; /* NULL: uniform */
    size_t items;                      /* of the catalogue */
    bool exclude_seen;                 /* items of earlier sessions are no candidates */
    uint32_t *barred; /* [items]: the basket for which an item may not be drawn (any more) */
    uint32_t *had;    /* [items]: the basket whose user had the item before */
    uint32_t basket;  /* number of the present one */
    size_t left;      /* items that may be drawn */
} pr_candidate_set;

parsrec_status pr_candidate_set_init(pr_candidate_set *c, size_t items,
                                     const pr_candidate_source *source, uint64_t seed,
                                     bool exclude_seen, parsrec_error *err);
void pr_candidate_set_free(pr_candidate_set *c); /* a zeroed one is fine */

/* Turns to a basket: its items are no candidates. seen[i] tells whether own item i is in the history. */
void pr_candidate_set_turn(pr_candidate_set *c, const pr_history *history, const int32_t *own,
                           size_t size, bool *seen);

/* Whether the user of the present basket had the item before. */
static inline bool pr_candidate_set_had(const pr_candidate_set *c, size_t item)
{
    return c->had[item] == c->basket;
}

/* Draws up to `wanted` different items for the present basket, fewer when there are no more; of a list
 * the first. The place is (user, session). Returns how many. Once for a turn. */
size_t pr_candidate_set_draw(pr_candidate_set *c, uint32_t user, uint32_t session, size_t wanted,
                             int32_t *out);

#endif
