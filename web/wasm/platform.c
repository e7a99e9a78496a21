/* What src/base/files.c and src/base/threads.c do on an operating system: here the only file is the
 * one that the page handed over, and the caller is the only thread. */
#include "platform.h"

#include <assert.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/pager.h"
#include "base/threads.h"

/* ---- files ---- */

static pr_mapping handed;

void browser_hand_over(const void *bytes, size_t size)
{
    handed = (pr_mapping){bytes, size};
}

parsrec_status pr_file_map(pr_mapping *out, const char *path, parsrec_error *err)
{
    *out = handed;
    return handed.size > 0 ? PARSREC_OK
                           : pr_fail(err, PARSREC_E_FORMAT,
                                     "%s: is empty; choose a file that parsrec train wrote", path);
}

void pr_file_unmap(pr_mapping *mapping)
{
    *mapping = (pr_mapping){0};
}

void pr_pages_release(const void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}

/* No block ever lies in a file. */
parsrec_status pr_pager_take(void **out, pr_pager *pager, size_t count, size_t size, size_t kept,
                             bool seldom, parsrec_error *err)
{
    (void)pager, (void)kept, (void)seldom;
    *out = pr_alloc_aligned(count, size);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

void pr_pager_give(pr_pager *pager, void *block)
{
    (void)pager;
    pr_free_aligned(block);
}

/* Nothing that a page asks for writes a file. */
parsrec_status pr_atomic_open(pr_atomic_file **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    return pr_fail(err, PARSREC_E_UNSUPPORTED, "%s: a browser writes no files", path);
}

parsrec_status pr_atomic_write(pr_atomic_file *file, const void *bytes, size_t size,
                               parsrec_error *err)
{
    (void)file;
    (void)bytes;
    (void)size;
    return pr_fail(err, PARSREC_E_UNSUPPORTED, "a browser writes no files");
}

parsrec_status pr_atomic_commit(pr_atomic_file *file, parsrec_error *err)
{
    return pr_atomic_write(file, NULL, 0, err);
}

void pr_atomic_abort(pr_atomic_file *file)
{
    (void)file;
}

/* ---- threads ---- */

struct pr_pool {
    char unused;
};

parsrec_status pr_pool_new(pr_pool **out, unsigned threads, parsrec_error *err)
{
    (void)threads;
    *out = pr_alloc_zero(1, sizeof **out);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

void pr_pool_free(pr_pool *pool)
{
    pr_free(pool);
}

unsigned pr_pool_threads(const pr_pool *pool)
{
    (void)pool;
    return 1;
}

void pr_pool_run(pr_pool *pool, pr_task *task, void *context, size_t tasks)
{
    assert(pool != NULL);
    for (size_t i = 0; i < tasks; i++)
        task(context, i, 0);
}
