/* Learning to tell what was bought from what was not: the trainer's side of factor models.
 *
 * A training sample is a basket. Each of its items is a target, against `negatives` items drawn uniformly from those
 * that are not in the basket; the target and the drawn items are its candidates. Unknown users share one row, which
 * `anyone` of the samples train. Gradients of item tables are lists of rows (item_tables.h), so that a batch costs the
 * same whatever the catalogue.
 *
 * A chunk is worked through in blocks of targets. A net is what differs between kinds: from the candidates of a block
 * to their scores, and back. Losses, the targets of score s₀ against drawn ones of score s:
 *
 *   bpr   mean over the drawn items of log(1 + exp(s - s₀))        (Rendle and others, 2009)
 *   bce   log(1 + exp(-s₀)) + the sum over the drawn items of log(1 + exp(s)) */
#ifndef PR_PAIRWISE_H
#define PR_PAIRWISE_H

#include "model/model.h"

enum { PR_PAIRS_BATCH_MOST = 1024 }; /* of batches that the data decide (settle.c) */

typedef struct pr_pair_block {
    const pr_model *model;
    pr_chunk *chunk;
    size_t targets, each;   /* each: candidates of a target, itself first */
    int32_t *item, *slot;   /* [targets,each]: slot: row of the chunk's gradients by item */
    const pr_real **user;   /* [targets]: their rows of the user table ... */
    pr_real **duser;        /* ... and the gradients */
    const int32_t **before; /* [targets]: the items just before ... */
    size_t *before_count;   /* ... and how many */
    pr_real *score;         /* [targets,each]: set by forward; for backward, the gradient */
    pr_real *work;          /* what forward keeps for backward, as large as `room` says */
} pr_pair_block;

typedef struct pr_pairs_net {
    size_t (*room)(const pr_model *model, size_t targets, size_t each);
    void (*forward)(pr_pair_block *b);
    /* Adds into the rows of users and items and into the chunk's gradient. */
    void (*backward)(pr_pair_block *b);
    double (*products)(const pr_model *model); /* multiplications per candidate, forward */
} pr_pairs_net;

/* The gradient row of table `which` by item, in the order of the parameters, for a slot. */
static inline pr_real *pr_pair_gradient(const pr_pair_block *b, size_t which, int32_t slot,
                                        size_t width)
{
    return b->chunk->item_rows[PR_ITEMS_SCORED].values[which] + (size_t)slot * width;
}
/* The slot of any item of a basket or history of the chunk. */
int32_t pr_pair_slot(const pr_pair_block *b, int32_t item);

/* Adds the table of users, and makes tables by item sparse; called at the end of `layout`. Names end with NULL. */
parsrec_status pr_pairs_layout(pr_model *model, const char *const *by_item, size_t user_width,
                               parsrec_error *err);
/* Where the items before an empty basket begin: its last session, or its last item. */
size_t pr_pairs_before(const pr_history *h);

size_t pr_pairs_chunk_bytes(const pr_model *model, const pr_limits *limits);
size_t pr_pairs_mask_bytes(const pr_model *model);
size_t pr_pairs_drawn_items(const pr_model *model, size_t targets);
void pr_pairs_learn(const pr_model *model, pr_chunk *chunk);
double pr_pairs_operations(const pr_model *model, const pr_batch *batch, uint64_t items);

#define PR_PAIRS_KIND                                                       \
    .chunk_bytes = pr_pairs_chunk_bytes, .mask_bytes = pr_pairs_mask_bytes, \
    .drawn_items = pr_pairs_drawn_items, .learn = pr_pairs_learn,           \
    .operations = pr_pairs_operations

#endif
