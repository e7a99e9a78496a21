/* From a kind, its settings and a data set to a model in one pass, and what several kinds share. */
#include "model/counting/counting.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "synth/truth.h"

enum { USERS_A_ROUND = 65536 };

/* ---- a model ---- */

/* Some published tables count less than they might, or what they should not. */
static pr_scope scope_of(const pr_scope *given, const pr_config *config)
{
    pr_scope scope = *given;
    if (config->count == PR_COUNT_TRAIN)
        scope.held = pr_scope_before(PR_VALID, given->last).held;
    else if (config->count == PR_COUNT_ALL)
        scope.held = 0;
    return scope;
}

static parsrec_status count(pr_model *model, const pr_dataset *data, const pr_scope *scope,
                            pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_truth truth;
    pr_counted from = {
        .data = data, .scope = scope_of(scope, &model->config), .pool = pool, .hooks = hooks};
    if (model->kind->count == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the model '%s' does not count, it learns",
                       model->kind->name);
    if (model->kind->needs_truth) {
        PR_TRY(pr_truth_read(&truth, data, err));
        from.truth = &truth;
    }
    return model->kind->count(model, &from, err);
}

parsrec_status pr_count_model(pr_model **out, const char *kind, const pr_config *config,
                              const pr_dataset *data, const pr_scope *scope, pr_pool *pool,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_model *model;
    *out = NULL;
    pr_shop shop = pr_shop_of(data);
    PR_TRY(pr_model_new_bare(&model, kind, config, &shop, err));
    parsrec_status status = count(model, data, scope, pool, hooks, err);
    if (status == PARSREC_OK)
        *out = model;
    else
        pr_model_free(model);
    return status;
}

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
    assert(from->data->items == model->items);
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

void pr_scores_without_votes(pr_real *scores, const pr_model *model)
{
    const pr_real *popularity = pr_popularity(model);
    for (size_t i = 0; i < model->items; i++)
        scores[i] = -1 / (1 + popularity[i]);
}

/* ---- votes ---- */

void pr_votes_take(pr_votes *v, pr_arena *arena, const pr_model *model, size_t rows,
                   size_t capacity)
{
    *v = (pr_votes){.capacity = capacity};
    v->never = pr_arena_take(arena, model->items, sizeof *v->never);
    v->scores = pr_arena_take(arena, rows * model->items, sizeof *v->scores);
    v->fresh = pr_arena_take(arena, rows, sizeof *v->fresh);
    v->histories = pr_arena_take(arena, rows, sizeof *v->histories);
    v->placed = pr_arena_take(arena, rows * capacity, sizeof *v->placed);
    v->placed_count = pr_arena_take(arena, rows, sizeof *v->placed_count);
    if (!pr_arena_counts(arena))
        pr_scores_without_votes(v->never, model);
}

void pr_votes_start(pr_votes *v, size_t row, const pr_history *history)
{
    v->histories[row] = *history;
    v->placed_count[row] = 0;
    v->fresh[row] = false;
}

void pr_votes_place(pr_votes *v, size_t row, int32_t item)
{
    assert(v->placed_count[row] < v->capacity);
    v->placed[row * v->capacity + v->placed_count[row]++] = item;
}

pr_real *pr_votes_begin(pr_votes *v, const pr_model *model, size_t row)
{
    pr_real *scores = v->scores + row * model->items;
    memset(scores, 0, model->items * sizeof *scores);
    return scores;
}

void pr_votes_end(pr_votes *v, const pr_model *model, size_t row)
{
    pr_real *scores = v->scores + row * model->items;
    for (size_t i = 0; i < model->items; i++)
        if (!(scores[i] > 0))
            scores[i] = v->never[i];
    v->fresh[row] = true;
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
