/* Intervals and paired tests: cases small enough to list every resample, and what theory says of
 * large ones. */
#include "eval/significance.h"

#include "base/memory.h"
#include "base/rng.h"
#include "support/testing.h"

static pr_pool *one;
static size_t resamples = 2000;

static pr_interval bootstrap(const parsrec_share *rows, size_t users, double level)
{
    parsrec_error err = {0};
    pr_interval out;
    pr_resampling how = pr_resampling_default();
    how.level = level;
    how.resamples = resamples;
    assert_ok(pr_bootstrap(&out, &(pr_tallies){rows, users, 1}, &how, one, &err));
    return out;
}

static pr_contrast paired(const parsrec_share *a, const parsrec_share *b, size_t users,
                          uint64_t seed)
{
    parsrec_error err = {0};
    pr_contrast out;
    pr_resampling how = pr_resampling_default();
    how.seed = seed;
    assert_ok(
        pr_paired(&out, &(pr_tallies){a, users, 1}, &(pr_tallies){b, users, 1}, &how, one, &err));
    return out;
}

/* ---- every resample listed ---- */

/* Of two users, 1 of 2 and 3 of 2, a resample is worth .5, 1 or 1.5, with chances 1/4, 1/2, 1/4. */
static void two_users(void **state)
{
    (void)state;
    const parsrec_share rows[] = {{1, 2}, {3, 2}};
    pr_interval wide = bootstrap(rows, 2, 0.95), narrow = bootstrap(rows, 2, 0.4);
    assert_close(wide.value, 1, 0);
    assert_close(wide.low, 0.5, 0);
    assert_close(wide.high, 1.5, 0);
    assert_close(narrow.low, 1, 0);
    assert_close(narrow.high, 1, 0);
}

/* The value is a ratio of sums, not a mean of ratios: 1 of 1 and 0 of 9 make .1. */
static void ratio_of_sums(void **state)
{
    (void)state;
    const parsrec_share rows[] = {{1, 1}, {0, 9}};
    pr_interval i = bootstrap(rows, 2, 0.95);
    assert_close(i.value, 0.1, 1e-15);
    assert_close(i.low, 0, 0);
    assert_close(i.high, 1, 0);
}

/* A user without weight joins the draw, and a resample of such users alone says nothing. */
static void users_without_weight(void **state)
{
    (void)state;
    const parsrec_share some[] = {{0, 0}, {1, 2}}, none[] = {{0, 0}, {0, 0}};
    pr_interval i = bootstrap(some, 2, 0.95);
    assert_close(i.value, 0.5, 0);
    assert_close(i.low, 0.5, 0);
    assert_close(i.high, 0.5, 0);
    i = bootstrap(none, 2, 0.95);
    assert_close(i.value, 0, 0);
    assert_close(i.high - i.low, 0, 0);
    i = bootstrap(none, 0, 0.95);
    assert_close(i.value, 0, 0);
    pr_contrast c = paired(none, none, 2, 1);
    assert_close(c.p, 1, 0);
}

/* Four users, a better by one with each: of 16 ways to swap, 2 give a difference as large. */
static void four_users(void **state)
{
    (void)state;
    const parsrec_share a[] = {{2, 1}, {2, 1}, {2, 1}, {2, 1}},
                        b[] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
    pr_contrast c = paired(a, b, 4, 1);
    assert_close(c.difference.value, 1, 0);
    assert_close(c.difference.low, 1, 0);
    assert_close(c.difference.high, 1, 0);
    assert_close(c.p, 2.0 / 16, 0.025);
    assert_close(paired(b, a, 4, 1).difference.value, -1, 0);
    assert_close(paired(b, a, 4, 1).p, c.p, 0);
    assert_close(paired(a, a, 4, 1).p, 1, 0);
}

/* Five users need a second table of swaps. Where the fifth alone differs, every swap gives the same
 * size of difference; differences 1, 1, 1, 1, 4 add up to 8 in 2 of 32 ways. */
static void five_users(void **state)
{
    (void)state;
    const parsrec_share zero[5] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};
    const parsrec_share last[5] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {3, 1}};
    const parsrec_share all[5] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {4, 1}};
    assert_close(paired(last, zero, 5, 1).p, 1, 0);
    assert_close(paired(all, zero, 5, 1).p, 2.0 / 32, 0.02);
}

/* Weights may differ between models, and are swapped with the sums: with none or both users swapped
 * the difference is 2/3, with one of them 1/6. */
static void weights_are_swapped_too(void **state)
{
    (void)state;
    const parsrec_share a[] = {{1, 1}, {1, 1}}, b[] = {{0, 1}, {1, 2}};
    pr_contrast c = paired(a, b, 2, 1);
    assert_close(c.difference.value, 2.0 / 3, 1e-15);
    assert_close(c.p, 0.5, 0.04);
}

/* A difference that no swap reaches has the smallest p there is, not 0. */
static void smallest_p(void **state)
{
    (void)state;
    parsrec_share a[100], b[100];
    for (size_t u = 0; u < 100; u++) {
        a[u] = (parsrec_share){1, 1};
        b[u] = (parsrec_share){0, 1};
    }
    assert_close(paired(a, b, 100, 1).p, 1.0 / 2001, 1e-15);
}

