/* Setting up a run: everything it holds, taken before the first batch.
 *
 * It has three phases, so that what can be wrong is found before much memory is taken:
 *
 *   outline   settings that depend on the data are settled; then the model without weights, what is
 *             counted before training (pr_beginning), batches and evaluations
 *   memory    users are divided among ranks; pr_memory_choose decides what lies in files; then
 *             weights, trainer, the best epoch and the average
 *   numbers   of a fresh run the first weights (pr_begin), of a resumed run those of its checkpoint
 *
 * A resumed run is outlined with the settings of its checkpoint, and its shapes are compared with
 * the outline before memory is taken. The benchmark of training uses the same parts without a
 * run. */
#ifndef PR_TRAIN_SETUP_H
#define PR_TRAIN_SETUP_H

#include "base/status.h"
#include "base/threads.h"
#include "data/batches.h"
#include "data/dataset.h"
#include "model/families.h"
#include "model/pairs.h"
#include "model/proposal.h"
#include "model/purchase_times.h"
#include "train/checkpoint.h"

/* ---- batches ---- */

/* Views of the baskets of one batch, in the caller's array of batch_size; its number is left 0. */
pr_batch pr_batch_view(const pr_batches *batches, size_t batch, const pr_dataset *data,
                       pr_basket *baskets);

/* What a sample of a model is: a basket, or a sequence across baskets (data/batches.h). */
pr_windows pr_windows_of(const pr_model *model);
/* Whether a break between two sessions takes a step of its sequences. */
bool pr_separates(const pr_model *model);

/* The largest sizes of any batch of a data set. The model's settings are settled. */
pr_limits pr_limits_of(const pr_dataset *data, const pr_model *model);

/* ---- a model before its first batch ---- */

/* What a model needs before its first batch: tables counted from the training sessions, which
 * become parameters that are not trained, and what is known about its items. pr_beginning_make
 * counts before the model has weights, because some tables decide how many rows a parameter has;
 * pr_begin then copies them into the weights. A resumed run takes the tables from its checkpoint
 * and counts only what the families of items need. */
typedef struct pr_beginning {
    pr_near near; /* like the next two, not counted if its `items` is 0 */
    pr_purchase_times times;
    pr_pair_memory pairs;
    pr_families families;      /* found from `near` where the data have no categories */
    pr_shared_column *columns; /* feature columns of items */
    pr_proposal proposal;      /* with loss = sampled or negatives.power */
} pr_beginning;

/* Decides what settings leave to the data, and reports it through the hooks. */
parsrec_status pr_settle(pr_config *config, const char *kind, const pr_dataset *data,
                         const parsrec_hooks *hooks, parsrec_error *err);

/* For the outline of a model that will learn, before memory is taken for its weights. Data and
 * beginning are borrowed for as long as it learns. `resumed`: its weights come from a
 * checkpoint. */
parsrec_status pr_beginning_make(pr_beginning *out, pr_model *model, const pr_dataset *data,
                                 bool resumed, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err);
/* Into that memory: first weights, and what was counted and measured. */
void pr_begin(pr_model *model, const pr_beginning *from, const pr_dataset *data, uint64_t seed);
void pr_beginning_free(pr_beginning *beginning); /* a zeroed one is fine */

/* ---- a run ---- */

typedef struct pr_train_run {
    const pr_train_plan *plan;
    const pr_dataset *data;
    pr_pool *pool;
    const parsrec_hooks *hooks;
    pr_run_state state;
    pr_beginning beginning;
    pr_batches batches;
    pr_evaluation evaluation;    /* validation after each epoch */
    bool *validated;             /* [users]: its users; NULL: everybody */
    pr_evaluation next, basket;  /* more protocols, if the best epoch depends on them; else empty */
    bool *next_basket_users;     /* [users]: their users, fewer and evenly spread */
    pr_basket *baskets;          /* of the batch under way */
    char resumed[20];            /* checksum of the checkpoint; "": a fresh run */
    const char *good_checkpoint; /* the last one that was written or read; NULL: none yet */
    uint32_t newest;             /* epochs of the last step (learn_newest), while it runs; else 0 */
    double epoch_began, last_checkpoint;
    uint64_t items_before; /* of this epoch, learnt from by an earlier process */
    /* With ranks: what this process sent and how long it waited while it learnt. */
    double learn_sent, learn_waited, learn_seconds;
    uint64_t learn_batches;
} pr_train_run;

/* The first phase of a fresh run alone. Expects plan, data and pool; hooks may be NULL. */
parsrec_status pr_run_outline(pr_train_run *r, parsrec_error *err);
/* Batches of all sessions before those of a part. The model is outlined. */
parsrec_status pr_run_gather(pr_train_run *r, pr_split_part before, parsrec_error *err);
/* All three phases, from a checkpoint if the plan says so. Expects also state.data and
 * state.result. With ranks all of them call it; it fails on all if one fails or their set-ups
 * differ. */
parsrec_status pr_run_set_up(pr_train_run *r, parsrec_error *err);
void pr_run_tear_down(pr_train_run *r); /* also after a set-up that failed */

#endif
