/* Goes through the baskets of some users, item by item in stored order, and gathers what a model
 * makes of them: where its attention goes, and what each placed item does to the chances of the next.
 *
 * At a step with the items S in the basket, leaving out one item j of S changes the chance of class i
 * from p(i | S) to p(i | S without j). Both are shares of all classes that S does not touch: a customer
 * who has bread seldom takes another one, which would make everything else look likelier.
 * docs/explanations.md has the formulas. */
#ifndef PR_TOUR_H
#define PR_TOUR_H

#include "base/hooks.h"
#include "base/threads.h"
#include "eval/user_groups.h"
#include "explain/axis.h"
#include "model/model.h"

/* Stages of a basket: one item in it, two, or more. What is always bought first becomes less likely once a
 * basket has begun, whatever begins it, so effects are compared within a stage. */
enum { PR_TOUR_BASKET_MOST = 64, PR_TOUR_STAGES = 3 };

typedef struct pr_tour {
    const pr_model *model;
    const pr_dataset *data; /* users and items as the model numbers them */
    const pr_axis *axis;
    const pr_user_group *group;
    size_t basket_most; /* items of a basket that are looked at, 2..PR_TOUR_BASKET_MOST */
    bool attention, drop;
    size_t task_baskets; /* about so many are walked through at a time; 0: as many as is good */
} pr_tour;

/* Sums over a group; N classes. Rows are what is predicted, columns what was placed before. */
typedef struct pr_tour_sums {
    size_t N;
    double *attention;      /* [N,N]: over users, rows of each user normalised ... */
    double *even;           /* [N,N]: ... the same had all items of a step the same weight ... */
    double *users_with_row; /* [N]: ... by so many users who have that row */
    double *effect;  /* [stages,N,N], columns first: sums of log p(i | S) - log p(i | S without j)
                               for j of the column's class ... */
    double *counted; /* [stages,N,N]: ... over so many steps and items */
    double *placed;  /* [N]: how often an item of the class was left out */
    double *spare;   /* [N]: room for whoever makes a map of this */
    double agreeing, pairs; /* pairs of items of a step that attention and effect order alike, less
                               those they order otherwise; and all pairs */
    uint64_t baskets, cut, steps; /* walked through; of them longer than basket_most; predictions */
} pr_tour_sums;

/* The same bits at any number of threads. Memory is a few maps a thread, and the attention of the
 * baskets of a few users. E_INPUT where no basket has two items. Free also on failure. */
parsrec_status pr_tour_run(pr_tour_sums *sums, const pr_tour *tour, pr_pool *pool,
                           const parsrec_hooks *hooks, parsrec_error *err);
void pr_tour_sums_free(pr_tour_sums *sums); /* a zeroed one is fine */

#endif
