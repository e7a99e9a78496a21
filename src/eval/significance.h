/* What a number is worth: how far a measure would move with other users, and whether two models
 * differ by more than chance (docs/evaluation.md). Users are the unit that is drawn: the steps and
 * baskets of one user are not independent of each other. */
#ifndef PR_SIGNIFICANCE_H
#define PR_SIGNIFICANCE_H

#include "base/threads.h"

/* What users add to measures (parsrec_share: hits and steps for a hit rate, the share of hits and 1 for
 * Sess-Prec); several measures of the same users share the draws. */
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

/* A measure with its interval. All are 0 where nothing was weighed. */
typedef struct pr_interval {
    double value, low, high;
} pr_interval;

/* Percentile bootstrap over users: out[measures]. The result depends on the seed only, not on the
 * threads. Fewer than some twenty users make every interval too narrow, one user none at all. */
parsrec_status pr_bootstrap(pr_interval *out, const pr_tallies *tallies, const pr_resampling *how,
                            pr_pool *pool, parsrec_error *err);

/* The interval that holds a share `level` of values[count], between its percentiles; NaNs are left out,
 * and the values are sorted. */
pr_interval pr_percentiles(double value, double *values, size_t count, double level);

/* How model a differs from model b. */
typedef struct pr_contrast {
    pr_interval difference; /* a - b; the users drawn are the same for both */
    double p; /* two-sided: how often a difference this large comes about when, for each user, it is
                 left to chance which model's result is called a's */
} pr_contrast;

/* a and b hold the same users in the same order, and the same measures: out[measures]. The smallest p
 * is 1 / (resamples + 1). */
parsrec_status pr_paired(pr_contrast *out, const pr_tallies *a, const pr_tallies *b,
                         const pr_resampling *how, pr_pool *pool, parsrec_error *err);

/* Holm's correction for several tests; NaN stands for no test and stays. */
void pr_holm(double *corrected, const double *p, size_t count);

/* The mean of a few numbers, as of trainings with several seeds, with its interval by Student's t; low and
 * high are NaN for one number. */
pr_interval pr_student(const double *values, size_t count, double level);
/* Two-sided p of their mean by Student's t: the chance of a mean at least this far from 0 if the numbers
 * were draws around 0. NaN for one number. */
double pr_student_p(const double *values, size_t count);
/* What t stays within by a chance of `level`: 4.303 for 0.95 and two degrees of freedom. */
double pr_student_quantile(double level, size_t degrees);

#endif
