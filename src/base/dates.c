/* The Gregorian calendar, ISO 8601, and times in JSON. */
#include "base/dates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/status.h"

bool pr_take_digits(pr_cursor *c, int count, int *value)
{
    if (c->end - c->at < count)
        return false;
    *value = 0;
    for (int i = 0; i < count; i++, c->at++) {
        if (!pr_is_digit(*c->at))
            return false;
        *value = *value * 10 + (*c->at - '0');
    }
    return true;
}

const char pr_no_date[] = "is not a date such as 2010-03-02T13:08:00";

int pr_days_in(int year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Years begin in March, so that the leap day is the last of its year; 719468 days lie between
 * 0000-03-01 and 1970-01-01. */
int64_t pr_days_since_1970(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
}

/* The same, in eras of 400 years, which all have 146097 days. */
pr_civil_date pr_civil_date_of(int64_t days_since_1970)
{
    int64_t days = days_since_1970 + 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, rest = days - era * 146097;
    int64_t year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int64_t day_of_year = rest - (365 * year + year / 4 - year / 100);
    int month_from_march = (int)(5 * day_of_year + 2) / 153;
    int month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    return (pr_civil_date){.year = era * 400 + year + (month <= 2),
                           .month = month,
                           .day = (int)day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

static const char *parse_date(pr_cursor *c, int64_t *seconds)
{
    int year, month, day;
    if (!pr_take_digits(c, 4, &year) || !pr_take(c, '-') || !pr_take_digits(c, 2, &month) ||
        !pr_take(c, '-') || !pr_take_digits(c, 2, &day))
        return pr_no_date;
    if (year < 1)
        return "has no year 0";
    if (month < 1 || month > 12)
        return "has a month outside 01 to 12";
    if (day < 1 || day > pr_days_in(year, month))
        return "has a day that its month does not have";
    *seconds = pr_days_since_1970(year, month, day) * PR_DAY_SECONDS;
    return NULL;
}

static const char *parse_clock(pr_cursor *c, int64_t *seconds)
{
    int hour, minute, second = 0, digit;
    if (!pr_take_digits(c, 2, &hour) || !pr_take(c, ':') || !pr_take_digits(c, 2, &minute))
        return "has no time of day such as 13:08:00 after its date";
    if (pr_take(c, ':')) {
        if (!pr_take_digits(c, 2, &second))
            return "has seconds that are not two digits";
        if (pr_take(c, '.') || pr_take(c, ',')) {
            if (!pr_take_digits(c, 1, &digit))
                return "has no digits after the point";
            while (pr_take_digits(c, 1, &digit))
                continue;
        }
    }
    if (hour > 23 || minute > 59 || second > 59)
        return "has a time of day outside 00:00:00 to 23:59:59";
    *seconds += hour * 3600 + minute * 60 + second;
    return NULL;
}

/* "UTC" or "GMT", as BigQuery and others write it, also after a space. */
static bool take_utc(pr_cursor *c)
{
    static const char *const words[] = {" UTC", "UTC", " GMT", "GMT"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(c->end - c->at) >= size && memcmp(c->at, words[i], size) == 0) {
            c->at += size;
            return true;
        }
    }
    return false;
}

const char *pr_take_zone(pr_cursor *c, int64_t *seconds)
{
    int hour, minute = 0;
    if (c->at == c->end || pr_take(c, 'Z') || pr_take(c, 'z') || take_utc(c))
        return NULL;
    int sign = pr_take(c, '+') ? 1 : pr_take(c, '-') ? -1 : 0;
    if (sign == 0 || !pr_take_digits(c, 2, &hour))
        return "has more text after the time of day; a zone is Z or +01:00";
    (void)pr_take(c, ':');
    if (c->at < c->end && !pr_take_digits(c, 2, &minute))
        return "has a zone that is not Z or such as +01:00";
    if (hour > 23 || minute > 59)
        return "has a zone outside -23:59 to +23:59";
    *seconds -= sign * (hour * 3600 + minute * 60);
    return NULL;
}

const char *pr_date_parse(pr_slice text, int64_t *seconds)
{
    pr_cursor c = {text.bytes, text.bytes + text.size};
    const char *problem = parse_date(&c, seconds);
    if (problem != NULL || c.at == c.end)
        return problem;
    if (!pr_take(&c, 'T') && !pr_take(&c, 't') && !pr_take(&c, ' '))
        return "has more text after its date; a time of day follows a T or a space";
    problem = parse_clock(&c, seconds);
    if (problem == NULL)
        problem = pr_take_zone(&c, seconds);
    if (problem == NULL && c.at != c.end)
        problem = "has more text after its end";
    return problem;
}

parsrec_status parsrec_time_read(const char *text, int64_t *seconds, parsrec_error *err)
{
    pr_excerpt hold;
    int64_t value = 0;
    if (text == NULL || seconds == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_time_read needs a text and a place");
    const char *problem = pr_date_parse(pr_slice_trim(pr_slice_of(text)), &value);
    if (problem != NULL)
        return pr_fail(err, PARSREC_E_INPUT, "the time %s %s", pr_show(&hold, pr_slice_of(text)),
                       problem);
    *seconds = value;
    return PARSREC_OK;
}

bool pr_json_date(const json_t *value, int64_t *seconds)
{
    /* Numbers up to this are seconds (up to the year 5138), larger ones milliseconds (from March
     * 1973). */
    static const double seconds_most = 1e11;
    double number = json_number_value(value);
    if (json_is_string(value))
        return pr_date_parse(pr_slice_trim(pr_slice_of(json_string_value(value))), seconds) == NULL;
    if (!json_is_number(value) || !(fabs(number) < 1000 * seconds_most))
        return false;
    *seconds = (int64_t)floor(fabs(number) < seconds_most ? number : number / 1000);
    return true;
}

const char *pr_date_of(pr_date_text *hold, int64_t seconds)
{
    struct tm parts;
    time_t moment = (time_t)seconds;
    bool shown = seconds >= -INT64_C(30610224000) &&
                 seconds <= INT64_C(253402300799) && /* years of four digits */
                 gmtime_r(&moment, &parts) != NULL &&
                 strftime(hold->text, sizeof hold->text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0;
    if (!shown)
        snprintf(hold->text, sizeof hold->text, "%lld", (long long)seconds);
    return hold->text;
}
