/* Scores of the whole catalogue, their softmax, the best item, the loss and all gradients, in two
 * passes over tiles that stay in cache. The scores are kept transposed, score[V,B], so that every
 * loop runs over neighbouring baskets and a tile is one piece of memory. */
#ifndef PR_SOFTMAX_LOSS_H
#define PR_SOFTMAX_LOSS_H

#include "math/wide.h"

enum { PR_TILE = 512 };

static inline size_t pr_tiles(size_t V)
{
    return (V + PR_TILE - 1) / PR_TILE;
}

/* A score that no exponential survives, yet finite: a tile may hold nothing else. */
#define PR_BARRED ((pr_real)-1e30)

/* The memory of one step. The caller owns all of it; sizes in brackets. */
typedef struct pr_softmax {
    pr_real *score;   /* [V,B]: scores, then their exponentials, then their gradients */
    pr_real *top;     /* [tiles,B]: the largest score in each tile */
    pr_real *total;   /* [tiles,B]: the sum of exp(score - top) over each tile */
    pr_real *best;    /* [B]: the largest score */
    int32_t *winner;  /* [B]: its item, the first among equals */
    pr_real *dropped; /* [V,D]: the table with its mask applied; unused without one */
    pr_real *tile;    /* [max(PR_TILE·D, B)]: one tile of the table's gradient before its mask */
} pr_softmax;

/* What some items of some rows score on top, by tile: pairs offsets[t·stride + r] up to the next
 * offset are those of row r in tile t. */
typedef struct pr_extra {
    const int32_t *items;
    const size_t *offsets;
    size_t stride;
    const pr_real *values;
    pr_real *gradients; /* set by the second pass */
} pr_extra;

/* What every item of a row scores on top: values[v·stride + r] times the row's gate. */
typedef struct pr_dense {
    const pr_real *values;
    size_t stride;
    const pr_real *gates; /* [B] */
    pr_real *dgates;      /* [B], set by the second pass */
} pr_dense;

/* Items that are no answer any more: item p of row r is items[at[p] + r]. */
typedef struct pr_taken {
    const int32_t *items;
    const size_t *at;
    size_t count;
} pr_taken;

/* Items that share the target's mass: those of row r begin at items[r·stride], counts[r] of them, the
 * target not among them. It keeps 1 - share and its part of the rest. */
typedef struct pr_soft {
    const int32_t *items;
    const size_t *counts;
    size_t stride;
    pr_real share; /* 0: the target has all of it */
} pr_soft;

/* The table as the output sees it; keep NULL for no mask. */
typedef struct pr_output {
    const pr_real *table; /* [V,D] */
    const uint8_t *keep;  /* mask over the table's numbers */
    pr_real scale;
    const pr_real *bias;   /* [V] on top, or NULL */
    const pr_extra *extra; /* or NULL */
    const pr_dense *dense; /* or NULL */
    pr_taken taken;
    pr_soft soft;
} pr_output;

/* y and all that row r's score of an item has besides its product. */
PR_INLINE pr_real pr_output_score(pr_real y, const pr_output *out, size_t r, int32_t item)
{
    if (out->bias != NULL)
        y += out->bias[item];
    if (out->dense != NULL)
        y += out->dense->gates[r] * out->dense->values[(size_t)item * out->dense->stride + r];
    if (out->extra == NULL)
        return y;
    const size_t *range = out->extra->offsets + (size_t)item / PR_TILE * out->extra->stride + r;
    for (size_t i = range[0]; i < range[1]; i++)
        if (out->extra->items[i] == item)
            return y + out->extra->values[i];
    return y;
}

/* First pass: fills s for o[B,D], and best and winner for the choice of targets.
 *                                                             (docs/math.md, Softmax and loss) */
void pr_softmax_scores(pr_softmax *s, const pr_real *o, const pr_output *out, size_t B, size_t V,
                       size_t D);
/* Second pass, with loss = factor · sum over rows of -log softmax(target): returns that sum without
 * the factor, sets do_[B,D], adds into dtable[V,D] and, unless NULL, dbias[V]. Uses s up. */
double pr_softmax_gradient(pr_real *do_, pr_real *dtable, pr_real *dbias, pr_softmax *s,
                           const pr_real *o, const pr_output *out, const int32_t *target,
                           pr_real factor, size_t B, size_t V, size_t D);

/* The same by definition, for one call of both: p[V] is scratch. */
double pr_softmax_loss_plain(pr_real *do_, pr_real *dtable, int32_t *winner, pr_real *p,
                             const pr_real *o, const pr_output *out, const int32_t *target,
                             pr_real factor, size_t B, size_t V, size_t D);

#endif
