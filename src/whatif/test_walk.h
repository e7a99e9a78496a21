/* Estimates from walks along test baskets: at each step the model says what comes next, and an item
 * of the basket is placed. Its top 10 items, as in the paper, and its probabilities are summed. */
#ifndef PR_TEST_WALK_H
#define PR_TEST_WALK_H

#include "base/hooks.h"
#include "base/threads.h"
#include "model/model.h"
#include "whatif/sales.h"

enum { PR_TOP_ITEMS = 10 };

typedef struct pr_test_walk {
    const pr_model *model;
    const pr_dataset *data;
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    uint64_t seed;
    pr_sales_set *chances, *tops; /* to be filled */
} pr_test_walk;

parsrec_status pr_test_walk_run(const pr_test_walk *how, pr_pool *pool, const parsrec_hooks *hooks,
                                parsrec_error *err);

#endif
