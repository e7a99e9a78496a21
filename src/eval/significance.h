/* How far a measure would move with other users, and whether two models differ by more than chance
 * (docs/evaluation.md). What is resampled are users, because the steps and baskets of one user are
 * not independent of each other. */
#ifndef PR_SIGNIFICANCE_H
#define PR_SIGNIFICANCE_H

#include "base/threads.h"

/* What each user adds to each measure, as a parsrec_share: hits and steps for a hit rate, the share
 * of hits and 1 for Sess-Prec. Several measures of the same users share the draws. */
typedef struct pr_tallies {
    const parsrec_share *rows; /* [users · measures], a user's measures side by side */
    size_t user_count, measures;
} pr_tallies;

typedef struct pr_resampling {
    size_t resamples;
    double level; /* of the intervals: 0.95 */
    uint64_t seed;
} pr_resampling;

/* 2,000 resamples, intervals of 95 %. */
pr_resampling pr_resampling_default(void);

/* A measure with its interval. All three are 0 if the weights of all users are 0. */
typedef struct pr_interval {
    double value, low, high;
} pr_interval;

/* Percentile bootstrap over users: out[measures]. The result depends on the seed, not on the
 * threads. With fewer than about twenty users every interval is too narrow; with one user it is a
 * point. */
parsrec_status pr_bootstrap(pr_interval *out, const pr_tallies *tallies, const pr_resampling *how,
                            pr_pool *pool, parsrec_error *err);

/* The interval between the percentiles of values[count] that hold a share `level` of them. NaNs are
 * left out; `values` is reordered. */
pr_interval pr_percentiles(double value, double *values, size_t count, double level);

/* How model a differs from model b. */
typedef struct pr_contrast {
    pr_interval difference; /* a - b; both are measured on the same drawn users */
    double p; /* of a two-sided permutation test: how often a difference is at least this large when
                 the results of a and b are swapped at random, user by user */
} pr_contrast;

/* Sets out[measures]. a and b have the same users in the same order, and the same measures. The
 * smallest possible p is 1 / (resamples + 1). */
parsrec_status pr_paired(pr_contrast *out, const pr_tallies *a, const pr_tallies *b,
                         const pr_resampling *how, pr_pool *pool, parsrec_error *err);

/* Holm's correction for several tests. A NaN is no test and stays NaN. */
void pr_holm(double *corrected, const double *p, size_t count);

/* The mean of a few numbers, such as results of several seeds, with its interval by Student's t.
 * For one number low and high are NaN. */
pr_interval pr_student(const double *values, size_t count, double level);
/* Two-sided p of their mean by Student's t: the chance of a mean at least this far from 0 if the
 * numbers were draws around 0. NaN for one number. */
double pr_student_p(const double *values, size_t count);
/* The bound that |t| stays within with probability `level`: 4.303 for 0.95 and two degrees of
 * freedom. */
double pr_student_quantile(double level, size_t degrees);

#endif
