/* What caser, stamp, narm and dream share: tables, scorers, a chunk of training windows, additive attention. */
#include "model/sequence/window.h"

#include <assert.h>
#include <string.h>

#include "data/histories.h"
#include "math/blas.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "model/user_rows.h"

/* ---- tensors ---- */

typedef struct tables {
    pr_real *item, *out,
        *bias; /* [V + 1 or 2, D]; [V,W], or item where there is no such table; [V] */
    pr_real *map[PR_WINDOW_MAPS];
} tables;

static pr_window_dims dims_of(const pr_model *model)
{
    const pr_config *c = &model->config;
    return (pr_window_dims){.D = (size_t)c->dim_item,
                            .L = (size_t)c->lookback,
                            .across = (size_t)c->filters,
                            .along = (size_t)c->filters_column,
                            .start = (int32_t)model->items,
                            .mean = c->pool == PR_POOL_MEAN,
                            .separated = c->separator};
}

/* Numbers that score the catalogue: the net's, and the user's row. */
static size_t width_of(const pr_model *model)
{
    return (size_t)model->config.dim_item * (model->kind->window->users ? 2 : 1);
}

static void list_all(pr_lister *l, tables *t, const pr_model *model)
{
    pr_window_dims d = dims_of(model);
    pr_window_map maps[PR_WINDOW_MAPS];
    size_t n = model->kind->window->maps(maps, &d), rows = model->config.separator ? 2 : 1;
    assert(n <= PR_WINDOW_MAPS);
    pr_list_tensor(l, &t->item, "item_emb", model->items + rows, d.D, PR_FILL_TABLE);
    t->out = t->item;
    if (model->kind->window->users)
        pr_list_tensor(l, &t->out, "out_emb", model->items, width_of(model), PR_FILL_TABLE);
    pr_list_tensor(l, &t->bias, "item_bias", 1, model->items, PR_FILL_BIAS);
    for (size_t i = 0; i < n; i++)
        pr_list_tensor(l, &t->map[i], maps[i].name, maps[i].rows, maps[i].cols, maps[i].fill);
}

parsrec_status pr_window_layout(pr_model *model, parsrec_error *err)
{
    if (model->config.length == 0)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "length = 0 is chosen when training begins; a model cannot have it");
    tables unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, model);
    PR_TRY(l.status);
    if (!model->kind->window->users)
        return PARSREC_OK;
    return pr_params_add_users(&model->params, "user_emb", model->users + 1,
                               (size_t)model->config.dim_item, err);
}

static tables tables_of(const pr_model *model, pr_real *block)
{
    tables t = {0};
    pr_lister l = {.have = &model->params, .block = block};
    list_all(&l, &t, model);
    return t;
}

parsrec_status pr_window_check(const pr_config *c, parsrec_error *err)
{
    PR_TRY(pr_sequence_check_loss("a model of windows (caser, stamp, narm, dream)", c, err));
    if (c->separator && c->length == 1)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "separator = on needs a length of at least 2, or 0 for one by the data");
    return PARSREC_OK;
}

/* ---- blocks of windows ---- */

static void take_block(pr_window_block *in, pr_arena *arena, const pr_model *model, size_t n,
                       bool learns)
{
    pr_window_dims d = dims_of(model);
    size_t sizes[PR_WINDOW_PARTS], count = model->kind->window->parts(sizes, &d);
    assert(count <= PR_WINDOW_PARTS);
    *in = (pr_window_block){0};
    in->x = pr_arena_take(arena, n * d.L * d.D, sizeof *in->x);
    in->dx = learns ? pr_arena_take(arena, n * d.L * d.D, sizeof *in->dx) : NULL;
    for (size_t i = 0; i < count; i++)
        in->part[i] = pr_arena_take(arena, n * sizes[i], sizeof(pr_real));
}

/* y[n,W] of the windows ids[n,L]. The user's row, if there is one, is already in y. */
static void run_net(pr_window_block *in, pr_real *y, const int32_t *ids, size_t n,
                    const pr_real *item, pr_real *const *map, const pr_model *model)
{
    pr_window_dims d = dims_of(model);
    in->n = n;
    in->ids = ids;
    for (size_t i = 0; i < n * d.L; i++)
        if (ids[i] >= 0)
            memcpy(in->x + i * d.D, item + (size_t)ids[i] * d.D, d.D * sizeof *item);
        else
            memset(in->x + i * d.D, 0, d.D * sizeof *item);
    model->kind->window->forward(y, width_of(model), in, map, &d);
}

/* ---- scorers ---- */

typedef pr_window_state state;

