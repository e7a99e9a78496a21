/* Reading times and telling days, weeks and months apart. */
#include "data/times.h"

#include "base/status.h"

enum { DAY = 86400 };

/* The part of the text that was not read yet. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_digits(cursor *c, int count, int *value)
{
    if (c->end - c->at < count)
        return false;
    *value = 0;
    for (int i = 0; i < count; i++, c->at++) {
        if (!is_digit(*c->at))
            return false;
        *value = *value * 10 + (*c->at - '0');
    }
    return true;
}

static int days_in(int year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Days from 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is the
 * last of its year; 719468 days lie between 0000-03-01 and 1970-01-01. */
static int64_t days_since_1970(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
}

static const char *parse_date(cursor *c, int64_t *seconds)
{
    int year, month, day;
    if (!take_digits(c, 4, &year) || !take(c, '-') || !take_digits(c, 2, &month) || !take(c, '-') ||
        !take_digits(c, 2, &day))
        return "is neither a number nor a date such as 2010-03-02T13:08:00";
    if (year < 1)
        return "has no year 0";
    if (month < 1 || month > 12)
        return "has a month outside 01 to 12";
    if (day < 1 || day > days_in(year, month))
        return "has a day that its month does not have";
    *seconds = days_since_1970(year, month, day) * DAY;
    return NULL;
}

static const char *parse_clock(cursor *c, int64_t *seconds)
{
    int hour, minute, second = 0, digit;
    if (!take_digits(c, 2, &hour) || !take(c, ':') || !take_digits(c, 2, &minute))
        return "has no time of day such as 13:08:00 after its date";
    if (take(c, ':')) {
        if (!take_digits(c, 2, &second))
            return "has seconds that are not two digits";
        if (take(c, '.') || take(c, ',')) {
            if (!take_digits(c, 1, &digit))
                return "has no digits after the point";
            while (take_digits(c, 1, &digit))
                continue;
        }
    }
    if (hour > 23 || minute > 59 || second > 59)
        return "has a time of day outside 00:00:00 to 23:59:59";
    *seconds += hour * 3600 + minute * 60 + second;
    return NULL;
}

static const char *parse_zone(cursor *c, int64_t *seconds)
{
    int hour, minute = 0;
    if (c->at == c->end || take(c, 'Z') || take(c, 'z'))
        return NULL;
    int sign = take(c, '+') ? 1 : take(c, '-') ? -1 : 0;
    if (sign == 0 || !take_digits(c, 2, &hour))
        return "goes on after the time of day; a zone is Z or +01:00";
    (void)take(c, ':');
    if (c->at < c->end && !take_digits(c, 2, &minute))
        return "has a zone that is not Z or such as +01:00";
    if (hour > 23 || minute > 59)
        return "has a zone outside -23:59 to +23:59";
    *seconds -= sign * (hour * 3600 + minute * 60);
    return NULL;
}

static const char *parse_date_time(cursor *c, int64_t *seconds)
{
    const char *problem = parse_date(c, seconds);
    if (problem != NULL || c->at == c->end)
        return problem;
    if (!take(c, 'T') && !take(c, 't') && !take(c, ' '))
        return "goes on after its date; a time of day follows a T or a space";
    problem = parse_clock(c, seconds);
    if (problem == NULL)
        problem = parse_zone(c, seconds);
    if (problem == NULL && c->at != c->end)
        problem = "goes on after its end";
    return problem;
}

/* A whole number, or a decimal one: its fraction may be cut off only where whole numbers are
 * seconds; elsewhere that would change the order. */
static const char *parse_number(pr_slice text, size_t point, int64_t *value)
{
    if (!pr_parse_i64((pr_slice){text.bytes, point}, value))
        return "is neither a number in range nor a date such as 2010-03-02T13:08:00";
    bool fraction = false;
    for (size_t i = point + 1; i < text.size; i++) {
        if (!is_digit(text.bytes[i]))
            return "is neither a number nor a date such as 2010-03-02T13:08:00";
        fraction = fraction || text.bytes[i] != '0';
    }
    if (fraction && (*value < PR_UNIX_LEAST || *value >= PR_UNIX_BEYOND))
        return "has a fraction, which only Unix seconds may have; use whole numbers";
    return NULL;
}

const char *pr_time_parse(pr_slice text, pr_time_form *form, int64_t *value)
{
    text = pr_slice_trim(text);
    *form = PR_TIME_EMPTY;
    *value = 0;
    if (text.size == 0)
        return NULL;
    size_t digits = text.bytes[0] == '-' ? 1 : 0;
    while (digits < text.size && is_digit(text.bytes[digits]))
        digits++;
    if (digits == text.size || text.bytes[digits] == '.') {
        *form = PR_TIME_NUMBER;
        return parse_number(text, digits, value);
    }
    *form = PR_TIME_DATE;
    cursor c = {text.bytes, text.bytes + text.size};
    return parse_date_time(&c, value);
}

parsrec_time_kind pr_time_kind(pr_time_form form, int64_t least, int64_t greatest)
{
    if (form == PR_TIME_EMPTY)
        return PARSREC_TIME_NONE;
    if (form == PR_TIME_DATE)
        return PARSREC_TIME_UNIX;
    return least >= PR_UNIX_LEAST && greatest < PR_UNIX_BEYOND ? PARSREC_TIME_UNIX
                                                               : PARSREC_TIME_ORDINAL;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Year * 12 + month of a day: the inverse of days_since_1970. */
static int64_t month_of(int64_t day)
{
    int64_t from_march = day + 719468;
    int64_t era = floor_div(from_march, 146097), rest = from_march - era * 146097;
    int64_t year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int64_t day_of_year = rest - (365 * year + year / 4 - year / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    return (era * 400 + year) * 12 + month_from_march;
}

int64_t pr_time_period(int64_t seconds, parsrec_session_rule rule)
{
    int64_t day = floor_div(seconds, DAY);
    if (rule == PARSREC_SESSION_WEEK)
        return floor_div(day + 3, 7); /* 1970-01-01 was a Thursday */
    return rule == PARSREC_SESSION_MONTH ? month_of(day) : day;
}

parsrec_status parsrec_time_read(const char *text, int64_t *seconds, parsrec_error *err)
{
    pr_excerpt hold;
    pr_time_form form = PR_TIME_EMPTY;
    int64_t value;
    if (text == NULL || seconds == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_time_read needs a text and a place");
    const char *problem = pr_time_parse(pr_slice_of(text), &form, &value);
    if (problem == NULL && form != PR_TIME_DATE)
        problem = "is not a date such as 2010-03-02T13:08:00";
    if (problem != NULL)
        return pr_fail(err, PARSREC_E_INPUT, "the time %s %s", pr_show(&hold, pr_slice_of(text)),
                       problem);
    *seconds = value;
    return PARSREC_OK;
}
