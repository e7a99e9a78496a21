/* Reading times and telling days, weeks and months apart. */
#include "import/times.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/dates.h"
#include "base/status.h"

enum { DAY = 86400 };

/* A whole number, or a decimal one: its fraction may be cut off only where whole numbers are
 * seconds; elsewhere that would change the order. */
static const char *parse_number(pr_slice text, size_t point, int64_t *value)
{
    if (!pr_parse_i64((pr_slice){text.bytes, point}, value) || !pr_time_fits(*value))
        return "is neither a number in range nor a date such as 2010-03-02T13:08:00";
    bool fraction = false;
    for (size_t i = point + 1; i < text.size; i++) {
        if (!pr_is_digit(text.bytes[i]))
            return "is neither a number nor a date such as 2010-03-02T13:08:00";
        fraction = fraction || text.bytes[i] != '0';
    }
    if (fraction && (*value < PR_UNIX_LEAST || *value >= PR_UNIX_BEYOND))
        return "has a fraction, which only Unix seconds may have";
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
    while (digits < text.size && pr_is_digit(text.bytes[digits]))
        digits++;
    if (digits == text.size || text.bytes[digits] == '.') {
        *form = PR_TIME_NUMBER;
        return parse_number(text, digits, value);
    }
    *form = PR_TIME_DATE;
    const char *problem = pr_date_parse(text, value);
    return problem == pr_no_date ? "is neither a number nor a date such as 2010-03-02T13:08:00"
                                 : problem;
}

/* ---- a form that the user describes ---- */

/* What a pattern has found so far; -1: nothing. */
typedef struct parts {
    int year, month, day, day_of_year, hour, hour12, minute, second, afternoon;
    int64_t zone;  /* seconds east of UTC */
    int64_t epoch; /* of %s, which needs no date */
    bool has_epoch;
} parts;

static const char *const month_names[12] = {"january",   "february", "march",    "april",
                                            "may",       "june",     "july",     "august",
                                            "september", "october",  "november", "december"};
static const char *const day_names[7] = {"monday", "tuesday",  "wednesday", "thursday",
                                         "friday", "saturday", "sunday"};

/* From `least` to `most` digits; as many as there are. */
static bool take_number(pr_cursor *c, int least, int most, int *value)
{
    int count = 0;
    *value = 0;
    for (; count < most && c->at < c->end && pr_is_digit(*c->at); count++)
        *value = *value * 10 + (*c->at++ - '0');
    return count >= least;
}

/* A name or its first three letters; "Sept" and a point after a short one are common. */
static bool take_name(pr_cursor *c, const char *const *names, int count, int *index)
{
    size_t letters = 0, left = (size_t)(c->end - c->at);
    while (letters < left && ((c->at[letters] | 0x20) >= 'a' && (c->at[letters] | 0x20) <= 'z'))
        letters++;
    for (int i = 0; i < count; i++) {
        bool whole = letters == strlen(names[i]);
        bool cut = letters == 3 || (letters == 4 && strncmp(names[i], "sept", 4) == 0);
        if ((!whole && !cut) || strncasecmp(c->at, names[i], letters) != 0)
            continue;
        c->at += letters;
        if (!whole)
            (void)pr_take(c, '.');
        *index = i;
        return true;
    }
    return false;
}

