/* The times in tables: ISO 8601 dates and date-times, plain numbers, or a form given with
 * --time-format. Nothing here depends on the locale. */
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

/* Dates become seconds since 1970 (UTC if no zone is given, fractions cut off); numbers stay as they
 * are. Returns NULL on success, otherwise what is wrong, as the end of a sentence. */
const char *pr_time_parse(pr_slice text, pr_time_form *form, int64_t *value);

/* The same for times of a given form: a pattern as for strptime, or one of the words
 *   excel  days since 1899-12-30, with a fraction     s, ms, us, ns  Unix time in that unit
 * of which excel may have capitals.
 * The pattern has %Y %y %m %b %B %d %e %j %H %I %M %S %f %p %a %A %z %s %% and, for several at
 * once, %F %T %R %D; a space matches any number of blanks. Names of months and days are English,
 * whole or three letters, in any case. %y is 1969 to 2068. The whole text must fit and the date
 * must exist. */
const char *pr_time_parse_as(pr_slice text, const char *pattern, pr_time_form *form,
                             int64_t *value);
/* E_ARGUMENT for a pattern that gives no complete date, or an incomplete time of day. */
parsrec_status pr_time_pattern_check(const char *pattern, parsrec_error *err);

/* For a text that pr_time_parse does not read as a date: a pattern that fits it, and in `other` a
 * second one if day and month may be swapped, else "". False when no known pattern fits. */
typedef struct pr_time_guess {
    char pattern[48], other[48];
} pr_time_guess;
bool pr_time_guess_pattern(pr_slice text, pr_time_guess *guess);

/* Numbers are Unix seconds if all of them then lie in the years 1973 to 5138; otherwise they only say
 * which session is earlier (PARSREC_TIME_ORDINAL). */
enum { PR_UNIX_LEAST = 100000000 };
#define PR_UNIX_BEYOND INT64_C(100000000000)
parsrec_time_kind pr_time_kind(pr_time_form form, int64_t least, int64_t greatest);

/* The number of the UTC day, week (from Monday) or month that a time in seconds lies in; `rule` is
 * PARSREC_SESSION_DAY, WEEK or MONTH. */
int64_t pr_time_period(int64_t seconds, parsrec_session_rule rule);

#endif
