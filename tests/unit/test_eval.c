/* eval: ranks, gains and candidates against numbers worked out by hand. */
#include "testing.h"

#include "eval/candidates.h"
#include "eval/metrics.h"

static void ties_count_against_us(void **state)
{
    (void)state;
    static const float others[] = {0.5f, 0.6f, 0.4f, NAN, 0.5f};
    assert_int_equal(pr_rank(0.5f, others, 5), 4); /* one above, two equal, one not a number */
    assert_int_equal(pr_rank(0.7f, others, 5), 1);
    assert_int_equal(pr_rank(NAN, others, 5), 5);
    assert_int_equal(pr_rank(0.7f, others, 0), 0);
}

static void gains_fall_with_the_logarithm(void **state)
{
    (void)state;
    assert_close(pr_gain(0, 10), 1, 0);
    assert_close(pr_gain(1, 10), 0.6309297535714575, 1e-15); /* 1 / log2 3 */
    assert_close(pr_gain(2, 10), 0.5, 1e-15);
    assert_close(pr_gain(6, 10), 1.0 / 3, 1e-15);
    assert_close(pr_gain(10, 10), 0, 0);
    assert_close(pr_gain(0, 1), 1, 0);
}

static size_t draw(pr_candidates *c, uint32_t user, uint32_t session, const int32_t *basket,
                   size_t size, size_t wanted, int32_t *out)
{
    bool seen[8];
    pr_candidates_turn(c, &(pr_history){0}, basket, size, seen);
    return pr_candidates_draw(c, user, session, wanted, out);
}

static void candidates_are_different_and_uniform(void **state)
{
    (void)state;
    parsrec_error err;
    pr_candidates c;
    enum { ITEMS = 50, WANTED = 10, BASKETS = 20000 };
    static const int32_t basket[] = {3, 7, 49};
    int count[ITEMS] = {0};
    int32_t out[ITEMS], again[ITEMS];
    assert_ok(pr_candidates_init(&c, ITEMS, 5, false, &err));
    for (uint32_t b = 0; b < BASKETS; b++) {
        assert_int_equal(draw(&c, b, 1, basket, 3, WANTED, out), WANTED);
        bool seen[ITEMS] = {false};
        for (int i = 0; i < WANTED; i++) {
            assert_false(seen[out[i]]);
            seen[out[i]] = true;
            count[out[i]]++;
        }
    }
    double expected = BASKETS * WANTED / 47.0, chi2 = 0;
    for (int i = 0; i < ITEMS; i++) {
        if (i == 3 || i == 7 || i == 49)
            assert_int_equal(count[i], 0);
        else
            chi2 += pow(count[i] - expected, 2) / expected;
    }
    assert_true(chi2 < 82); /* 46 degrees of freedom, one in a thousand; the seed is fixed */
    draw(&c, 17, 4, basket, 3, 40, out);
    draw(&c, 18, 4, basket, 3, 5, again);
    assert_int_equal(draw(&c, 17, 4, basket, 3, 40, again), 40);
    assert_memory_equal(out, again, 40 * sizeof *out);
    assert_int_equal(draw(&c, 0, 0, basket, 3, 1000, out), 47);
    pr_candidates_free(&c);
}

/* Most of the catalogue wanted: the other way of drawing is uniform as well. */
static void dense_candidates_are_uniform(void **state)
{
    (void)state;
    parsrec_error err;
    pr_candidates c;
    int count[12] = {0};
    int32_t out[12];
    static const int32_t basket[] = {0, 11};
    assert_ok(pr_candidates_init(&c, 12, 9, false, &err));
    for (uint32_t b = 0; b < 10000; b++) {
        assert_int_equal(draw(&c, 1, b, basket, 2, 7, out), 7);
        for (int i = 0; i < 7; i++)
            count[out[i]]++;
    }
    assert_int_equal(count[0] + count[11], 0);
    for (int i = 1; i < 11; i++)
        assert_close(count[i], 7000, 200); /* 46 is one standard deviation */
    pr_candidates_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_count_against_us),
        cmocka_unit_test(gains_fall_with_the_logarithm),
        cmocka_unit_test(candidates_are_different_and_uniform),
        cmocka_unit_test(dense_candidates_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
