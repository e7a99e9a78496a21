/* random: a ranker that knows nothing. An item's number is a function of the user, the length of the
 * past and the item, so that it is drawn once for a basket: with fresh numbers at every step any of many
 * items might come up, which scores too high to be a floor. */
#include "model/counting/counting.h"

typedef struct state {
    pr_rng rng;
    uint32_t *user, *past; /* [rows] */
} state;

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    (void)model;
    (void)err;
    return PARSREC_OK;
}

static parsrec_status count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    (void)from;
    return pr_model_alloc_weights(model, err);
}

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)model;
    (void)capacity;
    state *s = own;
    enum { PURPOSE = 0x72616e64 };
    *s = (state){.rng = pr_rng_make(1, PURPOSE)};
    s->user = pr_arena_take(arena, rows, sizeof *s->user);
    s->past = pr_arena_take(arena, rows, sizeof *s->past);
}

static void start(pr_scorer *session, const pr_start *starts)
{
    state *s = session->own;
    for (size_t r = 0; r < session->active; r++) {
        s->user[r] = (uint32_t)starts[r].user;
        s->past[r] = (uint32_t)starts[r].history.count;
    }
}

static pr_real number(const state *s, size_t row, size_t item)
{
    pr_bits bits = pr_rng_at(&s->rng, s->user[row], s->past[row], (uint32_t)item, 0);
    return (pr_real)((bits.word[0] >> 8) * 0x1p-24);
}

static void score_all(pr_scorer *session, pr_real *scores)
{
    size_t items = session->model->items;
    for (size_t r = 0; r < session->active; r++)
        for (size_t i = 0; i < items; i++)
            scores[r * items + i] = number(session->own, r, i);
}

static void score(pr_scorer *session, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    for (size_t i = 0; i < n; i++)
        scores[i] = number(session->own, row, (size_t)items[i]);
}

const pr_model_kind pr_random = {
    .name = "random",
    .summary = "a number drawn for each item, once a basket",
    .scores_are_shares = true,
    .layout = layout,
    .count = count,
    .state_bytes = sizeof(state),
    .take = take,
    .start = start,
    .place = pr_place_nothing,
    .score_all = score_all,
    .score = score,
};
