/* Reports to the caller's callbacks; every function accepts NULL hooks. */
#ifndef PR_HOOKS_H
#define PR_HOOKS_H

#include "base/status.h"

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
