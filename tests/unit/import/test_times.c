/* Times of tables: what is read, what is refused, and days, weeks and months. */
#include "support/testing.h"

#include <time.h>

#include "base/rng.h"
#include "import/times.h"

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
        {"2010-03-02 13:08:00 UTC", 1267535280},
        {"2010-03-02 13:08:00.25 GMT", 1267535280},
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
        {"2010-03-02 13:08 UTC+1", "more text after its end"},
        {"2010-03-02T10:00:5", "seconds that are not two digits"},
        {"2010-03-02T10:00:05.", "no digits after the point"},
        {"2010-03-02T10:00:00+25:00", "a zone outside"},
        {"2010-03-02T10:00:00+1", "a zone is Z or"},
        {"2010-03-02T10:00:00+01:0", "a zone that is not"},
        {"2010-03-02T10:00:00Zz", "has more text after its end"},
        {"2010-03-02x", "has more text after its date"},
        {"1.5", "only Unix seconds may have"},
        {"1.x", "neither a number nor a date"},
        {"99999999999999999999", "neither a number in range"},
        {"9223372036854775807", "neither a number in range"},
        {"-9223372036854775807", "neither a number in range"},
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

/* ---- forms that the user describes ---- */

static void patterns_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        int64_t seconds;
    } cases[] = {
        {"%d/%m/%Y", "31/12/2024", 1735603200},
        {"%m/%d/%Y", "12/31/2024", 1735603200},
        {"%m/%d/%y", "1/2/24", 1704153600},
        {"%d.%m.%Y %H:%M", "31.12.2024 14:05", 1735653900},
        {"%d.%m.%Y %H:%M", "31.12.2024   14:05", 1735653900},
        {"%Y%m%d", "20241231", 1735603200},
        {"%Y%m%d%H%M%S", "20241231140500", 1735653900},
        {"%b %d, %Y %I:%M %p", "Dec 31, 2024 2:05 PM", 1735653900},
        {"%B %d, %Y %I:%M %p", "december 31, 2024 02:05 p.m.", 1735653900},
        {"%d %b %Y", "1 Sept 2020", 1598918400},
        {"%I:%M %p %F", "12:00 AM 2024-12-31", 1735603200},
        {"%I:%M %p %F", "12:00 pm 2024-12-31", 1735646400},
        {"%a, %d %b %Y %T %z", "Tue, 31 Dec 2024 15:05:00 +0100", 1735653900},
        {"%Y-%j", "2024-366", 1735603200},
        {"%Y-%m", "2024-12", 1733011200},
        {"%D", "12/31/24", 1735603200},
        {"%d/%m/%Y %R", "31/12/2024 14:05", 1735653900},
        {"%Y-%m-%d %H:%M:%S.%f", "2024-12-31 14:05:00.123456", 1735653900},
        {"%y", "68", 3092601600},
        {"%y", "69", -31536000},
        {"%s", "1735653900", 1735653900},
        {"excel", "45657", 1735603200},
        {"Excel", "45657", 1735603200},
        {"excel", "45657.5868055556", 1735653900},
        {"excel", "45657,5868055556", 1735653900},
        {"excel", "61", -2203891200},
        {"s", "1735653900.75", 1735653900},
        {"ms", "1735653900999", 1735653900},
        {"ms", "-1", -1},
        {"us", "1735653900999999", 1735653900},
        {"ns", "1735653900999999999", 1735653900},
        {"100%% %Y", "100% 1970", 0},
    };
    parsrec_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_time_form form;
        int64_t value;
        assert_ok(pr_time_pattern_check(cases[i].pattern, &err));
        assert_null(pr_time_parse_as(pr_slice_of(cases[i].text), cases[i].pattern, &form, &value));
        assert_int_equal(form, PR_TIME_DATE);
        if (value != cases[i].seconds)
            fail_msg("%s of %s is %lld", cases[i].pattern, cases[i].text, (long long)value);
    }
}

