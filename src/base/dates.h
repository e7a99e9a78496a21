/* Dates as text and as JSON: ISO 8601, seconds since 1970. */
#ifndef PR_DATES_H
#define PR_DATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"

#define PR_DAY_SECONDS INT64_C(86400)

/* Times are within -PR_TIME_MOST ... PR_TIME_MOST, whatever their unit (nanoseconds up to the year 2043), so
 * that differences, and a time after them, do not overflow. What comes from outside is checked. */
#define PR_TIME_MOST ((INT64_C(1) << 61) - 1)
static inline bool pr_time_fits(int64_t time)
{
    return time >= -PR_TIME_MOST && time <= PR_TIME_MOST;
}

int pr_days_in(int year, int month);
/* Days from 1970-01-01 in the Gregorian calendar. */
int64_t pr_days_since_1970(int year, int month, int day);
/* The inverse: the date of a day. Month and day count from 1. */
typedef struct pr_civil_date {
    int64_t year;
    int month, day;
} pr_civil_date;
pr_civil_date pr_civil_date_of(int64_t days_since_1970);

/* An ISO 8601 date, or date and time; UTC if no zone is given, fractions cut off. Returns NULL on
 * success, otherwise what is wrong, as the end of a sentence. */
extern const char pr_no_date[]; /* one of the answers: it does not even begin like a date */
const char *pr_date_parse(pr_slice text, int64_t *seconds);

/* Seconds or milliseconds since 1970, or a text as above. False for anything else. */
bool pr_json_date(const json_t *value, int64_t *seconds);

/* "2010-03-02T13:08:00Z", or the number where the year has not four digits. */
typedef struct pr_date_text {
    char text[32];
} pr_date_text;
const char *pr_date_of(pr_date_text *hold, int64_t seconds);

/* ---- for readers of other forms ---- */

/* The part of a text that was not read yet. */
typedef struct pr_cursor {
    const char *at, *end;
} pr_cursor;

static inline bool pr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool pr_take(pr_cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* A number of exactly this many digits. */
bool pr_take_digits(pr_cursor *c, int count, int *value);
/* Z, +01:00 or nothing: subtracts what it is east of UTC. As pr_date_parse. */
const char *pr_take_zone(pr_cursor *c, int64_t *seconds);

#endif
