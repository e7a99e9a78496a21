/* pop: the best sellers, the same for everybody; random: the floor under every number. */
#include <string.h>

#include "math/topk.h"
#include "model/counting/counting.h"

/* ---- pop ---- */

typedef struct state {
    pr_real *scores; /* [V] */
    int32_t *order;  /* [V] */
} state;

/* Items of equal popularity stay equal, or stand in the order of their numbers. */
static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)rows;
    (void)capacity;
    state *s = own;
    s->scores = pr_arena_take(arena, model->items, sizeof *s->scores);
    s->order = pr_arena_take(arena, model->items, sizeof *s->order);
    if (pr_arena_counts(arena))
        return;
    const pr_real *popularity = pr_popularity(model);
    memcpy(s->scores, popularity, model->items * sizeof *s->scores);
    if (model->config.ties != PR_TIES_FIRST)
        return;
    pr_topk(s->order, popularity, model->items, model->items);
    pr_settle_ties(s->scores, s->order, popularity, NULL, model->items);
}

static const pr_real *row_scores(pr_scorer *scorer, size_t row)
{
    (void)row;
    return ((const state *)scorer->own)->scores;
}

const pr_model_kind pr_pop = {
    .name = "pop",
    .summary = "how often each item was bought",
    .scores_are_shares = true,
    .popular = true,
    .layout = pr_popularity_layout,
    .count = pr_popularity_count,
    .state_bytes = sizeof(state),
    .take = take,
    .row_scores = row_scores,
};

/* ---- random ---- */

/* random: a ranker that knows nothing. An item's number is a function of the user, the length of the
 * history and the item, so it is drawn once per basket. With new numbers at every step each item would
 * get several chances to rank first, and the scores would be too high for a floor. */
typedef struct random_state {
    pr_rng rng;
    uint32_t *user, *past; /* [rows] */
} random_state;

static parsrec_status random_layout(pr_model *model, parsrec_error *err)
{
    (void)model;
    (void)err;
    return PARSREC_OK;
}

static parsrec_status random_count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    (void)from;
    return pr_model_alloc_weights(model, err);
}

static void random_take(void *own, pr_arena *arena, const pr_model *model, size_t rows,
                        size_t capacity)
{
    (void)model;
    (void)capacity;
    random_state *s = own;
    enum { PURPOSE = 0x72616e64 };
    *s = (random_state){.rng = pr_rng_make(1, PURPOSE)};
    s->user = pr_arena_take(arena, rows, sizeof *s->user);
    s->past = pr_arena_take(arena, rows, sizeof *s->past);
}

static void random_start(pr_scorer *scorer, const pr_start *starts)
{
    random_state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++) {
        s->user[r] = (uint32_t)starts[r].user;
        s->past[r] = (uint32_t)starts[r].history.count;
    }
}

static pr_real random_number(const random_state *s, size_t row, size_t item)
{
    pr_bits bits = pr_rng_at(&s->rng, s->user[row], s->past[row], (uint32_t)item, 0);
    return (pr_real)((bits.word[0] >> 8) * 0x1p-24);
}

static void random_score_all(pr_scorer *scorer, pr_real *scores)
{
    size_t items = scorer->model->items;
    for (size_t r = 0; r < scorer->active; r++)
        for (size_t i = 0; i < items; i++)
            scores[r * items + i] = random_number(scorer->own, r, i);
}

static void random_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n,
                         pr_real *scores)
{
    for (size_t i = 0; i < n; i++)
        scores[i] = random_number(scorer->own, row, (size_t)items[i]);
}

const pr_model_kind pr_random = {
    .name = "random",
    .summary = "a number drawn for each item, once per basket",
    .scores_are_shares = true,
    .layout = random_layout,
    .count = random_count,
    .state_bytes = sizeof(random_state),
    .take = random_take,
    .start = random_start,
    .score_all = random_score_all,
    .score = random_score,
};
