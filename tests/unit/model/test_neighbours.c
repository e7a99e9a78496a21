/* neighbours and families: the regression by its definition, expectations worked out by hand, families
 * that are plain to see, and broken links. */
#include <math.h>
#include <stdlib.h>

#include "support/numbers.h"
#include "support/toy_shop.h"

#include "base/memory.h"
#include "math/wide.h"
#include "model/families.h"

enum { USERS = 60, ITEMS = 12, RIDGE = 200 };

/* ---- the regression ---- */

static toy_shop shop_of(void)
{
    return toy_make((toy_sizes){
        .users = USERS, .items = ITEMS, .least = 5, .spread = 9, .sizes = 5, .fixed = 0});
}

/* x[user,item]: roots of counts, over all sessions. */
static void count_roots(double (*x)[ITEMS], const pr_dataset *data)
{
    for (size_t u = 0; u < USERS; u++) {
        int64_t end = data->session_offsets[data->user_offsets[u + 1]];
        for (int64_t a = data->session_offsets[data->user_offsets[u]]; a < end; a++)
            x[u][data->action_items[a]] += 1;
        for (size_t v = 0; v < ITEMS; v++)
            x[u][v] = sqrt(x[u][v]);
    }
}

static double scale_of(const double *x)
{
    double actions = 0;
    for (size_t v = 0; v < ITEMS; v++)
        actions += x[v] * x[v];
    return sqrt(actions);
}

/* Gauss with pivots is not needed: the matrix is positive. */
static void solve(double *y, double (*m)[ITEMS], size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            double f = m[i][k] / m[k][k];
            if (i == k)
                continue;
            for (size_t j = 0; j < n; j++)
                m[i][j] -= f * m[k][j];
            y[i] -= f * y[k];
        }
    for (size_t k = 0; k < n; k++)
        y[k] /= m[k][k];
}

/* What the counts of all other items lead to expect of item v, for each user. */
static void foretell(double *out, double (*x)[ITEMS], size_t v)
{
    double level[ITEMS] = {0}, scales = 0, m[ITEMS][ITEMS] = {{0}}, y[ITEMS] = {0};
    static double rest[USERS][ITEMS];
    for (size_t u = 0; u < USERS; u++)
        for (size_t i = 0; i < ITEMS; i++)
            level[i] += scale_of(x[u]) * x[u][i];
    for (size_t u = 0; u < USERS; u++)
        scales += scale_of(x[u]) * scale_of(x[u]);
    for (size_t u = 0; u < USERS; u++)
        for (size_t i = 0; i < ITEMS; i++)
            rest[u][i] = x[u][i] - scale_of(x[u]) * level[i] / scales;
    for (size_t i = 0; i < ITEMS; i++) {
        for (size_t j = 0; j < ITEMS; j++)
            for (size_t u = 0; u < USERS && i != v && j != v; u++)
                m[i][j] += rest[u][i] * rest[u][j];
        m[i][i] += RIDGE;
        for (size_t u = 0; u < USERS && i != v; u++)
            y[i] += rest[u][i] * rest[u][v];
    }
    solve(y, m, ITEMS);
    for (size_t u = 0; u < USERS; u++) {
        out[u] = scale_of(x[u]) * level[v] / scales;
        for (size_t i = 0; i < ITEMS; i++)
            out[u] += y[i] * rest[u][i];
    }
}

typedef struct links {
    pr_near near;
    uint32_t ends[ITEMS], to[ITEMS * ITEMS];
    pr_real weights[ITEMS * ITEMS], base[ITEMS];
} links;

static void empty_links(links *l)
{
    *l = (links){.ends = {0}};
    l->near = (pr_near){ITEMS, l->ends, l->to, l->weights, l->base};
}

static parsrec_status count_links(links *l, size_t K, const pr_dataset *data, unsigned threads,
                                  parsrec_error *err)
{
    pr_pool *pool;
    empty_links(l);
    PR_TRY(pr_pool_new(&pool, threads, err));
    pr_counted from = {.data = data, .pool = pool};
    parsrec_status status = pr_near_count(&l->near, K, &from, err);
    pr_pool_free(pool);
    return status;
}

/* The past of one user, as items with their counts. */
static size_t past_of(int32_t *items, pr_real *counts, const double *x)
{
    size_t n = 0;
    for (int32_t v = 0; v < ITEMS; v++)
        if (x[v] > 0) {
            counts[n] = (pr_real)(x[v] * x[v]);
            items[n++] = v;
        }
    return n;
}