void pr_window_take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity; /* a window drops its oldest items */
    state *s = own;
    *s = (state){.d = dims_of(model)};
    take_block(&s->in, arena, model, rows, false);
    s->window = pr_arena_take(arena, rows * s->d.L, sizeof *s->window);
    s->y = pr_arena_take(arena, rows * width_of(model), sizeof *s->y);
    if (pr_arena_counts(arena))
        return;
    tables t = tables_of(model, model->weights);
    s->item = t.item;
    s->out = t.out;
    s->bias = t.bias;
    memcpy(s->w, t.map, sizeof s->w);
}

static void push(state *s, size_t r, int32_t token)
{
    int32_t *window = s->window + r * s->d.L;
    memmove(window, window + 1, (s->d.L - 1) * sizeof *window);
    window[s->d.L - 1] = token;
    s->stale = true;
}

/* The newest tokens of a history as training has them: the start row before a whole one, a separator where a
 * session begins and behind the last one. */
static void fill_window(state *s, size_t r, const pr_history *h, size_t items, bool separated)
{
    int32_t start = (int32_t)items, separator = (int32_t)items + 1;
    size_t L = s->d.L, tokens;
    for (size_t i = 0; i < L; i++)
        s->window[r * L + i] = -1;
    size_t from = pr_history_newest(h, 0, h->count, L, separated, &tokens);
    int32_t *window = s->window + r * L + L - tokens;
    pr_history_tokens(window, h, from, h->count, separated, separator);
    if (from == 0 && tokens < L)
        window[-1] = start;
    if (separated && h->count > 0)
        push(s, r, separator);
}

void pr_window_start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    const pr_model *model = scorer->model;
    size_t D = s->d.D, W = width_of(model);
    for (size_t r = 0; r < scorer->active; r++) {
        fill_window(s, r, &starts[r].history, model->items, model->config.separator);
        size_t user = starts[r].user >= 0 ? (size_t)starts[r].user : model->users;
        if (model->kind->window->users)
            memcpy(s->y + r * W + D, pr_user_row(model, user), D * sizeof *s->y);
    }
    s->stale = true;
}

void pr_window_place(pr_scorer *scorer, const int32_t *items)
{
    for (size_t r = 0; r < scorer->active; r++)
        if (items[r] >= 0)
            push(scorer->own, r, items[r]);
}

static const pr_real *outcome(pr_scorer *scorer)
{
    state *s = scorer->own;
    if (s->stale)
        run_net(&s->in, s->y, s->window, scorer->active, s->item, s->w, scorer->model);
    s->stale = false;
    return s->y;
}

void pr_window_score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    size_t V = scorer->model->items, W = width_of(scorer->model);
    const pr_real *y = outcome(scorer);
    pr_gemm(scores, V, pr_mat(y, W), pr_flip(s->out, W), 0, scorer->active, V, W);
    for (size_t r = 0; r < scorer->active; r++)
        pr_add(scores + r * V, s->bias, V);
}

void pr_window_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    size_t W = width_of(scorer->model);
    pr_embedding_scores(scores, s->out, items, outcome(scorer) + row * W, n, W);
    for (size_t i = 0; i < n; i++)
        scores[i] += s->bias[items[i]];
}

/* ---- a chunk ---- */

typedef struct window_run {
    pr_sequence_run base; /* sequences, targets and losses; it has no encoder */
    pr_window_block in;
    size_t *sequence; /* [T]: of each target */
    int32_t *ids;     /* [B,L], B = PR_LOSS_ROWS */
    pr_real *y, *dy;  /* [B,W] */
    uint8_t *keep;    /* [B, bytes of D]: dropout of the net's part of y */
} window_run;

static void take_run(window_run *run, pr_arena *arena, const pr_model *model,
                     const pr_limits *limits)
{
    const pr_config *c = &model->config;
    size_t longest = limits->steps * (c->separator ? 2 : 1); /* a separator before each item */
    longest = longest < (size_t)c->length ? longest : (size_t)c->length;
    size_t T = limits->rows * longest, B = PR_LOSS_ROWS, W = width_of(model);
    *run = (window_run){0};
    pr_sequence_run *base = &run->base;
    base->s.first = pr_arena_take(arena, limits->rows + 1, sizeof *base->s.first);
    base->s.ids = pr_arena_take(arena, T + 1, sizeof *base->s.ids);
    base->target = pr_arena_take(arena, T, sizeof *base->target);
    base->asked = pr_arena_take(arena, T, sizeof *base->asked);
    run->sequence = pr_arena_take(arena, T, sizeof *run->sequence);
    run->ids = pr_arena_take(arena, B * (size_t)c->lookback, sizeof *run->ids);
    run->y = pr_arena_take(arena, B * W, sizeof *run->y);
    run->dy = pr_arena_take(arena, B * W, sizeof *run->dy);
    run->keep = pr_arena_take(arena, B, pr_drop_bytes((size_t)c->dim_item));
    take_block(&run->in, arena, model, B, true);
    pr_sequence_loss_take(base, arena, model, W);
}

