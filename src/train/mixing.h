/* The last step of a training: the model's score and plain counts are weighed against each other. */
#ifndef PR_MIXING_H
#define PR_MIXING_H

#include "base/hooks.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "model/model.h"

/* Fits the mix of a model that has one to the validation sessions, and reports its weights through
 * the hooks. */
parsrec_status pr_mix_fit(pr_model *model, const pr_dataset *data, uint64_t seed, pr_pool *pool,
                          const parsrec_hooks *hooks, parsrec_error *err);

#endif
