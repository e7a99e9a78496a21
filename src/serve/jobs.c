/* The table of jobs, and the threads that run them. */
#include "serve/jobs.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

/* High enough that requests do not wait for a job, and low enough that a busy machine does not
 * starve it. */
enum { NICE = 15 };

static const double LEFT_SECONDS = 30;
static const size_t BYTES_MOST = (size_t)64 << 20;

/* The table's lock guards everything but the fields that never change. */
typedef struct job {
    jobs *table;
    const job_kind *kind;
    char id[JOB_ID_BYTES];
    json_t *request;
    char *key;        /* equal for equal requests */
    uint64_t state;   /* engine_state of its engine */
    uint64_t good_at; /* the state for which the request was last checked */
    uint64_t number;  /* in the queue */
    uint64_t used;    /* when it was last used, in calls */
    job_status status;
    bool cancel;
    unsigned askers;  /* clients that submitted it and did not cancel */
    unsigned waiters; /* requests that are waiting for it */
    double wanted_until, finished_at;
    size_t stages, stage; /* number of stages, and the current one */
    uint64_t stage_done;
    double progress;
    char phase[sizeof((job_view *)0)->phase];
    char *text;
    size_t size;
    parsrec_error err;
} job;

const char *job_status_name(job_status status)
{
    static const char *const names[] = {"queued", "running", "done", "failed", "cancelled"};
    return names[status];
}

void job_view_free(job_view *view)
{
    pr_free(view->text);
    *view = (job_view){0};
}

void jobs_init(jobs *table, engine_slot *engines, const atomic_bool *stopping)
{
    *table = (jobs){.engines = engines,
                    .stopping = stopping,
                    .left_seconds = LEFT_SECONDS,
                    .bytes_most = BYTES_MOST};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&table->lock, NULL);
    pthread_cond_init(&table->queued, NULL);
    pthread_cond_init(&table->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* ---- the table; all with the lock held ---- */

static bool is_finished(const job *j)
{
    return j->status >= JOB_DONE;
}

static bool is_unwanted(const job *j)
{
    return j->cancel || (j->waiters == 0 && pr_now() > j->wanted_until);
}

static void job_free(job *j)
{
    json_decref(j->request);
    pr_free(j->key);
    pr_free(j->text);
    pr_free(j);
}

static void take_out(jobs *t, size_t at)
{
    assert(t->all[at]->waiters == 0 && t->all[at]->status != JOB_RUNNING);
    job_free(t->all[at]);
    t->all[at] = t->all[--t->count];
}

static void finish(jobs *t, job *j, job_status status)
{
    assert(status >= JOB_DONE && !is_finished(j));
    if (j->status == JOB_QUEUED)
        t->waiting--;
    j->status = status;
    j->finished_at = pr_now();
    j->phase[0] = '\0';
    if (status == JOB_DONE)
        j->progress = 1;
    if (status != JOB_DONE) { /* no request joins it; a request may be as long as a body */
        json_decref(j->request);
        pr_free(j->key);
        j->request = NULL;
        j->key = NULL;
    }
    pthread_cond_broadcast(&t->changed);
}

static uint64_t state_of(const engine *e)
{
    return e != NULL ? engine_state(e) : 0;
}

static uint64_t state_now(const jobs *t)
{
    engine *e = engine_take(t->engines);
    uint64_t state = state_of(e);
    engine_drop(e);
    return state;
}

/* Whether the request of a job, which was good for the state that it began with, is good no longer: it is
 * about a user who was forgotten meanwhile, or who is not in the new model. */
static bool is_void(job *j, const engine *e, parsrec_error *err)
{
    uint64_t state = state_of(e);
    if (e == NULL || j->good_at == state)
        return false;
    if (j->kind->check(e, j->request, err) == PARSREC_E_NOT_FOUND)
        return true;
    j->good_at = state;
    return false;
}

/* Removes queued jobs that are no longer wanted, and results that exceed the limit or belong to
 * another model. The clients of such a result can still fetch it for a while, unless it is about a user
 * who was forgotten. */
static void sweep(jobs *t)
{
    engine *e = engine_take(t->engines);
    uint64_t state = state_of(e);
    double now = pr_now();
    size_t bytes = 0;
    for (size_t i = t->count; i-- > 0;) {
        job *j = t->all[i];
        if (j->status == JOB_QUEUED && is_unwanted(j))
            finish(t, j, JOB_CANCELLED);
        bool old = j->state != state || j->status != JOB_DONE;
        bool late = old && now - j->finished_at > t->left_seconds;
        if (is_finished(j) && j->waiters == 0 &&
            (late || (j->status == JOB_DONE && is_void(j, e, NULL))))
            take_out(t, i);
        else
            bytes += j->size;
    }
    engine_drop(e);
    while (bytes > t->bytes_most || t->count == JOBS_MOST) {
        size_t least = t->count;
        for (size_t i = 0; i < t->count; i++)
            if (is_finished(t->all[i]) && t->all[i]->waiters == 0 &&
                (least == t->count || t->all[i]->used < t->all[least]->used))
                least = i;
        if (least == t->count)
            return;
        bytes -= t->all[least]->size;
        take_out(t, least);
    }
}

static job *find_id(const jobs *t, const char *id)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->all[i]->id, id) == 0)
            return t->all[i];
    return NULL;
}

