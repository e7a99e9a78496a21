/* The search never passes over a row that can be among the best: tables with a spectrum, groups, terms
 * by block and by row, bars that rise, ties, tables that it must refuse. */
#include "support/testing.h"

#include "base/memory.h"
#include "base/rng.h"
#include "math/eigen.h"
#include "math/search.h"
#include "math/topk.h"

enum { ROWS = 1000, GROUPS = 3, WIDTH_MOST = 70, BEST = 7 };

typedef struct made {
    pr_search search;
    pr_search_query query;
    pr_arena memory, own;
    bool fit;
} made;

static void draw(pr_real *x, size_t n, uint32_t place)
{
    pr_rng rng = pr_rng_make(5, 78);
    pr_stream stream = pr_stream_at(&rng, place, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (pr_real)((double)pr_stream_below(&stream, 20001) / 10000 - 1);
}

/* Columns get smaller; every tenth row repeats an earlier one, for ties. */
static void draw_table(pr_real *table, size_t width)
{
    draw(table, ROWS * width, 1);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < width; i++)
            table[r * width + i] =
                r % 10 == 9 ? table[(r - 9) * width + i]
                            : (pr_real)0.3 + table[r * width + i] / (pr_real)(1 + i % 13);
}

static void make(made *m, const pr_real *table, size_t width, const uint32_t *group,
                 const pr_real *key)
{
    parsrec_error err;
    size_t blocks = pr_search_blocks(group, ROWS, group != NULL ? GROUPS : 1);
    pr_arena counter = pr_arena_counter();
    pr_search_take(&m->search, &counter, ROWS, width, blocks);
    assert_ok(pr_arena_init(&m->memory, counter.used, &err));
    pr_search_take(&m->search, &m->memory, ROWS, width, blocks);
    assert_ok(pr_search_make(&m->search, &m->fit, table, group, key, &err));
    counter = pr_arena_counter();
    pr_search_query_take(&m->query, &counter, &m->search);
    assert_ok(pr_arena_init(&m->own, counter.used, &err));
    pr_search_query_take(&m->query, &m->own, &m->search);
}

static void drop(made *m)
{
    pr_arena_free(&m->memory);
    pr_arena_free(&m->own);
}

static pr_real score_of(const pr_real *table, const pr_real *x, const pr_real *term, size_t width,
                        size_t row)
{
    pr_real sum = 0;
    for (size_t i = 0; i < width; i++)
        sum += table[row * width + i] * x[i];
    return sum + term[row];
}

/* Every third question bars rows and has rows with terms of their own. */
static void assert_best(made *m, const pr_real *table, size_t width, const pr_real *key,
                        uint32_t number)
{
    static pr_real x[WIDTH_MOST], term[ROWS], scores[ROWS], all[ROWS];
    static uint8_t barred[ROWS], seen[ROWS];
    int32_t some[PR_SEARCH_ROOM], best[BEST], expected[BEST];
    pr_topk_heap heap = {best, scores, 0, BEST};
    bool special = number % 3 == 2;
    draw(x, width, 100 + number);
    memset(seen, 0, sizeof seen);
    for (size_t r = 0; r < ROWS; r++) {
        barred[r] = special && (r + number) % 4 != 0;
        term[r] = key[r] + (special && r % 50 == 7 ? (pr_real)2.5 : 0);
        all[r] = barred[r] ? -(pr_real)INFINITY : score_of(table, x, term, width, r);
    }
    assert_true(pr_search_ask(&m->query, x, barred));
    pr_search_extremes(m->query.rest, NULL, &m->search, key);
    pr_search_bound(&m->query);
    for (size_t r = 7; special && r < ROWS; r += 50)
        pr_search_own(&m->query, (int32_t)r, term[r], pr_topk_least(&heap));
    for (size_t n; (n = pr_search_next(&m->query, pr_topk_least(&heap), some)) > 0;)
        for (size_t i = 0; i < n; i++) {
            assert_true(n <= PR_SEARCH_ROOM && barred[some[i]] == 0 && seen[some[i]]++ == 0);
            scores[some[i]] = all[some[i]];
            pr_topk_offer(&heap, (size_t)some[i]);
        }
    pr_search_end(&m->query);
    size_t count = pr_topk_finish(&heap);
    assert_int_equal(count, pr_topk_plain(expected, all, ROWS, BEST));
    assert_memory_equal(best, expected, count * sizeof *best);
}

