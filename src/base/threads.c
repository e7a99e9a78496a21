/* The pool: workers sleep on a condition, tasks are taken by an atomic counter. */
#include "base/threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/memory.h"

typedef struct worker {
    pr_pool *pool;
    unsigned number;
    pthread_t thread;
} worker;

struct pr_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    unsigned long round; /* guarded by lock, like the next two */
    unsigned busy;
    bool quit;
    unsigned started;
    pr_task *task;
    void *context;
    size_t tasks;
    atomic_size_t next;
    unsigned threads;
    worker *workers; /* threads - 1 of them; the caller is worker 0 */
};

unsigned pr_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

static void run_tasks(pr_pool *pool, unsigned number)
{
    for (;;) {
        size_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (task >= pool->tasks)
            return;
        pool->task(pool->context, task, number);
    }
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    pr_pool *pool = self->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->quit)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        run_tasks(pool, self->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* A pool with as many of its threads - 1 workers as could be started. */
static parsrec_status make(pr_pool **out, unsigned threads, parsrec_error *err)
{
    pr_pool *pool = pr_alloc_zero(1, sizeof *pool);
    worker *workers = pr_alloc_zero(threads, sizeof *workers);
    *out = NULL;
    if (pool == NULL || workers == NULL) {
        pr_free(pool);
        pr_free(workers);
        return pr_fail_memory(err);
    }
    pool->threads = threads;
    pool->workers = workers;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->idle, NULL);
    for (unsigned i = 0; i + 1 < threads; i++) {
        workers[i] = (worker){.pool = pool, .number = i + 1};
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0)
            break;
        pool->started++;
    }
    *out = pool;
    return PARSREC_OK;
}

parsrec_status pr_pool_new(pr_pool **out, unsigned threads, parsrec_error *err)
{
    PR_TRY(make(out, threads > 0 ? threads : pr_cores(), err));
    unsigned started = (*out)->started;
    if (started + 1 == (*out)->threads)
        return PARSREC_OK;
    pr_pool_free(*out);
    *out = NULL;
    return pr_fail(err, PARSREC_E_LIMIT, "cannot start thread %u; ask for fewer with --threads",
                   started + 2);
}

parsrec_status pr_pool_background(pr_pool **out, unsigned workers, parsrec_error *err)
{
    assert(workers > 0);
    PR_TRY(make(out, workers + 1, err));
    if ((*out)->started > 0)
        return PARSREC_OK;
    pr_pool_free(*out);
    *out = NULL;
    return pr_fail(err, PARSREC_E_MEMORY, "the system gives no more threads");
}

void pr_pool_free(pr_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->idle);
    pthread_mutex_destroy(&pool->lock);
    pr_free(pool->workers);
    pr_free(pool);
}

unsigned pr_pool_threads(const pr_pool *pool)
{
    return pool->threads;
}

static void set_tasks(pr_pool *pool, pr_task *task, void *context, size_t tasks)
{
    assert(pool->busy == 0); /* a round at a time, and none from inside a task */
    pool->task = task;
    pool->context = context;
    pool->tasks = tasks;
    atomic_store(&pool->next, 0);
}

static void wake_workers(pr_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->busy = pool->started;
    pool->round++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

void pr_pool_start(pr_pool *pool, pr_task *task, void *context, size_t tasks)
{
    assert(pool != NULL && task != NULL);
    assert(pool->started > 0);
    set_tasks(pool, task, context, tasks);
    wake_workers(pool);
}

void pr_pool_wait(pr_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void pr_pool_run(pr_pool *pool, pr_task *task, void *context, size_t tasks)
{
    assert(pool != NULL && task != NULL);
    bool shared = pool->started > 0 && tasks > 1;
    set_tasks(pool, task, context, tasks);
    if (shared)
        wake_workers(pool);
    run_tasks(pool, 0);
    if (shared)
        pr_pool_wait(pool);
}

/* ---- one thread ---- */

void pr_thread_init(pr_thread *t)
{
    pthread_condattr_t clock;
    *t = (pr_thread){0};
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, &clock);
    pthread_condattr_destroy(&clock);
}

bool pr_thread_start(pr_thread *t, void *(*run)(void *context), void *context)
{
    assert(!t->running);
    t->running = pthread_create(&t->id, NULL, run, context) == 0;
    return t->running;
}

void pr_thread_free(pr_thread *t)
{
    if (t->running) {
        pthread_mutex_lock(&t->lock);
        t->stop = true;
        pthread_cond_signal(&t->changed);
        pthread_mutex_unlock(&t->lock);
        pthread_join(t->id, NULL);
    }
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
}
