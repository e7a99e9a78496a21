/* Sales sums: units by user and line, kept so that users can be drawn again for intervals. A cell
 * is one user of a group, or, in a large group, a bucket of users, who are then drawn together. A
 * user of several groups has a cell in each. All arrays live in the region that the caller passes.
 * The last part, the truth about synthetic data, is in true_sales.c. */
#ifndef PR_SALES_H
#define PR_SALES_H

#include <assert.h>

#include "base/status.h"
#include "base/threads.h"
#include "data/dataset.h"
#include "eval/user_groups.h"
#include "whatif/shelf.h"

enum { PR_QUESTIONS = 2, PR_ESTIMATORS = 4 };

/* The users of the groups. All of them have cells, so that all their past baskets are counted.
 * Models are asked only for those who have a test session, and a history before it. */
typedef struct pr_cohort {
    const pr_user_groups *groups;
    size_t group_count;
    int32_t *users; /* those who have a test session, once, ascending */
    size_t user_count;
    double *weight; /* [users of the data]: of a drawn basket; proportional to the user's baskets */
    size_t *members;    /* [groups]: users of each group who have a test session */
    size_t *first_cell; /* [groups + 1] */
    size_t cells;
    size_t *cell_offsets; /* [users of the data + 1]: where a user counts ... */
    uint32_t *cell_list;  /* ... one cell for each group the user is in */
    uint32_t *cell_group; /* [cells] */
} pr_cohort;

/* `last`: as the models' setting. `lines`: columns of the sums to come; the more there are, the
 * fewer cells. A group none of whose users has a test session and a past is E_INPUT. Weights are 1 on average
 * over `users`, so that drawn baskets, like counted ones, come from heavy and light shoppers in the
 * proportion of their baskets. */
parsrec_status pr_cohort_init(pr_cohort *cohort, pr_region *region, const pr_dataset *data,
                              const pr_user_groups *groups, size_t last, size_t lines,
                              parsrec_error *err);

/* One table of sums. */
typedef struct pr_sales {
    size_t lines;
    double *units;   /* [cells, lines] */
    double *baskets; /* [cells] */
} pr_sales;

parsrec_status pr_sales_init(pr_sales *sales, pr_region *region, const pr_cohort *cohort,
                             size_t lines, parsrec_error *err);

/* Adds units[lines] of `baskets` baskets to all cells of a user. A weighted basket counts as its
 * weight, and its units are given times the weight. */
void pr_sales_add(pr_sales *sales, const pr_cohort *cohort, size_t user, const double *units,
                  double baskets);

/* Units of a line, and baskets, of a whole group. */
double pr_sales_units(const pr_sales *sales, const pr_cohort *cohort, size_t group, size_t line);
double pr_sales_baskets(const pr_sales *sales, const pr_cohort *cohort, size_t group);
/* Units per basket; NaN without baskets. */
double pr_sales_rate(const pr_sales *sales, const pr_cohort *cohort, size_t group, size_t line);

/* All tables of one estimator with one model, or of the past: sales before, and after each scenario
 * under each question. Tables that an estimator does not fill stay zero. */
typedef struct pr_sales_set {
    pr_sales before;
    pr_sales *after[PR_QUESTIONS]; /* [scenarios] */
    pr_sales *refill; /* [scenarios]: of re-choice, what is bought in place of what is missing */
} pr_sales_set;

parsrec_status pr_sales_set_init(pr_sales_set *set, pr_region *region, const pr_cohort *cohort,
                                 size_t lines, size_t scenarios, parsrec_error *err);

/* ---- the truth about synthetic data ---- */

/* Sales in test sets that are simulated from what the generator saved, with everything on the shelf
 * and, by the same draws, without what is missing. Units per basket; [groups, lines], or
 * [scenarios, groups, lines]. */
typedef struct pr_true_sales {
    size_t sets; /* test sets made; 0: nothing is known */
    size_t groups, lines;
    double *before;
    double *after[PR_QUESTIONS];
    /* The mean error of one test set of this size, as a share: the error of an estimator that knows
     * the expected sales. */
    double *floor[PR_QUESTIONS];
} pr_true_sales;

/* E_NOT_FOUND when the data are not synthetic. Lives in the region of the lines. */
parsrec_status pr_true_sales_init(pr_true_sales *out, const pr_dataset *data,
                                  const pr_cohort *cohort, const pr_lines *lines,
                                  const pr_scenarios *scenarios, size_t sets, size_t last,
                                  pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err);

static inline size_t pr_true_at(const pr_true_sales *t, size_t scenario, size_t group, size_t line)
{
    assert(group < t->groups && line < t->lines);
    return (scenario * t->groups + group) * t->lines + line;
}

#endif
