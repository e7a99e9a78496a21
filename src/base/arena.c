/* Bump allocation in one aligned block, with red zones between pieces under AddressSanitizer. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

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