static void take_blanks(pr_cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

/* "am", "PM", "a.m." */
static bool take_half(pr_cursor *c, int *afternoon)
{
    if (c->at == c->end)
        return false;
    char half = (char)(*c->at | 0x20);
    *afternoon = half == 'p';
    if (half != 'a' && half != 'p')
        return false;
    c->at++;
    (void)pr_take(c, '.');
    if (!pr_take(c, 'm') && !pr_take(c, 'M'))
        return false;
    (void)pr_take(c, '.');
    return true;
}

static bool take_zone(pr_cursor *c, int64_t *east)
{
    int64_t seconds = 0;
    if (c->at == c->end || pr_take_zone(c, &seconds) != NULL)
        return false;
    *east = -seconds;
    return true;
}

static bool take_epoch(pr_cursor *c, parts *p)
{
    const char *from = c->at;
    (void)pr_take(c, '-');
    while (c->at < c->end && pr_is_digit(*c->at))
        c->at++;
    p->has_epoch = true;
    return pr_parse_i64((pr_slice){from, (size_t)(c->at - from)}, &p->epoch);
}

static bool take_pattern(pr_cursor *c, const char *pattern, parts *p);

/* One letter after a percent sign. */
static bool take_part(pr_cursor *c, char letter, parts *p)
{
    int ignored;
    switch (letter) {
    case 'Y':
        return pr_take_digits(c, 4, &p->year);
    case 'y':
        if (!pr_take_digits(c, 2, &p->year))
            return false;
        p->year += p->year < 69 ? 2000 : 1900;
        return true;
    case 'm':
        return take_number(c, 1, 2, &p->month);
    case 'b':
    case 'B':
    case 'h':
        if (!take_name(c, month_names, 12, &p->month))
            return false;
        p->month++;
        return true;
    case 'e':
        take_blanks(c);
        return take_number(c, 1, 2, &p->day);
    case 'd':
        return take_number(c, 1, 2, &p->day);
    case 'j':
        return take_number(c, 1, 3, &p->day_of_year);
    case 'a':
    case 'A':
        return take_name(c, day_names, 7, &ignored);
    case 'H':
        return take_number(c, 1, 2, &p->hour);
    case 'I':
        return take_number(c, 1, 2, &p->hour12);
    case 'M':
        return pr_take_digits(c, 2, &p->minute);
    case 'S':
        return pr_take_digits(c, 2, &p->second);
    case 'f': /* cut off, as in ISO times */
        return take_number(c, 1, 9, &ignored);
    case 'p':
        return take_half(c, &p->afternoon);
    case 'z':
        return take_zone(c, &p->zone);
    case 's':
        return take_epoch(c, p);
    case 'F':
        return take_pattern(c, "%Y-%m-%d", p);
    case 'T':
        return take_pattern(c, "%H:%M:%S", p);
    case 'R':
        return take_pattern(c, "%H:%M", p);
    case 'D':
        return take_pattern(c, "%m/%d/%y", p);
    case '%':
        return pr_take(c, '%');
    default:
        return false;
    }
}

static bool take_pattern(pr_cursor *c, const char *pattern, parts *p)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == ' ')
            take_blanks(c);
        else if (*pattern == '%' ? !take_part(c, *++pattern, p) : !pr_take(c, *pattern))
            return false;
    }
    return true;
}

static const parts no_parts = {-1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, false};

static const char *date_of(const parts *p, int64_t *days)
{
    int month = p->month >= 0 ? p->month : 1, day = p->day >= 0 ? p->day : 1;
    if (p->year < 1)
        return "has no year 0";
    if (p->day_of_year >= 0) {
        bool leap = pr_days_in(p->year, 2) == 29;
        if (p->day_of_year < 1 || p->day_of_year > 365 + leap)
            return "has a day that its year does not have";
        *days = pr_days_since_1970(p->year, 1, 1) + p->day_of_year - 1;
        return NULL;
    }
    if (month < 1 || month > 12)
        return "has a month outside 01 to 12";
    if (day < 1 || day > pr_days_in(p->year, month))
        return "has a day that its month does not have";
    *days = pr_days_since_1970(p->year, month, day);
    return NULL;
}

static const char *clock_of(const parts *p, int64_t *seconds)
{
    int hour = p->hour >= 0 ? p->hour : 0, minute = p->minute >= 0 ? p->minute : 0;
    int second = p->second >= 0 ? p->second : 0;
    if (p->hour12 >= 0) {
        if (p->hour12 < 1 || p->hour12 > 12)
            return "has an hour outside 1 to 12 of a 12-hour clock";
        hour = p->hour12 % 12 + 12 * p->afternoon;
    }
    if (hour > 23 || minute > 59 || second > 59)
        return "has a time of day outside 00:00:00 to 23:59:59";
    *seconds = hour * 3600 + minute * 60 + second;
    return NULL;
}

