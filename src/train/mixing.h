/* The last steps of a training, in this order: the model's score and plain counts are weighed
 * against each other on the validation sessions; weights that have learnt from these sessions too
 * take the place of those that were weighed; and counts are brought up to date. */
#ifndef PR_MIXING_H
#define PR_MIXING_H

#include "base/status.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "model/model.h"
#include "model/storage.h"

/* Fits the mix of a model that has one to the validation sessions, and reports its weights through
 * the hooks. */
parsrec_status pr_mix_fit(pr_model *model, const pr_dataset *data, uint64_t seed, pr_pool *pool,
                          const parsrec_hooks *hooks, parsrec_error *err);

/* The memory that this takes with so many validation sessions. The trainer's is free by then. */
size_t pr_mix_bytes(const pr_model *model, size_t sessions);

/* Learnt weights beside the model's: those that know the validation sessions while the model has
 * those that do not, or the reverse. Parameters lie in the block where they were in the model when
 * it was set aside; a mix that is fitted later may move those of the model. */
typedef struct pr_aside {
    pr_real *weights; /* NULL: nothing is set aside */
    size_t *at;       /* [parameters of the model] */
    const pr_storage *storage;
} pr_aside;

/* Takes the block over, also when it fails; it has the layout of the model's weights. */
parsrec_status pr_aside_take(pr_aside *aside, pr_real *weights, const pr_model *model,
                             parsrec_error *err);
/* What is learnt changes places; what is counted, and the mix, stay. */
void pr_aside_exchange(pr_aside *aside, pr_model *model);
void pr_aside_free(pr_aside *aside); /* a zeroed one is fine */

/* The last step of all: what the model counts is counted again, with the validation sessions. They
 * were held out from the network so that epochs and mix could be judged; an answer has no reason to
 * ignore them. */
parsrec_status pr_count_again(pr_model *model, const pr_dataset *data, pr_pool *pool,
                              parsrec_error *err);

#endif
