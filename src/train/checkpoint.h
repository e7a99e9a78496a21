/* The whole state of a training run in one file. */
#ifndef PR_CHECKPOINT_H
#define PR_CHECKPOINT_H

#include "train/train.h"

#define PR_CHECKPOINT_FORMAT "parsrec.checkpoint"
enum { PR_CHECKPOINT_VERSION = 1 };

/* Where a run stands. Random draws are functions of seed and place, so this is all there is. */
typedef struct pr_position {
    uint64_t seed;
    uint32_t epoch;      /* under way, from 0 */
    uint64_t batch;      /* of the epoch, the next to learn from */
    uint64_t batches;    /* learnt from since the run began */
    uint64_t items;      /* predicted in this epoch so far */
    double loss;         /* their sum */
    uint32_t best_epoch; /* 0: none yet */
} pr_position;

/* A run as checkpoints see it. */
typedef struct pr_run_state {
    const pr_dataset *data;
    pr_model *model;
    pr_trainer *trainer;
    pr_real *best; /* weights of the best epoch, like the model's */
    pr_position at;
    pr_train_result *result; /* its epochs so far */
} pr_run_state;

parsrec_status pr_checkpoint_save(const pr_run_state *run, const char *path, parsrec_error *err);

/* Settings first, so that a model can be made of them ... */
parsrec_status pr_checkpoint_open(pr_container **file, const char *path, const pr_dataset *data,
                                  const char **kind, pr_config *config, pr_position *at,
                                  parsrec_error *err);
/* ... then the numbers, into a run that has model, trainer and best. */
parsrec_status pr_checkpoint_read(pr_run_state *run, const pr_container *file, parsrec_error *err);

#endif
