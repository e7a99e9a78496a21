/* mix: a weighted sum of seven counts (count_features.h), which is the log of a chance up to a constant.
 *
 * The weights are fitted by conditional logit on the newest session of each user that may be counted,
 * with tables counted from the sessions before; then the tables are counted again with it. Sessions that
 * the model is evaluated on later are in neither. For each of these sessions there is one choice with an
 * empty basket and one with a random part of the session placed. Its alternatives are the items the user
 * had and those that neighbours, popularity and lift rank first; an item that was taken and is not among
 * them is left out. So the weights are fitted among close competitors, which decides the top of a list. A
 * logit over the whole catalogue mostly explains why unlikely items were not bought.
 *
 * It is deterministic, takes seconds, and its seven numbers can be read: `parsrec info` shows
 * them. A network that is not ahead of it has learnt nothing that counts do not know. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/topk.h"
#include "model/choice_fit.h"
#include "model/count_features.h"
#include "model/counting/counting.h"

enum {
    F = PR_COUNT_FEATURES,
    SESSIONS_MOST = 4096, /* fitted on */
    SESSIONS_LEAST = 1000,
    ENOUGH = 100,      /* sessions of users who can be evaluated; with fewer all users serve */
    BASKET_MOST = 256, /* items of a session that are looked at */
    OWN_MOST = 256,    /* of the items the user had, as alternatives */
    STRONG_MOST = 96,  /* of all others, by each of three features */
    PURPOSE = 0x6d6978,
};

/* A session looks at the whole catalogue: in a large one as many are fitted on as keep sessions times items below
 * this, but never fewer than SESSIONS_LEAST. */
static const double pairs_most = 1e9;

static size_t sessions_most(size_t items)
{
    double fit = pairs_most / (double)items;
    return fit > SESSIONS_MOST    ? SESSIONS_MOST
           : fit < SESSIONS_LEAST ? SESSIONS_LEAST
                                  : (size_t)fit;
}

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    PR_TRY(pr_params_add_numbers(&model->params, "mix.weights", 1, F, err));
    return pr_count_tables_layout(model, err);
}

static parsrec_status verify(const pr_model *model, parsrec_error *err)
{
    return pr_count_tables_verify(model, err);
}

/* ---- what was chosen ---- */

typedef struct fitting {
    const pr_model *model; /* with tables that do not know the sessions fitted on */
    pr_count_tables tables;
    const pr_dataset *data;
    pr_rng rng;
    pr_choices cases;
    size_t start_room, taken_room, x_room, offset_room;
    size_t alternatives;
    pr_arena arena;
    pr_real *planes; /* [F,V] */
    pr_count_scratch scratch;
    uint32_t name;   /* of the newest case, from 1 */
    uint32_t *stamp; /* [V]: the newest case that has the item as an alternative, or placed */
    int32_t *items;  /* [V] */
    pr_real *free;   /* [V]: a feature of items that are not alternatives yet */
} fitting;

static void fitting_free(fitting *f)
{
    pr_arena_free(&f->arena);
    pr_free(f->cases.starts);
    pr_free(f->cases.taken);
    pr_free(f->cases.x);
    pr_free(f->cases.offset);
}

static void take_memory(fitting *f, pr_arena *arena)
{
    size_t V = f->model->items;
    f->planes = pr_arena_take(arena, F * V, sizeof *f->planes);
    f->stamp = pr_arena_take_zero(arena, V, sizeof *f->stamp);
    f->items = pr_arena_take(arena, V, sizeof *f->items);
    f->free = pr_arena_take(arena, V, sizeof *f->free);
    pr_count_scratch_take(&f->scratch, arena, V);
}

static parsrec_status add_alternatives(fitting *f, const int32_t *items, size_t n,
                                       parsrec_error *err)
{
    pr_choices *c = &f->cases;
    size_t V = f->model->items, total = f->alternatives + n;
    PR_TRY(pr_grow(&c->x, &f->x_room, total * F, sizeof *c->x, err));
    PR_TRY(pr_grow(&c->offset, &f->offset_room, total, sizeof *c->offset, err));
    for (size_t i = 0; i < n; i++, f->alternatives++) {
        for (size_t k = 0; k < F; k++)
            c->x[f->alternatives * F + k] = (float)f->planes[k * V + (size_t)items[i]];
        c->offset[f->alternatives] = 0;
    }
    return PARSREC_OK;
}

