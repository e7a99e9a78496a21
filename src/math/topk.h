/* The best k of many scores. */
#ifndef PR_TOPK_H
#define PR_TOPK_H

#include "math/shapes.h"

/* Fills best[] with the positions of the k largest scores, largest first; of equal scores the
 * smaller position comes first. Scores of -INFINITY and NaN are never taken. Returns how many were
 * found, at most k. */
size_t pr_topk(int32_t *best, const pr_real *scores, size_t n, size_t k);
size_t pr_topk_plain(int32_t *best, const pr_real *scores, size_t n, size_t k);

/* Positions of all scores that are at least `bar`, in order; returns how many. */
size_t pr_at_least(int32_t *found, const pr_real *scores, size_t n, pr_real bar);

/* Where pr_topk would put the score at `item`, from 1; 0 for what it never takes. */
size_t pr_topk_rank(const pr_real *scores, size_t n, size_t item);

/* Scores of what has one of these marks become -INFINITY. */
void pr_topk_bar(pr_real *scores, const uint8_t *marks, uint8_t which, size_t n);
/* The largest score; -INFINITY of none. */
pr_real pr_top(const pr_real *scores, size_t n);

#endif
