/* A model before its first batch: what is counted in the training sessions, what it is told of its
 * items, its first weights. */
#ifndef PR_BEGINNING_H
#define PR_BEGINNING_H

#include "base/hooks.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "model/families.h"

typedef struct pr_beginning {
    pr_near near; /* counted; items 0 where the model has none or nobody asked */
    pr_families families;
    pr_shared_column *columns; /* of items */
} pr_beginning;

/* Decides what settings leave to the data. */
parsrec_status pr_settle(pr_config *config, const pr_dataset *data, const parsrec_hooks *hooks,
                         parsrec_error *err);

/* For the outline of a model that will learn, before memory is taken for its weights. Data and beginning
 * are borrowed for as long as it learns. `resumed`: its weights come from a checkpoint. */
parsrec_status pr_beginning_make(pr_beginning *out, pr_model *model, const pr_dataset *data,
                                 bool resumed, pr_pool *pool, const parsrec_hooks *hooks,
                                 parsrec_error *err);
/* Into that memory: first weights, and what was counted and measured. */
void pr_begin(pr_model *model, const pr_beginning *from, const pr_dataset *data, uint64_t seed);
void pr_beginning_free(pr_beginning *beginning); /* a zeroed one is fine */

#endif
