/* Sales by user and line of goods, kept so that users can be drawn again for intervals. A cell is one
 * user of a group, or, in a large group, a bucket of users: they are drawn together then. */
#ifndef PR_LEDGER_H
#define PR_LEDGER_H

#include "data/dataset.h"
#include "eval/user_groups.h"

/* The users of the groups. All of them have cells, so that all their baskets are counted; baskets are
 * drawn for those who have a history and a test session. */
typedef struct pr_cohort {
    const pr_user_groups *groups;
    size_t group_count;
    int32_t *users; /* those who have a test session, once, ascending */
    size_t user_count;
    double
        *weight; /* [users of the data]: what a drawn basket counts, by the baskets of the user */
    size_t *members;    /* [groups]: users of each group who have a test session */
    size_t *first_cell; /* [groups + 1] */
    size_t cells;
    size_t *cell_offsets; /* [users of the data + 1]: where a user counts ... */
    uint32_t *cell_list;  /* ... one cell for each group the user is in */
    uint32_t *cell_group; /* [cells] */
} pr_cohort;

/* `last`: as the models' setting. `lines`: columns of the ledgers to come, which limit the cells. A group
 * none of whose users has a test session is E_INPUT. Weights are 1 on average over `users`, so that drawn
 * baskets, like counted ones, are of heavy and light shoppers in the proportion of their baskets. Free
 * also on failure. */
parsrec_status pr_cohort_init(pr_cohort *cohort, const pr_dataset *data,
                              const pr_user_groups *groups, size_t last, size_t lines,
                              parsrec_error *err);
void pr_cohort_free(pr_cohort *cohort); /* a zeroed one is fine */

typedef struct pr_ledger {
    size_t lines;
    double *units;   /* [cells, lines] */
    double *baskets; /* [cells] */
} pr_ledger;

parsrec_status pr_ledger_init(pr_ledger *ledger, const pr_cohort *cohort, size_t lines,
                              parsrec_error *err);
void pr_ledger_free(pr_ledger *ledger); /* a zeroed one is fine */

/* Adds a basket of a user, or several: units[lines]. */
void pr_ledger_add(pr_ledger *ledger, const pr_cohort *cohort, size_t user, const double *units,
                   double baskets);

/* Units of a line, and baskets, of a whole group. */
double pr_ledger_units(const pr_ledger *ledger, const pr_cohort *cohort, size_t group, size_t line);
double pr_ledger_baskets(const pr_ledger *ledger, const pr_cohort *cohort, size_t group);
/* Units a basket; NaN without baskets. */
double pr_ledger_rate(const pr_ledger *ledger, const pr_cohort *cohort, size_t group, size_t line);

#endif
