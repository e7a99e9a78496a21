/* The items that a basket's own items are ranked against. They are drawn once per basket. The draws
 * depend only on a seed of their own, the user and the session, so that every model and every
 * protocol sees the same candidates. A source says where they come from and is shared by threads; a
 * sampler is the memory with which one thread draws. */
#ifndef PR_CANDIDATES_H
#define PR_CANDIDATES_H

#include "base/rng.h"
#include "base/status.h"
#include "data/batch.h"
#include "data/split.h"

/* ---- where they come from ---- */

/* Read-only once made, so threads may share it. A zeroed one is uniform and owns nothing. */
typedef struct pr_candidate_source {
    parsrec_candidates kind;
    /* By popularity, [items + 1]: how many actions the items before this one have together. */
    uint64_t *below;
    /* From a file: the list of user u is items[offsets[u]] up to, not including, offsets[u + 1]. */
    int64_t *offsets; /* [users + 1] */
    int32_t *items;
    size_t longest; /* items of the longest list */
} pr_candidate_source;

/* Candidates by popularity: an item's chance is proportional to its actions in `scope`. Free with
 * pr_source_free, also on failure. */
parsrec_status pr_source_popular(pr_candidate_source *s, const pr_dataset *data,
                                 const pr_scope *scope, parsrec_error *err);
/* Candidates from a file: CSV, also compressed, with a header. Rows are "user,item", or
 * "user,items" with the items of a user separated by spaces. Items must be in the data set; rows of
 * unknown users are skipped. Free with pr_source_free, also on failure. */
parsrec_status pr_source_listed(pr_candidate_source *s, const pr_dataset *data, const char *path,
                                parsrec_error *err);
void pr_source_free(pr_candidate_source *s); /* a zeroed one is fine */

/* ---- drawing them ---- */

/* Memory of one thread. Items are marked with the number of a basket, so that a new basket need not
 * clear the marks of the one before. */
typedef struct pr_candidate_sampler {
    pr_rng rng;
    const pr_candidate_source *source; /* NULL: uniform */
    size_t items;                      /* of the catalogue */
    bool exclude_seen;                 /* items of earlier sessions are no candidates */
    uint32_t basket;                   /* number of the current basket, from 1 */
    uint32_t *barred; /* [items]: the last basket for which the item may not be drawn (again) */
    uint32_t *had;    /* [items]: the last basket whose user had the item before */
    size_t left;      /* items that are not barred for the current basket */
    bool drawn;       /* the candidates of the current basket were drawn */
} pr_candidate_sampler;

/* Free with pr_candidate_sampler_free, also on failure. The source must outlive it. */
parsrec_status pr_candidate_sampler_init(pr_candidate_sampler *c, size_t items,
                                         const pr_candidate_source *source, uint64_t seed,
                                         bool exclude_seen, parsrec_error *err);
void pr_candidate_sampler_free(pr_candidate_sampler *c); /* a zeroed one is fine */

/* Begins a basket, whose own items are no candidates. Sets seen[i] to whether own item i is in the
 * history. */
void pr_candidate_sampler_begin(pr_candidate_sampler *c, const pr_history *history,
                                const int32_t *own, size_t size, bool *seen);

/* Whether the user of the current basket had the item before. */
static inline bool pr_candidate_sampler_had(const pr_candidate_sampler *c, size_t item)
{
    return c->had[item] == c->basket;
}

/* Draws up to `wanted` different items for the current basket, fewer if there are no more; from a
 * list it takes the first ones. Call it once per basket. Returns how many. */
size_t pr_candidate_sampler_draw(pr_candidate_sampler *c, uint32_t user, uint32_t session,
                                 size_t wanted, int32_t *out);

#endif
