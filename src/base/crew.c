/* A worker that has something to say waits until the calling thread has said it, so that nothing is
 * copied and nothing can run out. */
#include "base/crew.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hooks.h"
#include "base/memory.h"

enum { PARTS = 1000, LOOK_NANOSECONDS = 100000000 };

typedef struct crew crew;

/* A thread and its task. */
typedef struct seat {
    crew *crew;
    pthread_t thread;
    bool busy;
    size_t task;
    double share; /* of the task that is done */
    char note[160];
} seat;

/* What is to be said: a message or an epoch. */
typedef struct word {
    const char *name, *text;
    parsrec_log_level level;
    const parsrec_epoch *epoch;
} word;

/* The lock guards everything but plan and hooks. */
struct crew {
    const pr_crew_plan *plan;
    const parsrec_hooks *hooks;
    pthread_mutex_t lock;
    pthread_cond_t said, heard;
    const word *word; /* that waits to be delivered; NULL: none */
    seat *seats;
    unsigned seat_count, running;
    size_t next, done;
    uint64_t told; /* progress never goes back */
    bool stop;
    size_t failed; /* the task whose error it is */
    parsrec_error error;
};

/* ---- what workers say ---- */

static void say(seat *s, word w)
{
    crew *c = s->crew;
    w.name = c->plan->name(c->plan->context, s->task);
    pthread_mutex_lock(&c->lock);
    while (c->word != NULL)
        pthread_cond_wait(&c->heard, &c->lock);
    c->word = &w;
    pthread_cond_signal(&c->said);
    while (c->word == &w)
        pthread_cond_wait(&c->heard, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void on_log(void *context, parsrec_log_level level, const char *text)
{
    say(context, (word){.text = text, .level = level});
}

static void on_epoch(void *context, const parsrec_epoch *epoch)
{
    say(context, (word){.epoch = epoch});
}

static int on_progress(void *context, const parsrec_progress *p)
{
    seat *s = context;
    crew *c = s->crew;
    pthread_mutex_lock(&c->lock);
    if (p->total > 0 && strcmp(p->stage, c->plan->counted) == 0)
        s->share = (double)p->done / (double)p->total;
    snprintf(s->note, sizeof s->note, "%s", p->note != NULL ? p->note : p->stage);
    bool stop = c->stop;
    pthread_mutex_unlock(&c->lock);
    return stop;
}

/* ---- workers ---- */

/* Of several errors the first task's, but whoever was only asked to stop is not the cause. */
static void keep_error(crew *c, size_t task, const parsrec_error *why)
{
    bool mine = why->status != PARSREC_E_STOPPED, kept = c->error.status != PARSREC_E_STOPPED;
    c->stop = true;
    if (c->error.status != PARSREC_OK && (kept != mine ? kept : c->failed < task))
        return;
    c->error = *why;
    c->failed = task;
}

static void *worker_main(void *argument)
{
    seat *s = argument;
    crew *c = s->crew;
    parsrec_hooks hooks = {s, on_log, on_progress, on_epoch};
    pthread_mutex_lock(&c->lock);
    while (!c->stop && c->next < c->plan->tasks) {
        parsrec_error why = {0};
        s->task = c->next++;
        s->busy = true;
        pthread_mutex_unlock(&c->lock);
        why.status = c->plan->work(c->plan->context, s->task, &hooks, &why);
        pthread_mutex_lock(&c->lock);
        s->busy = false;
        s->share = 0;
        s->note[0] = '\0';
        c->done++;
        if (why.status != PARSREC_OK)
            keep_error(c, s->task, &why);
    }
    c->running--;
    pthread_cond_signal(&c->said);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- the calling thread ---- */

static void deliver(const crew *c, const word *w)
{
    if (w->epoch == NULL) {
        pr_say(c->hooks, w->level, "%s: %s", w->name, w->text);
    } else if (c->hooks != NULL && c->hooks->on_epoch != NULL) {
        parsrec_epoch named = *w->epoch;
        named.name = w->name;
        c->hooks->on_epoch(c->hooks->context, &named);
    }
}

/* Who is at work. One alone has room for all its words, of several the first are shown. */
static void write_note(const crew *c, char *note, size_t size)
{
    size_t used = (size_t)snprintf(note, size, "%zu of %zu done", c->done, c->plan->tasks);
    for (unsigned i = 0; i < c->seat_count; i++) {
        const seat *s = &c->seats[i];
        int words = (int)(c->running > 1 ? strcspn(s->note, ",") : strlen(s->note));
        if (s->busy && used < size)
            used += (size_t)snprintf(note + used, size - used, "; %s %.*s",
                                     c->plan->name(c->plan->context, s->task), words, s->note);
    }
}

static bool wants_stop(const crew *c, uint64_t done, const char *note)
{
    return pr_progress_note(c->hooks, c->plan->stage, "tasks", done, c->plan->tasks * PARTS, note,
                            NULL) != PARSREC_OK;
}

/* Called and returns with the lock held; lets go of it while the caller's hooks run. */
static void tell(crew *c)
{
    char note[400];
    double done = (double)c->done;
    for (unsigned i = 0; i < c->seat_count; i++)
        done += c->seats[i].share;
    if ((uint64_t)(done * PARTS) > c->told)
        c->told = (uint64_t)(done * PARTS);
    write_note(c, note, sizeof note);
    pthread_mutex_unlock(&c->lock);
    bool stop = wants_stop(c, c->told, note);
    pthread_mutex_lock(&c->lock);
    c->stop |= stop;
}

static void wait_a_moment(crew *c)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&c->said, &c->lock, &until);
}

static void attend(crew *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->running > 0) {
        if (c->word == NULL)
            wait_a_moment(c);
        if (c->word != NULL) {
            const word *w = c->word;
            pthread_mutex_unlock(&c->lock);
            deliver(c, w);
            pthread_mutex_lock(&c->lock);
            c->word = NULL;
            pthread_cond_broadcast(&c->heard);
        }
        tell(c);
    }
    pthread_mutex_unlock(&c->lock);
}

