/* Live progress, signals, messages and results. */
#include "cli/terminal.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/options.h"

static volatile sig_atomic_t stop_asked;

typedef enum how_much { AS_TIME_PASSES, NOTHING, EVERYTHING } how_much;

/* What is shown; shared by the thread of the command and the timer. */
static struct {
    pthread_mutex_t lock;
    bool begun; /* the timer runs */
    how_much how;
    bool line_open;
    bool is_terminal;
    double last; /* when something was last drawn */
    double stage_began;
    uint64_t stage_done;       /* progress at its first report */
    bool idle;                 /* the line was finished and nothing reported since */
    char stage[96], note[160]; /* the strings of `at` */
    parsrec_progress at;       /* the last report */
} view = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_signal(int number)
{
    (void)number;
    /* A second Ctrl-C kills the process at once. */
    if (stop_asked != 0)
        signal(number, SIG_DFL);
    stop_asked = 1;
}

static void clear_line(void)
{
    if (view.line_open)
        fputs("\r\033[K", stderr);
    view.line_open = false;
}

void cli_finish_line(void)
{
    pthread_mutex_lock(&view.lock);
    clear_line();
    view.idle = true;
    pthread_mutex_unlock(&view.lock);
}

static void on_log(void *context, parsrec_log_level level, const char *text)
{
    (void)context;
    pthread_mutex_lock(&view.lock);
    clear_line();
    fprintf(stderr, "%s%s\n", level == PARSREC_LOG_WARNING ? "warning: " : "", text);
    pthread_mutex_unlock(&view.lock);
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

/* A line wider than the terminal would wrap, and its first half would never be erased. Two characters
 * are left for the ^C that a terminal echoes. */
static void cut_to_terminal(line *l)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 4)
        return;
    l->text[pr_utf8_cut(l->text, l->used, size.ws_col - 3u)] = '\0';
}

/* "explaining: 812 of 33,842 baskets, 2 %, 40 s left", or "loading shop.st: 3 s" for a stage without a count. */
static void draw(const parsrec_progress *p, double elapsed)
{
    line l = {.used = 0};
    pr_digits done;
    add(&l, "%s: ", p->stage);
    if (p->unit == NULL)
        add(&l, "%.0f s", elapsed);
    else if (p->note == NULL) {
        add(&l, "%s", pr_digits_of(&done, p->done));
        if (p->total > 0)
            add(&l, " of %s", pr_digits_of(&done, p->total));
        add(&l, " %s%s", p->unit, p->total > 0 ? ", " : "");
    }
    if (p->total > 0) {
        double gained = (double)(p->done - view.stage_done);
        add(&l, "%.0f %%", 100 * (double)p->done / (double)p->total);
        if (elapsed > 1 && gained > 0) {
            unsigned long s =
                (unsigned long)((double)(p->total - p->done) / gained * elapsed + 0.5);
            if (s < 120)
                add(&l, ", %lu s left", s);
            else if (s < 7200)
                add(&l, ", %lu min left", s / 60);
            else
                add(&l, ", %lu h %lu min left", s / 3600, s / 60 % 60);
        }
    }
    if (p->note != NULL)
        add(&l, "%s%s", p->total > 0 ? ", " : "", p->note);
    if (view.is_terminal)
        cut_to_terminal(&l);
    fprintf(stderr, "%s%s%s", view.is_terminal ? "\r" : "", l.text,
            view.is_terminal ? "\033[K" : "\n");
    view.line_open = view.is_terminal;
}

/* With the lock held. The timer draws less often than reports may. */
static void draw_if_due(double terminal_pause)
{
    const double line_pause = 10;
    double t = pr_now();
    if (view.idle || view.stage[0] == '\0' || view.how == NOTHING ||
        (view.how != EVERYTHING &&
         t - view.last < (view.is_terminal ? terminal_pause : line_pause)))
        return;
    view.last = t;
    draw(&view.at, t - view.stage_began);
}

