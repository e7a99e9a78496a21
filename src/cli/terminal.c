/* Live progress, signals and messages. */
#include "cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

static volatile sig_atomic_t stop_asked;

static struct {
    bool line_open;
    bool is_terminal;
    double last; /* when something was last drawn */
    double stage_began;
    uint64_t stage_done; /* how far it was when first heard of */
    char stage[96];
} view;

static void on_signal(int number)
{
    (void)number;
    /* A second Ctrl-C ends at once, the ordinary way. */
    if (stop_asked != 0)
        signal(number, SIG_DFL);
    stop_asked = 1;
}

void cli_finish_line(void)
{
    if (view.line_open)
        fputs("\r\033[K", stderr);
    view.line_open = false;
}

const char *cli_grouped(cli_number *hold, uint64_t value)
{
    char *end = hold->text + sizeof hold->text - 1;
    *end = '\0';
    for (int digits = 0;; digits++) {
        if (digits > 0 && digits % 3 == 0)
            *--end = ',';
        *--end = (char)('0' + value % 10);
        value /= 10;
        if (value == 0)
            break;
    }
    return memmove(hold->text, end, strlen(end) + 1);
}

static void on_log(void *context, parsrec_log_level level, const char *text)
{
    (void)context;
    cli_finish_line();
    fprintf(stderr, "%s%s\n", level == PARSREC_LOG_WARNING ? "warning: " : "", text);
}

/* A line put together before it is shown, so that it can be cut to the width of the terminal. */
typedef struct line {
    char text[512];
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, args);
    va_end(args);
    l->used += n > 0 ? (size_t)n : 0;
    if (l->used > sizeof l->text - 1)
        l->used = sizeof l->text - 1;
}

static void add_duration(line *l, double seconds)
{
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 120)
        add(l, ", %lu s left", s);
    else if (s < 7200)
        add(l, ", %lu min left", s / 60);
    else
        add(l, ", %lu h %lu min left", s / 3600, s / 60 % 60);
}

/* A line longer than the terminal is wide would wrap, and its first half stay for ever; so it would
 * when a Ctrl-C shows as two more characters. */
static void cut_to_terminal(line *l)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 4)
        return;
    size_t columns = size.ws_col - 3u;
    if (l->used <= columns)
        return;
    while (columns > 0 && ((unsigned char)l->text[columns] & 0xC0) == 0x80)
        columns--; /* not inside a UTF-8 character */
    l->text[columns] = '\0';
}

static void draw(const parsrec_progress *p, double elapsed)
{
    line l = {.used = 0};
    cli_number done;
    add(&l, "%s: ", p->stage);
    if (p->note == NULL) {
        add(&l, "%s", cli_grouped(&done, p->done));
        if (p->total > 0)
            add(&l, " of %s", cli_grouped(&done, p->total));
        add(&l, " %s%s", p->unit, p->total > 0 ? ", " : "");
    }
    if (p->total > 0) {
        double gained = (double)(p->done - view.stage_done);
        add(&l, "%.0f %%", 100 * (double)p->done / (double)p->total);
        if (elapsed > 1 && gained > 0)
            add_duration(&l, (double)(p->total - p->done) / gained * elapsed);
    }
    if (p->note != NULL)
        add(&l, "%s%s", p->total > 0 ? ", " : "", p->note);
    if (view.is_terminal)
        cut_to_terminal(&l);
    fprintf(stderr, "%s%s%s", view.is_terminal ? "\r" : "", l.text,
            view.is_terminal ? "\033[K" : "\n");
    view.line_open = view.is_terminal;
}

static int on_progress(void *context, const parsrec_progress *p)
{
    (void)context;
    double t = pr_now();
    if (strncmp(view.stage, p->stage, sizeof view.stage - 1) != 0) {
        snprintf(view.stage, sizeof view.stage, "%s", p->stage);
        view.stage_began = view.last = t;
        view.stage_done = p->done;
    }
    /* Short work draws nothing; a pipe or log gets a line now and then. */
    if (t - view.last > (view.is_terminal ? 0.2 : 10)) {
        view.last = t;
        draw(p, t - view.stage_began);
    }
    return stop_asked != 0;
}

const parsrec_hooks *cli_hooks(void)
{
    static const parsrec_hooks hooks = {.on_log = on_log, .on_progress = on_progress};
    static const int signals[] = {SIGINT, SIGTERM};
    view.is_terminal = isatty(STDERR_FILENO) != 0;
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    return &hooks;
}

int cli_report(const char *command, const parsrec_error *err)
{
    cli_finish_line();
    fprintf(stderr, "parsrec %s: %s\n", command, err->message);
    return 1;
}

int cli_close_output(const char *command)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return 0;
    fprintf(stderr, "parsrec %s: standard output: writing failed: %s\n", command, strerror(errno));
    return 1;
}
