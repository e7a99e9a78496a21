/* What users' counts of some items predict about their counts of others. It gives items that a user
 * never bought an expected count too (docs/math.md, Neighbours). */
#ifndef PR_NEIGHBOURS_H
#define PR_NEIGHBOURS_H

#include "data/split.h"
#include "math/shapes.h"
#include "model/params.h"

/* Views of a model's tensors: what each item adds to the expected counts of others, item by
 * item. */
typedef struct pr_near {
    size_t items;
    uint32_t *ends;   /* [V]: where the links of item h end; they start where those of the previous
                       * item end */
    uint32_t *to;     /* [V·K]: the item that a link predicts ... */
    pr_real *weights; /* [V·K]: ... and by how much */
    pr_real *base;    /* [V]: expected root of an item's count, as a multiple of the root of the
                       * actions seen */
} pr_near;

/* Estimates the links, at most K to every item, and writes them into the tensors. */
parsrec_status pr_near_count(const pr_near *near, size_t K, const pr_counted *from,
                             parsrec_error *err);
/* Checks that links from a file lead to items. */
parsrec_status pr_near_verify(const pr_near *near, size_t K, parsrec_error *err);

/* row[V] = log(count + expected count + a small constant) of every item, for a history of n items
 * whose counts are counts[i · stride]. */
void pr_near_expect(pr_real *row, const pr_near *near, const int32_t *items, const pr_real *counts,
                    size_t stride, size_t n);
/* Its last steps, for callers that look at some items only: row[n] of expected counts become at least a
 * little more than 0; then, with counts added, logarithms. */
void pr_near_not_below(pr_real *row, size_t n);
void pr_near_logarithms(pr_real *row, size_t n);

/* The same, of few items: a history changes what is expected of the items in it and of those that
 * they are linked to. All others have a log that depends on the level alone, the square root of the
 * number of actions. */
typedef struct pr_near_few {
    pr_real level;
    size_t count;
    int32_t *items;  /* [V]: those of the history first, in its order */
    pr_real *values; /* [V]: the logs */
} pr_near_few;

/* slots[V] must be zero and is zero on return. */
void pr_near_expect_few(pr_near_few *few, int32_t *slots, const pr_near *near, const int32_t *items,
                        const pr_real *counts, size_t n);
/* The log of an item that is not among the few; bits as pr_near_expect has them. */
pr_real pr_near_expect_other(const pr_near *near, pr_real level, int32_t item);
/* row[V] of all items, from the few. */
void pr_near_expect_all(pr_real *row, const pr_near *near, const pr_near_few *few);
/* values[n] = the logs of items with these bases, at a level. */
void pr_near_expect_bases(pr_real *values, const pr_real *bases, pr_real level, size_t n);

#endif
