/* Worker threads: a pool that runs numbered tasks. Which thread runs a task is left to chance, so
 * a task's result may depend on its number only. */
#ifndef PR_THREADS_H
#define PR_THREADS_H

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

unsigned pr_cores(void);

#endif
