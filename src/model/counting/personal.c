/* personal: how often the user bought an item before; recent: the same with older sessions counting
 * less. The user's items are put in order when a session starts, so that ties are settled exactly and
 * not by what rounding leaves of a sum. */
#include <assert.h>
#include <string.h>

#include "math/topk.h"
#include "model/counting/counting.h"
#include "model/history.h"

typedef struct state {
    pr_config how;       /* of the history's weights */
    pr_real *never;      /* [V]: scores of items the user never bought */
    pr_real *scores;     /* [rows,V] */
    int32_t *items;      /* [V]: the user's, in order of first purchase, then by ... */
    pr_real *weights;    /* [V]: ... the popularity, if that settles ties */
    pr_real *tie;        /* [V] */
    int32_t *order;      /* [V]: their places, best first */
    int32_t *slots;      /* [V]: zero between calls */
    int32_t *spare;      /* [V] */
    pr_real *spare_real; /* [V] */
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity;
    state *s = own;
    size_t items = model->items;
    *s = (state){.how = model->config};
    s->how.history = model->kind == &pr_recent ? PR_HISTORY_DECAYED : PR_HISTORY_SUM;
    s->never = pr_arena_take(arena, items, sizeof *s->never);
    s->scores = pr_arena_take(arena, rows * items, sizeof *s->scores);
    s->items = pr_arena_take(arena, items, sizeof *s->items);
    s->weights = pr_arena_take(arena, items, sizeof *s->weights);
    s->tie = pr_arena_take(arena, items, sizeof *s->tie);
    s->order = pr_arena_take(arena, items, sizeof *s->order);
    s->slots = pr_arena_take_zero(arena, items, sizeof *s->slots);
    s->spare = pr_arena_take(arena, items, sizeof *s->spare);
    s->spare_real = pr_arena_take(arena, items, sizeof *s->spare_real);
    if (pr_arena_counts(arena))
        return;
    pr_scores_without_votes(s->never, model);
    for (size_t i = 0; i < items && !model->config.fill; i++)
        s->never[i] = -(pr_real)INFINITY;
}

/* The user's items by popularity, the earlier purchase first among equals. */
static void by_popularity(state *s, size_t n, const pr_real *popularity)
{
    for (size_t i = 0; i < n; i++) {
        s->tie[i] = popularity[s->items[i]];
        s->spare[i] = s->items[i];
        s->spare_real[i] = s->weights[i];
    }
    pr_topk(s->order, s->tie, n, n);
    for (size_t i = 0; i < n; i++) {
        s->items[i] = s->spare[s->order[i]];
        s->weights[i] = s->spare_real[s->order[i]];
        s->tie[i] = popularity[s->items[i]];
    }
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    size_t items = scorer->model->items;
    for (size_t r = 0; r < scorer->active; r++) {
        pr_real *scores = s->scores + r * items;
        memcpy(scores, s->never, items * sizeof *scores);
        size_t n = pr_history_bag(s->items, s->weights, s->slots, &starts[r].history, &s->how);
        for (size_t i = 0; i < n; i++)
            s->tie[i] = -(pr_real)i; /* the earlier purchase first */
        if (s->how.ties == PR_TIES_POPULAR)
            by_popularity(s, n, pr_popularity(scorer->model));
        pr_topk(s->order, s->weights, n, n);
        pr_settle_ties(s->spare_real, s->order, s->weights, s->tie, n);
        for (size_t i = 0; i < n; i++)
            scores[s->items[i]] = s->spare_real[i];
    }
}

static const pr_real *row_scores(pr_scorer *scorer, size_t row)
{
    assert(row < scorer->active);
    return ((const state *)scorer->own)->scores + row * scorer->model->items;
}

#define PR_OWN_COUNTS                                                                        \
    .scores_are_shares = true, .layout = pr_popularity_layout, .count = pr_popularity_count, \
    .state_bytes = sizeof(state), .take = take, .start = start, .row_scores = row_scores

const pr_model_kind pr_personal = {
    .name = "personal",
    .summary = "how often the user bought each item",
    PR_OWN_COUNTS,
};

const pr_model_kind pr_recent = {
    .name = "recent",
    .summary = "the same, older sessions counting less",
    PR_OWN_COUNTS,
};
