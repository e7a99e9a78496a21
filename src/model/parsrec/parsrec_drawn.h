/* Losses against drawn items: which are drawn, their scores, what is placed next, the gradients. All rows
 * of a batch have the same ones at a step, so that scoring is one small product whatever the size of the
 * catalogue. */
#ifndef PR_PARSREC_DRAWN_H
#define PR_PARSREC_DRAWN_H

#include "math/dropout.h"
#include "math/softmax_loss.h"
#include "model/model.h"
#include "model/parsrec/parsrec_teacher.h"

/* Rows of the item table as the output sees them. */
typedef struct pr_arnn_seen {
    pr_real *rows; /* [n,dv] */
    uint8_t *keep; /* [n,bytes] */
} pr_arnn_seen;

typedef struct pr_arnn_drawn {
    const pr_chunk *chunk;
    const pr_config *config;
    size_t items, dv, draws;
    pr_rng rng, mask_rng;
    pr_drop drop;
    size_t bytes;      /* of a row's mask; 0: no dropout */
    uint32_t place[3]; /* of the present step's masks */
    pr_real *chance;   /* [V]: of an item at each draw; NULL: evenly */
    int32_t *slots;    /* [V]: one more than an item's place among ids; 0: not drawn */
    /* of the present step: */
    size_t count;   /* distinct items drawn */
    int32_t *ids;   /* [draws] */
    pr_real *times; /* [draws]: how often each was drawn; sampled: what its score is corrected by */
    pr_arnn_seen all; /* ids */
    pr_arnn_seen own; /* [R]: targets */
    pr_real *score;   /* [draws,R] */
    pr_real *top;     /* [R]: largest of them */
    pr_real *target;  /* [R]: scores of targets, then their gradients */
    pr_real *work;    /* [2,R] */
    int32_t *winner;  /* [R]: the best item left unless one that was drawn is above it; else -1 */
} pr_arnn_drawn;

void pr_arnn_drawn_take(pr_arnn_drawn *d, pr_arena *arena, const pr_model *model, size_t rows);
/* Before the first step of a chunk. */
void pr_arnn_drawn_begin(pr_arnn_drawn *d, const pr_chunk *chunk);

/* First pass of step j, as pr_softmax_scores: winners are those of the items the teacher has left. */
void pr_arnn_drawn_scores(pr_arnn_drawn *d, const pr_real *o, const pr_output *out,
                          const pr_arnn_teacher *teacher, size_t j, size_t B);
/* Second pass, as pr_softmax_gradient. */
double pr_arnn_drawn_gradient(pr_real *do_, pr_real *dtable, pr_real *dbias, pr_arnn_drawn *d,
                              const pr_real *o, const pr_output *out, const int32_t *target,
                              pr_real factor, size_t B);

/* ---- in parsrec_draw.c ---- */

/* Fills ids, times, slots and the rows seen of step j. */
void pr_arnn_draw(pr_arnn_drawn *d, const pr_real *table, size_t j);
/* Row i of `seen` becomes an item's. */
void pr_arnn_see(const pr_arnn_drawn *d, pr_arnn_seen *seen, size_t i, const pr_real *table,
                 int32_t item);
/* What was drawn is forgotten. */
void pr_arnn_draw_end(pr_arnn_drawn *d);

#endif
