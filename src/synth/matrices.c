/* Eigenvalue by Householder reduction and bisection; factor by Cholesky with pivots; the C-vine. */
#include "synth/matrices.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- smallest eigenvalue ---- */

/* a <- a - v w' - w v' on its leading m x m part, which is H a H for the reflection along v. */
static void reflect(double *a, size_t n, size_t m, const double *v, double *w)
{
    double vv = 0, vw = 0;
    for (size_t i = 0; i < m; i++)
        vv += v[i] * v[i];
    for (size_t i = 0; i < m; i++) {
        w[i] = 0;
        for (size_t j = 0; j < m; j++)
            w[i] += a[i * n + j] * v[j];
        w[i] *= 2 / vv;
        vw += v[i] * w[i];
    }
    for (size_t i = 0; i < m; i++)
        w[i] -= vw / vv * v[i];
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
}

/* Reduces a to a tridiagonal matrix with the same eigenvalues: diagonal d[n], squares of the
 * off-diagonal e2[n], e2[i] between i - 1 and i. */
static void tridiagonal(double *a, size_t n, double *d, double *e2, double *v, double *w)
{
    for (size_t m = n - 1; m > 0; m--) {
        const double *row = a + m * n;
        double norm2 = 0, beyond = 0;
        for (size_t j = 0; j < m; j++) {
            norm2 += row[j] * row[j];
            beyond += j + 1 < m ? fabs(row[j]) : 0;
            v[j] = row[j];
        }
        d[m] = row[m];
        e2[m] = norm2;
        if (beyond > 0) {
            v[m - 1] += row[m - 1] < 0 ? -sqrt(norm2) : sqrt(norm2);
            reflect(a, n, m, v, w);
        }
    }
    d[0] = a[0];
    e2[0] = 0;
}

/* Sturm: the number of negative terms is the number of eigenvalues below x. */
static bool any_below(const double *d, const double *e2, size_t n, double x)
{
    double q = 1;
    for (size_t i = 0; i < n; i++) {
        q = d[i] - x - (i > 0 ? e2[i] / q : 0);
        if (q < 0)
            return true;
        if (q == 0)
            q = 1e-300;
    }
    return false;
}

static double bisect(const double *d, const double *e2, size_t n)
{
    double low = d[0], high = d[0];
    for (size_t i = 0; i < n; i++) {
        double radius = sqrt(e2[i]) + (i + 1 < n ? sqrt(e2[i + 1]) : 0);
        low = fmin(low, d[i] - radius);
        high = fmin(high, d[i]);
    }
    for (int step = 0; step < 200 && low < high; step++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (any_below(d, e2, n, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

parsrec_status pr_smallest_eigenvalue(double *value, const double *a, size_t n, parsrec_error *err)
{
    assert(n > 0);
    double *copy = pr_alloc(n * n + 4 * n, sizeof *copy);
    if (copy == NULL)
        return pr_fail_memory(err);
    double *d = copy + n * n, *e2 = d + n, *v = e2 + n, *w = v + n;
    memcpy(copy, a, n * n * sizeof *copy);
    tridiagonal(copy, n, d, e2, v, w);
    *value = bisect(d, e2, n);
    pr_free(copy);
    return PARSREC_OK;
}

/* ---- factor ---- */

static size_t largest(const double *left, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (left[i] > left[best])
            best = i;
    return best;
}

/* The next column: the row with the largest variance left, over its standard deviation. */
static void add_column(double *factor, size_t k, size_t pivot, double *left, const double *a,
                       size_t n)
{
    double *column = factor + k * n, scale = sqrt(left[pivot]);
    for (size_t i = 0; i < n; i++) {
        double sum = a[i * n + pivot];
        for (size_t l = 0; l < k; l++)
            sum -= factor[l * n + i] * factor[l * n + pivot];
        column[i] = left[i] > 0 ? sum / scale : 0;
        left[i] -= column[i] * column[i];
    }
    left[pivot] = 0;
}

parsrec_status pr_psd_factor(double *factor, size_t *rank, const double *a, size_t n,
                             parsrec_error *err)
{
    assert(n > 0);
    double *left = pr_alloc(n, sizeof *left); /* variance of each row not explained yet */
    if (left == NULL)
        return pr_fail_memory(err);
    memset(factor, 0, n * n * sizeof *factor);
    for (size_t i = 0; i < n; i++)
        left[i] = a[i * n + i];
    double smallest = 1e-12 * left[largest(left, n)];
    for (*rank = 0; *rank < n; ++*rank) {
        size_t pivot = largest(left, n);
        if (!(left[pivot] > smallest))
            break;
        add_column(factor, *rank, pivot, left, a, n);
    }
    pr_free(left);
    return PARSREC_OK;
}

/* ---- vine: Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines
 * and extended onion method", Journal of Multivariate Analysis 100 (2009). Variables stay in their
 * order and partial correlations are used as drawn, so all of them are positive. ---- */

/* Column k of the Cholesky factor holds the partial correlation of k and i given 0..k-1, scaled by
 * what the variables before k leave unexplained of i. This is the vine's recursion solved for the
 * factor, so the matrix is positive semidefinite however close to 1 a draw comes. */
static void draw_factor(double *factor, size_t n, const pr_rng *rng, uint32_t place)
{
    for (size_t i = 0; i < n; i++) {
        double unexplained = 1;
        for (size_t k = 0; k < i; k++) {
            /* Beta(0.2, 1) has the distribution function x^0.2, so a draw is the fifth power of a uniform. */
            pr_bits bits = pr_rng_at(rng, place, (uint32_t)k, (uint32_t)i, 0);
            double u = pr_unit53(bits.word[0], bits.word[1]);
            double p = u * u * u * u * u;
            factor[k * n + i] = p * unexplained;
            unexplained *= sqrt((1 - p) * (1 + p));
        }
        factor[i * n + i] = unexplained;
        for (size_t k = i + 1; k < n; k++)
            factor[k * n + i] = 0;
    }
}

void pr_vine_draw(double *factor, double *correlation, size_t n, const pr_rng *rng, uint32_t place)
{
    draw_factor(factor, n, rng, place);
    memset(correlation, 0, n * n * sizeof *correlation);
    for (size_t k = 0; k < n; k++) {
        const double *column = factor + k * n;
        for (size_t i = k; i < n; i++)
            for (size_t j = k; j < n; j++)
                correlation[i * n + j] += column[i] * column[j];
    }
    for (size_t i = 0; i < n; i++)
        correlation[i * n + i] = 1;
}
