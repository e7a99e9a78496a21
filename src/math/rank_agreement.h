/* How well two orders agree: rank correlation, and how often a positive case ranks above a negative. */
#ifndef PR_RANK_AGREEMENT_H
#define PR_RANK_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Spearman's rank correlation of a[n] and b[n]; equal numbers share the mean of their ranks. NaN where
 * one of them is all equal, or holds a NaN, or n < 2. */
parsrec_status pr_spearman(double *rho, const double *a, const double *b, size_t n,
                           parsrec_error *err);

/* The chance that a positive case has a larger score than a negative one, equal scores counting half:
 * the area under the ROC curve. NaN without cases of both kinds or with a NaN among the scores. */
parsrec_status pr_auc(double *area, const double *scores, const bool *positive, size_t n,
                      parsrec_error *err);

#endif
