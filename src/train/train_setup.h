/* Setting up a run: everything it holds, taken before the first batch. Also used by the benchmark of
 * training, which needs the same model and batches without a run. */
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

/* Views of the baskets of one batch, in the caller's array of batch_size. The number is left 0. */
pr_batch pr_batch_view(const pr_batches *batches, size_t batch, const pr_dataset *data,
                       pr_basket *baskets);

/* What a model learns from. */
pr_windows pr_windows_of(const pr_model *model);
/* Whether its sequences have breaks between sessions. */
bool pr_separates(const pr_model *model);

/* The largest sizes of any batch of a data set. */
pr_limits pr_limits_of(const pr_dataset *data, const pr_model *model);

/* ---- a model before its first batch ---- */

/* What a model needs before its first batch: tables counted from the training sessions, which become
 * parameters that are not trained, and what is known about its items. pr_beginning_make counts before
 * the model has weights, because some tables decide how many rows a parameter has; pr_begin then copies
 * them into the weights. A resumed run takes the tables from its checkpoint and counts only what the
 * families of items need. */
typedef struct pr_beginning {
    pr_near near;            /* items 0: not counted */
    pr_purchase_times times; /* likewise */
    pr_families families;
    pr_pair_memory pairs;      /* likewise */
    pr_shared_column *columns; /* of items */
    pr_proposal proposal;      /* with loss = sampled */
} pr_beginning;

/* Decides what settings leave to the data. */
parsrec_status pr_settle(pr_config *config, const char *kind, const pr_dataset *data,
                         const parsrec_hooks *hooks, parsrec_error *err);

/* For the outline of a model that will learn, before memory is taken for its weights. Data and beginning
 * are borrowed for as long as it learns. `resumed`: its weights come from a checkpoint. */
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
    pr_evaluation evaluation;
    pr_evaluation next, basket;  /* of some users, if the best epoch depends on them; else empty */
    bool *some;                  /* [users]: those of `next` and `basket` */
    bool *validated;             /* [users]: who is validated; NULL: everybody */
    pr_basket *baskets;          /* of the batch under way */
    char resumed[20];            /* checksum of the checkpoint; "": a fresh run */
    const char *good_checkpoint; /* the last one that was written or read; NULL: none yet */
    double epoch_began, last_checkpoint;
    uint64_t items_before; /* of this epoch, learnt from by an earlier process */
    /* With ranks: what this process sent and how long it waited while it learnt. */
    double learn_sent, learn_waited, learn_seconds;
    uint64_t learn_batches;
} pr_train_run;

/* Of a fresh run: settings that depend on the data, the model without weights, batches and evaluations. Expects
 * plan, data, pool and hooks. */
parsrec_status pr_run_outline(pr_train_run *r, parsrec_error *err);
/* Expects plan, data, pool, hooks and state.result; takes the rest, from a checkpoint if the plan
 * says so. Logs how much memory that will be. */
parsrec_status pr_run_set_up(pr_train_run *r, parsrec_error *err);
void pr_run_tear_down(pr_train_run *r); /* also of one half set up */

#endif
