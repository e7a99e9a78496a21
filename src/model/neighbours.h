/* What users' counts of some items foretell of their counts of others, so that an item somebody never
 * bought has an expectation all the same (docs/math.md, Neighbours). */
#ifndef PR_NEIGHBOURS_H
#define PR_NEIGHBOURS_H

#include "data/counted.h"
#include "math/shapes.h"
#include "model/params.h"

/* Views of a model's tensors: what each item adds to the expectations of others, item after item. */
typedef struct pr_near {
    size_t items;
    uint32_t *ends;   /* [V]: the links of item h end here; they begin where those before end */
    uint32_t *to;     /* [V·K]: the item that a link foretells ... */
    pr_real *weights; /* [V·K]: ... and by how much */
    pr_real *base;    /* [V]: what is expected of an item, a root of the actions seen */
} pr_near;

/* Counts them: K links to every item at most. */
parsrec_status pr_near_count(const pr_near *near, size_t K, const pr_counted *from,
                             parsrec_error *err);
/* Whether links that came from a file lead to items. */
parsrec_status pr_near_verify(const pr_near *near, size_t K, parsrec_error *err);

/* row[V] = log(count + expected count + a little) of every item, for a past of n items with counts,
 * counts[i · stride] each. */
void pr_near_expect(pr_real *row, const pr_near *near, const int32_t *items, const pr_real *counts,
                    size_t stride, size_t n);

#endif