static void links_are_a_regression(void **state)
{
    (void)state;
    toy_shop shop = shop_of();
    static double x[USERS][ITEMS];
    double told[USERS];
    links l;
    parsrec_error err;
    count_roots(x, &shop.data);
    assert_ok(count_links(&l, ITEMS - 1, &shop.data, 2, &err));
    assert_ok(pr_near_verify(&l.near, ITEMS - 1, &err));
    for (size_t v = 0; v < ITEMS; v++) {
        foretell(told, x, v);
        for (size_t u = 0; u < USERS; u++) {
            int32_t items[ITEMS];
            pr_real counts[ITEMS], row[ITEMS];
            size_t n = past_of(items, counts, x[u]);
            pr_near_expect(row, &l.near, items, counts, 1, n);
            double expected = told[u] > 0 ? told[u] : 0;
            assert_close(exp((double)row[v]), x[u][v] * x[u][v] + expected + 1.0 / 64, 2e-5);
        }
    }
    toy_free(&shop);
}

static void links_do_not_depend_on_threads(void **state)
{
    (void)state;
    toy_shop shop = shop_of();
    links one, three;
    parsrec_error err;
    assert_ok(count_links(&one, 3, &shop.data, 1, &err));
    assert_ok(count_links(&three, 3, &shop.data, 3, &err));
    assert_memory_equal(one.ends, three.ends, sizeof one.ends);
    assert_memory_equal(one.to, three.to, sizeof one.to);
    assert_memory_equal(one.weights, three.weights, sizeof one.weights);
    assert_memory_equal(one.base, three.base, sizeof one.base);
    assert_true(one.ends[ITEMS - 1] > ITEMS);
    toy_free(&shop);
}

static void expectations_by_hand(void **state)
{
    (void)state;
    links l;
    empty_links(&l);
    int32_t items[] = {2, 5};
    pr_real counts[] = {9, 99, 7, 99}, row[ITEMS]; /* every other one */
    for (size_t v = 0; v < ITEMS; v++)
        l.ends[v] = v < 2 ? 0 : v < 5 ? 2 : 3; /* item 2 leads to 0 and 5, item 5 to 1 */
    l.to[0] = 0, l.to[1] = 5, l.to[2] = 1;
    l.weights[0] = (pr_real)0.5, l.weights[1] = (pr_real)0.25, l.weights[2] = -1;
    l.base[3] = (pr_real)0.125;
    pr_near_expect(row, &l.near, items, counts, 2, 2);
    assert_close(row[0], log(1.5 + 1.0 / 64), 1e-6);       /* 0.5 · root of 9 */
    assert_close(row[1], log(1.0 / 64), 1e-6);             /* nothing is less than none */
    assert_close(row[2], log(9 + 1.0 / 64), 1e-6);         /* bought nine times */
    assert_close(row[3], log(0.125 * 4 + 1.0 / 64), 1e-6); /* 16 actions */
    assert_close(row[5], log(7 + 0.75 + 1.0 / 64), 1e-6);
    pr_near_expect(row, &l.near, NULL, counts, 1, 0); /* of somebody without a past nothing */
    for (size_t v = 0; v < ITEMS; v++)
        assert_close(row[v], log(1.0 / 64), 1e-6);
}

/* What is worked out for few items has the bits of what is worked out for all. */
static void few_expectations_have_the_same_bits(void **state)
{
    (void)state;
    toy_shop shop = shop_of();
    static double x[USERS][ITEMS];
    links l;
    parsrec_error err;
    count_roots(x, &shop.data);
    assert_ok(count_links(&l, 3, &shop.data, 1, &err));
    size_t others = 0;
    for (size_t u = 0; u < USERS; u++) {
        int32_t items[ITEMS], slots[ITEMS] = {0}, few_items[ITEMS];
        pr_real counts[ITEMS], row[ITEMS], all[ITEMS], values[ITEMS];
        pr_near_few few = {.items = few_items, .values = values};
        size_t n = past_of(items, counts, x[u]);
        pr_near_expect(row, &l.near, items, counts, 1, n);
        pr_near_expect_few(&few, slots, &l.near, items, counts, n);
        assert_memory_equal(few_items, items, n * sizeof *items);
        pr_near_expect_all(all, &l.near, &few);
        assert_memory_equal(all, row, sizeof row);
        for (size_t i = 0; i < few.count; i++)
            slots[few_items[i]] = 1;
        for (int32_t v = 0; v < ITEMS; v++) {
            pr_real other = pr_near_expect_other(&l.near, few.level, v);
            others += slots[v] == 0;
            assert_true(slots[v] != 0 || other == row[v]);
        }
    }
    assert_true(others > 0);
    toy_free(&shop);
}

