/* Estimates from walks along test baskets: at each step the model says what comes next, and an item
 * of the basket is placed. Counted are its top 10, as in the paper, and its chances. */
#ifndef PR_WALK_H
#define PR_WALK_H

#include "base/hooks.h"
#include "base/threads.h"
#include "model/model.h"
#include "whatif/books.h"

enum { PR_WALK_TOP = 10 };

typedef struct pr_walks {
    const pr_model *model;
    const pr_dataset *data;
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    uint64_t seed;
    pr_book *chances, *tops; /* to be filled */
} pr_walks;

parsrec_status pr_walks_run(const pr_walks *how, pr_pool *pool, const parsrec_hooks *hooks,
                            parsrec_error *err);

#endif
