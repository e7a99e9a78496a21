/* Cyclic Jacobi: every off-diagonal element in turn is rotated to zero, until all are. */
#include "math/eigen.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SWEEPS_MOST = 30 };

static double off_diagonal(const double *m, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            sum += m[i * n + j] * m[i * n + j];
    return sum;
}

/* Rows a and b become c·a - s·b and s·a + c·b. */
static void rotate_rows(double *a, double *b, double c, double s, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double x = a[k], y = b[k];
        a[k] = c * x - s * y;
        b[k] = s * x + c * y;
    }
}

static void rotate(double *m, double *vectors, size_t p, size_t q, size_t n)
{
    double slope = (m[q * n + q] - m[p * n + p]) / (2 * m[p * n + q]);
    double t = (slope < 0 ? -1 : 1) / (fabs(slope) + sqrt(slope * slope + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    rotate_rows(m + p * n, m + q * n, c, s, n);
    for (size_t k = 0; k < n; k++) {
        double x = m[k * n + p], y = m[k * n + q];
        m[k * n + p] = c * x - s * y;
        m[k * n + q] = s * x + c * y;
    }
    rotate_rows(vectors + p * n, vectors + q * n, c, s, n);
}

void pr_symmetric_eigen(double *values, double *vectors, double *m, size_t n)
{
    assert(n > 0);
    double scale = 0;
    memset(vectors, 0, n * n * sizeof *vectors);
    for (size_t i = 0; i < n; i++) {
        vectors[i * n + i] = 1;
        for (size_t j = 0; j < n; j++)
            scale += m[i * n + j] * m[i * n + j];
    }
    for (int sweep = 0; sweep < SWEEPS_MOST && off_diagonal(m, n) > 1e-24 * scale; sweep++)
        for (size_t p = 0; p + 1 < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (m[p * n + q] != 0)
                    rotate(m, vectors, p, q, n);
    for (size_t i = 0; i < n; i++)
        values[i] = m[i * n + i];
    for (size_t i = 0; i < n; i++) { /* largest first */
        size_t top = i;
        for (size_t j = i + 1; j < n; j++)
            top = values[j] > values[top] ? j : top;
        double value = values[i];
        values[i] = values[top];
        values[top] = value;
        for (size_t k = 0; top != i && k < n; k++) {
            double x = vectors[i * n + k];
            vectors[i * n + k] = vectors[top * n + k];
            vectors[top * n + k] = x;
        }
    }
}
