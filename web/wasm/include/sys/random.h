/* Random bytes by the other name that WASI has for them. */
#ifndef SYS_RANDOM_H
#define SYS_RANDOM_H

#include <sys/types.h>
#include <unistd.h>

enum { GRND_NONBLOCK = 1 };
static inline ssize_t getrandom(void *bytes, size_t size, unsigned how)
{
    (void)how;
    return getentropy(bytes, size) == 0 ? (ssize_t)size : -1;
}

#endif
