/* A queue in front of a background pool (base/threads.h): each of its threads runs one endless task
 * that takes work from the queue. */
#include "serve/workers.h"

#include <assert.h>
#include <pthread.h>

#include "base/memory.h"
#include "base/threads.h"

struct workers {
    pthread_mutex_t lock; /* guards what follows, down to ending */
    pthread_cond_t more;
    work_item *first, **last;
    size_t queued, longest;
    bool ending;
    pr_pool *pool;
};

static void take_work(void *context, size_t task, unsigned number)
{
    workers *w = context;
    (void)task;
    (void)number;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->first == NULL && !w->ending)
            pthread_cond_wait(&w->more, &w->lock);
        work_item *work = w->first;
        if (work == NULL)
            break;
        w->first = work->next;
        w->queued--;
        if (w->first == NULL)
            w->last = &w->first;
        pthread_mutex_unlock(&w->lock);
        work->run(work);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

parsrec_status workers_new(workers **out, unsigned threads, size_t longest_queue,
                           parsrec_error *err)
{
    assert(threads > 0 && longest_queue > 0);
    workers *w = pr_alloc_zero(1, sizeof *w);
    *out = NULL;
    if (w == NULL)
        return pr_fail_memory(err);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    w->last = &w->first;
    w->longest = longest_queue;
    parsrec_status status = pr_pool_background(&w->pool, threads, err);
    if (status == PARSREC_OK) {
        pr_pool_start(w->pool, take_work, w, threads);
        *out = w;
    } else {
        workers_free(w);
    }
    return status;
}

bool workers_submit(workers *w, work_item *work)
{
    assert(work->run != NULL);
    pthread_mutex_lock(&w->lock);
    bool room = w->queued < w->longest && !w->ending;
    if (room) {
        work->next = NULL;
        *w->last = work;
        w->last = &work->next;
        w->queued++;
        pthread_cond_signal(&w->more);
    }
    pthread_mutex_unlock(&w->lock);
    return room;
}

void workers_finish(workers *w)
{
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->more);
    pthread_mutex_unlock(&w->lock);
    pr_pool_wait(w->pool);
}

void workers_free(workers *w)
{
    if (w == NULL)
        return;
    if (w->pool != NULL)
        workers_finish(w);
    pr_pool_free(w->pool);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->more);
    pr_free(w);
}
