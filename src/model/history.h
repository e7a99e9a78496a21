/* A user's history as a weighted bag of items, and as features of repeat purchases. */
#ifndef PR_HISTORY_H
#define PR_HISTORY_H

#include <math.h>

#include "base/memory.h"
#include "data/batch.h"
#include "math/softmax_loss.h"
#include "model/config.h"
#include "model/neighbours.h"

/* Where the last session that is not empty begins; `otherwise` for a history that is not cut into
 * sessions. */
size_t pr_history_last_session(const pr_history *history, size_t otherwise);

/* How many of the newest items of the history `config` uses. */
size_t pr_history_count(const pr_history *history, const pr_config *config);

/* Writes each distinct item once with its weight, in order of first appearance, and returns how
 * many, at most pr_history_count. slots[V] must be zero and is zero on return. */
size_t pr_history_bag(int32_t *items, pr_real *weights, int32_t *slots, const pr_history *history,
                      const pr_config *config);

/* ---- repeat purchases: how often and how recently the user bought an item ---- */

/* The features of an item that the user bought before (docs/math.md, Recall). */
enum {
    PR_REPEAT_COUNT,    /* log(1 + sessions that contain it) */
    PR_REPEAT_RECENT,   /* log(1 + the same, each session decayed by its age) */
    PR_REPEAT_HAD,      /* 1 */
    PR_REPEAT_SESSIONS, /* log(1 + sessions of the user) */
    PR_REPEAT_PLAIN,
    /* With dates also: */
    PR_REPEAT_AGE = PR_REPEAT_PLAIN, /* log(1 + days since the user last bought it) */
    PR_REPEAT_EARLY, /* log(days since / usual interval) where that is below 0 ... */
    PR_REPEAT_LATE,  /* ... and where it is above */
    PR_REPEAT_FEATURES,
};

/* The gates of a state: one per plain feature, one for the count expected from neighbours, and with
 * dates one for each of their features. */
enum {
    PR_GATE_EXPECTED = PR_REPEAT_PLAIN,
    PR_GATES_PLAIN,
    PR_GATES = PR_GATES_PLAIN + PR_REPEAT_FEATURES - PR_REPEAT_PLAIN
};

/* The gate of a feature. */
static inline size_t pr_gate_of(size_t feature)
{
    return feature < PR_REPEAT_PLAIN ? feature : feature + 1;
}

/* gates · features, of `count` gates. */
static inline pr_real pr_repeat_value(const pr_real *gates, const pr_real *features, size_t count)
{
    pr_real sum = 0;
    for (size_t k = 0; k < PR_REPEAT_PLAIN; k++)
        sum += gates[k] * features[k];
    for (size_t g = PR_GATES_PLAIN; g < count; g++)
        sum += gates[g] * features[g - 1];
    return sum;
}

/* Writes each distinct item of a history once, newest first, with its features, and returns how
 * many. slots[V] must be zero and is zero on return. expected[V], unless NULL, gets the log of the
 * count expected from neighbours for every item (neighbours.h). intervals[V] (purchase_times.h),
 * unless NULL, adds the features of dates; a history without dates is one where every item is due. */
size_t pr_repeat_features(int32_t *items, pr_real (*features)[PR_REPEAT_FEATURES],
                          pr_real *expected, int32_t *slots, const pr_history *history,
                          double decay, const pr_near *near, const pr_real *intervals);

/* Repeat purchases of all rows of a chunk, sorted by tiles of the catalogue. */
typedef struct pr_repeats {
    int32_t *items, *raw_items; /* as added, then sorted by tile */
    pr_real (*features)[PR_REPEAT_FEATURES], (*raw)[PR_REPEAT_FEATURES];
    size_t *offsets; /* [tiles, R + 1] and one more */
    size_t *raw_offsets;
    pr_real *values, *gradients;
    size_t rows, tiles;
    pr_extra extra;
    pr_near near;             /* items is 0 if there are no neighbours */
    const pr_real *intervals; /* [V]; NULL: without dates */
    size_t gates;
    pr_real *expected;   /* [V,R] */
    pr_real *few;        /* [PR_LANES,V]: rows before they are transposed */
    pr_real *how, *dhow; /* [R]: the gate of the expected count, and its gradient */
    pr_dense dense;
} pr_repeats;

/* The number of sessions that contain an item, from its feature; counts are whole numbers. */
static inline pr_real pr_repeat_times(const pr_real *features)
{
    return (pr_real)floor(exp((double)features[PR_REPEAT_COUNT]) - 0.5);
}

/* Takes memory for `rows` histories from the arena. r->near must be set before, if there are
 * neighbours. */
void pr_repeats_take(pr_repeats *r, pr_arena *arena, size_t rows, size_t items, size_t history,
                     bool neighbours);
/* The same for histories of `entries` items together, without expected counts and not sorted: nothing
 * here depends on the size of the catalogue. */
void pr_repeats_take_rows(pr_repeats *r, pr_arena *arena, size_t rows, size_t entries);
void pr_repeats_add(pr_repeats *r, size_t row, int32_t *slots, const pr_history *history,
                    double decay);
/* Sorts by tile; call it after the last row was added. */
void pr_repeats_order(pr_repeats *r);
/* The scores of the pairs of the first `rows` rows, from gates[rows,r->gates]. */
void pr_repeats_values(pr_repeats *r, const pr_real *gates, size_t rows);
/* Sets dgates from the gradients of the scores. */
void pr_repeats_backward(const pr_repeats *r, pr_real *dgates, size_t rows);

#endif
