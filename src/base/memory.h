/* All of the library's own allocations pass here. Sizes are products that are checked for overflow,
 * and tests can make the n-th allocation fail or count what a step allocates: that is how "no
 * allocation per step" and "no leak when memory runs out" are proved. Running out of memory is a
 * status (pr_fail_memory), never an abort.
 *
 * Which allocation to use: pr_arena for a step or request, pr_region for a job (both base/arena.h),
 * pr_grow for an array that grows by one, pr_alloc for what outlives them. */
#ifndef PR_MEMORY_H
#define PR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

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

/* For tests: the allocation number `after` from now (0 the next) and all following ones fail;
 * SIZE_MAX turns this off. */
void pr_memory_fail_after(size_t after);
/* Allocations since the program began. */
size_t pr_memory_count(void);

bool pr_mul_overflows(size_t a, size_t b, size_t *product);

#endif
