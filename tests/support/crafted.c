/* Compiled to be fast and without sanitizers: a name is one of thousands that are tried. */
#include "support/crafted.h"

#include "base/xxh3.h"

/* 'k' and a number in hexadecimal, without leading zeros; its length. */
static size_t write_name(char *name, uint64_t number)
{
    size_t size = 1;
    name[0] = 'k';
    for (uint64_t rest = number; rest > 0 || size == 1; rest >>= 4)
        size++;
    name[size] = '\0';
    for (size_t i = size - 1; i > 0; i--, number >>= 4)
        name[i] = "0123456789abcdef"[number & 15];
    return size;
}

const char *crafted_next(crafted *c)
{
    for (;;) {
        size_t size = write_name(c->name, c->tried++);
        if (XXH3_64bits_withSeed(c->name, size, c->seed) >> (64 - c->bits) == 0)
            return c->name;
    }
}
