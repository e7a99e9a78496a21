/* Checked allocation with a switch for tests that make it fail. */
#include "base/memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
