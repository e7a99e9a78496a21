/* Where candidates come from: the whole catalogue alike, by popularity, or lists that somebody made. */
#ifndef PR_CANDIDATE_SOURCE_H
#define PR_CANDIDATE_SOURCE_H

#include "data/counted.h"

typedef enum pr_source_kind {
    PR_SOURCE_UNIFORM,
    PR_SOURCE_POPULAR, /* an item's chance is its number of actions before the split */
    PR_SOURCE_LISTED,  /* a list for each user, from a file */
} pr_source_kind;

/* Read-only once made, so threads may share it. A zeroed one is uniform. */
typedef struct pr_candidate_source {
    pr_source_kind kind;
    uint64_t *below;  /* [items + 1]: actions of all items before this one */
    int64_t *offsets; /* [users + 1]: the list of each user */
    int32_t *items;
    size_t longest; /* list */
} pr_candidate_source;

parsrec_status pr_source_popular(pr_candidate_source *s, const pr_dataset *data,
                                 const pr_scope *scope, parsrec_error *err);
/* CSV, also compressed, with a header: rows "user,item", or "user,items" with the items of a user
 * divided by spaces. Items must be in the data set; users that are not are passed over. */
parsrec_status pr_source_listed(pr_candidate_source *s, const pr_dataset *data, const char *path,
                                parsrec_error *err);
void pr_source_free(pr_candidate_source *s); /* a zeroed one is fine */

#endif
