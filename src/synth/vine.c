/* The C-vine of Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on
 * vines and extended onion method", Journal of Multivariate Analysis 100 (2009). Variables stay in
 * their order and partial correlations are used as drawn, so all of them are positive. */
#include "synth/vine.h"

#include <math.h>
#include <string.h>

/* Beta(0.2, 1) has the distribution function x^0.2, so a draw is the fifth power of a uniform. */
static double partial_correlation(const pr_rng *rng, uint32_t place, uint32_t k, uint32_t i)
{
    pr_bits bits = pr_rng_at(rng, place, k, i, 0);
    double u = pr_unit53(bits.word[0], bits.word[1]);
    return u * u * u * u * u;
}

/* Column k of the Cholesky factor holds the partial correlation of k and i given 0..k-1, scaled by
 * what the variables before k leave unexplained of i. This is the vine's recursion solved for the
 * factor, so the matrix is positive semidefinite however close to 1 a draw comes. */
static void draw_factor(double *factor, size_t n, const pr_rng *rng, uint32_t place)
{
    for (size_t i = 0; i < n; i++) {
        double unexplained = 1;
        for (size_t k = 0; k < i; k++) {
            double p = partial_correlation(rng, place, (uint32_t)k, (uint32_t)i);
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
