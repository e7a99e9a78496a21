/* Correlation matrices by the vine method, eigenvalues and factors, each against something else:
 * Jacobi's eigenvalues, the definition of a partial correlation, the Beta distribution. */
#include "support/testing.h"

#include "base/rng.h"
#include "support/jacobi.h"
#include "synth/matrices.h"

enum { N = 30, PLACES = 100 };

static double least_eigenvalue(const double *matrix, size_t n)
{
    double *a = malloc(n * n * sizeof *a), *v = malloc(n * n * sizeof *v), least = INFINITY;
    memcpy(a, matrix, n * n * sizeof *a);
    jacobi(a, v, n);
    for (size_t i = 0; i < n; i++)
        least = fmin(least, a[i * n + i]);
    free(a);
    free(v);
    return least;
}

static void assert_rebuilt(const double *matrix, const double *factor, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += factor[k * n + i] * factor[k * n + j];
            assert_close(sum, matrix[i * n + j], tolerance);
        }
}

static void vines_are_correlation_matrices(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(1, 2);
    double factor[N * N], r[N * N], smaller[N * N];
    for (uint32_t place = 0; place < 20; place++) {
        pr_vine_draw(factor, r, N, &rng, place);
        assert_rebuilt(r, factor, N, 1e-14);
        assert_true(least_eigenvalue(r, N) >= -1e-10);
        for (size_t i = 0; i < N; i++) {
            assert_true(r[i * N + i] == 1);
            for (size_t j = 0; j < i; j++)
                assert_true(r[i * N + j] == r[j * N + i] && r[i * N + j] >= 0 && r[i * N + j] <= 1);
        }
    }
    pr_vine_draw(factor, smaller, 5, &rng, 19);
    for (size_t i = 0; i < 25; i++)
        assert_close(smaller[i], r[i / 5 * N + i % 5], 1e-15);
    pr_vine_draw(factor, r, 1, &rng, 0);
    assert_true(factor[0] == 1 && r[0] == 1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance to Beta(0.2, 1), times the root of the count. */
static double distance_to_beta(double *x, size_t count)
{
    qsort(x, count, sizeof *x, ascending);
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double f = pow(fmin(fmax(x[i], 0), 1), 0.2);
        most = fmax(most, fabs(f - (double)i / (double)count));
        most = fmax(most, fabs(f - (double)(i + 1) / (double)count));
    }
    return most * sqrt((double)count);
}

/* The first row holds the draws themselves; correlations given variable 0 are the next row of
 * draws, and so on. 1.95 is exceeded once in a thousand. */
static void partial_correlations_are_beta(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(3, 4);
    static double factor[N * N], r[N * N], first[PLACES * N], second[PLACES * N];
    size_t firsts = 0, seconds = 0;
    for (uint32_t place = 0; place < PLACES; place++) {
        pr_vine_draw(factor, r, N, &rng, place);
        for (size_t i = 1; i < N; i++)
            first[firsts++] = r[i];
        for (size_t i = 2; i < N; i++)
            second[seconds++] =
                (r[N + i] - r[1] * r[i]) / sqrt((1 - r[1] * r[1]) * (1 - r[i] * r[i]));
    }
    assert_true(distance_to_beta(first, firsts) < 1.95);
    assert_true(distance_to_beta(second, seconds) < 1.95);
    for (size_t i = 0; i < firsts; i++)
        first[i] = sqrt(first[i]); /* Beta(0.4, 1): the test can tell */
    assert_true(distance_to_beta(first, firsts) > 5);
}

static void symmetric(double *a, size_t n, unsigned short seed)
{
    unsigned short state[3] = {seed, 7, 9};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = erand48(state) - 0.5;
}

static void smallest_eigenvalue_agrees_with_jacobi(void **state)
{
    (void)state;
    parsrec_error err;
    double a[N * N], value;
    for (size_t n = 1; n <= N; n++) {
        symmetric(a, n, (unsigned short)n);
        assert_ok(pr_smallest_eigenvalue(&value, a, n, &err));
        assert_close(value, least_eigenvalue(a, n), 1e-12);
    }
    memset(a, 0, sizeof a);
    assert_ok(pr_smallest_eigenvalue(&value, a, N, &err));
    assert_close(value, 0, 1e-300);
    static const double opposite[] = {1, -1, -1, 1}, swap[] = {0, 1, 1, 0};
    assert_ok(pr_smallest_eigenvalue(&value, opposite, 2, &err));
    assert_close(value, 0, 1e-15);
    assert_ok(pr_smallest_eigenvalue(&value, swap, 2, &err));
    assert_close(value, -1, 1e-15);
}

static void factors_rebuild_singular_matrices(void **state)
{
    (void)state;
    parsrec_error err;
    enum { SIZE = 8, RANK = 3 };
    double root[SIZE * SIZE], a[SIZE * SIZE] = {0}, factor[SIZE * SIZE];
    size_t rank;
    assert_ok(pr_psd_factor(factor, &rank, a, SIZE, &err));
    assert_int_equal(rank, 0);
    symmetric(root, SIZE, 5);
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++)
            for (size_t k = 0; k < RANK; k++)
                a[i * SIZE + j] += root[k * SIZE + i] * root[k * SIZE + j];
    assert_ok(pr_psd_factor(factor, &rank, a, SIZE, &err));
    assert_int_equal(rank, RANK);
    assert_rebuilt(a, factor, SIZE, 1e-14);
    for (size_t i = 0; i < SIZE; i++)
        a[i * SIZE + i] += 1;
    assert_ok(pr_psd_factor(factor, &rank, a, SIZE, &err));
    assert_int_equal(rank, SIZE);
    assert_rebuilt(a, factor, SIZE, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vines_are_correlation_matrices),
        cmocka_unit_test(partial_correlations_are_beta),
        cmocka_unit_test(smallest_eigenvalue_agrees_with_jacobi),
        cmocka_unit_test(factors_rebuild_singular_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
