/* Eigenvalues and eigenvectors by Jacobi's rotations: slow, simple, and unlike what the library
 * does, so that the one can judge the other. */
#ifndef JACOBI_H
#define JACOBI_H

#include <math.h>
#include <stddef.h>

/* Turns rows and columns p and q of a[n,n] so that a[p,q] becomes 0; v collects the turns. */
static inline void jacobi_turn(double *a, double *v, size_t n, size_t p, size_t q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (size_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        x = v[k * n + p];
        y = v[k * n + q];
        v[k * n + p] = c * x - s * y;
        v[k * n + q] = s * x + c * y;
    }
}

/* a becomes diagonal, the columns of v its eigenvectors. */
static inline void jacobi(double *a, double *v, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0 ? 1 : 0;
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (fabs(a[p * n + q]) > 1e-300)
                    jacobi_turn(a, v, n, p, q);
}

#endif
