/* A file and whose turn it is: the task whose turn it is has the file to itself. */
#include "base/ordered_file.h"

#include <assert.h>
#include <pthread.h>

#include "base/files.h"
#include "base/memory.h"

struct pr_ordered_file {
    pr_atomic_file *file;
    parsrec_error failure; /* like the file, of the task whose turn it is */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    size_t turn; /* guarded by the lock */
};

parsrec_status pr_ordered_open(pr_ordered_file **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    pr_ordered_file *f = pr_alloc_zero(1, sizeof *f);
    if (f == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_atomic_open(&f->file, path, err);
    if (status != PARSREC_OK) {
        pr_free(f);
        return status;
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->turned, NULL);
    *out = f;
    return PARSREC_OK;
}

static void wait_for_turn(pr_ordered_file *f, size_t task)
{
    pthread_mutex_lock(&f->lock);
    assert(f->turn <= task); /* a task hands in its last piece once */
    while (f->turn != task)
        pthread_cond_wait(&f->turned, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

static void end_turn(pr_ordered_file *f)
{
    pthread_mutex_lock(&f->lock);
    f->turn++;
    pthread_cond_broadcast(&f->turned);
    pthread_mutex_unlock(&f->lock);
}

void pr_ordered_write(pr_ordered_file *f, size_t task, pr_writer *text, bool last)
{
    wait_for_turn(f, task);
    if (f->failure.status == PARSREC_OK) {
        if (text->failed)
            pr_fail_memory(&f->failure);
        else if (text->size > 0)
            pr_atomic_write(f->file, text->text, text->size, &f->failure);
    }
    text->size = 0;
    text->failed = false;
    if (last)
        end_turn(f);
}

parsrec_status pr_ordered_check(const pr_ordered_file *f, parsrec_error *err)
{
    if (f->failure.status == PARSREC_OK)
        return PARSREC_OK;
    return pr_fail(err, f->failure.status, "%s", f->failure.message);
}

/* Frees all but the file itself. */
static void clear(pr_ordered_file *f)
{
    pthread_cond_destroy(&f->turned);
    pthread_mutex_destroy(&f->lock);
    pr_free(f);
}

parsrec_status pr_ordered_commit(pr_ordered_file *f, parsrec_error *err)
{
    parsrec_status status = pr_ordered_check(f, err);
    if (status == PARSREC_OK)
        status = pr_atomic_commit(f->file, err);
    else
        pr_atomic_abort(f->file);
    clear(f);
    return status;
}

void pr_ordered_abort(pr_ordered_file *f)
{
    if (f == NULL)
        return;
    pr_atomic_abort(f->file);
    clear(f);
}