static const char *read_pattern(pr_slice text, const char *pattern, int64_t *value)
{
    parts p = no_parts;
    pr_cursor c = {text.bytes, text.bytes + text.size};
    int64_t days = 0, seconds = 0;
    if (!take_pattern(&c, pattern, &p) || c.at != c.end)
        return "does not fit --time-format";
    if (p.has_epoch) {
        *value = p.epoch;
        return pr_time_fits(p.epoch) ? NULL : "is out of range";
    }
    const char *problem = date_of(&p, &days);
    if (problem == NULL)
        problem = clock_of(&p, &seconds);
    *value = days * DAY + seconds - p.zone;
    return problem;
}

/* Excel counts days from 1899-12-30, once its 29 February 1900, which never was, is past. */
enum { EXCEL_EPOCH = 25569, EXCEL_LEAST = 61, EXCEL_BEYOND = 2958466 };

static bool is_excel(const char *pattern)
{
    return strcasecmp(pattern, "excel") == 0;
}

static const char *read_excel(pr_slice text, int64_t *value)
{
    char plain[32];
    double days;
    if (text.size == 0 || text.size >= sizeof plain)
        return "is not a day number of Excel, as required by --time-format";
    memcpy(plain, text.bytes, text.size);
    for (size_t i = 0; i < text.size; i++)
        plain[i] = plain[i] == ',' ? '.' : plain[i];
    if (!pr_parse_f64((pr_slice){plain, text.size}, &days))
        return "is not a day number of Excel, as required by --time-format";
    if (days < EXCEL_LEAST || days >= EXCEL_BEYOND)
        return "is a day number of Excel outside 1900-03-01 to 9999-12-31";
    *value = (int64_t)llround((days - EXCEL_EPOCH) * DAY);
    return NULL;
}

static const struct {
    const char *word;
    int64_t per_second;
} units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t unit_of(const char *pattern)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(pattern, units[i].word) == 0)
            return units[i].per_second;
    return 0;
}

const char *pr_time_parse_as(pr_slice text, const char *pattern, pr_time_form *form, int64_t *value)
{
    text = pr_slice_trim(text);
    *form = text.size > 0 ? PR_TIME_DATE : PR_TIME_EMPTY;
    *value = 0;
    if (text.size == 0)
        return NULL;
    if (is_excel(pattern))
        return read_excel(text, value);
    int64_t per_second = unit_of(pattern);
    if (per_second == 0)
        return read_pattern(text, pattern, value);
    const char *point = memchr(text.bytes, '.', text.size);
    size_t whole = point != NULL ? (size_t)(point - text.bytes) : text.size;
    for (size_t i = whole + 1; i < text.size; i++)
        if (!pr_is_digit(text.bytes[i]))
            return "is not a number, as required by --time-format";
    if (!pr_parse_i64((pr_slice){text.bytes, whole}, value))
        return "is not a number, as required by --time-format";
    *value = floor_div(*value, per_second);
    if (!pr_time_fits(*value))
        return "is out of range";
    return NULL;
}

parsrec_status pr_time_pattern_check(const char *pattern, parsrec_error *err)
{
    static const char known[] = "YymbBhdejaAHIMSfpzsFTRD%";
    bool has[128] = {false};
    size_t at;
    if (is_excel(pattern) || unit_of(pattern) != 0)
        return PARSREC_OK;
    if (strlen(pattern) > 100 || !pr_utf8_valid(pattern, strlen(pattern), &at))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "--time-format is longer than 100 bytes or not UTF-8; check it");
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '%')
            continue;
        c++;
        if (*c == '\0' || strchr(known, *c) == NULL)
            return pr_fail(
                err, PARSREC_E_ARGUMENT,
                "--time-format '%s': %%%.1s is not known; use %%Y %%y %%m %%b %%d %%j %%H "
                "%%I %%M %%S %%f %%p %%a %%z %%s, or one of excel, s, ms, us, ns",
                pattern, c);
        has[(unsigned char)*c] = true;
    }
    bool year = has['Y'] || has['y'] || has['F'] || has['D'];
    bool month = has['m'] || has['b'] || has['B'] || has['h'] || has['F'] || has['D'];
    bool day = has['d'] || has['e'];
    if (!has['s'] && (!year || (day && !month)))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "--time-format '%s' gives no date; it needs a year, a month and a day, such "
                       "as '%%d.%%m.%%Y %%H:%%M', or one of excel, s, ms, us, ns",
                       pattern);
    if (has['I'] != has['p'])
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "--time-format '%s': %%I, the hour of a 12-hour clock, and %%p, am or pm, "
                       "belong together; %%H is the hour of a 24-hour clock",
                       pattern);
    return PARSREC_OK;
}

