/* Symmetric positive semidefinite matrices: is it one, and a factor to draw normals with. Plain
 * loops, for the few hundred rows that covariances of categories have. */
#ifndef PR_PSD_H
#define PR_PSD_H

#include <stddef.h>

#include "base/status.h"

/* The smallest eigenvalue of the symmetric matrix a[n,n], to about 1e-14 of its norm. */
parsrec_status pr_smallest_eigenvalue(double *value, const double *a, size_t n, parsrec_error *err);

/* a = factor * factor', also where a is singular; `factor` is stored by columns, of which the first
 * *rank are not zero: factor[k * n + i] is row i, column k. What is negative in `a` by rounding
 * counts as zero. */
parsrec_status pr_psd_factor(double *factor, size_t *rank, const double *a, size_t n,
                             parsrec_error *err);

#endif
