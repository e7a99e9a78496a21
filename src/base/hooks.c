/* Log and progress callbacks. */
#include "base/hooks.h"

#include <stdarg.h>
#include <stdio.h>

void pr_say(const parsrec_hooks *hooks, parsrec_log_level level, const char *format, ...)
{
    if (hooks == NULL || hooks->on_log == NULL)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hooks->on_log(hooks->context, level, text);
}

parsrec_status pr_progress(const parsrec_hooks *hooks, const char *stage, const char *unit,
                           uint64_t done, uint64_t total, parsrec_error *err)
{
    return pr_progress_note(hooks, stage, unit, done, total, NULL, err);
}

parsrec_status pr_progress_note(const parsrec_hooks *hooks, const char *stage, const char *unit,
                                uint64_t done, uint64_t total, const char *note, parsrec_error *err)
{
    if (hooks == NULL || hooks->on_progress == NULL)
        return PARSREC_OK;
    parsrec_progress progress = {
        .stage = stage, .unit = unit, .note = note, .done = done, .total = total};
    if (hooks->on_progress(hooks->context, &progress) != 0)
        return pr_fail(err, PARSREC_E_STOPPED, "stopped while %s", stage);
    return PARSREC_OK;
}
