/* How well two rankings agree: rank correlation, and the area under the ROC curve. */
#ifndef PR_RANK_AGREEMENT_H
#define PR_RANK_AGREEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Spearman's rank correlation of a[n] and b[n]; equal values share the mean of their ranks. NaN if
 * all values of a or of b are equal, if one of them is NaN, or if n < 2. */
parsrec_status pr_spearman(double *rho, const double *a, const double *b, size_t n,
                           parsrec_error *err);

/* The area under the ROC curve: the probability that a positive case has a larger score than a
 * negative one, ties counting half. NaN without cases of both kinds, or if a score is NaN. */
parsrec_status pr_auc(double *area, const double *scores, const bool *positive, size_t n,
                      parsrec_error *err);

#endif
