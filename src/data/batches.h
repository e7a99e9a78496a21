/* Training baskets in batches of one size, or nearly one size where sizes are rare; a fresh shuffle
 * for each epoch, a function of seed and epoch only. */
#ifndef PR_BATCHES_H
#define PR_BATCHES_H

#include "data/dataset.h"
#include "data/split.h"

/* What a sample is: a basket, or a sequence of items across the baskets of a user. */
typedef enum pr_windows {
    PR_BASKETS,     /* one training basket */
    PR_WINDOW_LAST, /* a sequence: the newest items of a user's training sessions, up to the limit */
    PR_WINDOW_ALL,  /* the same, and the sequences before it: every item is predicted once */
} pr_windows;

/* A sample by its place in the data set. Of a basket: its session, and its size cut to the limit. Of
 * a sequence: `steps` items of the user that end `later` items before `session`. */
typedef struct pr_sample {
    uint32_t user, session;
    uint32_t steps;
    uint32_t later;
} pr_sample;

typedef struct pr_batches {
    /* The current epoch; basket_count and steps are the same in every epoch. */
    pr_sample *baskets; /* the samples of the current epoch, batch after batch */
    size_t basket_count;
    uint32_t *offsets; /* [batch_count + 1] into baskets */
    size_t batch_count;
    size_t steps;  /* of all samples: the predictions of an epoch */
    size_t padded; /* steps added to make the baskets of a batch equally long */

    size_t batch_size;
    pr_scope scope; /* the sessions that are learnt from */
    size_t most;    /* steps of a sample, at most */
    /* Samples are sorted into sizes 0 to `limit`. Sequences need no sorting: all have size 0. */
    size_t limit;
    pr_windows windows;
    bool separated; /* a break between two sessions takes a step of a sequence */
    uint64_t seed;
    pr_sample *sorted;      /* by size, in the order of the data within a size */
    uint32_t *size_offsets; /* [limit + 2] into sorted */
    uint32_t *order, *draft, *draft_offsets, *batch_order; /* scratch of pr_batches_arrange */
} pr_batches;

/* Gathers the samples of the sessions in scope (split.h), each of at most `limit` steps. Sequences
 * of different lengths share batches; with `separated` the limit of a sequence, at least 3, counts
 * the breaks between its sessions too. */
parsrec_status pr_batches_init(pr_batches *b, const pr_dataset *data, size_t batch_size,
                               size_t limit, const pr_scope *scope, pr_windows windows,
                               bool separated, uint64_t seed, parsrec_error *err);
void pr_batches_free(pr_batches *b); /* a zeroed one is fine */

/* Arranges the batches of an epoch. Allocates nothing. */
void pr_batches_arrange(pr_batches *b, uint32_t epoch);

#endif
