/* What a ranking is worth, as small pure functions (docs/evaluation.md). */
#ifndef PR_METRICS_H
#define PR_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The best of the items that remain in a basket: the highest score, the first in stored order among
 * equals. taken[i] marks items placed already; at least one must remain. */
size_t pr_best_remaining(const float *scores, const bool *taken, size_t count);

/* Position, from 0, of an item with score `best` among others: a tie counts against it, and so does
 * a score that is not a number. */
size_t pr_rank(float best, const float *others, size_t count);

/* Gain of a hit at position rank: 1 / log2(rank + 2), 0 from position k on. */
double pr_gain(size_t rank, size_t k);

#endif
