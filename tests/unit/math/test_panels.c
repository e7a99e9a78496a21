/* Maps in panels give what plain products give, row by row; tables in eight bits never lose what could be among
 * the best. */
#include "support/testing.h"

#include "base/memory.h"
#include "base/rng.h"
#include "math/coarse.h"
#include "math/panels.h"
#include "math/topk.h"
#include "math/wide.h"

enum { ROWS = 13, IN = 70, OUT = 200 };

static void draw(pr_real *x, size_t n, uint32_t place, double scale)
{
    pr_rng rng = pr_rng_make(5, 77);
    pr_stream stream = pr_stream_at(&rng, place, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (pr_real)(scale * ((double)pr_stream_below(&stream, 20001) / 10000 - 1));
}

static double product(const pr_real *x, const pr_real *w, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)w[i];
    return sum;
}

static double length_of(const pr_real *x, size_t n)
{
    return sqrt(product(x, x, n));
}

/* ---- panels ---- */

static void panels_are_the_map(size_t I, size_t O)
{
    static pr_real x[ROWS * IN], w[OUT * IN], y[ROWS * OUT], alone[OUT], some[OUT];
    static int32_t ids[OUT];
    pr_real *panels = pr_alloc_aligned(pr_panels_size(I, O), sizeof *panels);
    draw(x, ROWS * I, 1, 1);
    draw(w, O * I, 2, 1);
    pr_panels_make(panels, w, I, I, O);
    for (size_t B = 1; B <= ROWS; B++) {
        for (size_t i = 0; i < B * O; i++)
            y[i] = (pr_real)(i % 7);
        pr_panels_map(y, O, true, x, I, panels, B, I, O);
        for (size_t r = 0; r < B; r++) {
            for (size_t o = 0; o < O; o++) {
                size_t at = r * O + o;
                double expected = (double)(at % 7) + product(x + r * I, w + o * I, I);
                assert_close((double)y[at], expected, 1e-5);
                alone[o] = some[o] = (pr_real)(at % 7);
                ids[o] = (int32_t)o;
            }
            pr_panels_map(alone, O, true, x + r * I, I, panels, 1, I, O);
            pr_panels_add_some(some, x + r * I, w, ids, O, I);
            assert_memory_equal(alone, y + r * O, O * sizeof *y);
            assert_memory_equal(some, y + r * O, O * sizeof *y);
        }
        pr_panels_map(y, O, false, x, I, panels, B, I, O); /* what was there does not count */
        for (size_t r = 0; r < B; r++) {
            memset(alone, 0, sizeof alone);
            pr_panels_map(alone, O, true, x + r * I, I, panels, 1, I, O);
            assert_memory_equal(alone, y + r * O, O * sizeof *y);
        }
    }
    pr_free_aligned(panels);
}

static void panels_of_all_shapes(void **state)
{
    (void)state;
    panels_are_the_map(IN, OUT);
    panels_are_the_map(1, 1);
    panels_are_the_map(3, 64);
    panels_are_the_map(64, 65);
    panels_are_the_map(17, 127);
}

/* ---- eight bits ---- */

typedef struct rounded {
    pr_coarse coarse;
    void *memory;
    int8_t codes[IN + 3];
} rounded;

static void round_table(rounded *r, const pr_real *table, size_t rows, size_t width)
{
    r->memory = pr_alloc_aligned(pr_coarse_bytes(rows, width), 1);
    assert_non_null(r->memory);
    pr_coarse_make(&r->coarse, r->memory, table, rows, width);
}

static void bounds_hold(void **state)
{
    (void)state;
    static pr_real table[OUT * IN], x[IN], least[OUT];
    for (uint32_t round = 0; round < 60; round++) {
        size_t width = 1 + round % IN, rows = 1 + round * 3 % OUT;
        rounded r;
        draw(table, rows * width, round, round % 3 == 0 ? 1e-3 : 20);
        draw(x, width, 1000 + round, round % 4 == 0 ? 100 : 0.1);
        memset(table + rows / 2 * width, 0, width * sizeof *table);
        table[(rows - 1) * width] *= 1000; /* one that is much larger than the rest of its row */
        round_table(&r, table, rows, width);
        pr_coarse_query query = {.codes = r.codes};
        pr_coarse_ask(&query, &r.coarse, x);
        pr_coarse_least(least, &r.coarse, &query);
        for (size_t i = 0; i < rows; i++) {
            double exact = product(x, table + i * width, width);
            double more = 2 * (double)query.slack * (double)r.coarse.steps[i];
            assert_true((double)least[i] <= exact + 1e-12);
            assert_true((double)least[i] + more >= exact - 1e-12);
            assert_true(more <= 3 * length_of(x, width) * length_of(table + i * width, width));
        }
        pr_free_aligned(r.memory);
    }
}

