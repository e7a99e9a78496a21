/* The whole state of a training run in one file (docs/format.md).
 *
 * A checkpoint holds blocks of numbers, all with the layout of the weights: the weights, the
 * weights of the best epoch, both moments of the optimiser and, if it is kept, the average of late
 * weights. Beside them are the results of the finished epochs and the position of the run. There is
 * no state of a random generator: a draw is a function of seed and place. A resumed run therefore
 * continues bit for bit.
 *
 * It is written under a temporary name and renamed, so a killed process leaves the previous one
 * whole. The caller saves only states that are finite, so there is always a good one to return to.
 *
 * On reading nothing is trusted. A file with any bit changed is refused by its checksum. Kind,
 * settings and data set are compared before anything is set up, and shapes before memory is taken
 * for the numbers. The data set is known by its sizes and a digest of its sessions and keys, not by
 * the checksum of its file, which the log of the run has (run_record.h). */
#ifndef PR_CHECKPOINT_H
#define PR_CHECKPOINT_H

#include "train/train.h"

#define PR_CHECKPOINT_FORMAT "parsrec.checkpoint"
enum { PR_CHECKPOINT_VERSION = 1 };

/* How far a run has come. Random draws are functions of seed and place, so nothing else is
 * needed. */
typedef struct pr_position {
    uint64_t seed;
    uint64_t patience;   /* epochs without a better validation before stopping; 0: never */
    uint32_t epoch;      /* under way, from 0 */
    uint64_t batch;      /* of the epoch, the next to learn from */
    uint64_t batches;    /* learnt from since the run began */
    uint64_t items;      /* predicted in this epoch so far */
    double loss;         /* the sum of their losses */
    uint32_t best_epoch; /* 0: none yet */
} pr_position;

/* A run as checkpoints see it. */
typedef struct pr_run_state {
    const pr_dataset *data;
    pr_model *model;
    pr_trainer *trainer;
    pr_real *best; /* weights of the best epoch; like all blocks, with the layout of the model's */
    pr_real *average; /* of late weights; NULL: not kept */
    pr_position at;
    pr_train_result *result; /* its epochs so far */
} pr_run_state;

/* False if a weight or moment of this rank is not finite: such a state must not replace a good
 * checkpoint. */
bool pr_run_state_finite(const pr_run_state *run);

/* Saving is for rank 0. Where users are divided among ranks, all others must call
 * pr_checkpoint_hand_in at the same time: it sends the rows of their users in the order in which
 * rank 0 writes them. */
parsrec_status pr_checkpoint_save(const pr_run_state *run, const char *path, parsrec_error *err);
parsrec_status pr_checkpoint_hand_in(const pr_run_state *run, parsrec_error *err);

/* An opened checkpoint. It is read in three steps: pr_checkpoint_open reads the settings, with
 * which a model can be outlined; pr_checkpoint_fits compares all shapes with the outline, before
 * memory is taken; pr_checkpoint_read copies the numbers. */
typedef struct pr_checkpoint {
    pr_container *file;
    const char *kind; /* of model */
    pr_config config;
    pr_position at;
    uint64_t step; /* of the optimiser */
} pr_checkpoint;

parsrec_status pr_checkpoint_open(pr_checkpoint *out, const char *path, const pr_dataset *data,
                                  parsrec_error *err);
/* Takes the container over, also when it fails. */
parsrec_status pr_checkpoint_from(pr_checkpoint *out, pr_container *file, const pr_dataset *data,
                                  parsrec_error *err);
/* What can be verified without the data set: settings, position, and that the blocks of numbers are
 * whole, alike in shape and finite. Takes the container over. */
parsrec_status pr_checkpoint_inspect(pr_container *file, parsrec_error *err);
void pr_checkpoint_close(pr_checkpoint *checkpoint); /* a zeroed one is fine */

parsrec_status pr_checkpoint_fits(const pr_checkpoint *checkpoint, const pr_model *model,
                                  parsrec_error *err);
/* Into a run that has the memory for it: model with weights, trainer, best, average if it is kept,
 * and result. Only after pr_checkpoint_fits. */
parsrec_status pr_checkpoint_read(pr_run_state *run, const pr_checkpoint *checkpoint,
                                  parsrec_error *err);

#endif
