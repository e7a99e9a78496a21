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

#endif
