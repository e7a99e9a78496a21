/* The best pairs, kept in order as they are met. */
#include <math.h>

#include "explain/explanation.h"

static void insert(pr_link *links, size_t *count, size_t most, pr_link link, bool absolute)
{
    double size = absolute ? fabs(link.value) : link.value;
    size_t at = *count < most ? (*count)++ : most;
    for (; at > 0; at--) {
        double above = absolute ? fabs(links[at - 1].value) : links[at - 1].value;
        if (above >= size)
            break;
        if (at < most)
            links[at] = links[at - 1];
    }
    if (at < most)
        links[at] = link;
}

/* The larger of the cells (i, j) and (j, i), as far as they count. */
static bool larger(pr_link *link, const double *map, const double *placed, size_t N, size_t i,
                   size_t j, bool absolute)
{
    const pr_link both[] = {{i, j, map[i * N + j]}, {j, i, map[j * N + i]}};
    bool found = false;
    for (size_t k = 0; k < 2; k++) {
        const pr_link *one = &both[k];
        if (isnan(one->value) || (placed != NULL && placed[one->column] < PR_PLACED_LEAST))
            continue;
        if (!found || (absolute ? fabs(one->value) > fabs(link->value) : one->value > link->value))
            *link = *one;
        found = true;
    }
    return found;
}

size_t pr_strongest(pr_link *links, size_t most, const double *map, const double *placed, size_t N,
                    bool absolute)
{
    size_t count = 0;
    pr_link link = {0};
    for (size_t i = 0; i < N; i++)
        for (size_t j = i + 1; j < N; j++)
            if (larger(&link, map, placed, N, i, j, absolute))
                insert(links, &count, most, link, absolute);
    return count;
}
