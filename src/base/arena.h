/* Memory that is handed out piece by piece and taken back all at once.
 *
 * pr_arena: the memory of one step or one request. Sized beforehand, often by running the code that
 * takes it on a counting arena; asking for more than is there gives NULL, never a crash. Reset and
 * used again, so that a step or an answer allocates nothing.
 *
 * pr_region: the memory of one job (an import, a study, a report), which cannot know its size
 * beforehand. It grows, and one call frees it, so that a job has one line of clean-up instead of
 * one per array. A take that fails gives NULL and is remembered: a job may take several pieces and
 * ask once.
 *
 * What outlives a job, or grows element by element (pr_grow), belongs in neither: use pr_alloc. */
#ifndef PR_ARENA_H
#define PR_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

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
