/* A user's past as a bag of items with weights. */
#ifndef PR_HISTORY_H
#define PR_HISTORY_H

#include "base/memory.h"
#include "data/batch.h"
#include "math/softmax_loss.h"
#include "model/config.h"
#include "model/neighbours.h"

/* How many of the newest items count under `config`. */
size_t pr_history_count(const pr_history *history, const pr_config *config);

/* Writes each distinct item once with its weight, in the order of first appearance; returns how
 * many, at most pr_history_count. slots[V] must be zero and is zero again afterwards. */
size_t pr_history_bag(int32_t *items, pr_real *weights, int32_t *slots, const pr_history *history,
                      const pr_config *config);

/* ---- repeat purchases: how often and how recently the user bought an item ---- */

/* The features of an item that the user had before (docs/math.md, Recall). */
enum {
    PR_REPEAT_COUNT,    /* log(1 + sessions that held it) */
    PR_REPEAT_RECENT,   /* log(1 + the same, each session decayed by its age) */
    PR_REPEAT_HAD,      /* 1 */
    PR_REPEAT_SESSIONS, /* log(1 + sessions of the user) */
    PR_REPEAT_FEATURES,
};

/* The gates of a state: one for each feature, and one for what neighbours lead to expect. */
enum { PR_GATE_EXPECTED = PR_REPEAT_FEATURES, PR_GATES };

/* Writes each distinct item of a history once, newest first, with its features; returns how many.
 * slots[V] must be zero and is zero again afterwards. expected[V], unless NULL, is what neighbours
 * lead to expect of every item (neighbours.h). */
size_t pr_repeat_features(int32_t *items, pr_real (*features)[PR_REPEAT_FEATURES],
                          pr_real *expected, int32_t *slots, const pr_history *history,
                          double decay, const pr_near *near);

/* The pasts of the rows of a chunk, ordered by tiles of the catalogue. */
typedef struct pr_repeats {
    int32_t *items, *raw_items; /* as they come, then by tile */
    pr_real (*features)[PR_REPEAT_FEATURES], (*raw)[PR_REPEAT_FEATURES];
    size_t *offsets; /* [tiles, R + 1] and one */
    size_t *raw_offsets;
    pr_real *values, *gradients;
    size_t rows, tiles;
    pr_extra extra;
    pr_near near;        /* items 0: none */
    pr_real *expected;   /* [V,R] */
    pr_real *few;        /* [PR_LANES,V]: rows before they stand beside each other */
    pr_real *how, *dhow; /* [R]: the gate of what is expected, and its gradient */
    pr_dense dense;
} pr_repeats;

/* The neighbours, if there are any, are set before. */
void pr_repeats_take(pr_repeats *r, pr_arena *arena, size_t rows, size_t items, size_t history,
                     bool neighbours);
void pr_repeats_add(pr_repeats *r, size_t row, int32_t *slots, const pr_history *history,
                    double decay);
/* After the last row was added. */
void pr_repeats_order(pr_repeats *r);
/* What the pairs of the first rows score, by their gates[rows,PR_GATES]. */
void pr_repeats_values(pr_repeats *r, const pr_real *gates, size_t rows);
/* Sets dgates from the gradients of the scores. */
void pr_repeats_backward(const pr_repeats *r, pr_real *dgates, size_t rows);

#endif
