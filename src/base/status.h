/* Status and message: every call that can fail returns one and, if asked, fills the other.
 *
 * The message is one sentence: what, where, and what to do next. It is written where the reason is known
 * and passed upward unchanged by PR_TRY; a caller that knows more may write a new one around it. The
 * library never prints and never ends the process: assert is for our own mistakes, a status for
 * everything that input, the machine or the caller can cause.
 *
 * A function that takes resources has one exit: PR_TRY_GOTO jumps to `done`, where everything is freed;
 * a zeroed struct may be freed. PR_TRY is for functions that hold nothing yet. */
#ifndef PR_STATUS_H
#define PR_STATUS_H

#include "parsrec.h"

/* Writes the sentence into err (which may be NULL) and returns status, so that a caller can say
 * `return pr_fail(err, ...)`. Control bytes that came in with outside text are shown as '?'. */
parsrec_status pr_fail(parsrec_error *err, parsrec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As pr_fail, for a failed system call: appends the text of errno. */
parsrec_status pr_fail_errno(parsrec_error *err, parsrec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The one sentence for memory that could not be had. */
parsrec_status pr_fail_memory(parsrec_error *err);

/* Passes a failure upward unchanged. */
#define PR_TRY(call)                           \
    do {                                       \
        parsrec_status pr_try_status = (call); \
        if (pr_try_status != PARSREC_OK)       \
            return pr_try_status;              \
    } while (0)

/* As PR_TRY, for functions with one exit: sets `status` and goes to `done`. */
#define PR_TRY_GOTO(call)         \
    do {                          \
        status = (call);          \
        if (status != PARSREC_OK) \
            goto done;            \
    } while (0)

#endif
