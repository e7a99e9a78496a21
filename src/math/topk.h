/* The best k of many scores. */
#ifndef PR_TOPK_H
#define PR_TOPK_H

#include "math/shapes.h"

/* Fills best[] with the positions of the k largest scores, largest first. Equal scores are
 * ordered by position. Scores of -INFINITY and NaN are never taken. Returns how many were found,
 * at most k. */
size_t pr_topk(int32_t *best, const pr_real *scores, size_t n, size_t k);
size_t pr_topk_plain(int32_t *best, const pr_real *scores, size_t n, size_t k);

/* The same for scores that become known one by one: begin with a heap of count 0, offer positions,
 * each once and after its score is set, and finish. */
typedef struct pr_topk_heap {
    int32_t *best; /* [most] */
    const pr_real *scores;
    size_t count, most;
} pr_topk_heap;

void pr_topk_offer(pr_topk_heap *heap, size_t i);
/* The k-th largest score so far, -INFINITY while there are fewer than k. */
pr_real pr_topk_least(const pr_topk_heap *heap);
/* Sorts best[], largest first; returns how many there are. */
size_t pr_topk_finish(pr_topk_heap *heap);

/* Writes the positions of all scores that are at least `bar`, in ascending order, to found[n];
 * returns how many. */
size_t pr_at_least(int32_t *found, const pr_real *scores, size_t n, pr_real bar);

/* ranks[count]: the ranks, from 1, that pr_topk gives to the scores of these items; 0 where pr_topk never
 * takes them. */
void pr_topk_ranks(size_t *ranks, const pr_real *scores, size_t n, const int32_t *items,
                   size_t count);

/* Sets scores[i] to -INFINITY where marks[i] has a bit of `which`. */
void pr_topk_bar(pr_real *scores, const uint8_t *marks, uint8_t which, size_t n);
/* The largest score; -INFINITY if n is 0. */
pr_real pr_top(const pr_real *scores, size_t n);

#endif
