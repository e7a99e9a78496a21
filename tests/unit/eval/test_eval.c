/* eval: ranks, gains and candidates against numbers worked out by hand. */
#include "support/testing.h"

#include "eval/candidates.h"
#include "eval/measures.h"

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
    assert_close(pr_ideal(3), 2.1309297535714575, 1e-15); /* 1 + 1 / log2 3 + 1 / 2 */
}

static size_t draw(pr_candidate_sampler *c, uint32_t user, uint32_t session, const int32_t *basket,
                   size_t size, size_t wanted, int32_t *out)
{
    bool seen[8];
    pr_candidate_sampler_begin(c, &(pr_history){0}, basket, size, seen);
    return pr_candidate_sampler_draw(c, user, session, wanted, out);
}

static void candidates_are_different_and_uniform(void **state)
{
    (void)state;
    parsrec_error err;
    pr_candidate_sampler c;
    enum { ITEMS = 50, WANTED = 10, BASKETS = 20000 };
    static const int32_t basket[] = {3, 7, 49};
    int count[ITEMS] = {0};
    int32_t out[ITEMS], again[ITEMS];
    assert_ok(pr_candidate_sampler_init(&c, ITEMS, NULL, 5, false, &err));
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
    pr_candidate_sampler_free(&c);
}

/* Most of the catalogue wanted: the other way of drawing is uniform as well. */
static void dense_candidates_are_uniform(void **state)
{
    (void)state;
    parsrec_error err;
    pr_candidate_sampler c;
    int count[12] = {0};
    int32_t out[12];
    static const int32_t basket[] = {0, 11};
    assert_ok(pr_candidate_sampler_init(&c, 12, NULL, 9, false, &err));
    for (uint32_t b = 0; b < 10000; b++) {
        assert_int_equal(draw(&c, 1, b, basket, 2, 7, out), 7);
        for (int i = 0; i < 7; i++)
            count[out[i]]++;
    }
    assert_int_equal(count[0] + count[11], 0);
    for (int i = 1; i < 11; i++)
        assert_close(count[i], 7000, 200); /* 46 is one standard deviation */
    pr_candidate_sampler_free(&c);
}

/* Three items with 1, 2 and 5 actions, and one that nobody took, which is never drawn. */
static void popular_candidates_follow_the_counts(void **state)
{
    (void)state;
    parsrec_error err;
    pr_candidate_sampler c;
    uint64_t below[] = {0, 1, 1, 3, 8};
    pr_candidate_source source = {.kind = PARSREC_CANDIDATES_POPULAR, .below = below};
    int first[4] = {0};
    int32_t out[4];
    assert_ok(pr_candidate_sampler_init(&c, 4, &source, 5, false, &err));
    for (uint32_t b = 0; b < 8000; b++) {
        assert_int_equal(draw(&c, b, 0, NULL, 0, 1, out), 1);
        first[out[0]]++;
    }
    assert_close(first[0], 1000, 120); /* 30, 39, 43 are one standard deviation */
    assert_int_equal(first[1], 0);
    assert_close(first[2], 2000, 155);
    assert_close(first[3], 5000, 175);
    static const int32_t basket[] = {3};
    assert_int_equal(draw(&c, 1, 0, basket, 1, 4, out), 2);
    assert_int_equal(out[0] + out[1], 0 + 2);
    pr_candidate_sampler_free(&c);
}

/* A user's list in its order, without the basket's items and without repetitions. */
static void listed_candidates_are_taken_as_they_are(void **state)
{
    (void)state;
    parsrec_error err;
    pr_candidate_sampler c;
    int64_t offsets[] = {0, 1, 6};
    int32_t items[] = {9, 4, 7, 4, 2, 5};
    pr_candidate_source source = {
        .kind = PARSREC_CANDIDATES_FILE, .offsets = offsets, .items = items, .longest = 5};
    int32_t out[5];
    static const int32_t basket[] = {7, 3};
    assert_ok(pr_candidate_sampler_init(&c, 10, &source, 5, false, &err));
    assert_int_equal(draw(&c, 1, 0, basket, 2, 5, out), 3);
    assert_int_equal(out[0], 4);
    assert_int_equal(out[1], 2);
    assert_int_equal(out[2], 5);
    assert_int_equal(draw(&c, 0, 0, basket, 2, 5, out), 1);
    assert_int_equal(out[0], 9);
    pr_candidate_sampler_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_count_against_us),
        cmocka_unit_test(gains_fall_with_the_logarithm),
        cmocka_unit_test(candidates_are_different_and_uniform),
        cmocka_unit_test(dense_candidates_are_uniform),
        cmocka_unit_test(popular_candidates_follow_the_counts),
        cmocka_unit_test(listed_candidates_are_taken_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
