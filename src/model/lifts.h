/* Lifts: how much more often than by chance sessions contain both of two items, or, where baskets
 * are lists, one item comes soon after another (docs/math.md, The mix). Of every item those relations
 * are kept that say most, as sparse rows, so that placing an item touches one short row. */
#ifndef PR_LIFTS_H
#define PR_LIFTS_H

#include "data/split.h"
#include "math/shapes.h"
#include "model/params.h"

/* Rows of all items, one after the other: views of a model's tensors. */
typedef struct pr_lifts {
    size_t items;
    uint32_t *ends; /* [V]: where the row of an item ends; it starts where the previous one ends */
    uint32_t *to;   /* [ends[V - 1]]: the other item ... */
    pr_real *logs;  /* ... and log((n + a) / (e + a)): n sessions contain both, e would by chance */
} pr_lifts;

/* Counts the lifts, at most `width` per item; `after`: those of what comes after an item. Free with
 * pr_lifts_free. */
parsrec_status pr_lifts_count(pr_lifts *out, size_t width, bool after, const pr_counted *from,
                              parsrec_error *err);
void pr_lifts_free(pr_lifts *lifts); /* a zeroed struct is allowed */
/* Checks tensors from a file; `size` is that of `to` and `logs`. */
parsrec_status pr_lifts_verify(const pr_lifts *lifts, size_t size, parsrec_error *err);

static inline size_t pr_lifts_start(const pr_lifts *lifts, int32_t item)
{
    return item > 0 ? lifts->ends[item - 1] : 0;
}

/* The log lift of an item with a placed one; 0 where none is kept. */
pr_real pr_lift_of(const pr_lifts *lifts, int32_t placed, int32_t item);

/* Sums over the placed items of one basket, or over those since pr_lift_start; only items that a
 * placed one has a lift with are touched. */
typedef struct pr_lift_sums {
    pr_real *sum;     /* [V], zero where nothing was touched */
    int32_t *touched; /* [V] */
    uint8_t *seen;    /* [V] */
    size_t count;
} pr_lift_sums;

void pr_lift_start(pr_lift_sums *sums);
void pr_lift_place(pr_lift_sums *sums, const pr_lifts *lifts, int32_t item);

#endif
