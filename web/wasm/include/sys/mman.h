/* WebAssembly maps nothing: every attempt fails. */
#ifndef SYS_MMAN_H
#define SYS_MMAN_H

#include <stddef.h>

enum { PROT_NONE, MAP_PRIVATE = 1, MAP_ANONYMOUS = 2 };
#define MAP_FAILED ((void *)-1)
static inline void *mmap(void *at, size_t size, int access, int kind, int file, long long offset)
{
    (void)at, (void)size, (void)access, (void)kind, (void)file, (void)offset;
    return MAP_FAILED;
}
static inline int munmap(void *at, size_t size)
{
    (void)at, (void)size;
    return 0;
}

#endif
