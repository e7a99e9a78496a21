/* The two ways in which a model is asked, once for all scenarios.
 *
 * Rolled-out baskets are drawn whole, item by item from the model's probabilities, for users with
 * their history and of sizes they had before (rollout.c). Then each of them becomes what it would
 * be in a scenario: that is re-choice. Walks go along test baskets as they were and sum what the
 * model says at each step (test_walk.c). Both run on a pool; sums are added on the calling thread,
 * in an order that does not depend on the threads. */
#ifndef PR_ROLLOUT_H
#define PR_ROLLOUT_H

#include "base/status.h"
#include "base/threads.h"
#include "model/model.h"
#include "whatif/sales.h"

enum { PR_ROLLOUT_ITEMS = 100 }; /* longer baskets are cut there */

typedef struct pr_rollout {
    const pr_model *model;
    const pr_dataset *data;
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    size_t draws; /* baskets per user */
    uint64_t seed;
} pr_rollout;

/* A drawn basket, with what the model would add to it. */
typedef struct pr_drawn {
    size_t user, size;
    size_t most;          /* stride of `taken` */
    const int32_t *items; /* [size] */
    const float *rest;    /* [lines]: probabilities of one more item, by line */
    const float *part;    /* [scenarios, scenarios->parts]: those of items off the shelf, by part */
    /* [scenarios, adds, most]: the probability that a new item is taken instead of one in the
     * basket */
    const float *taken;
} pr_drawn;

/* Calls `sink` for every basket, in the order of users and draws, on the calling thread. The
 * baskets depend on the model, the data and the seed: a user, draw and step have the same random
 * number whatever the model is. */
parsrec_status pr_rollout_run(const pr_rollout *how, pr_pool *pool,
                              void (*sink)(void *context, const pr_drawn *basket), void *context,
                              const parsrec_hooks *hooks, parsrec_error *err);

/* ---- re-choice ---- */

/* What became of whole baskets of a group in a scenario: sums over drawn baskets, times their
 * weights. */
typedef struct pr_basket_facts {
    double baskets, touched; /* touched: with something that is missing */
    double items, touched_items;
    double swapped, refilled; /* slots that another item of the category, or of any other, takes */
    double lost;              /* baskets given up; a share of a basket where that is uncertain */
    double gone;              /* units of what is missing */
} pr_basket_facts;

struct pr_cross_sums;

/* Adds every drawn basket to sales: before, as it is; after selection, if nothing in it is missing;
 * after re-choice, with what is bought instead. */
typedef struct pr_rechoice {
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    parsrec_missing missing;
    pr_sales_set *sales;
    struct pr_cross_sums *cross;
    pr_basket_facts *facts;       /* [groups, scenarios] */
    double *row, *after, *refill; /* [lines]: work space, one basket before and after */
} pr_rechoice;

/* A sink of pr_rollout_run. */
void pr_rechoice_basket(void *rechoice, const pr_drawn *basket);

/* ---- probabilities of the next item ---- */

/* row[lines->count]: the probability that the next item belongs to a line; 0 for new items. */
void pr_chances_lines(float *row, const pr_lines *lines, const pr_real *chances);

/* ---- walks along test baskets ---- */

enum { PR_TOP_ITEMS = 10 };

/* At each step the model says what comes next, and an item of the basket is placed. Its top 10
 * items, as in the paper, and its probabilities are summed. */
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