static void patterns_are_strict(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text, *problem;
    } cases[] = {
        {"%d/%m/%Y", "31/12/2024 ", NULL},
        {"%d/%m/%Y", "31/12/2024x", "does not fit --time-format"},
        {"%d/%m/%Y", "31/12/24", "does not fit --time-format"},
        {"%d/%m/%Y", "12/31/2024", "has a month outside 01 to 12"},
        {"%d/%m/%Y", "29/02/2023", "has a day that its month does not have"},
        {"%d/%m/%Y", "0/1/2023", "has a day that its month does not have"},
        {"%d/%m/%Y", "1/1/0000", "has no year 0"},
        {"%Y-%j", "2023-366", "has a day that its year does not have"},
        {"%F %H:%M", "2024-01-01 24:00", "has a time of day outside 00:00:00 to 23:59:59"},
        {"%F %I:%M %p", "2024-01-01 13:00 PM", "has an hour outside 1 to 12 of a 12-hour clock"},
        {"%F %I:%M %p", "2024-01-01 1:00", "does not fit --time-format"},
        {"%b %d, %Y", "Dez 31, 2024", "does not fit --time-format"},
        {"%b %d, %Y", "De 31, 2024", "does not fit --time-format"},
        {"%F %z", "2024-01-01 CET", "does not fit --time-format"},
        {"excel", "60", "is a day number of Excel outside 1900-03-01 to 9999-12-31"},
        {"excel", "2024-01-01", "is not a day number of Excel, as required by --time-format"},
        {"excel", "nan", "is not a day number of Excel, as required by --time-format"},
        {"ms", "1735653900.x", "is not a number, as required by --time-format"},
        {"ms", "99999999999999999999", "is not a number, as required by --time-format"},
        {"%s", "99999999999999999999", "does not fit --time-format"},
        {"%s", "9223372036854775807", "is out of range"},
        {"%s", "-9223372036854775807", "is out of range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_time_form form;
        int64_t value;
        const char *problem =
            pr_time_parse_as(pr_slice_of(cases[i].text), cases[i].pattern, &form, &value);
        if (cases[i].problem == NULL)
            assert_null(problem);
        else
            assert_string_equal(problem, cases[i].problem);
    }
    pr_time_form form;
    int64_t value;
    assert_null(pr_time_parse_as(pr_slice_of("  "), "%F", &form, &value));
    assert_int_equal(form, PR_TIME_EMPTY);
    parsrec_error err;
    assert_fails(pr_time_pattern_check("%d/%m", &err), PARSREC_E_ARGUMENT, "gives no date");
    assert_fails(pr_time_pattern_check("%d %Y", &err), PARSREC_E_ARGUMENT, "gives no date");
    assert_fails(pr_time_pattern_check("soon", &err), PARSREC_E_ARGUMENT, "gives no date");
    assert_fails(pr_time_pattern_check("%F %I:%M", &err), PARSREC_E_ARGUMENT, "belong together");
    assert_fails(pr_time_pattern_check("%F %H:%M %p", &err), PARSREC_E_ARGUMENT, "belong together");
    assert_fails(pr_time_pattern_check("%F %Q", &err), PARSREC_E_ARGUMENT, "%Q is not known");
    assert_fails(pr_time_pattern_check("%F %", &err), PARSREC_E_ARGUMENT, "is not known");
}

static void foreign_dates_are_guessed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pattern, *other;
    } cases[] = {
        {"31/12/2024", "%d/%m/%Y", ""},
        {"12/31/2024", "%m/%d/%Y", ""},
        {"1/2/2024", "%d/%m/%Y", "%m/%d/%Y"},
        {"1/2/2024 8:26", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"},
        {"12/1/10 8:26", "%d/%m/%y %H:%M", "%m/%d/%y %H:%M"},
        {"31.12.2024 14:05", "%d.%m.%Y %H:%M", ""},
        {"31.12.2024, 14:05:09", "%d.%m.%Y, %H:%M:%S", ""},
        {"20241231", "%Y%m%d", ""},
        {"20241231T140509", "%Y%m%dT%H%M%S", ""},
        {"20241231T140509Z", "%Y%m%dT%H%M%S%z", ""},
        {"2024/12/31", "%Y/%m/%d", ""},
        {"Dec 31, 2024 2:05 PM", "%b %d, %Y %I:%M %p", ""},
        {"31-DEC-2024", "%d-%b-%Y", ""},
        {"31 December 2024", "%d %b %Y", ""},
        {"12/31/2024 02:05:09 pm", "%m/%d/%Y %I:%M:%S %p", ""},
        {"2024-12-31 2:05 PM", "%Y-%m-%d %I:%M %p", ""},
        {"31/Dec/2024:14:05:09 +0100", "%d/%b/%Y:%H:%M:%S %z", ""},
    };
    pr_time_guess g;
    parsrec_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_time_form form;
        int64_t value;
        assert_true(pr_time_guess_pattern(pr_slice_of(cases[i].text), &g));
        assert_string_equal(g.pattern, cases[i].pattern);
        assert_string_equal(g.other, cases[i].other);
        assert_ok(pr_time_pattern_check(g.pattern, &err));
        assert_null(pr_time_parse_as(pr_slice_of(cases[i].text), g.pattern, &form, &value));
    }
    static const char *const none[] = {"soon", "14:05", "32/13/2024", "12", "", "2010-13-01"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(pr_time_guess_pattern(pr_slice_of(none[i]), &g));
}

/* libc's strftime is an independent writer. */
static void random_times_agree_with_strftime(void **state)
{
    (void)state;
    static const char *const patterns[] = {"%d/%m/%Y %H:%M:%S", "%m-%d-%Y %I:%M:%S %p",
                                           "%A %e %B %Y, %T",   "%Y%m%d%H%M%S",
                                           "%j/%Y %R:%S",       "%b %d %Y %I.%M.%S%p"};
    pr_rng rng = pr_rng_make(3, 9);
    for (uint32_t n = 0; n < 6000; n++) {
        pr_stream s = pr_stream_at(&rng, n, 0, 0);
        time_t t = (time_t)(pr_stream_unit(&s) * 315e9) - 62135596800;
        const char *pattern = patterns[n % (sizeof patterns / sizeof *patterns)];
        struct tm tm;
        char text[80];
        pr_time_form form;
        int64_t value;
        gmtime_r(&t, &tm);
        if (tm.tm_year + 1900 < 1000)
            continue; /* strftime writes fewer digits */
        assert_true(strftime(text, sizeof text, pattern, &tm) > 0);
        const char *problem = pr_time_parse_as(pr_slice_of(text), pattern, &form, &value);
        if (problem != NULL || value != t)
            fail_msg("%s as %s: %s, %lld", text, pattern, problem, (long long)value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_become_seconds),
        cmocka_unit_test(random_days_agree_with_libc),
        cmocka_unit_test(wrong_times_are_named),
        cmocka_unit_test(numbers_are_seconds_or_only_order),
        cmocka_unit_test(patterns_are_read),
        cmocka_unit_test(patterns_are_strict),
        cmocka_unit_test(foreign_dates_are_guessed),
        cmocka_unit_test(random_times_agree_with_strftime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
