/* What dates say, counted by hand: intervals, the calendar, recent sales, and the time of an open
 * basket. */
#include <math.h>

#include "support/testing.h"

#include "model/purchase_times.h"

enum { USERS = 2, ITEMS = 3, SESSIONS = 6, DAY = 86400 };

/* User 0 buys item 0 on days 0, 10 and 30 and item 1 on day 10; user 1 item 1 on days 4 and 8, item 2 on
 * day 51. */
static const int64_t user_offsets[] = {0, 3, SESSIONS};
static const int64_t session_offsets[] = {0, 1, 3, 4, 5, 6, 7};
static const int32_t items[] = {0, 0, 1, 0, 1, 1, 2};
static const int64_t times[] = {0, 10 * DAY, 30 * DAY + 5, 4 * DAY, 8 * DAY, 51 * DAY - 1};

static pr_dataset shop(void)
{
    return (pr_dataset){.users = USERS,
                        .items = ITEMS,
                        .sessions = SESSIONS,
                        .actions = 7,
                        .user_offsets = user_offsets,
                        .session_offsets = session_offsets,
                        .action_items = items,
                        .times = times,
                        .time_kind = PARSREC_TIME_UNIX};
}

typedef struct counted {
    pr_purchase_times times;
    pr_real intervals[ITEMS], calendar[2], trends[PR_PERIODS * ITEMS];
} counted;

static void count(counted *c, const pr_dataset *data)
{
    parsrec_error err;
    pr_counted from = {.data = data, .scope = {.held = 0, .last = 1}};
    c->times = (pr_purchase_times){ITEMS, c->intervals, c->calendar, c->trends};
    assert_ok(pr_purchase_times_count(&c->times, &from, &err));
}

/* Item 0: 10 and 20 days (and 5 seconds); item 1: 4 days, since another user's purchase is not an interval;
 * the mean of all three is 34/3; five of it are added to every item. */
static void intervals_are_shrunk_to_the_mean(void **state)
{
    (void)state;
    pr_dataset data = shop();
    counted c;
    count(&c, &data);
    double mean = 34.0 / 3;
    assert_close(c.intervals[0], (30 + 5 * mean) / 7, 1e-3);
    assert_close(c.intervals[1], (4 + 5 * mean) / 6, 1e-3);
    assert_close(c.intervals[2], mean, 1e-3);
}

/* 51 days in 51 periods of one day; what comes later has the last row. */
static void the_calendar_covers_all_days(void **state)
{
    (void)state;
    pr_dataset data = shop();
    counted c;
    count(&c, &data);
    assert_close(c.calendar[0], 0, 0);
    assert_close(c.calendar[1], 1, 0);
    assert_ptr_equal(pr_trends_at(&c.times, -7 * DAY), c.trends);
    assert_ptr_equal(pr_trends_at(&c.times, 9 * DAY + 1), c.trends + 9 * ITEMS);
    assert_ptr_equal(pr_trends_at(&c.times, 400 * DAY), c.trends + (PR_PERIODS - 1) * ITEMS);
    assert_ptr_equal(pr_trends_at(&c.times, PR_NO_TIME), c.trends + (PR_PERIODS - 1) * ITEMS);
}

/* On day 12 the 28 days before have 2 sales of item 0 and 3 of item 1; of all 7 sales items 0 and 1 have 3
 * each and item 2 has 1. On day 0 nothing was sold yet. */
static void recent_sales_are_compared_with_all(void **state)
{
    (void)state;
    pr_dataset data = shop();
    counted c;
    count(&c, &data);
    const pr_real *now = pr_trends_at(&c.times, 12 * DAY);
    assert_close(now[0], log((2 + 5) / (5.0 * 3 / 7 + 5)), 1e-5);
    assert_close(now[1], log((3 + 5) / (5.0 * 3 / 7 + 5)), 1e-5);
    assert_close(now[2], log((0 + 5) / (5.0 * 1 / 7 + 5)), 1e-5);
    /* On day 40 the sale of day 30 is the only recent one. */
    now = pr_trends_at(&c.times, 40 * DAY);
    assert_close(now[0], log((1 + 5) / (1.0 * 3 / 7 + 5)), 1e-5);
    for (size_t i = 0; i < ITEMS; i++)
        assert_close(pr_trends_at(&c.times, 60)[i], 0, 0);
}

static void a_basket_without_a_date_is_expected(void **state)
{
    (void)state;
    pr_history h = {.times = times, .session_count = 3, .now = PR_NO_TIME};
    assert_true(pr_history_now(&h) == times[2] + times[2] / 2);
    h.session_count = 1;
    assert_true(pr_history_now(&h) == PR_NO_TIME);
    h.now = 77;
    assert_true(pr_history_now(&h) == 77);
    h.session_count = 2;
    assert_close(pr_days_since(&h, 1, 13 * DAY), 3, 1e-6);
    assert_close(pr_days_since(&h, 1, 2 * DAY), 0, 0);
    assert_close(pr_usual_days(20, 3, 8), (20 + 2 * 8) / 4.0, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_shrunk_to_the_mean),
        cmocka_unit_test(the_calendar_covers_all_days),
        cmocka_unit_test(recent_sales_are_compared_with_all),
        cmocka_unit_test(a_basket_without_a_date_is_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