/* A job with the same request to the current model. */
static job *find_equal(const jobs *t, const job_kind *kind, const char *key)
{
    uint64_t state = state_now(t);
    for (size_t i = 0; i < t->count; i++) {
        job *j = t->all[i];
        bool useful = (j->status == JOB_QUEUED || j->state == state) && j->status <= JOB_DONE;
        if (useful && !j->cancel && j->kind == kind && strcmp(j->key, key) == 0)
            return j;
    }
    return NULL;
}

/* False if out of memory: the view then has everything but the text. */
static bool show(job_view *view, const job *j)
{
    *view = (job_view){.status = j->status, .progress = j->progress, .err = j->err};
    memcpy(view->id, j->id, sizeof view->id);
    memcpy(view->phase, j->phase, sizeof view->phase);
    if (j->status != JOB_DONE)
        return true;
    view->text = pr_copy_string(j->text, j->size);
    view->size = j->size;
    return view->text != NULL;
}

/* ---- running ---- */

/* Stages follow each other; each goes from 0 to its total. */
static int on_progress(void *context, const parsrec_progress *p)
{
    job *j = context;
    jobs *t = j->table;
    pthread_mutex_lock(&t->lock);
    if (strcmp(j->phase, p->stage) != 0 || p->done < j->stage_done) {
        if (j->phase[0] != '\0' && j->stage + 1 < j->stages)
            j->stage++;
        snprintf(j->phase, sizeof j->phase, "%s", p->stage);
    }
    j->stage_done = p->done;
    double part = p->total > 0 ? (double)p->done / (double)p->total : 0;
    double all = ((double)j->stage + (part < 1 ? part : 1)) / (double)j->stages;
    if (all > j->progress && all < 1)
        j->progress = all;
    j->cancel |= t->ending || atomic_load(t->stopping) || is_unwanted(j);
    bool stop = j->cancel; /* from now on no request joins it */
    pthread_mutex_unlock(&t->lock);
    return stop;
}

/* The lock is held on entry and on return, not while the job runs. */
static void run_job(jobs *t, job *j)
{
    assert(j->status == JOB_QUEUED && t->waiting > 0);
    const parsrec_hooks hooks = {.context = j, .on_progress = on_progress};
    char *text = NULL;
    parsrec_error err = {0};
    j->status = JOB_RUNNING;
    t->waiting--;
    engine *e = engine_take(t->engines);
    j->state = j->good_at = state_of(e);
    pthread_mutex_unlock(&t->lock);
    parsrec_status status = e != NULL ? j->kind->run(&text, e, j->request, &hooks, &err)
                                      : pr_fail(&err, PARSREC_E_STOPPED, "there is no model");
    engine_drop(e);
    pthread_mutex_lock(&t->lock);
    e = engine_take(t->engines);
    if (status == PARSREC_OK && is_void(j, e, &err)) { /* since a moment ago */
        pr_free(text);
        status = err.status;
    }
    engine_drop(e);
    if (status == PARSREC_OK) {
        j->text = text;
        j->size = strlen(text);
        finish(t, j, JOB_DONE);
    } else if (status == PARSREC_E_STOPPED) {
        finish(t, j, JOB_CANCELLED);
    } else {
        j->err = err;
        finish(t, j, JOB_FAILED);
    }
    sweep(t);
}

