/* The version, status names and texts, and the one place where messages are written. */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* From the build. */
const char *parsrec_version(void)
{
    return PARSREC_VERSION_TEXT;
}

const char *parsrec_status_name(parsrec_status status)
{
    switch (status) {
#define NAME(name, value, text) \
    case PARSREC_##name:        \
        return #name;
        PARSREC_STATUS_MAP(NAME)
#undef NAME
    }
    return "E_UNKNOWN";
}

const char *parsrec_status_text(parsrec_status status)
{
    switch (status) {
#define TEXT(name, value, text) \
    case PARSREC_##name:        \
        return text;
        PARSREC_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "unknown status";
}

/* Messages and remarks quote names out of files; a terminal must not act on their contents. A cut in the
 * middle of a UTF-8 character is taken back to its beginning. */
static void make_printable(char *text, bool cut)
{
    size_t end = strlen(text);
    while (cut && end > 0 && ((unsigned char)text[end - 1] & 0xC0) == 0x80)
        end--;
    if (cut && end > 0 && ((unsigned char)text[end - 1] & 0xC0) == 0xC0)
        text[end - 1] = '\0';
    char *out = text;
    for (const char *at = text, *from = text; *from != '\0'; from = at) {
        uint32_t c = pr_utf8_next(&at);
        if (pr_is_control(c) || pr_is_direction_control(c))
            *out++ = '?';
        else
            while (from < at)
                *out++ = *from++;
    }
    *out = '\0';
}

static void write_message(parsrec_error *err, parsrec_status status, const char *suffix,
                          const char *format, va_list args)
{
    err->status = status;
    size_t room = sizeof err->message;
    int n = vsnprintf(err->message, room, format, args);
    size_t length = n < 0 ? 0 : (size_t)n;
    if (length < room && suffix != NULL) {
        n = snprintf(err->message + length, room - length, ": %s", suffix);
        length += n < 0 ? 0 : (size_t)n;
    }
    make_printable(err->message, length >= room);
}

parsrec_status pr_fail(parsrec_error *err, parsrec_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, format);
    write_message(err, status, NULL, format, args);
    va_end(args);
    return status;
}

parsrec_status pr_fail_errno(parsrec_error *err, parsrec_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    const char *why = strerror(errno);
    va_list args;
    va_start(args, format);
    write_message(err, status, why, format, args);
    va_end(args);
    return status;
}

parsrec_status pr_fail_memory(parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_MEMORY,
                   "out of memory; close other programs or use a machine with more");
}

/* ---- log and progress ---- */

void pr_say(const parsrec_hooks *hooks, parsrec_log_level level, const char *format, ...)
{
    if (hooks == NULL || hooks->on_log == NULL)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    make_printable(text, n >= (int)sizeof text);
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
