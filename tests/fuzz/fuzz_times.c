/* Any bytes as a time and as the pattern that describes it. The first byte is the length of the pattern.
 * What is read has a form, and a guessed pattern reads the text that it was guessed from. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two times one day apart are not in one day; a time is in the same period as itself. */
static void check_periods(int64_t seconds)
{
    if (pr_time_period(seconds, PARSREC_SESSION_DAY) + 1 !=
            pr_time_period(seconds + 86400, PARSREC_SESSION_DAY) ||
        pr_time_period(seconds, PARSREC_SESSION_WEEK) + 1 !=
            pr_time_period(seconds + 7 * 86400, PARSREC_SESSION_WEEK) ||
        pr_time_period(seconds, PARSREC_SESSION_MONTH) >
            pr_time_period(seconds + 86400, PARSREC_SESSION_MONTH))
        abort();
}

static bool reads(pr_slice text, const char *pattern)
{
    pr_time_form form = (pr_time_form)-1;
    int64_t value = 0;
    if (pr_time_parse_as(text, pattern, &form, &value) != NULL)
        return false;
    if (form != PR_TIME_EMPTY && form != PR_TIME_NUMBER && form != PR_TIME_DATE)
        abort();
    if (form == PR_TIME_DATE)
        check_periods(value);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char pattern[256] = "";
    parsrec_error err = {0};
    pr_time_form form = (pr_time_form)-1;
    int64_t value = 0;
    pr_time_guess guess;
    if (size < 1 || data[0] > size - 1)
        return 0;
    memcpy(pattern, data + 1, data[0]);
    pr_slice text = {(const char *)data + 1 + data[0], size - 1 - data[0]};
    if (pr_time_parse(text, &form, &value) == NULL && form == PR_TIME_DATE)
        check_periods(value);
    if (pr_time_guess_pattern(text, &guess) &&
        (pr_time_pattern_check(guess.pattern, &err) != PARSREC_OK || !reads(text, guess.pattern)))
        abort();
    if (pr_time_pattern_check(pattern, &err) == PARSREC_OK)
        reads(text, pattern);
    else if (err.status != PARSREC_E_ARGUMENT || err.message[0] == '\0')
        abort();
    return 0;
}
