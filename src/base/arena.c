/* Bump allocation: in one aligned block with red zones between pieces under AddressSanitizer, or in
 * a chain of blocks. */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
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

static pr_region_block *new_block(size_t size)
{
    pr_region_block *block = NULL;
    if (size <= SIZE_MAX - sizeof *block)
        block = pr_alloc_zero(sizeof *block + size, 1);
    if (block != NULL)
        block->size = size;
    return block;
}

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
        block = new_block(own ? bytes : BLOCK_BYTES);
        if (block == NULL) {
            region->failed = true;
            return NULL;
        }
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
