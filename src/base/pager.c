/* Mapped blocks, and the thread that gives their pages back. */
#include "base/pager.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/threads.h"

enum {
    LOOK_NANOSECONDS = 5000000, /* between two looks */
    SLACK_BYTES = 32 << 20,     /* about what a pass over a block brings in meanwhile */
    TMPFS = 0x01021994,
};

/* Pages are given back when the process is this close to the limit, until it is twice as far. */
static double margin(uint64_t limit)
{
    return (double)limit / 64 + SLACK_BYTES;
}

double pr_pager_usable(uint64_t limit)
{
    return fmax((double)limit - 2 * margin(limit), 0);
}

typedef struct range {
    void *block;         /* as taken; NULL: watched */
    size_t block_bytes;  /* of the mapping */
    unsigned char *from; /* its pages of a file */
    size_t bytes;
    bool seldom;
} range;

struct pr_pager {
    char *beside;
    uint64_t limit;
    bool in_memory;
    pr_thread watcher;
    range *ranges; /* under its lock, as are their numbers */
    size_t count, capacity;
};

/* ---- giving back ---- */

static bool within(double bytes)
{
    return (double)pr_memory_resident() <= bytes;
}

static void give_pages_back(pr_pager *p)
{
    for (int often = 0; often < 2; often++)
        for (size_t i = 0; i < p->count; i++) {
            const range *r = &p->ranges[i];
            if (r->seldom == (often == 0) && !within(pr_pager_usable(p->limit)))
                pr_pages_release(r->from, r->bytes);
        }
}

static void *watch(void *context)
{
    pr_pager *p = context;
    pthread_mutex_lock(&p->watcher.lock);
    while (!p->watcher.stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += LOOK_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->watcher.changed, &p->watcher.lock, &until);
        if (!p->watcher.stop && !within((double)p->limit - margin(p->limit)))
            give_pages_back(p);
    }
    pthread_mutex_unlock(&p->watcher.lock);
    return NULL;
}

/* ---- life ---- */

static void release(pr_pager *p)
{
    pr_free(p->beside);
    pr_free(p->ranges);
    pr_free(p);
}

/* Whether a file can be made there, and whether that is a disk. */
static parsrec_status try_folder(pr_pager *p, parsrec_error *err)
{
    pr_scratch_file file;
    struct statfs of;
    parsrec_status status = pr_scratch_open(&file, p->beside, err);
    if (status == PARSREC_OK)
        p->in_memory = fstatfs(file.fd, &of) == 0 && of.f_type == TMPFS;
    pr_scratch_close(&file);
    return status;
}

static parsrec_status start(pr_pager *p, parsrec_error *err)
{
    pr_thread_init(&p->watcher);
    if (pr_thread_start(&p->watcher, watch, p))
        return PARSREC_OK;
    pr_thread_free(&p->watcher);
    return pr_fail(err, PARSREC_E_MEMORY, "cannot start a thread that watches the memory");
}

parsrec_status pr_pager_new(pr_pager **out, const char *beside, uint64_t limit, parsrec_error *err)
{
    *out = NULL;
    pr_pager *p = pr_alloc_zero(1, sizeof *p);
    if (p == NULL)
        return pr_fail_memory(err);
    p->limit = limit;
    p->beside = pr_copy_string(beside, strlen(beside));
    parsrec_status status = p->beside != NULL ? try_folder(p, err) : pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = start(p, err);
    if (status == PARSREC_OK)
        *out = p;
    else
        release(p);
    return status;
}

void pr_pager_free(pr_pager *p)
{
    if (p == NULL)
        return;
    pr_thread_free(&p->watcher);
    for (size_t i = 0; i < p->count; i++)
        assert(p->ranges[i].block == NULL);
    release(p);
}

bool pr_pager_in_memory(const pr_pager *p)
{
    return p->in_memory;
}

/* ---- blocks ---- */

static parsrec_status list_range(pr_pager *p, const range *r, parsrec_error *err)
{
    pthread_mutex_lock(&p->watcher.lock);
    parsrec_status status = pr_grow(&p->ranges, &p->capacity, p->count + 1, sizeof *p->ranges, err);
    if (status == PARSREC_OK)
        p->ranges[p->count++] = *r;
    pthread_mutex_unlock(&p->watcher.lock);
    return status;
}

/* Puts pages of a new file in place of the memory from `from` on. */
static parsrec_status map_file(const pr_pager *p, const range *r, parsrec_error *err)
{
    pr_scratch_file file;
    parsrec_status status = pr_scratch_open(&file, p->beside, err);
    if (status == PARSREC_OK)
        status = pr_scratch_reserve(&file, r->bytes, err);
    if (status == PARSREC_OK && mmap(r->from, r->bytes, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_FIXED, file.fd, 0) == MAP_FAILED)
        status = pr_fail_errno(err, PARSREC_E_MEMORY, "cannot map a temporary file of %.0f MB",
                               (double)r->bytes / 1e6);
    pr_scratch_close(&file); /* the mapping keeps it */
    return status;
}

static parsrec_status take_mapped(void **out, pr_pager *p, size_t bytes, size_t kept, bool seldom,
                                  parsrec_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t begin = (kept + page - 1) / page * page, all = (bytes + page - 1) / page * page;
    unsigned char *block =
        mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return pr_fail_memory(err);
    range r = {block, all, block + begin, all - begin, seldom};
    parsrec_status status = map_file(p, &r, err);
    if (status == PARSREC_OK)
        status = list_range(p, &r, err);
    if (status == PARSREC_OK)
        *out = block;
    else
        munmap(block, all);
    return status;
}

parsrec_status pr_pager_take(void **out, pr_pager *p, size_t count, size_t size, size_t kept,
                             bool seldom, parsrec_error *err)
{
    size_t bytes, page = (size_t)sysconf(_SC_PAGESIZE);
    *out = NULL;
    if (pr_mul_overflows(count, size, &bytes))
        return pr_fail_memory(err);
    if (p != NULL && bytes > page && kept < bytes - page)
        return take_mapped(out, p, bytes, kept, seldom, err);
    *out = pr_alloc_aligned(count, size);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

void pr_pager_give(pr_pager *p, void *block)
{
    range found = {0};
    if (p != NULL && block != NULL) {
        pthread_mutex_lock(&p->watcher.lock);
        for (size_t i = 0; i < p->count; i++)
            if (p->ranges[i].block == block) {
                found = p->ranges[i];
                p->ranges[i] = p->ranges[--p->count];
            }
        pthread_mutex_unlock(&p->watcher.lock);
    }
    if (found.block != NULL)
        munmap(found.block, found.block_bytes);
    else
        pr_free_aligned(block);
}

parsrec_status pr_pager_watch(pr_pager *p, const void *bytes, size_t size, parsrec_error *err)
{
    range r = {.from = (unsigned char *)(uintptr_t)bytes, .bytes = size};
    return list_range(p, &r, err);
}