/* One thread is enough to go on; fewer than wanted is no reason to fail. */
static parsrec_status take_seats(crew *c, parsrec_error *err)
{
    size_t wanted = c->plan->jobs < c->plan->tasks ? c->plan->jobs : c->plan->tasks;
    int failure = 0;
    pthread_mutex_lock(&c->lock); /* nobody looks around before all are seated */
    for (size_t i = 0; i < wanted && failure == 0; i++) {
        c->seats[i].crew = c;
        failure = pthread_create(&c->seats[i].thread, NULL, worker_main, &c->seats[i]);
        if (failure == 0)
            c->running = ++c->seat_count;
    }
    pthread_mutex_unlock(&c->lock);
    errno = failure;
    return c->seat_count > 0 ? PARSREC_OK
                             : pr_fail_errno(err, PARSREC_E_MEMORY, "no thread can be started");
}

parsrec_status pr_crew_run(const pr_crew_plan *plan, const parsrec_hooks *hooks, parsrec_error *err)
{
    crew c = {.plan = plan,
              .hooks = hooks,
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .said = PTHREAD_COND_INITIALIZER,
              .heard = PTHREAD_COND_INITIALIZER};
    if (plan->tasks == 0)
        return PARSREC_OK;
    c.seats = pr_alloc_zero(plan->jobs, sizeof *c.seats);
    if (c.seats == NULL)
        return pr_fail_memory(err);
    parsrec_status status = take_seats(&c, err);
    if (status == PARSREC_OK) {
        attend(&c);
        for (unsigned i = 0; i < c.seat_count; i++)
            pthread_join(c.seats[i].thread, NULL);
        status = c.error.status;
        if (status != PARSREC_OK)
            pr_fail(err, status, "%s", c.error.message);
        else if (c.done < plan->tasks)
            status = pr_fail(err, PARSREC_E_STOPPED, "stopped while %s", plan->stage);
    }
    pthread_cond_destroy(&c.said);
    pthread_cond_destroy(&c.heard);
    pthread_mutex_destroy(&c.lock);
    pr_free(c.seats);
    return status;
}

unsigned pr_crew_jobs(unsigned wanted, unsigned threads, double bytes)
{
    double left = 0.8 * (double)pr_memory_available();
    if (wanted > 0)
        return wanted;
    if (left >= bytes * threads)
        return threads;
    return left >= 2 * bytes ? (unsigned)(left / bytes) : 1;
}
