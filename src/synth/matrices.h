/* Matrices that the generator needs: positive semidefinite ones (a check, and a factor to draw
 * normals with) and random correlations by the vine method. Plain loops, for a few hundred rows. */
#ifndef PR_MATRICES_H
#define PR_MATRICES_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"

/* The smallest eigenvalue of the symmetric matrix a[n,n], to about 1e-14 of its norm. */
parsrec_status pr_smallest_eigenvalue(double *value, const double *a, size_t n, parsrec_error *err);

/* a = factor * factor', also where a is singular; `factor` is stored by columns, of which the first
 * *rank are not zero: factor[k * n + i] is row i, column k. What is negative in `a` by rounding
 * counts as zero. */
parsrec_status pr_psd_factor(double *factor, size_t *rank, const double *a, size_t n,
                             parsrec_error *err);

/* Draws an n x n correlation matrix and a factor of it, correlation = factor * factor'. The factor
 * is lower triangular and stored by columns: factor[k * n + i] is row i, column k, zero for i < k.
 * The matrix depends only on the generator and `place`; a smaller n gives its leading part. */
void pr_vine_draw(double *factor, double *correlation, size_t n, const pr_rng *rng, uint32_t place);

#endif