static void logarithms_are_those_of_libm(void **state)
{
    (void)state;
    for (double x = 1e-30; x < 1e30; x *= 1.00173) {
        double true_log = log((double)(float)x);
        assert_close(pr_ln((pr_real)x), true_log, 3e-7 * (fabs(true_log) > 1 ? fabs(true_log) : 1));
    }
}

static void broken_links_are_found(void **state)
{
    (void)state;
    links l;
    parsrec_error err;
    empty_links(&l);
    l.ends[ITEMS - 1] = 2;
    assert_ok(pr_near_verify(&l.near, 3, &err));
    l.to[1] = ITEMS;
    assert_fails(pr_near_verify(&l.near, 3, &err), PARSREC_E_FORMAT, "leads to no item");
    l.to[1] = 0, l.ends[3] = 5;
    assert_fails(pr_near_verify(&l.near, 3, &err), PARSREC_E_FORMAT, "end nowhere");
    l.ends[3] = 0, l.ends[ITEMS - 1] = 3 * ITEMS + 1;
    assert_fails(pr_near_verify(&l.near, 3, &err), PARSREC_E_FORMAT, "end nowhere");
}

/* ---- families ---- */

static int32_t top_of(const pr_families *f, int32_t item)
{
    int32_t q = f->item_family[item];
    while (q >= 0 && f->parent[q] >= 0) {
        assert_true(f->parent[q] < q); /* parents before children */
        q = f->parent[q];
    }
    return q;
}

/* Items 0 to 4 are linked in a ring, so are 5 to 9; one weak link leads across; 10 and 11 are alone,
 * the one with a link that speaks against it. */
static void families_are_those_one_sees(void **state)
{
    (void)state;
    links l;
    parsrec_error err;
    pr_families f;
    empty_links(&l);
    uint32_t at = 0;
    for (uint32_t v = 0; v < ITEMS; v++) {
        uint32_t first = v / 5 * 5;
        for (uint32_t hop = 1; v < 10 && hop < 3; hop++, at++) {
            l.to[at] = first + (v - first + hop) % 5;
            l.weights[at] = 1;
        }
        if (v == 0 || v == 10) {
            l.to[at] = 5;
            l.weights[at++] = v == 0 ? (pr_real)0.1 : -1;
        }
        l.ends[v] = at;
    }
    assert_ok(pr_families_find(&f, &l.near, &err));
    for (int32_t v = 1; v < 10; v++)
        assert_int_equal(top_of(&f, v) == top_of(&f, 0), v < 5);
    for (int32_t v = 6; v < 10; v++)
        assert_int_equal(top_of(&f, v), top_of(&f, 5));
    for (int32_t v = 0; v < 11; v++)
        assert_int_not_equal(top_of(&f, v), top_of(&f, 11));
    assert_int_not_equal(top_of(&f, 10), top_of(&f, 5));
    pr_families_free(&f);
}

static void without_links_there_are_no_families(void **state)
{
    (void)state;
    links l;
    parsrec_error err;
    pr_families f;
    empty_links(&l);
    assert_ok(pr_families_find(&f, &l.near, &err));
    assert_int_equal(f.count, 0);
    for (size_t v = 0; v < ITEMS; v++)
        assert_int_equal(f.item_family[v], -1);
    pr_families_free(&f);
}

/* ---- no memory ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    toy_shop shop = shop_of();
    links l;
    parsrec_error err;
    pr_families f = {0};
    parsrec_status status = PARSREC_E_MEMORY;
    for (size_t n = 0; status != PARSREC_OK; n++) {
        pr_memory_fail_after(n);
        status = count_links(&l, 3, &shop.data, 1, &err);
        if (status == PARSREC_OK)
            status = pr_families_find(&f, &l.near, &err);
        pr_memory_fail_after(SIZE_MAX);
        assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
        assert_true(n < 1000);
    }
    pr_families_free(&f);
    toy_free(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_a_regression),
        cmocka_unit_test(links_do_not_depend_on_threads),
        cmocka_unit_test(expectations_by_hand),
        cmocka_unit_test(few_expectations_have_the_same_bits),
        cmocka_unit_test(logarithms_are_those_of_libm),
        cmocka_unit_test(broken_links_are_found),
        cmocka_unit_test(families_are_those_one_sees),
        cmocka_unit_test(without_links_there_are_no_families),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
