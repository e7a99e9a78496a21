/* Threads that take work from a queue. */
#include "serve/workers.h"

#include <pthread.h>

#include "base/memory.h"

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t more;
    work_item *first, **last;
    size_t queued, longest;
    bool ending;
    pthread_t *threads;
    unsigned thread_count;
};

/* NULL when there will be no more. */
static work_item *next_item(workers *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->first == NULL && !pool->ending)
        pthread_cond_wait(&pool->more, &pool->lock);
    work_item *work = pool->first;
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
    for (work_item *work; (work = next_item(context)) != NULL;)
        work->run(work);
    return NULL;
}

parsrec_status workers_new(workers **out, unsigned threads, size_t longest_queue,
                           parsrec_error *err)
{
    workers *pool = pr_alloc_zero(1, sizeof *pool);
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
        workers_free(pool);
    return status;
}

bool workers_submit(workers *pool, work_item *work)
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

void workers_finish(workers *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pool->thread_count = 0;
}

void workers_free(workers *pool)
{
    if (pool == NULL)
        return;
    workers_finish(pool);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->more);
    pr_free(pool->threads);
    pr_free(pool);
}
