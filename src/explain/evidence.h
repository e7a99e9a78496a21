/* What the baskets themselves say about pairs of classes, without any model: in how many both
 * occur, how that compares with chance, and how sure the figure is. Every sentence of a report is
 * checked against it.
 *
 * The lift of a pair is n_ij n / (n_i n_j). Its logarithm is the sum of one influence per basket,
 *
 *     [i and j] / n_ij - [i] / n_i - [j] / n_j + 1 / n,
 *
 * so its variance is the sum of their squares. Baskets of one user resemble each other: the
 * influences of a user are therefore also added up first and squared then, and the larger of the
 * two variances counts. All sums are of whole numbers, so threads and their order change
 * nothing. */
#ifndef PR_EVIDENCE_H
#define PR_EVIDENCE_H

#include "base/status.h"
#include "base/threads.h"
#include "eval/user_groups.h"
#include "explain/axis.h"
#include "parsrec.h"

typedef struct pr_evidence {
    size_t N;
    uint64_t baskets;
    double reach;   /* of intervals, in standard errors: pr_evidence_reach */
    uint64_t *both; /* [N,N]: baskets with both classes; on the diagonal those with the class */
    float *error;   /* [N,N]: standard error of the log of the lift; NaN where no basket has both */
} pr_evidence;

/* Counts all baskets of a group. Free also on failure. */
parsrec_status pr_evidence_count(pr_evidence *out, const pr_dataset *data, const pr_axis *axis,
                                 const pr_user_group *group, pr_pool *pool,
                                 const parsrec_hooks *hooks, parsrec_error *err);
void pr_evidence_free(pr_evidence *evidence); /* a zeroed one is fine */

/* How many standard errors an interval reaches to either side so that, with 95 %, the intervals of
 * all pairs of N classes contain their lift at once (Bonferroni). */
double pr_evidence_reach(size_t N);

/* Sets the counts, the lift and its interval of a relation whose row and column are given. */
void pr_evidence_of(parsrec_relation *relation, const pr_evidence *evidence);

#endif
