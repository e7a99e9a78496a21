/* tune: ranges and what is drawn from them. */
#include "support/testing.h"

#include "base/memory.h"
#include "compare/tune.h"

static double drawn(const pr_tune_range *r, size_t trial)
{
    char text[PR_VALUE_SIZE];
    pr_space_draw(text, r, 1, trial, 0);
    return atof(text);
}

static void ranges_are_read(void **state)
{
    (void)state;
    parsrec_error err;
    pr_space s = {0};
    assert_ok(pr_space_add(&s, "rate=0.0001..0.01(log)", &err));
    assert_ok(pr_space_add(&s, "heads=1..4", &err));
    assert_ok(pr_space_add(&s, "loss=ce,bce", &err));
    assert_ok(pr_space_add(&s, "batch=64", &err));
    assert_int_equal(s.count, 3);
    assert_int_equal(s.fixed_count, 1);
    assert_string_equal(s.fixed[0], "batch=64");
    assert_true(s.ranges[0].log && !s.ranges[0].whole);
    assert_close(s.ranges[0].low, 0.0001, 0);
    assert_close(s.ranges[0].high, 0.01, 0);
    assert_true(s.ranges[1].whole && !s.ranges[1].log);
    assert_int_equal(s.ranges[2].word_count, 2);
    assert_string_equal(s.ranges[2].words[1], "bce");
    pr_space_free(&s);
}

/* Of many draws: all within the range, every whole number and word about equally often, logarithms with
 * their middle at the geometric mean. */
static void draws_are_fair(void **state)
{
    (void)state;
    enum { TRIALS = 4000 };
    parsrec_error err;
    pr_space s = {0};
    size_t heads[5] = {0}, words = 0, below = 0, half = 0;
    assert_ok(pr_space_add(&s, "rate=0.0001..0.01(log)", &err));
    assert_ok(pr_space_add(&s, "heads=1..4", &err));
    assert_ok(pr_space_add(&s, "loss=ce,bce", &err));
    assert_ok(pr_space_add(&s, "dropout.keys=0..0.4", &err));
    for (size_t trial = 0; trial < TRIALS; trial++) {
        char text[PR_VALUE_SIZE];
        double rate = drawn(&s.ranges[0], trial), drop = drawn(&s.ranges[3], trial);
        size_t h = (size_t)drawn(&s.ranges[1], trial);
        assert_true(rate >= 0.0001 && rate <= 0.01 && drop >= 0 && drop <= 0.4);
        assert_true(h >= 1 && h <= 4);
        heads[h]++;
        below += rate < 0.001;
        half += drop < 0.2;
        pr_space_draw(text, &s.ranges[2], 1, trial, 0);
        words += strcmp(text, "bce") == 0;
    }
    for (size_t h = 1; h <= 4; h++)
        assert_close((double)heads[h] / TRIALS, 0.25, 0.03);
    assert_close((double)words / TRIALS, 0.5, 0.03);
    assert_close((double)below / TRIALS, 0.5, 0.03);
    assert_close((double)half / TRIALS, 0.5, 0.03);
    pr_space_free(&s);
}

/* What a setting gets does not depend on which others are searched, nor on their order. */
static void draws_are_by_place(void **state)
{
    (void)state;
    parsrec_error err;
    pr_space one = {0}, two = {0};
    char a[PR_VALUE_SIZE], b[PR_VALUE_SIZE], other[PR_VALUE_SIZE];
    assert_ok(pr_space_add(&one, "rate=0.0001..0.01(log)", &err));
    assert_ok(pr_space_add(&two, "heads=1..4", &err));
    assert_ok(pr_space_add(&two, "rate=0.0001..0.01(log)", &err));
    pr_space_draw(a, &one.ranges[0], 7, 3, 0);
    pr_space_draw(b, &two.ranges[1], 7, 3, 0);
    assert_string_equal(a, b);
    pr_space_draw(other, &one.ranges[0], 8, 3, 0);
    assert_string_not_equal(a, other);
    pr_space_draw(other, &one.ranges[0], 7, 3, 1);
    assert_string_not_equal(a, other);
    pr_space_free(&one);
    pr_space_free(&two);
}

static void usual_spaces(void **state)
{
    (void)state;
    static const char *const kinds[] = {"parsrec", "sasrec", "bert4rec"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        parsrec_error err;
        pr_space s = {0};
        assert_ok(pr_space_usual(&s, kinds[i], &err));
        assert_true(s.count >= 4 && s.fixed_count == 0);
        pr_space_free(&s);
    }
}

static void no_memory(void **state)
{
    (void)state;
    parsrec_status status = PARSREC_E_MEMORY;
    for (size_t after = 0; status != PARSREC_OK; after++) {
        parsrec_error err;
        pr_space s = {0};
        pr_memory_fail_after(after);
        status = pr_space_usual(&s, "parsrec", &err);
        pr_memory_fail_after(SIZE_MAX);
        pr_space_free(&s);
        assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_read),    cmocka_unit_test(draws_are_fair),
        cmocka_unit_test(draws_are_by_place), cmocka_unit_test(usual_spaces),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}
