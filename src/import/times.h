/* Times as tables have them: ISO 8601 dates and date-times, plain numbers, or a form that the user
 * describes. Nothing here depends on the locale. */
#ifndef PR_TIMES_H
#define PR_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

typedef enum pr_time_form {
    PR_TIME_EMPTY,
    PR_TIME_NUMBER,
    PR_TIME_DATE,
} pr_time_form;

/* Dates become seconds since 1970 (UTC when no zone is given, fractions cut off), numbers stay what
 * they are. NULL when read; otherwise what is wrong, as the end of a sentence. */
const char *pr_time_parse(pr_slice text, pr_time_form *form, int64_t *value);

/* The same for times of a given form: a pattern as of strptime, or one of the words
 *   excel  days since 1899-12-30, with a fraction     s, ms, us, ns  Unix time in that unit
 * The pattern has %Y %y %m %b %B %d %e %j %H %I %M %S %f %p %a %A %z %s %% and, for several at
 * once, %F %T %R %D; a space stands for any number of blanks. Names of months and days are English,
 * whole or three letters, in any case. %y is 1969 to 2068. The whole text must fit and the date
 * must exist. */
const char *pr_time_parse_as(pr_slice text, const char *pattern, pr_time_form *form,
                             int64_t *value);
/* E_ARGUMENT with the sentence for a pattern that gives no date, or half a clock. */
parsrec_status pr_time_pattern_check(const char *pattern, parsrec_error *err);

/* Patterns that a text fits and pr_time_parse does not take for a date; `other` where day and month
 * may be meant the other way round, else empty. False when there is none. */
typedef struct pr_time_guess {
    char pattern[48], other[48];
} pr_time_guess;
bool pr_time_guess_pattern(pr_slice text, pr_time_guess *guess);

/* Numbers that all lie in 1973 .. 5138 when taken as seconds are taken so; others only order. */
enum { PR_UNIX_LEAST = 100000000 };
#define PR_UNIX_BEYOND INT64_C(100000000000)
parsrec_time_kind pr_time_kind(pr_time_form form, int64_t least, int64_t greatest);

/* The number of the UTC day, week (from Monday) or month of a time in seconds, for one of those
 * rules: equal for two times of one session. */
int64_t pr_time_period(int64_t seconds, parsrec_session_rule rule);

#endif
