/* Long jobs on a background pool. A worker that has a message waits until the calling thread has
 * delivered it, so nothing is copied and no buffer can overflow. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"

enum { JOB_PARTS = 1000, POLL_NANOSECONDS = 100000000 };

/* What a worker does now. */
typedef struct worker {
    struct running *queue;
    bool busy;
    size_t job;
    double share; /* of the job that is done */
    char note[160];
} worker;

/* A log message or an epoch. */
typedef struct message {
    const char *name, *text;
    parsrec_log_level level;
    const parsrec_epoch *epoch;
} message;

/* The lock guards everything but plan and hooks. */
typedef struct running {
    const pr_queue *plan;
    const parsrec_hooks *hooks;
    pthread_mutex_t lock;
    pthread_cond_t changed;   /* a message waits, or a job ended */
    pthread_cond_t delivered; /* the message was passed on */
    const message *pending;   /* NULL: none */
    worker *workers;
    unsigned busy;
    size_t ended, done; /* jobs; one that was not begun after a stop has ended and is not done */
    uint64_t reported;  /* progress never goes back */
    bool stop;
    size_t failed; /* the job whose error it is */
    parsrec_error error;
} running;

/* ---- on the workers ---- */

static void post(worker *w, message m)
{
    running *q = w->queue;
    m.name = q->plan->name(q->plan->context, w->job);
    pthread_mutex_lock(&q->lock);
    while (q->pending != NULL)
        pthread_cond_wait(&q->delivered, &q->lock);
    q->pending = &m;
    pthread_cond_signal(&q->changed);
    while (q->pending == &m)
        pthread_cond_wait(&q->delivered, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

static void on_log(void *context, parsrec_log_level level, const char *text)
{
    post(context, (message){.text = text, .level = level});
}

static void on_epoch(void *context, const parsrec_epoch *epoch)
{
    post(context, (message){.epoch = epoch});
}

static int on_progress(void *context, const parsrec_progress *p)
{
    worker *w = context;
    running *q = w->queue;
    pthread_mutex_lock(&q->lock);
    if (p->total > 0 && strcmp(p->stage, q->plan->counted) == 0)
        w->share = (double)p->done / (double)p->total;
    snprintf(w->note, sizeof w->note, "%s", p->note != NULL ? p->note : p->stage);
    bool stop = q->stop;
    pthread_mutex_unlock(&q->lock);
    return stop;
}

/* Of several errors the first job's is kept, but a job that was only asked to stop is not the
 * cause. */
static void keep_error(running *q, size_t job, const parsrec_error *why)
{
    bool cause = why->status != PARSREC_E_STOPPED, kept = q->error.status != PARSREC_E_STOPPED;
    q->stop = true;
    if (q->error.status != PARSREC_OK && (kept != cause ? kept : q->failed < job))
        return;
    q->error = *why;
    q->failed = job;
}

static void run_job(void *context, size_t job, unsigned number)
{
    running *q = context;
    worker *w = &q->workers[number - 1];
    parsrec_hooks hooks = {w, on_log, on_progress, on_epoch};
    pthread_mutex_lock(&q->lock);
    if (!q->stop) {
        parsrec_error why = {0};
        *w = (worker){.queue = q, .busy = true, .job = job};
        q->busy++;
        pthread_mutex_unlock(&q->lock);
        why.status = q->plan->run(q->plan->context, job, &hooks, &why);
        pthread_mutex_lock(&q->lock);
        w->busy = false;
        q->busy--;
        q->done++;
        if (why.status != PARSREC_OK)
            keep_error(q, job, &why);
    }
    q->ended++;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* ---- on the calling thread ---- */

/* Called and returns with the lock held, which is released while the caller's hooks run. */
static void deliver(running *q)
{
    const message *m = q->pending;
    pthread_mutex_unlock(&q->lock);
    if (m->epoch == NULL) {
        pr_say(q->hooks, m->level, "%s: %s", m->name, m->text);
    } else if (q->hooks != NULL && q->hooks->on_epoch != NULL) {
        parsrec_epoch named = *m->epoch;
        named.name = m->name;
        q->hooks->on_epoch(q->hooks->context, &named);
    }
    pthread_mutex_lock(&q->lock);
    q->pending = NULL;
    pthread_cond_broadcast(&q->delivered);
}

/* As deliver. The note of a single job is shown whole, of several the beginnings. */
static void report_progress(running *q)
{
    char note[400];
    size_t used = (size_t)snprintf(note, sizeof note, "%zu of %zu done", q->done, q->plan->jobs);
    double done = (double)q->done;
    for (unsigned i = 0; i < q->plan->workers; i++) {
        const worker *w = &q->workers[i];
        if (!w->busy)
            continue;
        done += w->share;
        int shown = (int)(q->busy > 1 ? strcspn(w->note, ",") : strlen(w->note));
        if (used < sizeof note)
            used += (size_t)snprintf(note + used, sizeof note - used, "; %s %.*s",
                                     q->plan->name(q->plan->context, w->job), shown, w->note);
    }
    if ((uint64_t)(done * JOB_PARTS) > q->reported)
        q->reported = (uint64_t)(done * JOB_PARTS);
    pthread_mutex_unlock(&q->lock);
    bool stop = pr_progress_note(q->hooks, q->plan->stage, "tasks", q->reported,
                                 q->plan->jobs * JOB_PARTS, note, NULL) != PARSREC_OK;
    pthread_mutex_lock(&q->lock);
    q->stop |= stop;
}

/* Delivers what the workers report until every job has ended. */
static void attend(running *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->ended < q->plan->jobs) {
        if (q->pending == NULL) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += POLL_NANOSECONDS;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&q->changed, &q->lock, &until);
        }
        if (q->pending != NULL)
            deliver(q);
        report_progress(q);
    }
    pthread_mutex_unlock(&q->lock);
}

parsrec_status pr_queue_run(const pr_queue *queue, const parsrec_hooks *hooks, parsrec_error *err)
{
    assert(queue->workers > 0);
    if (queue->jobs == 0)
        return PARSREC_OK;
    running q = {.plan = queue,
                 .hooks = hooks,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .changed = PTHREAD_COND_INITIALIZER,
                 .delivered = PTHREAD_COND_INITIALIZER};
    size_t workers = queue->workers < queue->jobs ? queue->workers : queue->jobs;
    pr_pool *pool = NULL;
    q.workers = pr_alloc_zero(queue->workers, sizeof *q.workers);
    parsrec_status status =
        q.workers != NULL ? pr_pool_background(&pool, (unsigned)workers, err) : pr_fail_memory(err);
    if (status == PARSREC_OK) {
        pr_pool_start(pool, run_job, &q, queue->jobs);
        attend(&q);
        pr_pool_wait(pool);
        status = q.error.status;
        if (status != PARSREC_OK)
            pr_fail(err, status, "%s", q.error.message);
        else if (q.done < queue->jobs)
            status = pr_fail(err, PARSREC_E_STOPPED, "stopped while %s", queue->stage);
    }
    pr_pool_free(pool);
    pthread_cond_destroy(&q.changed);
    pthread_cond_destroy(&q.delivered);
    pthread_mutex_destroy(&q.lock);
    pr_free(q.workers);
    return status;
}

unsigned pr_queue_workers(unsigned wanted, unsigned threads, double bytes)
{
    double left = 0.8 * (double)pr_memory_available();
    if (wanted > 0)
        return wanted;
    if (left >= bytes * threads)
        return threads;
    return left >= 2 * bytes ? (unsigned)(left / bytes) : 1;
}
