/* The items that a basket's own items are ranked against. They are drawn once per basket, by a seed of
 * their own and the basket's place (user, session), so that every model and every protocol sees the
 * same ones. A source says where they come from and is shared by threads; a sampler is the memory with
 * which one thread draws. */
#ifndef PR_CANDIDATES_H
#define PR_CANDIDATES_H

#include "base/rng.h"
#include "base/status.h"
#include "data/batch.h"
#include "data/split.h"

/* ---- where they come from ---- */

/* Read-only once made, so threads may share it. A zeroed one is uniform. */
typedef struct pr_candidate_source {
    parsrec_candidates kind;
    uint64_t *below;  /* by popularity [items + 1]: actions of all items before this one */
    int64_t *offsets; /* from a file [users + 1]: the list of each user ... */
    int32_t *items;   /* ... in these */
    size_t longest;   /* items of the longest list */
} pr_candidate_source;

/* An item's chance is its number of actions in `scope`. */
parsrec_status pr_source_popular(pr_candidate_source *s, const pr_dataset *data,
                                 const pr_scope *scope, parsrec_error *err);
/* CSV, also compressed, with a header: rows "user,item", or "user,items" with the items of a user
 * separated by spaces. Items must be in the data set; rows of unknown users are skipped. */
parsrec_status pr_source_listed(pr_candidate_source *s, const pr_dataset *data, const char *path,
                                parsrec_error *err);
void pr_source_free(pr_candidate_source *s); /* a zeroed one is fine */

/* ---- drawing them ---- */

/* Memory of one thread. Items are marked with the number of a basket, so that a new one need not clear
 * the marks of the last. */
typedef struct pr_candidate_sampler {
    pr_rng rng;
    const pr_candidate_source *source; /* NULL: uniform */
    size_t items;                      /* of the catalogue */
    bool exclude_seen;                 /* items of earlier sessions are no candidates */
    uint32_t
        *barred;   /* [items]: the last basket for which the item may not be drawn, or was drawn */
    uint32_t *had; /* [items]: the last basket whose user had the item before */
    uint32_t basket; /* number of the present one, from 1 */
    size_t left;     /* items that are not barred for it */
    bool drawn;      /* its candidates */
} pr_candidate_sampler;

parsrec_status pr_candidate_sampler_init(pr_candidate_sampler *c, size_t items,
                                         const pr_candidate_source *source, uint64_t seed,
                                         bool exclude_seen, parsrec_error *err);
void pr_candidate_sampler_free(pr_candidate_sampler *c); /* a zeroed one is fine */

/* Begins a basket, whose own items are no candidates. Sets seen[i] if own item i is in the history. */
void pr_candidate_sampler_begin(pr_candidate_sampler *c, const pr_history *history,
                                const int32_t *own, size_t size, bool *seen);

/* Whether the user of the present basket had the item before. */
static inline bool pr_candidate_sampler_had(const pr_candidate_sampler *c, size_t item)
{
    return c->had[item] == c->basket;
}

/* Draws up to `wanted` different items for the present basket, fewer if there are no more; from a list
 * its first ones. Call it once per basket. Returns how many. */
size_t pr_candidate_sampler_draw(pr_candidate_sampler *c, uint32_t user, uint32_t session,
                                 size_t wanted, int32_t *out);

#endif