static job *next_job(const jobs *t)
{
    job *next = NULL;
    for (size_t i = 0; i < t->count; i++)
        if (t->all[i]->status == JOB_QUEUED && (next == NULL || t->all[i]->number < next->number))
            next = t->all[i];
    return next;
}

/* Each task of the pool is one runner, until the end. */
static void run_jobs(void *context, size_t runner, unsigned worker)
{
    (void)runner, (void)worker;
    jobs *t = context;
    const struct sched_param none = {0};
    /* On Linux the nice value and the policy belong to a thread and are inherited by threads that
     * it starts. */
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    sched_setscheduler(0, SCHED_BATCH, &none);
    pthread_mutex_lock(&t->lock);
    while (!t->ending) {
        job *j = next_job(t);
        if (j == NULL)
            pthread_cond_wait(&t->queued, &t->lock);
        else if (is_unwanted(j))
            finish(t, j, JOB_CANCELLED);
        else
            run_job(t, j);
    }
    pthread_mutex_unlock(&t->lock);
}

void jobs_free(jobs *t)
{
    if (t->engines == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_broadcast(&t->queued);
    pthread_mutex_unlock(&t->lock);
    pr_pool_free(t->runners);
    for (size_t i = 0; i < t->count; i++)
        job_free(t->all[i]);
    pthread_cond_destroy(&t->queued);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    *t = (jobs){0};
}

/* ---- asking ---- */

/* Takes ownership of the key, also on failure. */
static parsrec_status new_job(job **out, jobs *t, const job_kind *kind, json_t *request, char *key,
                              parsrec_error *err)
{
    unsigned char random[(JOB_ID_BYTES - 1) / 2];
    job *j = pr_alloc_zero(1, sizeof *j);
    if (j == NULL) {
        pr_free(key);
        return pr_fail_memory(err);
    }
    *j = (job){.table = t, .kind = kind, .request = json_deep_copy(request), .key = key};
    parsrec_status status = j->request != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK && getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        status = pr_fail_errno(err, PARSREC_E_MEMORY, "cannot draw a random number");
    if (status != PARSREC_OK) {
        job_free(j);
        return status;
    }
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(j->id + 2 * i, 3, "%02x", random[i]);
    j->stages = kind->stages(request);
    j->number = ++t->calls;
    t->all[t->count++] = *out = j;
    t->waiting++;
    pthread_cond_signal(&t->queued);
    return PARSREC_OK;
}

static jobs_verdict enter(jobs *t, job **out, const job_kind *kind, json_t *request, char *key,
                          parsrec_error *err)
{
    sweep(t);
    *out = find_equal(t, kind, key);
    if (*out != NULL) {
        pr_free(key);
        (*out)->used = ++t->calls;
        return JOBS_TAKEN;
    }
    if (t->waiting >= JOB_QUEUE || t->count == JOBS_MOST || t->ending) {
        pr_free(key);
        return JOBS_FULL;
    }
    if (t->runners == NULL) {
        if (pr_pool_background(&t->runners, JOB_RUNNERS, err) != PARSREC_OK) {
            pr_free(key);
            return JOBS_REFUSED;
        }
        pr_pool_start(t->runners, run_jobs, t, JOB_RUNNERS);
    }
    if (new_job(out, t, kind, request, key, err) != PARSREC_OK)
        return JOBS_REFUSED;
    (*out)->used = t->calls;
    return JOBS_TAKEN;
}

/* On return the table's lock is held if the job was accepted, and only then. */
static jobs_verdict submit(jobs *t, job **out, const job_kind *kind, json_t *request,
                           parsrec_error *err)
{
    engine *e = engine_take(t->engines);
    parsrec_status status =
        e != NULL ? kind->check(e, request, err)
                  : pr_fail(err, PARSREC_E_STOPPED, "the model is being loaded; ask again soon");
    engine_drop(e);
    if (status != PARSREC_OK)
        return JOBS_REFUSED;
    /* The request in canonical form, independent of the order of its fields and of white space. */
    char *text = json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS);
    char *key = text != NULL ? pr_copy_string(text, strlen(text)) : NULL;
    free(text);
    if (key == NULL) {
        pr_fail_memory(err);
        return JOBS_REFUSED;
    }
    pthread_mutex_lock(&t->lock);
    jobs_verdict verdict = enter(t, out, kind, request, key, err);
    if (verdict != JOBS_TAKEN)
        pthread_mutex_unlock(&t->lock);
    return verdict;
}

