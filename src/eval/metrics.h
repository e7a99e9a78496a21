/* What a ranking is worth, as small pure functions (docs/evaluation.md). */
#ifndef PR_METRICS_H
#define PR_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Position, from 0, of an item with score `best` among others: a tie counts against it, and so does
 * a score that is not a number. */
size_t pr_rank(float best, const float *others, size_t count);

/* Gain of a hit at position rank: 1 / log2(rank + 2), 0 from position k on. */
double pr_gain(size_t rank, size_t k);

/* The gain of a list that begins with `count` right answers. */
double pr_ideal(size_t count);

#endif
