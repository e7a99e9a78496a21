/* The last steps of a training, in this order: the model's score and plain counts are weighed
 * against each other on the validation sessions, and then counts are brought up to date. */
#ifndef PR_MIXING_H
#define PR_MIXING_H

#include "base/status.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "model/model.h"

/* Fits the mix of a model that has one to the validation sessions, and reports its weights through
 * the hooks. */
parsrec_status pr_mix_fit(pr_model *model, const pr_dataset *data, uint64_t seed, pr_pool *pool,
                          const parsrec_hooks *hooks, parsrec_error *err);

/* The memory that this takes with so many validation sessions. The trainer's is free by then. */
size_t pr_mix_bytes(const pr_model *model, size_t sessions);

/* The last step of all: what the model counts is counted again, with the validation sessions. They
 * were held out from the network so that epochs and mix could be judged; an answer has no reason to
 * ignore them. */
parsrec_status pr_count_again(pr_model *model, const pr_dataset *data, pr_pool *pool,
                              parsrec_error *err);

#endif