/* Appends the items with the largest values of a feature that are not alternatives yet. */
static void add_strong(fitting *f, pr_count_feature feature, uint32_t name, size_t *n)
{
    size_t V = f->model->items;
    int32_t best[STRONG_MOST];
    const pr_real *plane = f->planes + feature * V;
    for (size_t i = 0; i < V; i++)
        f->free[i] = f->stamp[i] != name ? plane[i] : -(pr_real)INFINITY;
    size_t count = pr_topk(best, f->free, V, STRONG_MOST);
    for (size_t i = 0; i < count; i++) {
        f->stamp[best[i]] = name;
        f->items[(*n)++] = best[i];
    }
}

/* Brings those of taken[count] that are alternatives to the front; returns how many there are. */
static size_t taken_first(fitting *f, size_t n, const int32_t *taken, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = found; k < n; k++)
            if (f->items[k] == taken[i]) {
                f->items[k] = f->items[found];
                f->items[found++] = taken[i];
                break;
            }
    return found;
}

/* One choice: `basket`[placed] is in the basket already, the rest of basket[size] is taken next. The
 * planes are those of this moment. */
static parsrec_status add_case(fitting *f, const int32_t *basket, size_t placed, size_t size,
                               const pr_history *history, parsrec_error *err)
{
    pr_choices *c = &f->cases;
    size_t n = 0;
    uint32_t name = ++f->name;
    for (size_t i = 0; i < placed; i++)
        f->stamp[basket[i]] = name;
    for (size_t i = history->count; i > 0 && n < OWN_MOST; i--) { /* newest first */
        int32_t item = history->items[i - 1];
        if (f->stamp[item] != name) {
            f->stamp[item] = name;
            f->items[n++] = item;
        }
    }
    add_strong(f, PR_COUNT_NEIGHBOURS, name, &n);
    add_strong(f, PR_COUNT_POPULAR, name, &n);
    if (placed > 0)
        add_strong(f, PR_COUNT_LIFT, name, &n);
    size_t taken = taken_first(f, n, basket + placed, size - placed);
    if (taken == 0)
        return PARSREC_OK;
    PR_TRY(pr_grow(&c->starts, &f->start_room, c->cases + 2, sizeof *c->starts, err));
    PR_TRY(pr_grow(&c->taken, &f->taken_room, c->cases + 1, sizeof *c->taken, err));
    c->starts[c->cases] = f->alternatives;
    c->taken[c->cases] = (uint32_t)taken;
    PR_TRY(add_alternatives(f, f->items, n, err));
    c->starts[++c->cases] = f->alternatives;
    return PARSREC_OK;
}

/* Two choices of a session: with an empty basket, and with a random part of it placed. */
static parsrec_status add_session(fitting *f, size_t user, size_t session, parsrec_error *err)
{
    const pr_dataset *d = f->data;
    size_t V = f->model->items,
           size = (size_t)(d->session_offsets[session + 1] - d->session_offsets[session]);
    const int64_t *first = d->session_offsets + d->user_offsets[user];
    size_t before = session - (size_t)d->user_offsets[user];
    pr_history history = {.items = d->action_items + first[0],
                          .count = (size_t)(first[before] - first[0]),
                          .sessions = first,
                          .session_count = before};
    int32_t basket[BASKET_MOST];
    size = size < BASKET_MOST ? size : BASKET_MOST;
    if (size == 0 || size + history.count >= V)
        return PARSREC_OK;
    memcpy(basket, d->action_items + d->session_offsets[session], size * sizeof *basket);
    pr_stream s = pr_stream_at(&f->rng, (uint32_t)user, (uint32_t)session, 0);
    pr_count_features_start(f->planes, &f->tables, &history, f->model->config.recall_decay,
                            &f->scratch);
    PR_TRY(add_case(f, basket, 0, size, &history, err));
    if (size < 2)
        return PARSREC_OK;
    pr_stream_shuffle(&s, basket, size, sizeof *basket);
    size_t placed = 1 + pr_stream_below(&s, (uint32_t)(size - 1));
    pr_real *lift = f->planes + PR_COUNT_LIFT * V;
    for (size_t i = 0; i < placed; i++)
        pr_count_lift_add(lift, &f->tables, basket[i]);
    for (size_t i = 0; i < V; i++)
        lift[i] /= (pr_real)placed;
    return add_case(f, basket, placed, size, &history, err);
}

