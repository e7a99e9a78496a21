/* Enters rolled-out baskets into the books: as they are, without those that are touched, and refilled;
 * and what hangs on what. */
#ifndef PR_ACCOUNT_H
#define PR_ACCOUNT_H

#include "whatif/books.h"
#include "whatif/rollout.h"

enum { PR_HUBS_MOST = 200 }; /* bins whose going is followed for the ranking: those sold most */

/* What the baskets of a group say about every pair of bins. */
typedef struct pr_spill {
    size_t hubs, bins;
    size_t *hub;     /* [hubs]: their bins */
    int32_t *hub_of; /* [bins]: -1 for others */
    double *baskets; /* [groups] */
    double *units;   /* [groups, bins] */
    double *with;    /* [groups, hubs]: baskets with the hub */
    double *joint;   /* [groups, hubs, bins]: units in them */
    double *refill;  /* [groups, hubs, bins]: units that come where the hub is missing */
} pr_spill;

/* `sales`[bins] decides who is a hub. Free also on failure. */
parsrec_status pr_spill_init(pr_spill *spill, const pr_lines *lines, size_t groups,
                             const double *sales, parsrec_error *err);
void pr_spill_free(pr_spill *spill); /* a zeroed one is fine */

/* What became of whole baskets. */
typedef struct pr_basket_facts {
    double baskets, touched; /* touched: with something that is missing */
    double items, touched_items;
    double swapped, refilled; /* slots that another of the category, or anything else, takes */
    double lost;              /* baskets given up */
} pr_basket_facts;

typedef struct pr_account {
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    parsrec_missing missing;
    pr_book *book;
    pr_spill *spill;
    pr_basket_facts *facts;       /* [groups, scenarios] */
    double *row, *after, *refill; /* [lines] */
} pr_account;

/* A sink of pr_rollout_run. */
void pr_account_basket(void *account, const pr_drawn *basket);

#endif