/* ---- what theory says ---- */

enum { STEPS_MOST = 9 };

/* A user with a chance of her own and 1..9 steps; what she hits is a draw. The chance grows with the
 * steps, so that a mean of ratios would be wrong: E[sum] / E[steps] = .1 + .5 · E[n²] / (9 E[n]). */
static parsrec_share simulated_user(pr_stream *s, double better)
{
    uint32_t steps = 1 + pr_stream_below(s, STEPS_MOST);
    double chance = 0.1 + 0.5 * steps / STEPS_MOST + better, hits = 0;
    for (uint32_t i = 0; i < steps; i++)
        hits += pr_stream_unit(s) < chance;
    return (parsrec_share){hits, steps};
}

static double true_rate(void)
{
    double squares = 0, steps = 0;
    for (int n = 1; n <= STEPS_MOST; n++) {
        squares += (double)n * n;
        steps += n;
    }
    return 0.1 + 0.5 * squares / (STEPS_MOST * steps);
}

/* Trials in their hundreds make do with fewer resamples each. */
static int fewer(void **state)
{
    (void)state;
    resamples = 500;
    return 0;
}

static int as_usual(void **state)
{
    (void)state;
    resamples = 2000;
    return 0;
}

/* Of intervals of 95 % about 95 in 100 hold the true value. */
static void coverage(void **state)
{
    (void)state;
    enum { TRIALS = 300, USERS = 60 };
    pr_rng rng = pr_rng_make(11, 0x7E57);
    size_t low = 0, high = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        pr_stream s = pr_stream_at(&rng, trial, 0, 0);
        parsrec_share rows[USERS];
        for (size_t u = 0; u < USERS; u++)
            rows[u] = simulated_user(&s, 0);
        pr_interval i = bootstrap(rows, USERS, 0.95);
        low += true_rate() < i.low;
        high += true_rate() > i.high;
    }
    assert_close((double)(low + high) / TRIALS, 0.05, 0.025);
    assert_close((double)low / TRIALS, 0.025, 0.02);
    assert_close((double)high / TRIALS, 0.025, 0.02);
}

/* The width for hits and misses of 2,000 users is the normal theory's. */
static void width(void **state)
{
    (void)state;
    enum { USERS = 2000 };
    static parsrec_share rows[USERS];
    for (size_t u = 0; u < USERS; u++)
        rows[u] = (parsrec_share){u % 10 < 3, 1};
    pr_interval i = bootstrap(rows, USERS, 0.95);
    double expected = 2 * 1.959964 * sqrt(0.3 * 0.7 / USERS);
    assert_close(i.value, 0.3, 1e-12);
    assert_close((i.high - i.low) / expected, 1, 0.05);
}

/* Between equal models p lies below .05 in about 5 of 100 trials, and a true difference is found. */
static double share_found(double better, double *inside)
{
    enum { TRIALS = 200, USERS = 60 };
    pr_rng rng = pr_rng_make(12, 0x7E57);
    size_t found = 0, held = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        pr_stream s = pr_stream_at(&rng, trial, 0, 0);
        parsrec_share a[USERS], b[USERS];
        for (size_t u = 0; u < USERS; u++) {
            a[u] = simulated_user(&s, better);
            b[u] = simulated_user(&s, 0);
        }
        pr_contrast c = paired(a, b, USERS, trial);
        found += c.p < 0.05;
        held += c.difference.low <= better && better <= c.difference.high;
    }
    *inside = (double)held / TRIALS;
    return (double)found / TRIALS;
}

static void errors_of_the_test(void **state)
{
    (void)state;
    double inside;
    assert_close(share_found(0, &inside), 0.05, 0.03);
    assert_close(inside, 0.95, 0.03);
    assert_true(share_found(0.15, &inside) > 0.8);
    assert_close(inside, 0.95, 0.03);
}

/* ---- the same numbers ---- */

enum { MANY = 1003, MEASURES = 3 };

static void simulate_measures(parsrec_share *rows, uint64_t seed)
{
    pr_rng rng = pr_rng_make(seed, 0x7E57);
    for (uint32_t u = 0; u < MANY; u++) {
        pr_stream s = pr_stream_at(&rng, u, 0, 0);
        for (size_t m = 0; m < MEASURES; m++)
            rows[u * MEASURES + m] = simulated_user(&s, 0.1 * (double)m);
    }
}

