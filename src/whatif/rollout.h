/* Rolled-out baskets: complete ones, drawn item by item from a model's chances, for users with their
 * history and of sizes they had before. */
#ifndef PR_ROLLOUT_H
#define PR_ROLLOUT_H

#include "base/hooks.h"
#include "base/threads.h"
#include "model/model.h"
#include "whatif/sales.h"
#include "whatif/scenario.h"

enum { PR_ROLLOUT_ITEMS = 100 }; /* longer baskets are cut there */

typedef struct pr_rollout {
    const pr_model *model;
    const pr_dataset *data;
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    size_t draws; /* baskets of each user */
    uint64_t seed;
} pr_rollout;

/* One of them, with what the model would add to it. */
typedef struct pr_drawn {
    size_t user, size;
    size_t most;          /* stride of `taken` */
    const int32_t *items; /* [size] */
    const float *rest;    /* [lines]: chances of one more item, by line */
    const float *part;    /* [scenarios, scenarios->parts]: of them, off the shelf */
    /* [scenarios, adds, most]: the chance that a new item is taken instead of one in the basket */
    const float *taken;
} pr_drawn;

/* Calls `sink` for every basket, in the order of users and draws, on the calling thread. The baskets
 * depend on the model, the data and the seed: equal places have equal luck whatever the model is. */
parsrec_status pr_rollout_run(const pr_rollout *how, pr_pool *pool,
                              void (*sink)(void *context, const pr_drawn *basket), void *context,
                              const parsrec_hooks *hooks, parsrec_error *err);

#endif
