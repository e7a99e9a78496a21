/* Times as tables have them: ISO 8601 dates and date-times, or plain numbers. */
#ifndef PR_TIMES_H
#define PR_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "parsrec.h"

typedef enum pr_time_form {
    PR_TIME_EMPTY,
    PR_TIME_NUMBER,
    PR_TIME_DATE,
} pr_time_form;

/* Dates become seconds since 1970 (UTC when no zone is given, fractions cut off), numbers stay what
 * they are. NULL when read; otherwise what is wrong, as the end of a sentence. */
const char *pr_time_parse(pr_slice text, pr_time_form *form, int64_t *value);

/* Numbers that all lie in 1973 .. 5138 when taken as seconds are taken so; others only order. */
enum { PR_UNIX_LEAST = 100000000 };
#define PR_UNIX_BEYOND INT64_C(100000000000)
parsrec_time_kind pr_time_kind(pr_time_form form, int64_t least, int64_t greatest);

/* The number of the UTC day, week (from Monday) or month of a time in seconds, for one of those
 * rules: equal for two times of one session. */
int64_t pr_time_period(int64_t seconds, parsrec_session_rule rule);

#endif
