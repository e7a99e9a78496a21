/* Families of items, for catalogues without categories: groups of items that are each other's
 * neighbours, as a tree of increasingly large families (docs/math.md, Kin). */
#ifndef PR_FAMILIES_H
#define PR_FAMILIES_H

#include "model/model.h"
#include "model/neighbours.h"

typedef struct pr_families {
    size_t count;
    int32_t *parent;      /* [count], -1 at the top; parents come before children */
    int32_t *item_family; /* [V]: the smallest family of each item */
} pr_families;

/* Maximises the modularity of mutual links (Blondel and others, 2008). The result is deterministic.
 * The caller frees `out` with pr_families_free. */
parsrec_status pr_families_find(pr_families *out, const pr_near *near, parsrec_error *err);
void pr_families_free(pr_families *families); /* a zeroed struct is allowed */

#endif
