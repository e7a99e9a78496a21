/* Threads. The library starts them here and nowhere else.
 *
 * pr_pool runs many short tasks and waits for them: a loop over numbers, spread over cores. Workers
 * sleep between rounds; a task is taken with one atomic addition, so tasks begin in the order of
 * their numbers. Which thread runs a task is left to chance: a result may depend on the number of
 * the task only, never on the worker, and is then the same with any number of threads.
 *
 * pr_queue runs a few long jobs (training a model) side by side while the caller's callbacks stay
 * on the calling thread. It is a pool whose caller does not work but delivers messages and
 * progress.
 *
 * pr_thread is one thread that lives as long as its owner: it decompresses ahead of an import, or
 * watches the memory. */
#ifndef PR_THREADS_H
#define PR_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct pr_pool pr_pool;

/* worker is 0..threads-1 and names the scratch memory the task may use. */
typedef void pr_task(void *context, size_t task, unsigned worker);

/* 0 threads: one for each core that this process may use. The caller works too, so one thread
 * starts none. */
parsrec_status pr_pool_new(pr_pool **out, unsigned threads, parsrec_error *err);
void pr_pool_free(pr_pool *pool); /* NULL is fine */
unsigned pr_pool_threads(const pr_pool *pool);

/* Runs tasks 0..tasks-1 and returns when all are done. Not to be called from inside a task. */
void pr_pool_run(pr_pool *pool, pr_task *task, void *context, size_t tasks);

/* For a caller that does not work itself: `workers` threads, or as many as the system gives but at
 * least one. pr_pool_start returns at once; pr_pool_wait, or pr_pool_free, returns when all tasks
 * that began are done. Workers are then numbered from 1. */
parsrec_status pr_pool_background(pr_pool **out, unsigned workers, parsrec_error *err);
void pr_pool_start(pr_pool *pool, pr_task *task, void *context, size_t tasks);
void pr_pool_wait(pr_pool *pool);

unsigned pr_cores(void);

/* ---- long jobs ---- */

typedef struct pr_queue {
    void *context;
    /* Runs one job; what its hooks report is passed on to the caller's. Called on several threads
     * at once. */
    parsrec_status (*run)(void *context, size_t job, const parsrec_hooks *hooks,
                          parsrec_error *err);
    const char *(*name)(void *context, size_t job); /* for messages */
    size_t jobs;
    unsigned workers;    /* jobs that run at the same time, at least 1 */
    const char *stage;   /* of the progress that is reported: "training 12 models" */
    const char *counted; /* the stage of a job whose progress is the job's: "training" */
} pr_queue;

/* Jobs begin in order. Messages have the job's name in front, epochs carry it. When a job fails, or
 * the caller wants to stop, no more begin and running ones are asked to stop; the error is that of
 * the first job that failed by itself. */
parsrec_status pr_queue_run(const pr_queue *queue, const parsrec_hooks *hooks, parsrec_error *err);

/* How many workers to have: as many as wanted or, with 0, one per thread as long as memory has room
 * for that many of the largest job, which takes `bytes`. */
unsigned pr_queue_workers(unsigned wanted, unsigned threads, double bytes);

/* ---- one thread ---- */

/* What the thread and its owner share is under the lock. Either waits for `changed`, and signals it after a
 * change. The function of the thread returns soon after `stop` is set. */
typedef struct pr_thread {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* by the monotonic clock */
    bool stop;              /* under the lock */
    bool running;           /* the owner's */
    pthread_t id;
} pr_thread;

void pr_thread_init(pr_thread *t); /* the lock; no thread yet */
/* False: the system gives none. */
bool pr_thread_start(pr_thread *t, void *(*run)(void *context), void *context);
void pr_thread_free(pr_thread *t); /* returns when the thread, if there is one, has ended */

#endif
