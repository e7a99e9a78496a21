/* The teacher's choice of targets. */
#include "model/parsrec/parsrec_teacher.h"

#include <string.h>

void pr_arnn_teacher_take(pr_arnn_teacher *t, pr_arena *arena, size_t rows, size_t basket)
{
    t->stride = basket;
    t->left = pr_arena_take(arena, rows * basket, sizeof *t->left);
    t->count = pr_arena_take(arena, rows, sizeof *t->count);
}

void pr_arnn_teacher_begin(pr_arnn_teacher *t, size_t row, const pr_basket *basket)
{
    t->count[row] = basket->size;
    memcpy(t->left + row * t->stride, basket->items, basket->size * sizeof *t->left);
}

void pr_arnn_teacher_cut(pr_arnn_teacher *t, size_t row, size_t most, bool list,
                         const uint32_t place[3])
{
    int32_t *left = t->left + row * t->stride;
    size_t count = t->count[row];
    if (count <= most)
        return;
    pr_stream stream = pr_stream_at(&t->rng, place[0], place[1], place[2]);
    if (list) {
        size_t from = pr_stream_below(&stream, (uint32_t)(count - most + 1));
        memmove(left, left + from, most * sizeof *left);
    }
    for (size_t i = 0; !list && i < most; i++) {
        size_t j = i + pr_stream_below(&stream, (uint32_t)(count - i));
        int32_t item = left[j];
        left[j] = left[i];
        left[i] = item;
    }
    t->count[row] = most;
}

static size_t place_of(const int32_t *left, size_t count, int32_t item)
{
    size_t i = 0;
    while (i < count && left[i] != item)
        i++;
    return i;
}

int32_t pr_arnn_teacher_choose(pr_arnn_teacher *t, size_t row, int32_t winner,
                               pr_teacher_choice how, const uint32_t place[3])
{
    int32_t *left = t->left + row * t->stride;
    size_t count = t->count[row], i = how == PR_CHOOSE_FIRST ? 0 : place_of(left, count, winner);
    if (i == count && how == PR_CHOOSE_WINNER_OR_FIRST)
        i = 0;
    if (i == count) {
        pr_stream stream = pr_stream_at(&t->rng, place[0], place[1], place[2]);
        i = pr_stream_below(&stream, (uint32_t)count);
    }
    int32_t target = left[i];
    memmove(left + i, left + i + 1, (count - i - 1) * sizeof *left);
    t->count[row]--;
    return target;
}
