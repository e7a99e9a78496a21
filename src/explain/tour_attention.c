/* Attention as the paper puts it together: a user's weights by item, summed over the rows of a class,
 * averaged over its columns, rows normalised; then the mean over users. */
#include <string.h>

#include "explain/tour_inside.h"

/* Adds one step: what came next against each item that was there. */
static void add_step(const pr_tour *tour, pr_tour_desk *desk, const int32_t *items, size_t t,
                     const float *weight)
{
    size_t N = tour->axis->count, row = tour->axis->class[items[t]];
    if (row >= N)
        return;
    for (size_t p = 0; p < t; p++) {
        size_t column = tour->axis->class[items[p]];
        if (column >= N)
            continue;
        desk->user[row * N + column] += (double)weight[p];
        desk->user_even[row * N + column] += 1 / (double)t;
    }
}

/* A column of the user's own matrix is an item that the user placed. */
static void count_columns(const pr_tour *tour, pr_tour_desk *desk, const int32_t *items,
                          size_t placed, uint32_t name)
{
    for (size_t p = 0; p < placed; p++) {
        uint32_t class = tour->axis->class[items[p]];
        if (class < tour->axis->count && desk->stamp[items[p]] != name) {
            desk->stamp[items[p]] = name;
            desk->distinct[class]++;
        }
    }
}

/* Adds the row, made to sum to 1; false when it is empty. */
static bool add_row(double *sum, double *row, const size_t *distinct, size_t N)
{
    double total = 0;
    for (size_t j = 0; j < N; j++) {
        row[j] = distinct[j] > 0 ? row[j] / (double)distinct[j] : 0;
        total += row[j];
    }
    for (size_t j = 0; j < N && total > 0; j++)
        sum[j] += row[j] / total;
    return total > 0;
}

static void add_user(pr_tour_sums *sums, pr_tour_desk *desk)
{
    size_t N = sums->N;
    for (size_t i = 0; i < N; i++) {
        sums->users_with_row[i] +=
            add_row(sums->even + i * N, desk->user_even + i * N, desk->distinct, N);
        add_row(sums->attention + i * N, desk->user + i * N, desk->distinct, N);
    }
}

static void forget(pr_tour_desk *desk, size_t N)
{
    memset(desk->user, 0, N * N * sizeof *desk->user);
    memset(desk->user_even, 0, N * N * sizeof *desk->user_even);
    memset(desk->distinct, 0, N * sizeof *desk->distinct);
}

void pr_tour_add_attention(pr_tour_sums *sums, const pr_tour *tour, const pr_tour_task *task,
                           pr_tour_desk *desk)
{
    memset(desk->stamp, 0, tour->data->items * sizeof *desk->stamp);
    for (size_t i = 0; i < task->baskets;) {
        int32_t user = desk->unsorted[i].user;
        uint32_t name = (uint32_t)i + 1;
        forget(desk, sums->N);
        for (; i < task->baskets && desk->unsorted[i].user == user; i++) {
            const pr_tour_basket *b = &desk->unsorted[i];
            const int32_t *items = pr_tour_items(tour, b->session);
            for (size_t t = 1; t < b->size; t++)
                add_step(tour, desk, items, t, desk->weights + b->weights + pr_tour_weights(t));
            count_columns(tour, desk, items, b->size - 1, name);
        }
        add_user(sums, desk);
    }
}