/* Whether the newest counted session of a user is fitted on. */
static bool serves(const pr_counted *from, size_t user, bool evaluated_only)
{
    int64_t end = pr_counted_end(from, user);
    return end - from->data->user_offsets[user] >= 2 &&
           (!evaluated_only || pr_split_evaluated(from->data, user, from->scope.last));
}

static parsrec_status add_sessions(fitting *f, const pr_counted *from, parsrec_error *err)
{
    enum { USERS_A_ROUND = 64 };
    size_t users = from->data->users, all = 0, evaluated = 0, at = 0, done = 0;
    for (size_t u = 0; u < users; u++) {
        all += serves(from, u, false);
        evaluated += serves(from, u, true);
    }
    bool only = evaluated >= ENOUGH;
    size_t count = only ? evaluated : all, most = sessions_most(from->data->items);
    size_t wanted = count < most ? count : most;
    if (wanted < count && most < SESSIONS_MOST)
        pr_say(from->hooks, PARSREC_LOG_INFO,
               "counts are weighed on %zu of %zu sessions, evenly spread, because the catalogue is "
               "large",
               wanted, count);
    for (size_t u = 0; u < users; u++) {
        if (!serves(from, u, only))
            continue;
        /* Evenly spread over those who serve. */
        bool chosen = (at + 1) * wanted / count != at * wanted / count;
        at++;
        if (!chosen)
            continue;
        if (done++ % USERS_A_ROUND == 0)
            PR_TRY(pr_progress(from->hooks, "weighing counts", "sessions", done - 1, wanted, err));
        PR_TRY(add_session(f, u, (size_t)pr_counted_end(from, u) - 1, err));
    }
    return PARSREC_OK;
}

static parsrec_status fit(double *weights, const pr_model *earlier, const pr_counted *from,
                          parsrec_error *err)
{
    fitting f = {.model = earlier,
                 .tables = pr_count_tables_of(earlier),
                 .data = from->data,
                 .rng = pr_rng_make(1, PURPOSE),
                 .cases = {.features = F}};
    pr_arena counter = pr_arena_counter();
    parsrec_status status;
    take_memory(&f, &counter);
    PR_TRY_GOTO(pr_arena_init(&f.arena, counter.used, err));
    take_memory(&f, &f.arena);
    PR_TRY_GOTO(add_sessions(&f, from, err));
    status = pr_choice_fit(weights, NULL, &f.cases, PR_COUNT_PRIOR_CASES, from->pool, err);
done:
    fitting_free(&f);
    return status;
}

/* ---- counting ---- */

static parsrec_status count_tables(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    pr_links together = {0};
    parsrec_status status;
    PR_TRY_GOTO(pr_count_tables_size(&together, model, from, err));
    PR_TRY_GOTO(pr_model_alloc_weights(model, err));
    status = pr_count_tables_count(model, &together, from, err);
done:
    pr_links_free(&together);
    return status;
}

/* Fits with tables that do not include the newest sessions, then counts the final tables with them. */
static parsrec_status count_and_fit(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    double weights[F];
    pr_model *earlier;
    pr_counted before = *from;
    pr_shop shop = pr_shop_of(from->data);
    before.scope.more++;
    memcpy(weights, pr_count_prior, sizeof weights);
    PR_TRY(pr_model_new_bare(&earlier, "mix", &model->config, &shop, err));
    parsrec_status status = count_tables(earlier, &before, err);
    if (status == PARSREC_OK)
        status = fit(weights, earlier, from, err);
    pr_model_free(earlier);
    if (status == PARSREC_OK)
        status = count_tables(model, from, err);
    for (size_t i = 0; i < F && status == PARSREC_OK; i++)
        pr_model_reals(model, "mix.weights")[i] = (pr_real)weights[i];
    return status;
}

static parsrec_status count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    pr_counted own = *from;
    if (from->pool != NULL)
        return count_and_fit(model, from, err);
    PR_TRY(pr_pool_new(&own.pool, 1, err));
    parsrec_status status = count_and_fit(model, &own, err);
    pr_pool_free(own.pool);
    return status;
}

/* ---- scores ---- */

