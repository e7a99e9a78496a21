/* What stands in a checkpoint beside the blocks of numbers; shared by its writer and reader. */
#ifndef PR_CHECKPOINT_PARTS_H
#define PR_CHECKPOINT_PARTS_H

#include "train/checkpoint.h"

/* Every block of numbers with its name in the file. */
enum { PR_CHECKPOINT_BLOCKS = 4 };
extern const char *const pr_checkpoint_prefixes[PR_CHECKPOINT_BLOCKS];
pr_real *pr_checkpoint_block(const pr_run_state *run, size_t i);

/* The tensor "position": whole numbers; the loss as the bits of a double. */
enum {
    PR_AT_SEED,
    PR_AT_PATIENCE,
    PR_AT_EPOCH,
    PR_AT_BATCH,
    PR_AT_BATCHES,
    PR_AT_ITEMS,
    PR_AT_LOSS,
    PR_AT_BEST_EPOCH,
    PR_AT_STEP,
    PR_AT_COUNT,
};

/* The tensor "epochs", one row each: loss, validated baskets and steps, then hit rate, NDCG and
 * session precision at each cutoff. */
enum { PR_EPOCH_COLUMNS = 3 + 3 * PR_CUTOFFS };

/* "users/sessions/items/actions/digest": the digest is of the sessions and of both tables of keys. */
typedef struct pr_identity {
    char text[128];
} pr_identity;
pr_identity pr_data_identity(const pr_dataset *data);

#endif
