/* Training batches of any model on all threads, with the same bits for any number of threads.
 *
 * A batch passes four stages, each a parallel loop over tasks that do not depend on the threads:
 *
 *   1. chunks    the rows of the batch, longest basket first, are dealt to chunks by a rule that knows
 *                only their number and length. kind->learn runs forward and backward for one chunk, in an
 *                arena of its own, and adds to the chunk's gradient
 *   2. sums      the gradients of the chunks are added along a fixed tree (chunk_tree.h), range by range
 *   3. norm      squares are summed per range, then in the order of ranges, for clipping
 *   4. update    Adam or SGD, range by range; rows of embedding tables without a gradient are skipped
 *
 * Gradients of item tables are dense, or, with a loss against drawn items, lists of items and rows
 * (item_tables.h): then no stage visits the whole catalogue. The gradient of the user table is a list of
 * the users of the batch in both cases.
 *
 * All memory is allocated by pr_trainer_new for the largest batch within the limits. A batch whose loss
 * or gradient is not finite changes nothing. One thread calls the trainer. */
#ifndef PR_TRAINER_H
#define PR_TRAINER_H

#include "base/threads.h"
#include "model/model.h"
#include "ranks/ranks.h"

typedef struct pr_trainer pr_trainer;

typedef struct pr_batch_result {
    double loss;    /* of the batch, as docs/math.md defines it */
    double total;   /* the plain sum of the items' losses */
    uint64_t items; /* number of predicted items */
    double norm;    /* norm of the gradient before clipping */
} pr_batch_result;

/* Borrows model and pool. Batches within the limits then allocate nothing. */
parsrec_status pr_trainer_new(pr_trainer **out, pr_model *model, pr_pool *pool,
                              const pr_limits *limits, uint64_t seed, parsrec_error *err);
void pr_trainer_free(pr_trainer *trainer); /* NULL is allowed */

/* From now on batches are learnt together with other ranks, whose trainers, batches and weights are the
 * same, but that each has its own users (user_rows.h); NULL: there are none. The bits are those of one
 * process. */
parsrec_status pr_trainer_divide(pr_trainer *trainer, pr_ranks *ranks, parsrec_error *err);

/* The memory of a trainer in addition to the model's weights, for an estimate beforehand. */
size_t pr_trainer_bytes(const pr_model *model, const pr_limits *limits, unsigned threads);

/* Gradient, clipping and update. If the loss or a gradient is not finite, nothing changes and the
 * error names the batch. */
parsrec_status pr_trainer_learn(pr_trainer *trainer, const pr_batch *batch, pr_batch_result *result,
                                parsrec_error *err);

/* With ranks: what they send each other for the batch that will be learnt next is added to the next
 * exchange, whoever makes it, so that learning need not wait for it. Optional; no weights may change between. */
parsrec_status pr_trainer_expect(pr_trainer *trainer, const pr_batch *batch, parsrec_error *err);

/* How many batches the whole training has, for settings that change the learning rate over time;
 * without a call the rate is constant. */
void pr_trainer_schedule(pr_trainer *trainer, uint64_t batches);

/* The two halves of pr_trainer_learn. */
parsrec_status pr_trainer_gradient(pr_trainer *trainer, const pr_batch *batch,
                                   pr_batch_result *result, parsrec_error *err);
parsrec_status pr_trainer_update(pr_trainer *trainer, const pr_batch_result *result,
                                 parsrec_error *err);

/* As the weights before the user table; not with sparse gradients (kind->drawn_items). */
pr_real *pr_trainer_gradients(pr_trainer *trainer);
/* Any gradient, with the layout of the weights and zero where there is none; for tests. */
void pr_trainer_copy_gradient(const pr_trainer *trainer, pr_real *block);
/* The user rows that had a gradient in the last batch; *users is owned by the trainer. */
size_t pr_trainer_touched(const pr_trainer *trainer, const int32_t **users);

/* With sparse gradients the weights hold the items' own rows, without what items share, between
 * batches; checkpoints are of these. Showing makes them those of a model that can score; hiding brings
 * the same bits back. Neither does anything with dense gradients. */
void pr_trainer_show(pr_trainer *trainer);
void pr_trainer_hide(pr_trainer *trainer);
/* Batches learn on from these weights of a model that can score, which have the layout of the model's. */
parsrec_status pr_trainer_take(pr_trainer *trainer, const pr_real *weights, parsrec_error *err);

/* For checkpoints: the two moments, with the layout of the weights, and the number of updates.
 * Owned by the trainer. */
pr_real *pr_trainer_moment(pr_trainer *trainer, unsigned which); /* 0 or 1 */
uint64_t *pr_trainer_step(pr_trainer *trainer);

/* Starts measuring where time is spent; pr_trainer_parts adds up the seconds of all threads. */
parsrec_status pr_trainer_measure(pr_trainer *trainer, parsrec_error *err);
void pr_trainer_parts(const pr_trainer *trainer, double parts[PR_STEP_PARTS]);

#endif