static void the_best_are_never_passed_over(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 3, 4, 8, 17, 32, 64, 70};
    static pr_real table[ROWS * WIDTH_MOST], key[ROWS];
    static uint32_t group[ROWS];
    size_t found = 0, asked = 0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int grouped = 0; grouped < 2; grouped++) {
            made m;
            draw_table(table, widths[w]);
            draw(key, ROWS, 3);
            for (size_t r = 0; r < ROWS; r++) {
                group[r] = (uint32_t)(r % 7 % GROUPS);
                key[r] = (pr_real)(grouped ? 2 : 0) * key[(r / 10) * 10]; /* alike where rows are */
            }
            make(&m, table, widths[w], grouped ? group : NULL, key);
            assert_true(m.fit);
            for (size_t b = 0; grouped && b < m.search.blocks; b++)
                for (size_t i = 0; i < PR_SEARCH_BLOCK; i++) {
                    int32_t row = m.search.items[b * PR_SEARCH_BLOCK + i];
                    assert_true(row < 0 || group[row] == m.search.groups[b]);
                }
            for (uint32_t n = 0; n < 60; n++) {
                assert_best(&m, table, widths[w], key, n);
                found += m.query.found;
                asked++;
            }
            drop(&m);
        }
    assert_true(found < asked * ROWS / 4); /* most rows are proven away */
}

static void what_is_not_finite_is_refused(void **state)
{
    (void)state;
    static pr_real table[ROWS * 8], key[ROWS], x[8];
    static uint8_t barred[ROWS];
    made m;
    draw_table(table, 8);
    make(&m, table, 8, NULL, key);
    assert_true(m.fit);
    x[3] = (pr_real)NAN;
    assert_false(pr_search_ask(&m.query, x, barred));
    x[3] = (pr_real)INFINITY;
    assert_false(pr_search_ask(&m.query, x, barred));
    drop(&m);
    table[77] = (pr_real)INFINITY;
    make(&m, table, 8, NULL, key);
    assert_false(m.fit);
    drop(&m);
    table[77] = 0;
    key[5] = (pr_real)NAN;
    make(&m, table, 8, NULL, key);
    assert_false(m.fit);
    drop(&m);
}

static void rows_that_are_all_alike_are_found(void **state)
{
    (void)state;
    static pr_real table[ROWS * 8], key[ROWS];
    made m;
    make(&m, table, 8, NULL, key); /* all zero: every row ties with all others */
    assert_true(m.fit);
    assert_best(&m, table, 8, key, 0);
    assert_best(&m, table, 8, key, 2);
    drop(&m);
}

static void eigenvectors_turn_a_matrix_into_a_diagonal(void **state)
{
    (void)state;
    enum { N = 9 };
    pr_real drawn[N * N];
    double m[N * N], copy[N * N], vectors[N * N], values[N];
    draw(drawn, N * N, 9);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            copy[i * N + j] = m[i * N + j] = (double)(drawn[i * N + j] + drawn[j * N + i]);
    pr_symmetric_eigen(values, vectors, m, N);
    for (size_t a = 0; a < N; a++) {
        assert_true(a == 0 || values[a] <= values[a - 1]);
        for (size_t b = 0; b < N; b++) {
            double dot = 0, form = 0;
            for (size_t i = 0; i < N; i++) {
                dot += vectors[a * N + i] * vectors[b * N + i];
                for (size_t j = 0; j < N; j++)
                    form += vectors[a * N + i] * copy[i * N + j] * vectors[b * N + j];
            }
            assert_close(dot, a == b ? 1 : 0, 1e-12);
            assert_close(form, a == b ? values[a] : 0, 1e-10);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_are_never_passed_over),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(rows_that_are_all_alike_are_found),
        cmocka_unit_test(eigenvectors_turn_a_matrix_into_a_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
