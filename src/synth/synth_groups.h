/* The groups of users in synthetic data: which share of the users each has, and how the utilities
 * of categories move together in it. */
#ifndef PR_SYNTH_GROUPS_H
#define PR_SYNTH_GROUPS_H

#include "base/intern.h"
#include "base/status.h"

typedef struct pr_groups {
    size_t count, categories;
    pr_intern names;
    double *share; /* [count], adding up to 1 */
    double *sigma; /* [count, categories, categories] */
} pr_groups;

/* The two groups of the paper's data, A and B. They have 20 categories; for another number the
 * blocks of their covariance are repeated down the diagonal and the last one is cut to fit. */
parsrec_status pr_groups_builtin(pr_groups *out, size_t categories, parsrec_error *err);

/* Groups from a JSON file, see docs/synthetic.md. Covariances must be symmetric and, up to
 * rounding, positive semidefinite. */
parsrec_status pr_groups_load(pr_groups *out, const char *path, size_t categories,
                              parsrec_error *err);

/* Both leave `out` to be freed, also when they fail. A zeroed one is fine. */
void pr_groups_free(pr_groups *groups);

/* For makers of groups: an empty table of that size, sigma zero. */
parsrec_status pr_groups_init(pr_groups *out, size_t count, size_t categories, parsrec_error *err);
double *pr_groups_sigma(const pr_groups *groups, size_t group); /* [categories, categories] */

/* The first user that does not belong to `group` or one before it: users stand group by group. */
size_t pr_group_end(const pr_groups *groups, size_t group, size_t users);

#endif
