/* Training: epochs over shuffled batches, validation after each, the best model kept, and checkpoints
 * from which a run goes on bit for bit. */
#ifndef PR_TRAIN_H
#define PR_TRAIN_H

#include "base/hooks.h"
#include "data/dataset.h"
#include "eval/remaining.h"
#include "model/trainer.h"

typedef struct pr_train_plan {
    const char *kind; /* of model */
    pr_config config;
    uint64_t seed;
    size_t patience;           /* epochs without a better validation before stopping; 0: never */
    double checkpoint_seconds; /* between checkpoints within an epoch */
    const char *checkpoint;    /* path; NULL: none are written */
    const char *resume;        /* checkpoint to go on from, or NULL */
} pr_train_plan;

/* What is known of a finished epoch. */
typedef struct pr_epoch {
    uint32_t number; /* from 1 */
    double loss;     /* cross entropy of a predicted item, mean over the epoch */
    pr_scores valid; /* all zero when no user can be validated */
    double seconds;  /* of this process; 0 for epochs before a resume, like the next */
    double items_per_s;
} pr_epoch;

typedef struct pr_train_result {
    pr_model *model; /* the best one; owned by the result */
    pr_epoch *epochs;
    size_t epoch_count, epoch_capacity;
    uint32_t best_epoch; /* its number */
    bool stopped_early;
} pr_train_result;

/* Called after each epoch. */
typedef void pr_epoch_hook(void *context, const pr_epoch *epoch);

/* Trains on the sessions that are neither validation nor test. When the caller's progress hook asks
 * to stop, a checkpoint is written and the status is E_STOPPED. */
parsrec_status pr_train(pr_train_result *result, const pr_dataset *data, const pr_train_plan *plan,
                        pr_pool *pool, pr_epoch_hook *on_epoch, void *context,
                        const parsrec_hooks *hooks, parsrec_error *err);
void pr_train_result_free(pr_train_result *result); /* a zeroed one is fine */

/* The cutoff by which the best epoch is chosen: Sess-Prec@10, as the reference does. */
enum { PR_CHOICE_CUTOFF = 2 };
static inline double pr_epoch_merit(const pr_epoch *epoch)
{
    return epoch->valid.session_precision[PR_CHOICE_CUTOFF];
}

#endif