static void what_is_not_a_number_is_told(void **state)
{
    (void)state;
    pr_real table[] = {1, 2, 3, 4}, x[] = {1, (pr_real)NAN};
    rounded r;
    pr_coarse_query query = {.codes = r.codes};
    round_table(&r, table, 2, 2);
    pr_coarse_ask(&query, &r.coarse, x);
    assert_true(isfinite(query.slack) == 0);
    x[1] = (pr_real)INFINITY;
    pr_coarse_ask(&query, &r.coarse, x);
    assert_true(isfinite(query.slack) == 0);
    pr_free_aligned(r.memory);
    table[1] = (pr_real)NAN;
    x[1] = 1;
    round_table(&r, table, 2, 2);
    pr_coarse_ask(&query, &r.coarse, x);
    assert_true(isfinite(query.slack) == 0);
    pr_free_aligned(r.memory);
}

/* ---- the best and what is at least as good ---- */

static void the_best_are_found_in_columns(void **state)
{
    (void)state;
    enum { N = 5000 };
    static pr_real scores[N];
    static int32_t best[N], plain[N];
    for (uint32_t round = 0; round < 80; round++) {
        size_t n = 1 + round * 613 % N, k = 1 + round * 7 % 90;
        draw(scores, n, round, 1);
        for (size_t i = 0; i < n; i++) {
            if (round % 3 == 0) /* many that are equal */
                scores[i] = (pr_real)(int)(scores[i] * 4);
            if (i % 11 == round % 11)
                scores[i] = i % 2 == 0 ? -(pr_real)INFINITY : (pr_real)NAN;
        }
        size_t found = pr_topk(best, scores, n, k);
        assert_int_equal(found, pr_topk_plain(plain, scores, n, k));
        assert_memory_equal(best, plain, found * sizeof *best);
        pr_real bar = found > 0 ? scores[best[found - 1]] : 0;
        size_t reach = pr_at_least(best, scores, n, bar), expected = 0;
        for (size_t i = 0; i < n; i++)
            if (scores[i] >= bar)
                assert_int_equal(best[expected++], i);
        assert_int_equal(reach, expected);
    }
}

static void ranks_are_those_of_the_order(void **state)
{
    (void)state;
    enum { N = 700 };
    static pr_real scores[N];
    static int32_t order[N];
    static size_t ranks[N];
    for (uint32_t round = 0; round < 12; round++) {
        size_t n = 1 + round * 613 % N;
        bool seen[N] = {false};
        draw(scores, n, round, 1);
        for (size_t i = 0; i < n; i++) {
            if (round % 2 == 0) /* many that are equal */
                scores[i] = (pr_real)(int)(scores[i] * 4);
            if (i % 11 == round)
                scores[i] = i % 2 == 0 ? -(pr_real)INFINITY : (pr_real)NAN;
        }
        size_t found = pr_topk_plain(order, scores, n, n);
        pr_topk_ranks(ranks, scores, n, order, found);
        for (size_t i = 0; i < found; i++) {
            assert_int_equal(ranks[i], i + 1);
            seen[order[i]] = true;
        }
        for (size_t i = 0; i < n; i++)
            order[i] = (int32_t)i;
        pr_topk_ranks(ranks, scores, n, order, n);
        for (size_t i = 0; i < n; i++)
            assert_true(seen[i] == (ranks[i] > 0));
    }
}

/* ---- sums of exponents ---- */

static void sums_of_exponents_of_any_length(void **state)
{
    (void)state;
    enum { N = 5000 };
    static pr_real x[N];
    draw(x, N, 3, 8);
    for (size_t n = 0; n < N; n += 1 + n / 7) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += exp((double)x[i] - 4);
        assert_true(fabs(pr_exp_sum(x, 4, n) - sum) <= 2e-6 * sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_of_all_shapes),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(what_is_not_a_number_is_told),
        cmocka_unit_test(the_best_are_found_in_columns),
        cmocka_unit_test(ranks_are_those_of_the_order),
        cmocka_unit_test(sums_of_exponents_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
