/* Enters rolled-out baskets into the books: as they are, without those that are touched, and refilled. */
#ifndef PR_ACCOUNT_H
#define PR_ACCOUNT_H

#include "whatif/books.h"
#include "whatif/cross_effects.h"

/* What became of whole baskets. */
typedef struct pr_basket_facts {
    double baskets, touched; /* touched: with something that is missing */
    double items, touched_items;
    double swapped, refilled; /* slots that another of the category, or anything else, takes */
    double lost;              /* baskets given up */
    double gone;              /* units of what is missing */
} pr_basket_facts;

typedef struct pr_account {
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    parsrec_missing missing;
    pr_book *book;
    pr_spill *spill;
    pr_basket_facts *facts;       /* [groups, scenarios] */
    double *row, *after, *refill; /* [lines]; times the weight of the user */
} pr_account;

/* A sink of pr_rollout_run. */
void pr_account_basket(void *account, const pr_drawn *basket);

#endif