/* Copies the report, whose strings are valid only during the call. */
static int on_progress(void *context, const parsrec_progress *p)
{
    (void)context;
    pthread_mutex_lock(&view.lock);
    if (strncmp(view.stage, p->stage, sizeof view.stage - 1) != 0) {
        snprintf(view.stage, sizeof view.stage, "%s", p->stage);
        view.stage_began = pr_now();
        view.stage_done = p->done;
    }
    view.idle = false;
    view.at = *p;
    view.at.stage = view.stage;
    if (p->note != NULL) {
        snprintf(view.note, sizeof view.note, "%s", p->note);
        view.at.note = view.note;
    }
    draw_if_due(0.2);
    pthread_mutex_unlock(&view.lock);
    return stop_asked != 0;
}

/* A process that was stopped (Ctrl-Z, SIGSTOP) did not work meanwhile: the time left does not count it. */
static void *run_clock(void *unused)
{
    const struct timespec pause = {.tv_nsec = 250000000};
    const double pause_seconds = 0.25, stopped_least = 2;
    double before = pr_now();
    (void)unused;
    for (;;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&view.lock);
        double now = pr_now(), away = now - before - pause_seconds;
        before = now;
        if (away > stopped_least)
            view.stage_began += away;
        if (view.how == AS_TIME_PASSES)
            draw_if_due(0.9);
        pthread_mutex_unlock(&view.lock);
    }
    return NULL;
}

/* The first line is due a second after the command began. Without a timer, reports still draw. */
static void begin(void)
{
    const char *how = getenv("PARSREC_PROGRESS");
    sigset_t all, before;
    pthread_t clock;
    if (view.begun)
        return;
    view.begun = true;
    view.how = how == NULL               ? AS_TIME_PASSES
               : strcmp(how, "off") == 0 ? NOTHING
               : strcmp(how, "all") == 0 ? EVERYTHING
                                         : AS_TIME_PASSES;
    view.is_terminal = isatty(STDERR_FILENO) != 0;
    view.last = pr_now() - (view.is_terminal ? 0 : 9);
    sigfillset(&all); /* signals go to the thread of the command */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (view.how == AS_TIME_PASSES && pthread_create(&clock, NULL, run_clock, NULL) == 0)
        pthread_detach(clock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_stage(const char *format, ...)
{
    char text[sizeof view.stage];
    va_list args;
    begin();
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    on_progress(NULL, &(parsrec_progress){.stage = text});
}

const parsrec_hooks *cli_hooks(void)
{
    static const parsrec_hooks hooks = {.on_log = on_log, .on_progress = on_progress};
    static const int signals[] = {SIGINT, SIGTERM};
    begin();
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    return &hooks;
}

int cli_report(const char *command, const parsrec_error *err)
{
    parsrec_error shown = *err;
    cli_finish_line();
    pr_address_hide_all(shown.message); /* a database may quote the query that it was given */
    fprintf(stderr, "parsrec %s: %s\n", command, shown.message);
    return 1;
}

int cli_close_output(const char *command)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return 0;
    fprintf(stderr, "parsrec %s: standard output: writing failed: %s\n", command, strerror(errno));
    return 1;
}

/* ---- results ---- */

static void print_characters(const char *from, const char *end)
{
    for (const char *at = from; from < end; from = at) {
        uint32_t c = pr_utf8_next(&at);
        if (c != '\n' && (pr_is_control(c) || pr_is_direction_control(c)))
            putchar('?');
        else
            fwrite(from, 1, (size_t)(at - from), stdout);
    }
}

void cli_print_text(const char *text)
{
    print_characters(text, text + strlen(text));
}

size_t cli_name_width(parsrec_name name)
{
    size_t width = 0;
    for (size_t i = 0; i < name.size; i++)
        width += ((unsigned char)name.bytes[i] & 0xC0) != 0x80;
    return width;
}

void cli_print_cell(parsrec_name name, size_t width)
{
    assert(name.bytes != NULL || name.size == 0);
    print_characters(name.bytes, name.bytes + name.size);
    for (size_t n = cli_name_width(name); n < width + 2; n++)
        putchar(' ');
}

int cli_print_json(const char *command, json_t *json)
{
    if (json == NULL) {
        fprintf(stderr, "parsrec %s: out of memory\n", command);
        return CLI_FAILED;
    }
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)); /* errors show in ferror */
    putchar('\n');
    json_decref(json);
    return cli_close_output(command);
}
