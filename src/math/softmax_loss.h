/* The full softmax: scores of the whole catalogue, the best item, the loss and all gradients, in
 * two passes over tiles that stay in cache. Scores are kept transposed, score[V,B], so that every
 * loop runs over adjacent baskets and a tile is contiguous. */
#ifndef PR_SOFTMAX_LOSS_H
#define PR_SOFTMAX_LOSS_H

#include "math/wide.h"

enum { PR_TILE = 512 };

static inline size_t pr_tiles(size_t V)
{
    return (V + PR_TILE - 1) / PR_TILE;
}

/* A finite score whose exponential is 0. It is finite because a tile may contain nothing else. */
#define PR_BARRED ((pr_real)-1e30)

/* The memory of one step, all owned by the caller. Shapes in brackets. */
typedef struct pr_softmax {
    pr_real *score;   /* [V,B]: scores, then their exponentials, then their gradients */
    pr_real *top;     /* [tiles,B]: the largest score in each tile */
    pr_real *total;   /* [tiles,B]: the sum of exp(score - top) over each tile */
    pr_real *best;    /* [B]: the largest score */
    int32_t *winner;  /* [B]: its item, the smallest of equals */
    pr_real *dropped; /* [V,D]: the table with its mask applied; unused without one */
    pr_real *tile;    /* [max(PR_TILE·D, B)]: one tile of the table's gradient before its mask */
} pr_softmax;

/* A sparse term of the score, by tile: the pairs offsets[t·stride + r] up to the next offset belong
 * to row r in tile t. */
typedef struct pr_extra {
    const int32_t *items;
    const size_t *offsets;
    size_t stride;
    const pr_real *values;
    pr_real *gradients; /* set by the second pass */
} pr_extra;

/* A dense term of the score: values[v·stride + r] times the row's gate. */
typedef struct pr_dense {
    const pr_real *values;
    size_t stride;
    const pr_real *gates; /* [B] */
    pr_real *dgates;      /* [B], set by the second pass */
} pr_dense;

/* A term that all items of a class share: values[class·stride + r] of row r. Only live classes have
 * values; an item without a class has the number of classes. */
typedef struct pr_class_term {
    const uint32_t *class_of; /* [V] */
    const bool *live;         /* [classes + 1], the last one false */
    size_t classes, stride;
    const pr_real *values; /* [classes,stride] */
    pr_real *gradients;    /* of live classes, set by the second pass */
} pr_class_term;

/* Items that are already placed and cannot be the answer: item p of row r is items[at[p] + r]. */
typedef struct pr_taken {
    const int32_t *items;
    const size_t *at;
    size_t count;
} pr_taken;

/* Items that share the target's probability mass: counts[r] items of row r from items[r·stride] on,
 * without the target. The target keeps 1 - share and an equal part of the rest. */
typedef struct pr_soft {
    const int32_t *items;
    const size_t *counts;
    size_t stride;
    pr_real share; /* 0: all mass is on the target */
} pr_soft;

/* The output layer; keep is NULL without a mask. */
typedef struct pr_output {
    const pr_real *table; /* [V,D] */
    const uint8_t *keep;  /* mask over the table's numbers */
    pr_real scale;
    const pr_real *bias;          /* [V], added to the scores; or NULL */
    const pr_extra *extra;        /* or NULL */
    const pr_dense *dense;        /* or NULL */
    const pr_class_term *classes; /* or NULL */
    pr_taken taken;
    pr_soft soft;
} pr_output;

/* y, the product, plus all other terms of row r's score of an item. */
PR_INLINE pr_real pr_output_score(pr_real y, const pr_output *out, size_t r, int32_t item)
{
    if (out->bias != NULL)
        y += out->bias[item];
    if (out->dense != NULL)
        y += out->dense->gates[r] * out->dense->values[(size_t)item * out->dense->stride + r];
    if (out->classes != NULL && out->classes->live[out->classes->class_of[item]])
        y += out->classes->values[out->classes->class_of[item] * out->classes->stride + r];
    if (out->extra == NULL)
        return y;
    const size_t *range = out->extra->offsets + (size_t)item / PR_TILE * out->extra->stride + r;
    for (size_t i = range[0]; i < range[1]; i++)
        if (out->extra->items[i] == item)
            return y + out->extra->values[i];
    return y;
}

/* First pass: computes the scores, maxima and sums of s for o[B,D], and best and winner.
 *                                                             (docs/math.md, Softmax and loss) */
void pr_softmax_scores(pr_softmax *s, const pr_real *o, const pr_output *out, size_t B, size_t V,
                       size_t D);
/* Second pass, with loss = factor · sum over rows of -log softmax(target). Returns that sum without
 * the factor, sets do_[B,D], adds into dtable[V,D] and, unless NULL, dbias[V]. Destroys the
 * contents of s. */
double pr_softmax_gradient(pr_real *do_, pr_real *dtable, pr_real *dbias, pr_softmax *s,
                           const pr_real *o, const pr_output *out, const int32_t *target,
                           pr_real factor, size_t B, size_t V, size_t D);

/* Both passes in one call, written as the definition; for tests. p[V] is scratch. */
double pr_softmax_loss_plain(pr_real *do_, pr_real *dtable, int32_t *winner, pr_real *p,
                             const pr_real *o, const pr_output *out, const int32_t *target,
                             pr_real factor, size_t B, size_t V, size_t D);

#endif
