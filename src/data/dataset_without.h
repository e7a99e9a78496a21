/* A data set without some of its users: without their keys, sessions and features. */
#ifndef PR_DATASET_WITHOUT_H
#define PR_DATASET_WITHOUT_H

#include "data/dataset.h"

typedef struct pr_pruned {
    pr_dataset data; /* its catalogue is the other's, which must outlive it */
    void **blocks;
    size_t count, capacity;
} pr_pruned;

/* Without the users whose mark gone[users] is set; the others keep their order. Values of features that
 * nobody has any more go too. */
parsrec_status pr_dataset_without(pr_pruned *out, const pr_dataset *from, const bool *gone,
                                  parsrec_error *err);
/* Zeroed memory that goes with the pruned data set; NULL when there is none. */
void *pr_pruned_keep(pr_pruned *pruned, size_t count, size_t size);
void pr_pruned_free(pr_pruned *pruned); /* a zeroed one is fine */

#endif