static jobs_verdict verdict_of(bool shown, parsrec_error *err)
{
    if (shown)
        return JOBS_TAKEN;
    pr_fail_memory(err);
    return JOBS_REFUSED;
}

jobs_verdict jobs_submit(jobs *t, const job_kind *kind, json_t *request, job_view *view,
                         parsrec_error *err)
{
    assert(kind != NULL && request != NULL);
    job *j;
    *view = (job_view){0};
    jobs_verdict verdict = submit(t, &j, kind, request, err);
    if (verdict != JOBS_TAKEN)
        return verdict;
    j->askers++;
    j->wanted_until = pr_now() + t->left_seconds;
    bool shown = show(view, j);
    pthread_mutex_unlock(&t->lock);
    return verdict_of(shown, err);
}

bool jobs_look(jobs *t, const char *id, job_view *view)
{
    *view = (job_view){0};
    pthread_mutex_lock(&t->lock);
    sweep(t);
    job *j = find_id(t, id);
    bool shown = true;
    if (j != NULL) {
        j->used = ++t->calls;
        j->wanted_until = pr_now() + t->left_seconds;
        shown = show(view, j);
    }
    pthread_mutex_unlock(&t->lock);
    return j != NULL && shown;
}

bool jobs_cancel(jobs *t, const char *id, job_view *view)
{
    *view = (job_view){0};
    pthread_mutex_lock(&t->lock);
    sweep(t);
    job *j = find_id(t, id);
    bool shown = true;
    if (j != NULL) {
        if (j->askers > 0)
            j->askers--;
        j->cancel |= j->askers == 0 && j->waiters == 0 && !is_finished(j);
        if (j->cancel && j->status == JOB_QUEUED)
            finish(t, j, JOB_CANCELLED);
        shown = show(view, j);
        if (j->cancel)
            view->status = JOB_CANCELLED; /* it is cancelled, as far as this client is concerned */
    }
    pthread_mutex_unlock(&t->lock);
    return j != NULL && shown;
}

/* A client that leaves is noticed about every second, so that checking rarely is enough. */
static void wait_a_moment(jobs *t)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 200000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&t->changed, &t->lock, &until);
}

jobs_verdict jobs_ask(jobs *t, const job_kind *kind, json_t *request, double deadline,
                      const atomic_bool *left, job_view *view, parsrec_error *err)
{
    assert(kind != NULL && request != NULL);
    job *j;
    *view = (job_view){0};
    jobs_verdict verdict = submit(t, &j, kind, request, err);
    if (verdict != JOBS_TAKEN)
        return verdict;
    bool gone = false;
    j->waiters++;
    while (!is_finished(j) && !gone && pr_now() < deadline && !atomic_load(t->stopping)) {
        wait_a_moment(t);
        gone = left != NULL && atomic_load(left);
    }
    j->waiters--;
    if (!is_finished(j) && !gone && j->wanted_until < pr_now() + t->left_seconds)
        j->wanted_until = pr_now() + t->left_seconds;
    bool shown = show(view, j);
    pthread_mutex_unlock(&t->lock);
    return verdict_of(shown, err);
}
