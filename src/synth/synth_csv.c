/* Actions as CSV text, written by hand because printf would take longer than the drawing. */
#include <string.h>

#include "base/files.h"
#include "base/hooks.h"
#include "synth/synth.h"

enum { DIGITS = 20 };

static char *put_number(char *at, uint64_t value)
{
    char digits[DIGITS], *first = digits + DIGITS;
    do {
        *--first = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    size_t count = (size_t)(digits + DIGITS - first);
    memcpy(at, first, count);
    return at + count;
}

/* "user,user-time,time," begins every row of a session. */
static size_t put_prefix(char *text, uint64_t user, uint64_t time)
{
    char *at = put_number(text, user);
    *at++ = ',';
    at = put_number(at, user);
    *at++ = '-';
    at = put_number(at, time);
    *at++ = ',';
    at = put_number(at, time);
    *at++ = ',';
    return (size_t)(at - text);
}

static parsrec_status write_session(struct pr_atomic_file *file, const pr_dataset *data,
                                    size_t user, size_t session, parsrec_error *err)
{
    char row[5 * DIGITS + 8];
    size_t prefix = put_prefix(row, user, (uint64_t)data->times[session]);
    for (int64_t a = data->session_offsets[session]; a < data->session_offsets[session + 1]; a++) {
        char *end = put_number(row + prefix, (uint64_t)data->action_items[a]);
        *end++ = '\n';
        PR_TRY(pr_atomic_write(file, row, (size_t)(end - row), err));
    }
    return PARSREC_OK;
}

parsrec_status pr_synth_csv(struct pr_atomic_file *file, const pr_dataset *data,
                            const parsrec_hooks *hooks, parsrec_error *err)
{
    static const char header[] = "user,session,time,item\n";
    PR_TRY(pr_atomic_write(file, header, strlen(header), err));
    for (size_t u = 0; u < data->users; u++) {
        if (u % 256 == 0)
            PR_TRY(pr_progress(hooks, "writing CSV", "users", u, data->users, err));
        for (int64_t s = data->user_offsets[u]; s < data->user_offsets[u + 1]; s++)
            PR_TRY(write_session(file, data, u, (size_t)s, err));
    }
    return PARSREC_OK;
}