/* Any number of threads gives the same bits, and a measure the same alone as among others. */
static void same_bits(void **state)
{
    (void)state;
    static parsrec_share a[MANY * MEASURES], b[MANY * MEASURES], alone[MANY];
    simulate_measures(a, 1);
    simulate_measures(b, 2);
    parsrec_error err = {0};
    pr_pool *three = NULL;
    assert_ok(pr_pool_new(&three, 3, &err));
    pr_resampling how = pr_resampling_default();
    pr_tallies x = {a, MANY, MEASURES}, y = {b, MANY, MEASURES};
    pr_interval i1[MEASURES], i3[MEASURES];
    pr_contrast c1[MEASURES], c3[MEASURES];
    assert_ok(pr_bootstrap(i1, &x, &how, one, &err));
    assert_ok(pr_bootstrap(i3, &x, &how, three, &err));
    assert_ok(pr_paired(c1, &x, &y, &how, one, &err));
    assert_ok(pr_paired(c3, &x, &y, &how, three, &err));
    assert_memory_equal(i1, i3, sizeof i1);
    assert_memory_equal(c1, c3, sizeof c1);
    for (size_t u = 0; u < MANY; u++)
        alone[u] = a[u * MEASURES + 1];
    pr_interval i = bootstrap(alone, MANY, 0.95);
    assert_memory_equal(&i, &i1[1], sizeof i);
    how.seed = 2;
    assert_ok(pr_bootstrap(i3, &x, &how, one, &err));
    assert_true(i3[0].value == i1[0].value && i3[0].low != i1[0].low);
    pr_pool_free(three);
}

static void no_memory(void **state)
{
    (void)state;
    const parsrec_share rows[] = {{1, 2}, {3, 2}};
    pr_tallies t = {rows, 2, 1};
    pr_resampling how = pr_resampling_default();
    parsrec_error err = {0};
    pr_interval i;
    pr_contrast c;
    for (size_t after = 0; after < 2; after++) {
        pr_memory_fail_after(after);
        assert_fails(pr_bootstrap(&i, &t, &how, one, &err), PARSREC_E_MEMORY, "memory");
    }
    for (size_t after = 0; after < 3; after++) {
        pr_memory_fail_after(after);
        assert_fails(pr_paired(&c, &t, &t, &how, one, &err), PARSREC_E_MEMORY, "memory");
    }
    pr_memory_fail_after(SIZE_MAX);
}

/* Numbers that stand in every table of t. */
static void student(void **state)
{
    (void)state;
    assert_close(pr_student_quantile(0.95, 1), 12.7062, 1e-4);
    assert_close(pr_student_quantile(0.95, 2), 4.30265, 1e-5);
    assert_close(pr_student_quantile(0.95, 3), 3.18245, 1e-5);
    assert_close(pr_student_quantile(0.95, 10), 2.22814, 1e-5);
    assert_close(pr_student_quantile(0.99, 5), 4.03214, 1e-5);
    assert_close(pr_student_quantile(0.95, 1000), 1.96234, 1e-5);
    const double values[] = {1, 2, 3, 6};
    pr_interval i = pr_student(values, 4, 0.95);
    assert_close(i.value, 3, 1e-12);
    assert_close(i.high - 3, 3.18244631 * sqrt(14.0 / 3 / 4), 1e-7);
    assert_close(3 - i.low, i.high - 3, 1e-12);
    assert_true(isnan(pr_student(values, 1, 0.95).low));
}

/* Four tests and a row without one: .01 · 4, .02 · 3, .04 · 2 and .05, which may not be less than .08. */
static void holm(void **state)
{
    (void)state;
    const double p[] = {0.04, 0.01, NAN, 0.05, 0.02}, expected[] = {0.08, 0.04, NAN, 0.08, 0.06};
    double corrected[5];
    pr_holm(corrected, p, 5);
    for (size_t i = 0; i < 5; i++)
        if (i == 2)
            assert_true(isnan(corrected[i]));
        else
            assert_close(corrected[i], expected[i], 1e-12);
}

/* Of 1, 2 and 3, t = 2 sqrt 3 with two degrees of freedom, for which p = 1 - t / sqrt(2 + t^2). */
static void seeds_have_a_p(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3}, same[] = {0.5, 0.5}, none[] = {-1, 1};
    double t = 2 * sqrt(3);
    assert_close(pr_student_p(values, 3), 1 - t / sqrt(2 + t * t), 1e-12);
    assert_close(pr_student_p(values, 2), 1 - atan(3) * M_2_PI, 1e-12); /* t = 3, one degree */
    assert_close(pr_student_p(same, 2), 0, 0);
    assert_close(pr_student_p(none, 2), 1, 0);
    assert_true(isnan(pr_student_p(values, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_users),
        cmocka_unit_test(ratio_of_sums),
        cmocka_unit_test(users_without_weight),
        cmocka_unit_test(four_users),
        cmocka_unit_test(five_users),
        cmocka_unit_test(weights_are_swapped_too),
        cmocka_unit_test(smallest_p),
        cmocka_unit_test_setup_teardown(coverage, fewer, as_usual),
        cmocka_unit_test(width),
        cmocka_unit_test_setup_teardown(errors_of_the_test, fewer, as_usual),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(student),
        cmocka_unit_test(holm),
        cmocka_unit_test(seeds_have_a_p),
    };
    if (pr_pool_new(&one, 1, NULL) != PARSREC_OK)
        return 1;
    int failed = cmocka_run_group_tests_name("significance", tests, NULL, NULL);
    pr_pool_free(one);
    return failed;
}
