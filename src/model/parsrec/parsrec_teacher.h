/* Teacher enforcing: which of a basket's items is the target of a step. */
#ifndef PR_PARSREC_TEACHER_H
#define PR_PARSREC_TEACHER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/rng.h"
#include "data/batch.h"

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

#endif
