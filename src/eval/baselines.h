/* Compares a model with baselines: `pop`, `personal`, `recent`, `markov` and `mix`, which only
 * count and are made in seconds. All are evaluated by every protocol on the same sessions and
 * candidates, and each difference has a confidence interval over users. Training ends with this
 * comparison; the server shows it.
 *
 * Cost is bounded: users are sampled evenly once there are more than a few thousand, or once
 * ranking the whole catalogue for all of them would take long. */
#ifndef PR_BASELINES_H
#define PR_BASELINES_H

#include "base/json.h"
#include "data/dataset.h"
#include "eval/evaluation.h"

/* The setting `last` of the model says which sessions were held out. E_STOPPED when the hooks ask.
 * On failure the report is empty. */
parsrec_status pr_baselines(parsrec_baseline_report *report, const pr_model *model,
                            const pr_dataset *data, pr_split_part part, pr_pool *pool,
                            const parsrec_hooks *hooks, parsrec_error *err);

/* If ranks divide the rows of the model's users: copies the rows of those who will be evaluated to
 * rank 0, which can then call pr_baselines alone. All ranks call it. Does nothing for other
 * models. */
parsrec_status pr_baselines_bring(const pr_model *model, const pr_dataset *data, pr_split_part part,
                                  parsrec_error *err);

/* NULL when out of memory. */
json_t *pr_baselines_json(const parsrec_baseline_report *report);

#endif
