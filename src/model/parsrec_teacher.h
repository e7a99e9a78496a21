/* Teacher enforcing: which of a basket's items is the target of a step. */
#ifndef PR_PARSREC_TEACHER_H
#define PR_PARSREC_TEACHER_H

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

/* Leaves `most` items of a longer basket, drawn evenly. Winners that are barred once they are placed
 * would else be the same few in every epoch, and the rest of the basket would never be a target. */
void pr_arnn_teacher_cut(pr_arnn_teacher *t, size_t row, size_t most, const uint32_t place[3]);

/* The winner if it is left, else a uniformly random item of those left; in_order: the first. The
 * target is no longer left afterwards. `place` is batch, row and step of the random draw. */
int32_t pr_arnn_teacher_choose(pr_arnn_teacher *t, size_t row, int32_t winner, bool in_order,
                               const uint32_t place[3]);

#endif