/* ---- guessing it ---- */

static bool fits(pr_slice text, const char *date, const char *clock, char *pattern, size_t size)
{
    int64_t value;
    snprintf(pattern, size, "%s%s", date, clock);
    return read_pattern(text, pattern, &value) == NULL;
}

bool pr_time_guess_pattern(pr_slice text, pr_time_guess *guess)
{
    /* A date, and the same with day and month exchanged. */
    static const char *const dates[][2] = {
        {"%d/%m/%Y", "%m/%d/%Y"}, {"%d.%m.%Y", "%m.%d.%Y"}, {"%d-%m-%Y", "%m-%d-%Y"},
        {"%Y/%m/%d", NULL},       {"%Y.%m.%d", NULL},       {"%Y-%m-%d", NULL},
        {"%d/%m/%y", "%m/%d/%y"}, {"%d.%m.%y", "%m.%d.%y"}, {"%d-%m-%y", "%m-%d-%y"},
        {"%Y%m%d", NULL},         {"%b %d, %Y", NULL},      {"%b %d %Y", NULL},
        {"%d %b %Y", NULL},       {"%d. %b %Y", NULL},      {"%d-%b-%Y", NULL},
        {"%d-%b-%y", NULL},       {"%d/%b/%Y", NULL},       {"%a, %d %b %Y", NULL},
        {"%a %d %b %Y", NULL},    {"%a, %b %d, %Y", NULL},  {"%a %b %d %Y", NULL},
    };
    static const char *const clocks[] = {
        "",           " %H:%M",          " %H:%M:%S",    " %H:%M:%S.%f",
        " %I:%M %p",  " %I:%M:%S %p",    ", %H:%M",      ", %H:%M:%S",
        ", %I:%M %p", ", %I:%M:%S %p",   "T%H:%M",       "T%H:%M:%S",
        ":%H:%M:%S",  ":%H:%M:%S %z",    " %H:%M %z",    " %H:%M:%S %z",
        " %H.%M",     " %H.%M.%S",       "%H%M%S",       "%H%M",
        "-%H:%M:%S",  " %I:%M:%S.%f %p", "T%H:%M:%S.%f", "T%H%M%S",
        "T%H%M%S%z"};
    text = pr_slice_trim(text);
    guess->other[0] = '\0';
    for (size_t d = 0; d < sizeof dates / sizeof *dates; d++)
        for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++) {
            bool first = fits(text, dates[d][0], clocks[c], guess->pattern, sizeof guess->pattern);
            bool second = dates[d][1] != NULL &&
                          fits(text, dates[d][1], clocks[c], guess->other, sizeof guess->other);
            if (!second)
                guess->other[0] = '\0';
            if (!first && second) {
                memcpy(guess->pattern, guess->other, sizeof guess->pattern);
                guess->other[0] = '\0';
            }
            if (first || second)
                return true;
        }
    return false;
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

int64_t pr_time_period(int64_t seconds, parsrec_session_rule rule)
{
    assert(rule == PARSREC_SESSION_DAY || rule == PARSREC_SESSION_WEEK ||
           rule == PARSREC_SESSION_MONTH);
    int64_t day = floor_div(seconds, DAY);
    if (rule == PARSREC_SESSION_WEEK)
        return floor_div(day + 3, 7); /* 1970-01-01 was a Thursday */
    if (rule == PARSREC_SESSION_DAY)
        return day;
    pr_civil_date date = pr_civil_date_of(day);
    return date.year * 12 + date.month - 3; /* months since March of year 0 */
}