size_t pr_window_chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    pr_arena counter = pr_arena_counter();
    window_run sizing;
    take_run(&sizing, &counter, model, limits);
    return counter.used;
}

/* Rows of the user table for the chunk: now and then that of unknown users, so that it is learnt too. */
static void choose_users(const pr_model *model, pr_chunk *chunk)
{
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x77696E646F77)); /* "window" */
    size_t D = (size_t)model->config.dim_item;
    for (size_t i = 0; i < chunk->rows; i++) {
        uint32_t row = chunk->order[i];
        int32_t user = chunk->batch->baskets[row].user;
        bool anyone =
            user < 0 || pr_unit32(pr_rng_at(&rng, chunk->batch->number, row, 0, 0).word[0]) <
                            model->config.anyone;
        chunk->users[row] = anyone ? (int32_t)model->users : user;
        memset(chunk->user_gradient + row * D, 0, D * sizeof(pr_real));
    }
}

/* The windows of targets from..from + n - 1. */
static void write_windows(window_run *run, size_t from, size_t n, size_t L)
{
    const pr_sequences *s = &run->base.s;
    for (size_t k = 0; k < n; k++) {
        size_t end = run->base.asked[from + k] + 1, first = s->first[run->sequence[from + k]];
        size_t have = end - first < L ? end - first : L;
        int32_t *window = run->ids + k * L;
        for (size_t i = 0; i < L - have; i++)
            window[i] = -1;
        memcpy(window + L - have, s->ids + end - have, have * sizeof *window);
    }
}

/* One mask per target, from its sequence's row in the batch and its position there. */
static void draw_masks(window_run *run, size_t from, size_t n, pr_drop drop, size_t D)
{
    const pr_chunk *chunk = run->base.chunk;
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x77696E64726F70)); /* "windrop" */
    size_t bytes = pr_drop_bytes(D);
    for (size_t k = 0; k < n; k++) {
        size_t i = run->sequence[from + k];
        size_t position = run->base.asked[from + k] - run->base.s.first[i];
        const uint32_t place[3] = {chunk->batch->number, chunk->order[i], (uint32_t)position};
        pr_drop_draw(run->keep + k * bytes, &rng, place, 0, bytes, drop);
    }
}

static void drop_rows(pr_real *y, const uint8_t *keep, pr_drop drop, size_t n, size_t D, size_t W)
{
    for (size_t k = 0; k < n; k++)
        pr_drop_forward(y + k * W, y + k * W, keep + k * pr_drop_bytes(D), drop.scale, D);
}

static void learn_block(window_run *run, const pr_model *model, const tables *w, const tables *g,
                        size_t from, size_t n, double factor)
{
    pr_window_dims d = dims_of(model);
    pr_chunk *chunk = run->base.chunk;
    size_t D = d.D, W = width_of(model);
    pr_drop drop = pr_drop_make(model->config.dropout_hidden);
    bool drops = model->config.dropout_hidden > 0;
    bool users = model->kind->window->users;
    write_windows(run, from, n, d.L);
    for (size_t k = 0; users && k < n; k++) {
        size_t user = (size_t)chunk->users[chunk->order[run->sequence[from + k]]];
        memcpy(run->y + k * W + D, pr_user_row(model, user), D * sizeof *run->y);
    }
    run_net(&run->in, run->y, run->ids, n, w->item, w->map, model);
    if (drops) {
        draw_masks(run, from, n, drop, D);
        drop_rows(run->y, run->keep, drop, n, D, W);
    }
    pr_chunk_mark(chunk, PR_PART_FORWARD);
    pr_sequence_loss(&run->base, model, run->dy, run->y, from, n, factor);
    if (drops)
        drop_rows(run->dy, run->keep, drop, n, D, W);
    for (size_t k = 0; users && k < n; k++)
        pr_add(chunk->user_gradient + chunk->order[run->sequence[from + k]] * D,
               run->dy + k * W + D, D);
    memset(run->in.dx, 0, n * d.L * D * sizeof *run->in.dx);
    model->kind->window->backward(run->dy, W, &run->in, g->map, w->map, &d);
    for (size_t i = 0; i < n * d.L; i++)
        if (run->ids[i] >= 0)
            pr_add(g->item + (size_t)run->ids[i] * D, run->in.dx + i * D, D);
    pr_chunk_mark(chunk, PR_PART_BACKWARD);
}

