/* Threads that take work from a queue. */
#include "serve/jobs.h"

#include <pthread.h>

#include "base/memory.h"

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t more;
    job *first, **last;
    size_t queued, longest;
    bool ending;
    pthread_t *threads;
    unsigned thread_count;
};

/* NULL when there will be no more. */
static job *next_job(jobs *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->first == NULL && !pool->ending)
        pthread_cond_wait(&pool->more, &pool->lock);
    job *work = pool->first;
    if (work != NULL) {
        pool->first = work->next;
        pool->queued--;
        if (pool->first == NULL)
            pool->last = &pool->first;
    }
    pthread_mutex_unlock(&pool->lock);
    return work;
}

static void *work_on(void *context)
{
    for (job *work; (work = next_job(context)) != NULL;)
        work->run(work);
    return NULL;
}

parsrec_status jobs_new(jobs **out, unsigned threads, size_t longest_queue, parsrec_error *err)
{
    jobs *pool = pr_alloc_zero(1, sizeof *pool);
    *out = NULL;
    if (pool == NULL)
        return pr_fail_memory(err);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->more, NULL);
    pool->last = &pool->first;
    pool->longest = longest_queue;
    pool->threads = pr_alloc(threads, sizeof *pool->threads);
    parsrec_status status = pool->threads != NULL ? PARSREC_OK : pr_fail_memory(err);
    while (status == PARSREC_OK && pool->thread_count < threads)
        if (pthread_create(&pool->threads[pool->thread_count], NULL, work_on, pool) == 0)
            pool->thread_count++;
        else
            status = pr_fail(err, PARSREC_E_MEMORY, "the system gives no more threads");
    if (status == PARSREC_OK)
        *out = pool;
    else
        jobs_free(pool);
    return status;
}

bool jobs_submit(jobs *pool, job *work)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->queued < pool->longest && !pool->ending;
    if (room) {
        work->next = NULL;
        *pool->last = work;
        pool->last = &work->next;
        pool->queued++;
        pthread_cond_signal(&pool->more);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

void jobs_finish(jobs *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pool->thread_count = 0;
}

void jobs_free(jobs *pool)
{
    if (pool == NULL)
        return;
    jobs_finish(pool);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->more);
    pr_free(pool->threads);
    pr_free(pool);
}
