/* Names chosen by an attacker: the upper bits of their hash are zero under a seed that is known, so that
 * in a table with that seed they all begin their search at the same few slots. */
#ifndef CRAFTED_H
#define CRAFTED_H

#include <stdio.h>
#include <string.h>

#include "base/xxh3.h"

typedef struct crafted {
    uint64_t seed, tried;
    unsigned bits; /* of the hash that are zero */
    char name[24];
} crafted;

/* Apart, so that the compiler does not reason about sizes that a name cannot have. */
__attribute__((noinline, unused)) static uint64_t crafted_hash(const char *name, size_t size,
                                                               uint64_t seed)
{
    return XXH3_64bits_withSeed(name, size, seed);
}

/* The next such name, found by trying. */
static inline const char *crafted_next(crafted *c)
{
    for (;;) {
        int size = snprintf(c->name, sizeof c->name, "k%llx", (unsigned long long)c->tried++);
        if (crafted_hash(c->name, (size_t)size, c->seed) >> (64 - c->bits) == 0)
            return c->name;
    }
}

#endif
