/* pop: the best sellers, the same for everybody. */
#include <string.h>

#include "base/memory.h"
#include "math/topk.h"
#include "model/counting/counting.h"

enum { USERS_A_ROUND = 65536 };

/* ---- popularity ---- */

parsrec_status pr_popularity_layout(pr_model *model, parsrec_error *err)
{
    return pr_params_add_numbers(&model->params, "popularity", 1, model->items, err);
}

const pr_real *pr_popularity(const pr_model *model)
{
    return pr_model_reals(model, "popularity");
}

static void count_user(uint64_t *count, const pr_counted *from, size_t user)
{
    const pr_dataset *data = from->data;
    int64_t first = data->session_offsets[data->user_offsets[user]];
    int64_t end = data->session_offsets[pr_counted_end(from, user)];
    for (int64_t a = first; a < end; a++)
        count[data->action_items[a]]++;
}

static parsrec_status count_all(uint64_t *count, const pr_counted *from, parsrec_error *err)
{
    size_t users = from->data->users;
    for (size_t u = 0; u < users; u++) {
        if (u % USERS_A_ROUND == 0)
            PR_TRY(pr_progress(from->hooks, "counting", "users", u, users, err));
        count_user(count, from, u);
    }
    return PARSREC_OK;
}

parsrec_status pr_popularity_count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    PR_TRY(pr_model_alloc_weights(model, err));
    uint64_t *count = pr_alloc_zero(model->items, sizeof *count); /* floats end at 2^24 */
    if (count == NULL)
        return pr_fail_memory(err);
    pr_real *popularity = pr_model_reals(model, "popularity");
    parsrec_status status = count_all(count, from, err);
    for (size_t i = 0; i < model->items; i++)
        popularity[i] = (pr_real)count[i];
    pr_free(count);
    return status;
}

/* ---- ties ---- */

void pr_settle_ties(pr_real *scores, const int32_t *order, const pr_real *values,
                    const pr_real *tie, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        int32_t at = order[i];
        scores[at] = values[at];
        if (i + 1 == n)
            continue;
        int32_t worse = order[i + 1];
        pr_real least = scores[worse];
        if (tie == NULL || values[worse] < values[at] || tie[worse] < tie[at])
            least = pr_nextafter(least, (pr_real)INFINITY);
        if (scores[at] < least)
            scores[at] = least;
    }
}

/* ---- the kind ---- */

void pr_place_nothing(pr_scorer *session, const int32_t *items)
{
    (void)session;
    (void)items;
}

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

static void start(pr_scorer *session, const pr_start *starts)
{
    (void)session;
    (void)starts;
}

static void score_all(pr_scorer *session, pr_real *scores)
{
    const state *s = session->own;
    size_t items = session->model->items;
    for (size_t r = 0; r < session->active; r++)
        memcpy(scores + r * items, s->scores, items * sizeof *scores);
}

static void score(pr_scorer *session, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    (void)row;
    const state *s = session->own;
    for (size_t i = 0; i < n; i++)
        scores[i] = s->scores[items[i]];
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
    .start = start,
    .place = pr_place_nothing,
    .score_all = score_all,
    .score = score,
};
