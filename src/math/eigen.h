/* Eigenvectors of a symmetric matrix. */
#ifndef PR_EIGEN_H
#define PR_EIGEN_H

#include <stddef.h>

/* values[n], largest first, and vectors[n,n], one per row, of m[n,n], which is overwritten. By Jacobi
 * rotations: the vectors are orthogonal to the last bits of a double. */
void pr_symmetric_eigen(double *values, double *vectors, double *m, size_t n);

#endif
