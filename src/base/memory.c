/* Checked allocation with a switch for tests that make it fail; arenas and regions. */
#include "base/memory.h"

#include <assert.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_size_t allocations;
static atomic_size_t fail_at = SIZE_MAX;

void pr_memory_fail_after(size_t after)
{
    size_t now = atomic_load(&allocations);
    atomic_store(&fail_at, after == SIZE_MAX ? SIZE_MAX : now + after);
}

size_t pr_memory_count(void)
{
    return atomic_load(&allocations);
}

static bool must_fail(void)
{
    return atomic_fetch_add(&allocations, 1) >= atomic_load(&fail_at);
}

bool pr_mul_overflows(size_t a, size_t b, size_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

void *pr_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (pr_mul_overflows(count, size, &bytes) || must_fail())
        return NULL;
    return malloc(bytes > 0 ? bytes : 1);
}

void *pr_alloc_zero(size_t count, size_t size)
{
    size_t bytes;
    if (pr_mul_overflows(count, size, &bytes) || must_fail())
        return NULL;
    return calloc(bytes > 0 ? bytes : 1, 1);
}

void *pr_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (pr_mul_overflows(count, size, &bytes) || must_fail())
        return NULL;
    return realloc(old, bytes > 0 ? bytes : 1);
}

char *pr_copy_string(const char *text, size_t length)
{
    assert(text != NULL || length == 0);
    char *copy = length < SIZE_MAX ? pr_alloc(length + 1, 1) : NULL;
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void pr_free(void *memory)
{
    free(memory);
}

void *pr_alloc_aligned(size_t count, size_t size)
{
    size_t bytes;
    if (pr_mul_overflows(count, size, &bytes) || bytes > SIZE_MAX - 64 || must_fail())
        return NULL;
    bytes = (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes > 0 ? bytes : 64);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

void pr_free_aligned(void *memory)
{
    free(memory);
}

parsrec_status pr_grow_now(void *array, size_t *capacity, size_t needed, size_t size,
                           parsrec_error *err)
{
    assert(needed > *capacity && size > 0);
    size_t target = *capacity < 16 ? 16 : *capacity;
    while (target < needed) {
        if (target > SIZE_MAX / 2)
            return pr_fail_memory(err);
        target *= 2;
    }
    void *old;
    memcpy(&old, array, sizeof old);
    void *grown = pr_realloc(old, target, size);
    if (grown == NULL)
        return pr_fail_memory(err);
    memcpy(array, &grown, sizeof grown);
    *capacity = target;
    return PARSREC_OK;
}

/* What is left includes files that are kept in memory only because there is room. */
uint64_t pr_memory_available(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return (uint64_t)kilobytes * 1024;
}

uint64_t pr_memory_resident(void)
{
    unsigned long long pages = 0;
    char line[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    line[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    if (sscanf(line, "%*u %llu", &pages) != 1)
        return 0;
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- arena: in one aligned block, with red zones between pieces under AddressSanitizer ---- */

#if defined(__SANITIZE_ADDRESS__)
#define PR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PR_ASAN 1
#endif
#endif

#ifdef PR_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
enum { RED_ZONE = 64 };
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { RED_ZONE = 0 };
#endif

size_t pr_arena_bytes(size_t count, size_t size)
{
    size_t bytes;
    if (pr_mul_overflows(count, size, &bytes) || bytes > SIZE_MAX - 64 - RED_ZONE)
        return SIZE_MAX;
    return (bytes + 63) / 64 * 64 + RED_ZONE;
}

parsrec_status pr_arena_init(pr_arena *arena, size_t bytes, parsrec_error *err)
{
    assert(arena != NULL);
    *arena = (pr_arena){0};
    arena->base = pr_alloc_aligned(bytes, 1);
    if (arena->base == NULL)
        return pr_fail_memory(err);
    arena->size = bytes;
    POISON(arena->base, arena->size);
    return PARSREC_OK;
}

void pr_arena_free(pr_arena *arena)
{
    if (arena->base != NULL)
        UNPOISON(arena->base, arena->size);
    pr_free_aligned(arena->base);
    *arena = (pr_arena){0};
}

void *pr_arena_take(pr_arena *arena, size_t count, size_t size)
{
    assert(arena->used <= arena->size);
    size_t bytes = pr_arena_bytes(count, size);
    if (bytes > arena->size - arena->used)
        return NULL;
    size_t at = arena->used;
    arena->used += bytes;
    if (arena->used > arena->peak)
        arena->peak = arena->used;
    if (arena->base == NULL)
        return NULL;
    unsigned char *piece = arena->base + at;
    UNPOISON(piece, count * size);
    return piece;
}

void *pr_arena_take_zero(pr_arena *arena, size_t count, size_t size)
{
    void *piece = pr_arena_take(arena, count, size);
    if (piece != NULL)
        memset(piece, 0, count * size);
    return piece;
}

void pr_arena_reset(pr_arena *arena)
{
    arena->used = 0;
    POISON(arena->base, arena->size);
}

/* ---- region ---- */

/* Under AddressSanitizer every piece is a block, so that it sees what goes beyond one. */
enum { BLOCK_BYTES = 1 << 16, OWN_BLOCK_BYTES = RED_ZONE > 0 ? 0 : BLOCK_BYTES / 4 };

typedef struct pr_region_block {
    struct pr_region_block *older;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
} pr_region_block;

void *pr_region_take(pr_region *region, size_t count, size_t size)
{
    size_t bytes, step = alignof(max_align_t);
    pr_region_block *block = region->newest;
    if (pr_mul_overflows(count, size, &bytes) || bytes > SIZE_MAX - step) {
        region->failed = true;
        return NULL;
    }
    bytes = (bytes + step - 1) / step * step;
    bool own = bytes > OWN_BLOCK_BYTES;
    if (own || block == NULL || bytes > block->size - block->used) {
        size_t room = own ? bytes : BLOCK_BYTES;
        block = room <= SIZE_MAX - sizeof *block ? pr_alloc_zero(sizeof *block + room, 1) : NULL;
        if (block == NULL) {
            region->failed = true;
            return NULL;
        }
        block->size = room;
        /* A block of its own goes behind the newest, which may have room left. */
        pr_region_block **at =
            own && region->newest != NULL ? &region->newest->older : &region->newest;
        block->older = *at;
        *at = block;
    }
    void *piece = block->bytes + block->used;
    block->used += bytes;
    return piece;
}

char *pr_region_string(pr_region *region, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? pr_region_take(region, length + 1, 1) : NULL;
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

parsrec_status pr_region_check(const pr_region *region, parsrec_error *err)
{
    return region->failed ? pr_fail_memory(err) : PARSREC_OK;
}

void pr_region_free(pr_region *region)
{
    for (pr_region_block *block = region->newest; block != NULL;) {
        pr_region_block *older = block->older;
        pr_free(block);
        block = older;
    }
    *region = (pr_region){0};
}