typedef struct state {
    pr_count_tables tables;
    pr_real weights[F];
    double decay;
    pr_real *fixed;    /* [rows,V]: all but the lift */
    pr_real *expected; /* [rows,V]: the plane PR_COUNT_NEIGHBOURS */
    pr_real *lift;     /* [rows,V]: summed over what is placed */
    int32_t *placed;   /* [rows,capacity] */
    size_t *count;     /* [rows] */
    size_t capacity;
    pr_real *planes; /* [F,V] */
    pr_count_scratch scratch;
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    state *s = own;
    size_t V = model->items;
    *s = (state){.decay = model->config.recall_decay, .capacity = capacity};
    s->fixed = pr_arena_take(arena, rows * V, sizeof *s->fixed);
    s->expected = pr_arena_take(arena, rows * V, sizeof *s->expected);
    s->lift = pr_arena_take(arena, rows * V, sizeof *s->lift);
    s->placed = pr_arena_take(arena, rows * capacity, sizeof *s->placed);
    s->count = pr_arena_take(arena, rows, sizeof *s->count);
    s->planes = pr_arena_take(arena, F * V, sizeof *s->planes);
    pr_count_scratch_take(&s->scratch, arena, V);
    if (pr_arena_counts(arena))
        return;
    s->tables = pr_count_tables_of(model);
    memcpy(s->weights, pr_model_reals(model, "mix.weights"), sizeof s->weights);
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    size_t V = scorer->model->items;
    for (size_t r = 0; r < scorer->active; r++) {
        pr_real *fixed = s->fixed + r * V;
        pr_count_features_start(s->planes, &s->tables, &starts[r].history, s->decay, &s->scratch);
        memset(fixed, 0, V * sizeof *fixed);
        for (size_t k = 0; k < F; k++)
            for (size_t i = 0; i < V; i++)
                fixed[i] += s->weights[k] * s->planes[k * V + i];
        memcpy(s->expected + r * V, s->planes + PR_COUNT_NEIGHBOURS * V, V * sizeof *s->expected);
        memset(s->lift + r * V, 0, V * sizeof *s->lift);
        s->count[r] = 0;
    }
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++) {
        if (items[r] < 0)
            continue;
        assert(s->count[r] < s->capacity);
        s->placed[r * s->capacity + s->count[r]++] = items[r];
        pr_count_lift_add(s->lift + r * scorer->model->items, &s->tables, items[r]);
    }
}

/* The weight of a sum of lifts in a row: their mean counts. */
static pr_real lift_weight(const state *s, size_t row)
{
    return s->count[row] > 0 ? s->weights[PR_COUNT_LIFT] / (pr_real)s->count[row] : 0;
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    size_t V = scorer->model->items;
    for (size_t r = 0; r < scorer->active; r++) {
        const pr_real *fixed = s->fixed + r * V, *lift = s->lift + r * V;
        pr_real weight = lift_weight(s, r);
        for (size_t i = 0; i < V; i++)
            scores[r * V + i] = fixed[i] + weight * lift[i];
    }
}

static void score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    size_t base = row * scorer->model->items;
    pr_real weight = lift_weight(s, row);
    for (size_t i = 0; i < n; i++)
        scores[i] = s->fixed[base + (size_t)items[i]] + weight * s->lift[base + (size_t)items[i]];
}

/* Neighbours are the history's part, the user's own counts the memory's. */
static bool terms(pr_scorer *scorer, size_t row, int32_t item, pr_score_terms *out, pr_real *placed)
{
    const state *s = scorer->own;
    size_t at = row * scorer->model->items + (size_t)item;
    pr_real share = (s->tables.held[item] + (pr_real)0.5) / (pr_real)(s->tables.sessions + 1);
    *out = (pr_score_terms){
        .history = s->weights[PR_COUNT_NEIGHBOURS] * s->expected[at],
        .item = s->weights[PR_COUNT_POPULAR] * (pr_real)log((double)share),
    };
    out->memory = s->fixed[at] - out->history - out->item;
    for (size_t i = 0; i < s->count[row]; i++)
        placed[i] = lift_weight(s, row) *
                    (pr_real)pr_count_lift(&s->tables, s->placed[row * s->capacity + i], item);
    return true;
}

static const char *weight_name(const pr_model *model, size_t i)
{
    (void)model;
    return i < PR_COUNT_FEATURES ? pr_count_feature_names[i] : NULL;
}

const pr_model_kind pr_mix = {
    .name = "mix",
    .summary = "seven counts, weighed by what was bought next",
    .shown = "mix.weights",
    .shown_name = weight_name,
    .layout = layout,
    .count = count,
    .verify = verify,
    .state_bytes = sizeof(state),
    .take = take,
    .start = start,
    .place = place,
    .score_all = score_all,
    .score = score,
    .parts = terms,
};
