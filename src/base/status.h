/* How the library speaks to its caller: the status and message of a call that fails, and log lines and
 * progress through the caller's callbacks.
 *
 * Every call that can fail returns a status and, if asked, fills in a message.
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

/* ---- log and progress; every function accepts NULL hooks ---- */

void pr_say(const parsrec_hooks *hooks, parsrec_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports how far a stage is; E_STOPPED when the caller wants to stop. Call it about every 10 ms of
 * work, not in inner loops. */
parsrec_status pr_progress(const parsrec_hooks *hooks, const char *stage, const char *unit,
                           uint64_t done, uint64_t total, parsrec_error *err);
/* The same with a few words on how the work goes ("24,310 items/s, loss 5.31"). */
parsrec_status pr_progress_note(const parsrec_hooks *hooks, const char *stage, const char *unit,
                                uint64_t done, uint64_t total, const char *note,
                                parsrec_error *err);

#endif
