/* PARSRec while it learns from one chunk of baskets: the teacher, losses against drawn items, the pass. */
#ifndef PR_PARSREC_LEARN_H
#define PR_PARSREC_LEARN_H

#include "base/memory.h"
#include "base/rng.h"
#include "data/batch.h"
#include "math/dropout.h"
#include "math/embedding.h"
#include "math/softmax_loss.h"
#include "model/history.h"
#include "model/parsrec/parsrec_net.h"

/* ---- teacher enforcing: which of a basket's items is the target of a step ---- */

/* The items of each row's basket that are not placed yet. */
typedef struct pr_arnn_teacher {
    int32_t *left; /* [rows, stride] */
    size_t *count; /* [rows] */
    size_t stride;
    pr_rng rng;
} pr_arnn_teacher;

void pr_arnn_teacher_take(pr_arnn_teacher *t, pr_arena *arena, size_t rows, size_t basket);
void pr_arnn_teacher_begin(pr_arnn_teacher *t, size_t row, const pr_basket *basket);

/* Leaves `most` items of a longer basket, drawn evenly; of a list, a run of so many, as stored. Winners that are
 * barred once they are placed would else be the same few in every epoch, and the rest of the basket would never be a
 * target. */
void pr_arnn_teacher_cut(pr_arnn_teacher *t, size_t row, size_t most, bool list,
                         const uint32_t place[3]);

/* Where the winner is not left: a uniformly random item of those left, or the first. */
typedef enum pr_teacher_choice {
    PR_CHOOSE_WINNER_OR_ANY,
    PR_CHOOSE_WINNER_OR_FIRST,
    PR_CHOOSE_FIRST /* whoever wins */
} pr_teacher_choice;

/* The target is no longer left afterwards. `place` is batch, row and step of the random draw. */
int32_t pr_arnn_teacher_choose(pr_arnn_teacher *t, size_t row, int32_t winner,
                               pr_teacher_choice how, const uint32_t place[3]);

/* ---- losses against drawn items ----
 * All rows of a batch have the same drawn items at a step, so that scoring is one small product whatever
 * the size of the catalogue. */

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

/* ---- a chunk ---- */

/* Dropout of one kind of looked-up rows; keep is NULL when nothing is dropped. */
typedef struct pr_arnn_drop {
    pr_drop how;
    pr_rng rng;
    uint8_t *keep; /* [rows, bytes] */
    size_t bytes;
} pr_arnn_drop;

typedef struct pr_arnn_pass {
    pr_arnn_net net;
    pr_chunk *chunk;
    const pr_config *config;
    size_t steps;
    size_t *first, *rows; /* [steps + 2]: step j has rows[j] rows from first[j] on the tape */
    int32_t *users;       /* [R] rows of the user table */
    int32_t *keys;        /* [T] the item placed before each tape row */
    int32_t *target;      /* [R] */
    pr_arnn_drop drop_user, drop_history, drop_keys;
    pr_drop drop_output;
    int32_t *bag_items, *slots;
    pr_real *bag_weights;
    size_t *bag_offsets;
    pr_bags bags;
    pr_repeats recalled;
    pr_pair_partners partners;
    pr_pair_basket *pair_baskets; /* [R] */
    pr_class_term pair_term;
    pr_real *pair_values; /* [classes,R] */
    bool *pair_live;      /* [classes + 1] */
    pr_arnn_teacher teacher;
    pr_rng place_rng;
    double soft;         /* share of baskets that are placed evenly */
    size_t *sharing;     /* [R]: items left that share the target's mass */
    pr_softmax softmax;  /* loss = ce ... */
    pr_arnn_drawn drawn; /* ... or another */
} pr_arnn_pass;

#endif
