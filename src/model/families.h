/* Families of items, found where a catalogue has no categories: items whose neighbours are each other's
 * neighbours, in a tree of ever larger families (docs/math.md, Kin). */
#ifndef PR_FAMILIES_H
#define PR_FAMILIES_H

#include "model/model.h"
#include "model/neighbours.h"

typedef struct pr_families {
    size_t count;
    int32_t *parent;      /* [count], -1 at the top; parents before children */
    int32_t *item_family; /* [V], the smallest */
} pr_families;

/* By the modularity of the links that speak for each other (Blondel and others, 2008). The same links
 * give the same families. */
parsrec_status pr_families_find(pr_families *out, const pr_near *near, parsrec_error *err);
void pr_families_free(pr_families *families); /* a zeroed one is fine */

#endif
