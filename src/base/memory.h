/* All of the library's own allocations pass here. Sizes are products that are checked for overflow,
 * and tests can make the n-th allocation fail or count what a step allocates: that is how "no
 * allocation per step" and "no leak when memory runs out" are proved. Running out of memory is a
 * status (pr_fail_memory), never an abort.
 *
 * Which allocation to use: pr_arena for a step or request, pr_region for a job,
 * pr_grow for an array that grows by one, pr_alloc for what outlives them. */
#ifndef PR_MEMORY_H
#define PR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* ---- allocation ---- */

/* count * size bytes, uninitialised or zeroed; NULL when out of memory or on overflow. Never NULL
 * for zero bytes. Free with pr_free. */
void *pr_alloc(size_t count, size_t size);
void *pr_alloc_zero(size_t count, size_t size);
void *pr_realloc(void *old, size_t count, size_t size); /* old stays valid on failure */
char *pr_copy_string(const char *text, size_t length);  /* terminated copy */
void pr_free(void *memory);                             /* NULL is fine */

/* 64-byte aligned, for vectors and matrices; zeroed. Free with pr_free_aligned. */
void *pr_alloc_aligned(size_t count, size_t size);
void pr_free_aligned(void *memory);

/* Makes room for one more element in a growing array of `size`-byte elements: capacity doubles.
 * `array` is the address of the caller's pointer. */
parsrec_status pr_grow_now(void *array, size_t *capacity, size_t needed, size_t size,
                           parsrec_error *err);
static inline parsrec_status pr_grow(void *array, size_t *capacity, size_t needed, size_t size,
                                     parsrec_error *err)
{
    return needed <= *capacity ? PARSREC_OK : pr_grow_now(array, capacity, needed, size, err);
}

/* About how many bytes this machine has left for programs; 0 when that is not known. */
uint64_t pr_memory_available(void);
/* How many bytes of memory this process holds, pages of mapped files included; 0 when that is not known. */
uint64_t pr_memory_resident(void);

/* For tests: the allocation number `after` from now (0 the next) and all following ones fail;
 * SIZE_MAX turns this off. */
void pr_memory_fail_after(size_t after);
/* Allocations since the program began. */
size_t pr_memory_count(void);

bool pr_mul_overflows(size_t a, size_t b, size_t *product);

/* ---- arena and region: memory that is handed out piece by piece and taken back all at once ---- */

/* An arena is the memory of one step or one request. It is sized beforehand, often by running the
 * code that takes it on a counting arena; asking for more than is there gives NULL, never a crash.
 * It is reset and used again, so that a step or an answer allocates nothing.
 *
 * A region is the memory of one job (an import, a study, a report), which cannot know its size
 * beforehand. It grows, and one call frees it, so that a job has one line of clean-up instead of
 * one per array. A take that fails gives NULL and is remembered: a job may take several pieces and
 * ask once. */

typedef struct pr_arena {
    unsigned char *base;
    size_t size, used, peak;
} pr_arena;

parsrec_status pr_arena_init(pr_arena *arena, size_t bytes, parsrec_error *err);
void pr_arena_free(pr_arena *arena); /* a zeroed arena is fine */

/* count * size bytes at a 64-byte boundary, contents undefined; NULL when the arena is full. */
void *pr_arena_take(pr_arena *arena, size_t count, size_t size);
void *pr_arena_take_zero(pr_arena *arena, size_t count, size_t size);

/* An arena that only counts: its pieces are NULL and `used` grows. Sizes memory by the very code
 * that takes it. */
static inline pr_arena pr_arena_counter(void)
{
    return (pr_arena){.size = SIZE_MAX};
}

static inline bool pr_arena_counts(const pr_arena *arena)
{
    return arena->base == NULL;
}

/* Takes back all pieces; under AddressSanitizer later use of them is reported. */
void pr_arena_reset(pr_arena *arena);

/* What one take of count * size bytes uses of an arena, for sizing it; SIZE_MAX on overflow. */
size_t pr_arena_bytes(size_t count, size_t size);

/* ---- region ---- */

/* Begins zeroed. Not for several threads at once. */
typedef struct pr_region {
    struct pr_region_block *newest;
    bool failed;
} pr_region;

/* count * size zeroed bytes, aligned for any type, that live until the region is freed; NULL when
 * memory runs out. Large pieces are blocks of their own, so pages that are never written cost
 * nothing. */
void *pr_region_take(pr_region *region, size_t count, size_t size);
/* A terminated copy. */
char *pr_region_string(pr_region *region, const char *text, size_t length);
/* E_MEMORY if any take has failed. */
parsrec_status pr_region_check(const pr_region *region, parsrec_error *err);
void pr_region_free(pr_region *region); /* a zeroed one is fine; it is ready for use again */

#endif
