/* Ranks and gains. */
#include "eval/metrics.h"

#include <math.h>

size_t pr_rank(float best, const float *others, size_t count)
{
    size_t rank = 0;
    for (size_t i = 0; i < count; i++)
        rank += !(others[i] < best);
    return rank;
}

double pr_gain(size_t rank, size_t k)
{
    return rank < k ? 1 / log2((double)rank + 2) : 0;
}

double pr_ideal(size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += 1 / log2((double)i + 2);
    return sum;
}
