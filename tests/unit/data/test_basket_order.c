/* data: baskets that a shop sorts, and baskets that it does not. */
#include "support/testing.h"

#include "base/rng.h"
#include "data/basket_order.h"

enum { USERS = 60, SESSIONS = 20, BASKET = 6, ITEMS = 40 };

typedef struct toy {
    pr_dataset data;
    int64_t user_offsets[USERS + 1], session_offsets[USERS * SESSIONS + 1];
    int32_t items[USERS * SESSIONS * BASKET];
} toy;

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Different items of a basket, drawn evenly. */
static void draw_basket(int32_t *items, uint32_t session)
{
    pr_rng rng = pr_rng_make(3, 4);
    pr_stream stream = pr_stream_at(&rng, session, 0, 0);
    int32_t pool[ITEMS];
    for (int32_t i = 0; i < ITEMS; i++)
        pool[i] = i;
    for (uint32_t i = 0; i < BASKET; i++) {
        uint32_t j = i + pr_stream_below(&stream, ITEMS - i);
        items[i] = pool[j];
        pool[j] = pool[i];
    }
}

static void make_toy(toy *t, bool sorted)
{
    for (int u = 0; u <= USERS; u++)
        t->user_offsets[u] = u * SESSIONS;
    for (int s = 0; s <= USERS * SESSIONS; s++)
        t->session_offsets[s] = s * BASKET;
    for (uint32_t s = 0; s < USERS * SESSIONS; s++) {
        draw_basket(t->items + s * BASKET, s);
        if (sorted)
            qsort(t->items + s * BASKET, BASKET, sizeof *t->items, by_number);
    }
    t->data = (pr_dataset){.users = USERS,
                           .items = ITEMS,
                           .sessions = USERS * SESSIONS,
                           .actions = USERS * SESSIONS * BASKET,
                           .user_offsets = t->user_offsets,
                           .session_offsets = t->session_offsets,
                           .action_items = t->items};
}

static pr_order_facts facts_of(toy *t)
{
    parsrec_error err;
    pr_order_facts facts;
    assert_ok(pr_order_count(&facts, &t->data, 1, &err));
    assert_int_equal(facts.pairs, USERS * (SESSIONS - 2) * (BASKET - 1));
    return facts;
}

static void sorted_baskets_are_seen_and_tell_nothing(void **state)
{
    (void)state;
    static toy t;
    make_toy(&t, true);
    pr_order_facts sorted = facts_of(&t);
    assert_int_equal(pr_order_found(&sorted), PARSREC_ORDER_FIXED);
    assert_close(pr_order_fixed_share(&sorted), 1, 0);
    assert_false(pr_order_informative(&sorted));
    make_toy(&t, false);
    pr_order_facts drawn = facts_of(&t);
    assert_int_equal(pr_order_found(&drawn), PARSREC_ORDER_FREE);
    assert_true(pr_order_fixed_share(&drawn) < 0.02);
    assert_false(pr_order_informative(&drawn));
    assert_true(drawn.others > 1000); /* it was not for want of pairs */
    assert_close((double)drawn.neighbours / (double)drawn.others, 1, 0.05);
}

/* A habit of people: the basket comes in one of a few orders that they have, so neighbours repeat, and yet
 * every pair stands in both orders. */
static void habits_tell(void **state)
{
    (void)state;
    static toy t;
    make_toy(&t, true);
    for (uint32_t s = 0; s < USERS * SESSIONS; s++) {
        int32_t *items = t.items + s * BASKET;
        for (size_t i = 0; s % 2 == 1 && i < BASKET / 2; i++) {
            int32_t swap = items[i];
            items[i] = items[BASKET - 1 - i];
            items[BASKET - 1 - i] = swap;
        }
    }
    pr_order_facts facts = facts_of(&t);
    assert_int_equal(pr_order_found(&facts), PARSREC_ORDER_FREE);
    assert_true(pr_order_informative(&facts));
}

static void columns_that_sort_are_named(void **state)
{
    (void)state;
    pr_order_facts f = {.compared = {200, 200, 200}, .ascending = {199, 100, 100}};
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_NUMBER);
    f = (pr_order_facts){.compared = {0, 200, 200}, .ascending = {0, 3, 100}}; /* descending */
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_KEY);
    assert_close(pr_order_sorted_share(&f), 0.985, 1e-9);
    f = (pr_order_facts){.compared = {200, 200, 200}, .ascending = {120, 90, 200}};
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_NAME);
    /* Sorted by quantity first: product numbers ascend where quantities are equal. */
    f = (pr_order_facts){.compared = {200, 200, 200},
                         .ascending = {150, 100, 100},
                         .repeated = 100,
                         .neighbours = 900,
                         .others = 100};
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_NUMBER);
    assert_false(pr_order_informative(&f));
    f.ascending[0] = 149;
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_FREE);
    f = (pr_order_facts){.compared = {50, 50, 50}, .ascending = {50, 50, 50}};
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_UNKNOWN);
    f = (pr_order_facts){.frequent = 100, .fixed = 20, .repeated = 100};
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_FIXED);
    f = (pr_order_facts){.frequent = 100, .fixed = 19, .repeated = 100};
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_FREE);
    /* Few frequent pairs: those that met twice decide, if there are enough. */
    f = (pr_order_facts){
        .frequent = 2, .fixed = 2, .repeated = 20, .compared_baskets = 50, .kept = 40};
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_FIXED);
    f.kept = 39;
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_FREE);
    f.repeated = 19;
    assert_int_equal(pr_order_found(&f), PARSREC_ORDER_UNKNOWN);
}

static pr_order_facts facts_of_small(toy *t, size_t users)
{
    parsrec_error err;
    pr_order_facts facts;
    t->data.users = users;
    t->data.sessions = users * SESSIONS;
    t->data.actions = users * SESSIONS * BASKET;
    assert_ok(pr_order_count(&facts, &t->data, 1, &err));
    return facts;
}

/* Six users: no pair meets ten times, and yet a sort is seen and free baskets are not taken for one. */
static void small_shops_are_judged_too(void **state)
{
    (void)state;
    static toy t;
    make_toy(&t, true);
    pr_order_facts sorted = facts_of_small(&t, 6);
    assert_true(sorted.frequent < 20);
    assert_int_equal(pr_order_found(&sorted), PARSREC_ORDER_FIXED);
    assert_close(pr_order_kept_share(&sorted), 1, 0);
    make_toy(&t, false);
    pr_order_facts drawn = facts_of_small(&t, 6);
    assert_int_equal(pr_order_found(&drawn), PARSREC_ORDER_FREE);
    assert_close(pr_order_kept_share(&drawn), 0.5, 0.1);
}

static void little_data_tell_nothing(void **state)
{
    (void)state;
    const pr_order_facts few = {.neighbours = 90, .others = 10, .pairs = 100};
    const pr_order_facts clear = {.neighbours = 900, .others = 100, .pairs = 1000, .repeated = 100};
    const pr_order_facts slight = {
        .neighbours = 110, .others = 100, .pairs = 1000, .repeated = 100};
    const pr_order_facts unknown = {.neighbours = 900, .others = 100, .pairs = 1000};
    assert_false(pr_order_informative(&few));
    assert_true(pr_order_informative(&clear));
    assert_false(pr_order_informative(&slight));
    assert_false(pr_order_informative(&unknown));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_baskets_are_seen_and_tell_nothing),
        cmocka_unit_test(habits_tell),
        cmocka_unit_test(columns_that_sort_are_named),
        cmocka_unit_test(small_shops_are_judged_too),
        cmocka_unit_test(little_data_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
