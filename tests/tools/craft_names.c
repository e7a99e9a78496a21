/* craft_names SEED COUNT BITS: names whose hash under SEED begins with BITS zeros, one per line. Seed 0
 * gives names that collide in a table without a seed. */
#include <stdio.h>
#include <stdlib.h>

#include "support/crafted.h"

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: craft_names SEED COUNT BITS\n");
        return 2;
    }
    crafted c = {.seed = strtoull(argv[1], NULL, 10), .bits = (unsigned)atoi(argv[3])};
    if (c.bits < 1 || c.bits > 32) {
        fprintf(stderr, "craft_names: BITS is 1 to 32\n");
        return 2;
    }
    for (unsigned long long n = strtoull(argv[2], NULL, 10); n > 0; n--)
        puts(crafted_next(&c));
    return 0;
}
