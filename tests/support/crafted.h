/* Names chosen by an attacker: the upper bits of their hash are zero under a seed that is known, so that
 * in a table with that seed they all begin their search at the same few slots. */
#ifndef CRAFTED_H
#define CRAFTED_H

#include <stdint.h>

typedef struct crafted {
    uint64_t seed, tried;
    unsigned bits; /* of the hash that are zero */
    char name[24];
} crafted;

/* The next such name, found by trying. */
const char *crafted_next(crafted *c);

#endif
