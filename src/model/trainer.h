/* Training batches of any model, on all threads, with the same bits whatever their number: a batch
 * is cut into chunks by a rule that does not know the threads, each chunk has gradients of its own,
 * and these are added in the order of the chunks. */
#ifndef PR_TRAINER_H
#define PR_TRAINER_H

#include "base/threads.h"
#include "model/model.h"

typedef struct pr_trainer pr_trainer;

typedef struct pr_batch_result {
    double loss;    /* of the batch, as docs/math.md defines it */
    double total;   /* the plain sum of the items' losses */
    uint64_t items; /* predicted */
    double norm;    /* of the gradient before clipping */
} pr_batch_result;

/* Model and pool are borrowed. After this, batches within the limits allocate nothing. */
parsrec_status pr_trainer_new(pr_trainer **out, pr_model *model, pr_pool *pool,
                              const pr_limits *limits, uint64_t seed, parsrec_error *err);
void pr_trainer_free(pr_trainer *trainer); /* NULL is fine */

/* Memory a trainer takes beside the model's weights, for an estimate beforehand. */
size_t pr_trainer_bytes(const pr_model *model, const pr_limits *limits, unsigned threads);

/* Gradient, clip and update. A loss or gradient that is not finite changes nothing and fails,
 * naming the batch. */
parsrec_status pr_trainer_learn(pr_trainer *trainer, const pr_batch *batch, pr_batch_result *result,
                                parsrec_error *err);

/* The two halves of pr_trainer_learn. The gradient's block has the layout of the weights; rows of
 * the user table that the batch did not touch hold old numbers. */
parsrec_status pr_trainer_gradient(pr_trainer *trainer, const pr_batch *batch,
                                   pr_batch_result *result, parsrec_error *err);
parsrec_status pr_trainer_update(pr_trainer *trainer, const pr_batch_result *result,
                                 parsrec_error *err);

pr_real *pr_trainer_gradients(pr_trainer *trainer);
/* User rows with a gradient in the last batch. */
size_t pr_trainer_touched(const pr_trainer *trainer, const int32_t **users);

/* What a checkpoint keeps: both moments, of the layout of the weights, and the number of updates. */
pr_real *pr_trainer_moment(pr_trainer *trainer, unsigned which); /* 0 or 1 */
uint64_t *pr_trainer_step(pr_trainer *trainer);

/* Measures from now on where the time goes; pr_trainer_parts adds up the seconds of all threads. */
parsrec_status pr_trainer_measure(pr_trainer *trainer, parsrec_error *err);
void pr_trainer_parts(const pr_trainer *trainer, double parts[PR_STEP_PARTS]);

#endif
