/* How well a map recovers the truth of synthetic data, where all is known. */
#ifndef PR_RECOVERY_H
#define PR_RECOVERY_H

#include "base/threads.h"
#include "eval/user_groups.h"
#include "synth/truth.h"

#define PR_RELATED_LIFT \
    1.05 /* two categories are related when bought together so much more often */
#define PR_DIFFERENT_SIGMA 0.3 /* two groups differ where their covariances do by more */

/* The truth of one group of users. C categories. */
typedef struct pr_group_truth {
    double *sigma; /* [C,C]: mean over its users */
    double *lift;  /* [C,C]: of many more trips of its users; the diagonal counts for nothing */
} pr_group_truth;

/* From about `trips` trips in all; after a million the standard error of a lift near 1 is .005.
 * Free also on failure. The same at any number of threads. */
enum { PR_TRUTH_TRIPS = 1000000 };
parsrec_status pr_group_truth_init(pr_group_truth *out, const pr_truth *truth,
                                   const pr_user_group *group, size_t trips, pr_pool *pool,
                                   parsrec_error *err);
void pr_group_truth_free(pr_group_truth *truth); /* a zeroed one is fine */

/* Of the C (C - 1) / 2 pairs of categories, each by the mean of its two cells. NaN where all
 * pairs are alike. */
typedef struct pr_recovery {
    double rank;     /* Spearman's correlation with the covariance */
    double positive; /* area under the curve: covariance above 0 or not */
    double related;  /* the same: lift above PR_RELATED_LIFT or not */
    double slope;    /* least squares, of the map on the log of the lift: 1 where sizes are right */
    size_t positives, relateds, pairs;
} pr_recovery;
parsrec_status pr_recovery_score(pr_recovery *out, const double *map, const pr_group_truth *truth,
                                 size_t C, parsrec_error *err);

/* Of two groups: do maps differ where covariances do? */
typedef struct pr_difference_recovery {
    double rank; /* Spearman's correlation of the differences, with their signs */
    /* Area under the curve of |difference|: |sigma_a - sigma_b| > PR_DIFFERENT_SIGMA. */
    double different;
    double slope; /* of the difference of the maps on that of the log lifts */
    size_t differents, pairs;
} pr_difference_recovery;
parsrec_status pr_recovery_difference(pr_difference_recovery *out, const double *map_a,
                                      const double *map_b, const pr_group_truth *a,
                                      const pr_group_truth *b, size_t C, parsrec_error *err);

#endif