void pr_window_learn(const pr_model *model, pr_chunk *chunk)
{
    const pr_config *c = &model->config;
    window_run run;
    pr_limits limits = {.rows = chunk->rows, .steps = chunk->steps};
    take_run(&run, chunk->arena, model, &limits);
    pr_sequence_run *base = &run.base;
    base->chunk = chunk;
    tables w = tables_of(model, model->weights), g = tables_of(model, chunk->gradient);
    base->e.w.item = w.out;
    base->e.g.item = g.out;
    base->bias = w.bias;
    base->dbias = g.bias;
    if (model->kind->window->users)
        choose_users(model, chunk);
    pr_lessons_write(&base->s, base->target, base->asked, &base->asked_count, chunk, model->items,
                     (size_t)c->length, c->separator);
    double factor = pr_lessons_factor(chunk->batch, (size_t)c->length, c->separator);
    for (size_t k = 0, i = 0; k < base->asked_count; k++) {
        while (base->asked[k] >= base->s.first[i + 1])
            i++;
        run.sequence[k] = i;
    }
    pr_chunk_mark(chunk, PR_PART_BEGIN);
    for (size_t from = 0; from < base->asked_count; from += PR_LOSS_ROWS) {
        size_t left = base->asked_count - from;
        learn_block(&run, model, &w, &g, from, left < PR_LOSS_ROWS ? left : PR_LOSS_ROWS, factor);
    }
}

double pr_window_operations(const pr_model *model, const pr_batch *batch, uint64_t items)
{
    (void)batch;
    pr_window_dims d = dims_of(model);
    return PR_OPERATIONS_A_PRODUCT * (double)items *
           (model->kind->window->products(&d) +
            pr_sequence_scored(model) * (double)width_of(model));
}

/* ---- additive attention ---- */

PR_INLINE pr_real attend_one(pr_real *restrict s, const pr_real *restrict q,
                             const pr_real *restrict v, size_t D)
{
    pr_real sum = 0;
    for (size_t i = 0; i < D; i++) {
        s[i] = pr_logistic(s[i] + q[i]);
        sum += v[i] * s[i];
    }
    return sum;
}
PR_LOCAL_LEVELS(pr_real, attend_row, attend_one,
                (pr_real * s, const pr_real *q, const pr_real *v, size_t D), (s, q, v, D))

PR_INLINE void attend_back_one(pr_real *restrict s, pr_real *restrict dq, pr_real *restrict dv,
                               const pr_real *restrict v, pr_real da, size_t D)
{
    for (size_t i = 0; i < D; i++) {
        dv[i] += da * s[i];
        s[i] = da * v[i] * s[i] * (1 - s[i]);
        dq[i] += s[i];
    }
}
PR_LOCAL_LEVELS(void, attend_back_row, attend_back_one,
                (pr_real * s, pr_real *dq, pr_real *dv, const pr_real *v, pr_real da, size_t D),
                (s, dq, dv, v, da, D))

PR_LOCAL_LEVELS(pr_real, dot, pr_dot, (const pr_real *x, const pr_real *y, size_t n), (x, y, n))

PR_LOCAL_LEVELS(void, add_scaled, pr_add_scaled,
                (pr_real *restrict y, const pr_real *restrict x, pr_real factor, size_t n),
                (y, x, factor, n))

void pr_window_attend(pr_real *sum, size_t stride, pr_real *s, pr_real *weight, const pr_real *q,
                      const pr_real *v, const pr_real *h, const int32_t *ids,
                      const pr_window_steps *at)
{
    size_t D = at->D;
    for (size_t r = 0; r < at->n; r++) {
        memset(sum + r * stride, 0, D * sizeof *sum);
        for (size_t t = 0; t < at->L; t++) {
            if (ids[r * at->L + t] < 0)
                continue;
            size_t cell = r * at->row + t * at->step;
            pr_real a = attend_row(s + cell * D, q + r * D, v, D);
            weight[r * at->L + t] = a;
            add_scaled(sum + r * stride, h + cell * D, a, D);
        }
    }
}

void pr_window_attend_backward(pr_real *s, pr_real *dq, pr_real *dv, pr_real *dh,
                               const pr_real *dsum, size_t stride, const pr_real *weight,
                               const pr_real *v, const pr_real *h, const int32_t *ids,
                               const pr_window_steps *at)
{
    size_t D = at->D;
    for (size_t r = 0; r < at->n; r++) {
        memset(dq + r * D, 0, D * sizeof *dq);
        for (size_t t = 0; t < at->L; t++) {
            size_t cell = r * at->row + t * at->step;
            if (ids[r * at->L + t] < 0) {
                memset(s + cell * D, 0, D * sizeof *s);
                continue;
            }
            pr_real da = dot(dsum + r * stride, h + cell * D, D);
            add_scaled(dh + cell * D, dsum + r * stride, weight[r * at->L + t], D);
            attend_back_row(s + cell * D, dq + r * D, dv, v, da, D);
        }
    }
}
