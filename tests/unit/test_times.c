/* Times of tables: what is read, what is refused, and days, weeks and months. */
#include "testing.h"

#include <time.h>

#include "base/rng.h"
#include "data/times.h"

static void dates_become_seconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"1970-01-01", 0},
        {"1969-12-31T23:59:59", -1},
        {"2010-03-02", 1267488000},
        {"2010-03-02T13:08:00", 1267535280},
        {"2010-03-02 13:08", 1267535280},
        {"2010-03-02t13:08:00.999z", 1267535280},
        {"2010-03-02T13:08:00,5Z", 1267535280},
        {"2010-03-02T13:08:00+01:00", 1267531680},
        {"2010-03-02T13:08:00-0530", 1267555080},
        {"2010-03-02T13:08+02", 1267528080},
        {" 2000-02-29 ", 951782400},
        {"0001-01-01", -62135596800},
        {"9999-12-31T23:59:59Z", 253402300799},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_time_form form;
        int64_t value;
        assert_null(pr_time_parse(pr_slice_of(cases[i].text), &form, &value));
        assert_int_equal(form, PR_TIME_DATE);
        assert_true(value == cases[i].seconds);
    }
}

/* libc's calendar is an independent judge. */
static void random_days_agree_with_libc(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(1, 5);
    for (uint32_t n = 0; n < 20000; n++) {
        pr_stream s = pr_stream_at(&rng, n, 0, 0);
        time_t t = (time_t)(pr_stream_unit(&s) * 315e9) - 62135596800;
        struct tm tm, next;
        char text[64];
        pr_time_form form;
        int64_t value;
        gmtime_r(&t, &tm);
        snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        assert_null(pr_time_parse(pr_slice_of(text), &form, &value));
        assert_true(value == t);
        time_t later = t + pr_stream_below(&s, 40) * 86400;
        gmtime_r(&later, &next);
        bool same_month = tm.tm_year == next.tm_year && tm.tm_mon == next.tm_mon;
        bool same_day = same_month && tm.tm_mday == next.tm_mday;
        assert_int_equal(pr_time_period(t, PARSREC_SESSION_MONTH) ==
                             pr_time_period(later, PARSREC_SESSION_MONTH),
                         same_month);
        assert_int_equal(pr_time_period(t, PARSREC_SESSION_DAY) ==
                             pr_time_period(later, PARSREC_SESSION_DAY),
                         same_day);
        /* A week ends when its Monday comes: days since Monday fall. */
        int days = (int)((later - t) / 86400);
        bool same_week = (tm.tm_wday + 6) % 7 + days < 7;
        assert_int_equal(pr_time_period(t, PARSREC_SESSION_WEEK) ==
                             pr_time_period(later, PARSREC_SESSION_WEEK),
                         same_week);
    }
}

static void wrong_times_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"soon", "neither a number nor a date"},
        {"2010-3-2", "neither a number nor a date"},
        {"2010-00-01", "a month outside"},
        {"2010-13-01", "a month outside"},
        {"2010-02-29", "a day that its month does not have"},
        {"2010-04-31", "a day that its month does not have"},
        {"1900-02-29", "a day that its month does not have"},
        {"0000-01-01", "no year 0"},
        {"2010-03-02T24:00:00", "a time of day outside"},
        {"2010-03-02T10:60", "a time of day outside"},
        {"2010-03-02T10:00:60", "a time of day outside"},
        {"2010-03-02T", "no time of day"},
        {"2010-03-02T10:00:5", "seconds that are not two digits"},
        {"2010-03-02T10:00:05.", "no digits after the point"},
        {"2010-03-02T10:00:00+25:00", "a zone outside"},
        {"2010-03-02T10:00:00+1", "a zone is Z or"},
        {"2010-03-02T10:00:00+01:0", "a zone that is not"},
        {"2010-03-02T10:00:00Zz", "goes on after its end"},
        {"2010-03-02x", "goes on after its date"},
        {"1.5", "only Unix seconds may have"},
        {"1.x", "neither a number nor a date"},
        {"99999999999999999999", "neither a number in range"},
        {"-", "neither a number in range"},
        {"1e9", "neither a number nor a date"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_time_form form;
        int64_t value;
        const char *problem = pr_time_parse(pr_slice_of(cases[i][0]), &form, &value);
        if (problem == NULL || strstr(problem, cases[i][1]) == NULL)
            fail_msg("'%s': '%s', expected '%s'", cases[i][0], problem != NULL ? problem : "read",
                     cases[i][1]);
    }
}

static void numbers_are_seconds_or_only_order(void **state)
{
    (void)state;
    pr_time_form form;
    int64_t value;
    assert_null(pr_time_parse(pr_slice_of("-7"), &form, &value));
    assert_true(form == PR_TIME_NUMBER && value == -7);
    assert_null(pr_time_parse(pr_slice_of("3.00"), &form, &value));
    assert_true(form == PR_TIME_NUMBER && value == 3);
    assert_null(pr_time_parse(pr_slice_of("874965478.75"), &form, &value));
    assert_true(form == PR_TIME_NUMBER && value == 874965478);
    assert_null(pr_time_parse(pr_slice_of("  "), &form, &value));
    assert_int_equal(form, PR_TIME_EMPTY);
    assert_int_equal(pr_time_kind(PR_TIME_EMPTY, 0, 0), PARSREC_TIME_NONE);
    assert_int_equal(pr_time_kind(PR_TIME_DATE, 0, 5), PARSREC_TIME_UNIX);
    assert_int_equal(pr_time_kind(PR_TIME_NUMBER, 1, 100), PARSREC_TIME_ORDINAL);
    assert_int_equal(pr_time_kind(PR_TIME_NUMBER, 874724710, 893286638), PARSREC_TIME_UNIX);
    assert_int_equal(pr_time_kind(PR_TIME_NUMBER, 5, 893286638), PARSREC_TIME_ORDINAL);
    assert_int_equal(pr_time_kind(PR_TIME_NUMBER, 1267488000000, 1267488000001),
                     PARSREC_TIME_ORDINAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_become_seconds),
        cmocka_unit_test(random_days_agree_with_libc),
        cmocka_unit_test(wrong_times_are_named),
        cmocka_unit_test(numbers_are_seconds_or_only_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
