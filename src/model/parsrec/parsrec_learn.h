/* PARSRec while it learns from one chunk of baskets: the teacher, losses against drawn items, the pass.
 *
 * A pass over a chunk (parsrec_learn.c) is, forward: rows of users and bags of histories; then for each
 * step the network (parsrec_net.h), scores of the catalogue, the target chosen by the teacher, the loss,
 * and the target placed; and all of it backward. Rows are sorted by basket size, longest first, so the
 * rows of a step are the first ones of the step before and nothing is padded. What backward needs is on
 * the tape of the network, at rows first[j] .. first[j] + rows[j] - 1 for step j.
 *
 * Scores of a step depend on the target of the step before, which depends on scores: steps cannot be
 * joined. But the loss of a step needs only its own scores, so gradients of scores are taken at once and
 * the scores of the catalogue are never stored for all steps. */
#ifndef PR_PARSREC_LEARN_H
#define PR_PARSREC_LEARN_H

#include <assert.h>

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

/* Leaves `most` items of a longer basket, drawn evenly; of a list, that many in a row, as stored.
 * Otherwise the same few winners would be placed in every epoch, and the rest of the basket would
 * never be a target. */
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
 *
 * A chunk looks at a small part of the catalogue: items drawn for the whole batch, the same for every
 * row, so that their scores are one product; and for each row its own candidates, which are what is left
 * of its basket and what its user bought before. Own candidates have most of a row's probability and are
 * scored exactly; drawn ones stand for everything else. Rows of tables and their gradients are those of
 * this local catalogue, so nothing here depends on the number of items (docs/math.md, Drawn items). */

/* The local catalogue: items have rows 0..count-1, the drawn ones first. */
typedef struct pr_arnn_local {
    size_t items, dv, draws;
    int32_t *slots; /* [V + 1], the chunk's: one more than the row of an item; 0: it is not here */
    const int32_t *ids; /* [count]: the chunk's */
    size_t count, drawn;
    int32_t *place; /* [count]: the row among placed items, or -1 */
    size_t placed;  /* items that can be placed */
    pr_real *item;  /* [count,dv]: rows of the item table ... */
    pr_real *seen;  /* ... and as the output sees them, under the mask `keep` [count,bytes] */
    uint8_t *keep;
    size_t bytes; /* 0: no mask; then seen is item */
    pr_drop drop;
    pr_real *pull, *follow; /* [placed,dv] */
    pr_real
        *more; /* [drawn]: sampled: what corrects the score of a drawn item; bpr: how often it was
                    * drawn */
    /* Links of neighbours that stay within it: those of row i are link_at[i] .. link_at[i + 1] - 1. */
    bool *bought; /* [count]: in the history of some row */
    size_t *link_at;
    uint32_t *link_to;
    pr_real *link_weight;
} pr_arnn_local;

void pr_arnn_local_take(pr_arnn_local *l, pr_arena *arena, const pr_model *model,
                        const pr_limits *limits);
/* Draws, lists what the chunk needs and gathers its rows; sets the ids of chunk->item_rows, and their values
 * to zero. */
void pr_arnn_local_begin(pr_arnn_local *l, const pr_model *model, pr_chunk *chunk,
                         const pr_near *near);
/* Puts the mask over dtable[count,dv], the gradient of what was seen. */
void pr_arnn_local_mask(const pr_arnn_local *l, pr_real *dtable);
void pr_arnn_local_end(pr_arnn_local *l);

static inline int32_t pr_arnn_local_row(const pr_arnn_local *l, int32_t item)
{
    assert(l->slots[item] > 0);
    return l->slots[item] - 1;
}

/* A row's own candidates are own_at[r] .. own_at[r + 1] - 1: first its past, in the order of pr_repeats,
 * then what else is in its basket. */
typedef struct pr_arnn_drawn {
    const pr_chunk *chunk;
    const pr_config *config;
    const pr_arnn_local *local;
    pr_repeats *recalled; /* NULL without recall */
    pr_near near;         /* items 0 without neighbours */
    size_t rows, stride;  /* most items of a basket */
    size_t *own_at;       /* [R + 1] */
    int32_t *own_row;     /* rows of the local catalogue */
    uint8_t *own_state;
    pr_real *own_expected, *own_score; /* scores, then their gradients */
    uint32_t *left;                    /* [R,stride]: own candidates that were left at first */
    size_t *left_count, *entry;        /* [R]; entry: the targets of a step */
    int32_t *own_slot; /* [count]: scratch: one more than the own candidate of the row at hand */
    pr_real *level;    /* [R]: root of the actions of a history */
    pr_real *expected; /* [drawn,R]: log of the expected count */
    pr_real *score;    /* [drawn,R] */
    pr_real *top, *sum, *target; /* [R] */
    pr_real *work;               /* [2,R] */
    int32_t *winner; /* [R]: the best item left unless another candidate is above it; else -1 */
} pr_arnn_drawn;

void pr_arnn_drawn_take(pr_arnn_drawn *d, pr_arena *arena, const pr_model *model,
                        const pr_limits *limits);
/* Before the first step of a chunk, once its histories are added to `recalled` and its baskets to the
 * teacher. */
void pr_arnn_drawn_begin(pr_arnn_drawn *d, const pr_chunk *chunk, const pr_arnn_local *local,
                         pr_repeats *recalled, const pr_near *near, const pr_arnn_teacher *teacher);

/* First pass of a step, as pr_softmax_scores: winners are those of the items that are left. Of `out` the
 * bias and the classes are used. */
void pr_arnn_drawn_scores(pr_arnn_drawn *d, const pr_real *o, const pr_output *out, size_t B);
/* Second pass, as pr_softmax_gradient; dtable and dbias are those of the local catalogue, dtable that of
 * what was seen. Targets are no longer left afterwards. */
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
    const pr_model *model;
    const pr_config *config;
    size_t steps;
    size_t *first, *rows; /* [steps + 2]: step j has rows[j] rows from first[j] on the tape */
    int32_t *users;       /* [R] rows of the user table */
    int32_t *keys;        /* [T] the item placed before each tape row ... */
    int32_t *key_rows;    /* ... its row in the item table of the pass ... */
    int32_t *key_places;  /* ... and in those of placed items; both are `keys` with loss = ce */
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
    pr_arnn_local local; /* ... or another */
    pr_arnn_drawn drawn;
} pr_arnn_pass;

#endif
