/* Training baskets in batches of one size, or nearly one size where sizes are rare; a fresh shuffle
 * for each epoch, a function of seed and epoch only. */
#ifndef PR_BATCHES_H
#define PR_BATCHES_H

#include "data/dataset.h"

/* A training basket by its place in the data set; `steps` is its size, cut to the limit. Of a
 * sequence: `steps` items of the user before `session`. */
typedef struct pr_sample {
    uint32_t user, session;
    uint32_t steps;
    uint32_t later; /* of a sequence: items between its end and the session */
} pr_sample;

/* What a sample is. */
typedef enum pr_windows {
    PR_BASKETS,     /* one training basket */
    PR_WINDOW_LAST, /* the newest items of a user's training sessions, as many as the limit allows */
    PR_WINDOW_ALL,  /* the same, and the windows before it: every item is predicted once */
} pr_windows;

typedef struct pr_batches {
    pr_sample *baskets; /* of the current epoch, batch after batch */
    size_t basket_count;
    uint32_t *offsets; /* [batch_count + 1] into baskets */
    size_t batch_count;
    size_t steps;  /* of all baskets: predicted items of an epoch */
    size_t padded; /* steps that batches add to make their baskets equally long */

    size_t batch_size;
    size_t last;        /* test sessions of a user */
    size_t most, limit; /* steps of a sample; classes of size, apart from 0 */
    pr_windows windows;
    uint64_t seed;
    pr_sample *sorted;      /* by size, in the order of the data within a size */
    uint32_t *size_offsets; /* [limit + 2] into sorted */
    uint32_t *order, *draft, *draft_offsets, *batch_order; /* scratch of arranging */
} pr_batches;

/* Gathers the training baskets of a data set, or its sequences. limit: most steps of either;
 * last: test sessions of a user (split.h). Sequences of all lengths are mixed. */
parsrec_status pr_batches_init(pr_batches *b, const pr_dataset *data, size_t batch_size,
                               size_t limit, size_t last, pr_windows windows, uint64_t seed,
                               parsrec_error *err);
void pr_batches_free(pr_batches *b); /* a zeroed one is fine */

/* Arranges the batches of an epoch. Allocates nothing. */
void pr_batches_arrange(pr_batches *b, uint32_t epoch);

#endif
