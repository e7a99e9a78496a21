/* A block of memory handed out piece by piece and taken back all at once: the memory of one step
 * or one request. Sized beforehand; asking for more than is there gives NULL, never a crash. */
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

/* An arena that only counts: its pieces are NULL and `used` grows. Sizes memory by the very code that
 * takes it. */
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

#endif
