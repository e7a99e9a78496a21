/* Rank agreement by cases worked out by hand, and clusters of rows whose clusters are known. */
#include "base/memory.h"
#include "math/kmeans.h"
#include "math/rank_agreement.h"
#include "support/numbers.h"

static double spearman(const double *a, const double *b, size_t n)
{
    parsrec_error err = {0};
    double rho = -9;
    assert_ok(pr_spearman(&rho, a, b, n, &err));
    return rho;
}

static double auc(const double *scores, const bool *positive, size_t n)
{
    parsrec_error err = {0};
    double area = -9;
    assert_ok(pr_auc(&area, scores, positive, n, &err));
    return area;
}

static void same_and_opposite_order(void **state)
{
    (void)state;
    const double a[] = {3, 1, 2, 8}, up[] = {30, -10, 2, 31}, down[] = {1, 4, 3, -2};
    assert_close(spearman(a, up, 4), 1, 1e-15);
    assert_close(spearman(a, down, 4), -1, 1e-15);
    /* One swap of neighbours among four: 1 - 6 * 2 / (4 * 15). */
    const double swapped[] = {2, 1, 3, 8};
    assert_close(spearman(a, swapped, 4), 0.8, 1e-15);
}

/* Ranks 1.5 1.5 3 against 1 2 3: 1.5 / sqrt(1.5 * 2). */
static void ties_share_ranks(void **state)
{
    (void)state;
    const double a[] = {5, 5, 7}, b[] = {1, 2, 3};
    assert_close(spearman(a, b, 3), 1.5 / sqrt(3), 1e-15);
}

static void nothing_to_say_is_nan(void **state)
{
    (void)state;
    const double flat[] = {2, 2, 2}, b[] = {1, 2, 3}, hole[] = {1, NAN, 3};
    const bool all[] = {true, true, true}, some[] = {true, false, true};
    assert_true(isnan(spearman(flat, b, 3)));
    assert_true(isnan(spearman(hole, b, 3)));
    assert_true(isnan(spearman(b, b, 1)));
    assert_true(isnan(auc(b, all, 3)));
    assert_true(isnan(auc(hole, some, 3)));
    assert_true(isnan(auc(b, some, 0)));
}

/* Positive .8 and .4 against .6, .4 and .2: wins 3, then 1 and a half, of six pairs. */
static void area_counts_pairs(void **state)
{
    (void)state;
    const double scores[] = {.8, .6, .4, .4, .2};
    const bool positive[] = {true, false, true, false, false};
    assert_close(auc(scores, positive, 5), 4.5 / 6, 1e-15);
    const bool best[] = {true, true, false, false, false},
               worst[] = {false, false, false, true, true};
    const double down[] = {5, 4, 3, 2, 1};
    assert_close(auc(down, best, 5), 1, 0);
    assert_close(auc(down, worst, 5), 0, 0);
}

/* ---- clusters ---- */

enum { ROWS = 300, WIDTH = 5 };

/* Three clouds around (±4, 0, ...), sizes 150, 100 and 50, mixed. */
static int truth_of(size_t row)
{
    return row % 6 < 3 ? 0 : row % 6 < 5 ? 1 : 2;
}

static pr_real *clouds(void)
{
    static const double middle[] = {-4, 4, 20};
    pr_real *x = numbers(ROWS * WIDTH, 1, 7);
    for (size_t i = 0; i < ROWS; i++)
        x[i * WIDTH] = (pr_real)((double)x[i * WIDTH] + middle[truth_of(i)]);
    return x;
}

static void clouds_are_found(void **state)
{
    (void)state;
    parsrec_error err = {0};
    pr_real *x = clouds();
    int32_t cluster[ROWS], again[ROWS];
    assert_ok(pr_kmeans(cluster, x, ROWS, WIDTH, 3, 1, &err));
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(cluster[i], truth_of(i)); /* numbered by size */
    assert_ok(pr_kmeans(again, x, ROWS, WIDTH, 3, 1, &err));
    assert_memory_equal(cluster, again, sizeof cluster);
    free(x);
}

static void equal_rows_and_single_ones(void **state)
{
    (void)state;
    parsrec_error err = {0};
    const pr_real same[] = {1, 1, 1, 1}, apart[] = {9, 1, 5};
    int32_t cluster[4];
    assert_ok(pr_kmeans(cluster, same, 4, 1, 3, 1, &err));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cluster[i], 0);
    assert_ok(pr_kmeans(cluster, apart, 3, 1, 3, 1, &err));
    for (int i = 0; i < 3; i++)
        assert_int_equal(cluster[i], i); /* each its own, in order of rows */
}

static void memory_fails(void **state)
{
    (void)state;
    parsrec_error err = {0};
    pr_real *x = clouds();
    int32_t cluster[ROWS];
    const double a[] = {3, 1, 2};
    const bool positive[] = {true, false, true};
    double out;
    size_t failures[3] = {0};
    for (size_t after = 0; after < 12; after++) {
        pr_memory_fail_after(after);
        failures[0] += pr_kmeans(cluster, x, ROWS, WIDTH, 3, 1, &err) == PARSREC_E_MEMORY;
        pr_memory_fail_after(after);
        failures[1] += pr_spearman(&out, a, a, 3, &err) == PARSREC_E_MEMORY;
        pr_memory_fail_after(after);
        failures[2] += pr_auc(&out, a, positive, 3, &err) == PARSREC_E_MEMORY;
        pr_memory_fail_after(SIZE_MAX);
    }
    assert_int_equal(failures[0], 9); /* seven of the work, two of the names */
    assert_int_equal(failures[1], 3);
    assert_int_equal(failures[2], 2);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_and_opposite_order),
        cmocka_unit_test(ties_share_ranks),
        cmocka_unit_test(nothing_to_say_is_nan),
        cmocka_unit_test(area_counts_pairs),
        cmocka_unit_test(clouds_are_found),
        cmocka_unit_test(equal_rows_and_single_ones),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
