/* hrm and transrec: the user and the items just before are joined into one vector x, which is compared with items.
 *
 *   hrm       x = pool(user, pool(items just before)), a pool being the largest value or the mean, number by number
 *             score = bias + x · item                                          (Wang and others, 2015)
 *   transrec  x = the last item + step + user
 *             score = bias - |x - item|²                         (He, Kang and McAuley, 2017)
 *
 * Of transrec's distance the part |x|² is left out: it is the same for all items. */
#include <assert.h>
#include <string.h>

#include "math/blas.h"
#include "math/layers.h"
#include "math/wide.h"
#include "model/factors/factors.h"
#include "model/factors/pairwise.h"
#include "model/user_rows.h"

PR_LOCAL_LEVELS(pr_real, dot, pr_dot, (const pr_real *x, const pr_real *y, size_t n), (x, y, n))

PR_LOCAL_LEVELS(void, add_scaled, pr_add_scaled,
                (pr_real *restrict y, const pr_real *restrict x, pr_real factor, size_t n),
                (y, x, factor, n))

/* ---- tensors ---- */

typedef struct view {
    pr_real *item, *bias; /* [V,D], [V] */
    pr_real *step;        /* [D]: what everybody's next item is away from the last; transrec */
} view;

static void list_all(pr_lister *l, view *v, const pr_model *model)
{
    size_t D = (size_t)model->config.dim_item, V = model->items;
    pr_list_tensor(l, &v->item, "item_emb", V, D, PR_FILL_TABLE);
    pr_list_tensor(l, &v->bias, "item_bias", 1, V, PR_FILL_BIAS);
    if (model->kind == &pr_transrec)
        pr_list_tensor(l, &v->step, "step", 1, D, PR_FILL_BIAS);
}

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    static const char *const by_item[] = {"item_emb", "item_bias", NULL};
    view unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, model);
    PR_TRY(l.status);
    return pr_pairs_layout(model, by_item, (size_t)model->config.dim_item, err);
}

static view view_of(const pr_model *model, pr_real *block, bool packed)
{
    view v = {0};
    pr_lister l = {.have = &model->params, .block = block, .packed = packed};
    list_all(&l, &v, model);
    return v;
}

/* ---- from user and items to x ---- */

/* What becomes of the items just before: for transrec the newest of them, for hrm a pool. A pool of means is a sum
 * until it is joined. */
static void pool_add(const pr_model *model, pr_real *pool, const pr_real *row, bool first)
{
    size_t D = (size_t)model->config.dim_item;
    if (first || model->kind == &pr_transrec)
        memcpy(pool, row, D * sizeof *pool);
    else if (model->config.pool == PR_POOL_MEAN)
        pr_add(pool, row, D);
    else
        for (size_t i = 0; i < D; i++)
            pool[i] = row[i] > pool[i] ? row[i] : pool[i];
}

static void pool_items(const pr_model *model, pr_real *pool, const pr_real *table,
                       const int32_t *items, size_t n)
{
    size_t D = (size_t)model->config.dim_item;
    memset(pool, 0, D * sizeof *pool);
    for (size_t i = model->kind == &pr_transrec && n > 0 ? n - 1 : 0; i < n; i++)
        pool_add(model, pool, table + (size_t)items[i] * D, i == 0);
}

/* x[D] of the pool of n items, which is 0 where there are none. */
static void join(const pr_model *model, pr_real *x, const pr_real *user, const pr_real *pool,
                 size_t n, const view *w)
{
    const pr_config *c = &model->config;
    pr_real share = c->pool == PR_POOL_MEAN && n > 0 ? 1 / (pr_real)n : 1;
    for (size_t i = 0; i < (size_t)c->dim_item; i++) {
        pr_real before = share * pool[i];
        if (model->kind == &pr_transrec)
            x[i] = pool[i] + w->step[i] + user[i];
        else if (n == 0)
            x[i] = user[i];
        else if (c->pool_user == PR_POOL_MEAN)
            x[i] = (user[i] + before) / 2;
        else
            x[i] = user[i] >= before ? user[i] : before;
    }
}

/* From dx to the user's row and, in its place, the gradient of the pool. */
static void join_backward(const pr_model *model, pr_real *dx, pr_real *duser, const pr_real *user,
                          const pr_real *pool, size_t n, const view *g)
{
    const pr_config *c = &model->config;
    pr_real share = c->pool == PR_POOL_MEAN && n > 0 ? 1 / (pr_real)n : 1;
    for (size_t i = 0; i < (size_t)c->dim_item; i++) {
        pr_real to_user = 1, to_pool = 1;
        if (model->kind == &pr_transrec) {
            g->step[i] += dx[i];
        } else {
            bool own = n == 0 || user[i] >= share * pool[i];
            bool mean = n > 0 && c->pool_user == PR_POOL_MEAN;
            to_user = mean ? (pr_real)0.5 : own;
            to_pool = share * (mean ? (pr_real)0.5 : !own);
        }
        duser[i] += to_user * dx[i];
        dx[i] *= to_pool;
    }
}

/* ---- scores ---- */

/* hrm: bias + x · item; transrec: bias + 2 x · item - item · item, its distance without |x|². */
static pr_real score_one(const pr_model *model, const view *w, const pr_real *x, int32_t item)
{
    size_t D = (size_t)model->config.dim_item;
    const pr_real *row = w->item + (size_t)item * D;
    pr_real sum = w->bias[item], product = dot(x, row, D);
    return model->kind == &pr_transrec ? sum + 2 * product - dot(row, row, D) : sum + product;
}

typedef struct state {
    view w;
    size_t D;
    pr_real *user, *pool, *x; /* [rows,D] */
    pr_real *offset;          /* [V]: what an item's score has beside its product with x */
    size_t *placed;           /* [rows] */
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity;
    state *s = own;
    *s = (state){.D = (size_t)model->config.dim_item};
    s->user = pr_arena_take(arena, rows * s->D, sizeof *s->user);
    s->pool = pr_arena_take(arena, rows * s->D, sizeof *s->pool);
    s->x = pr_arena_take(arena, rows * s->D, sizeof *s->x);
    s->offset = pr_arena_take(arena, model->items, sizeof *s->offset);
    s->placed = pr_arena_take(arena, rows, sizeof *s->placed);
    if (!pr_arena_counts(arena))
        s->w = view_of(model, model->weights, false);
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    const pr_model *model = scorer->model;
    size_t D = s->D;
    for (size_t v = 0; v < model->items; v++) { /* here, since training moves the weights */
        const pr_real *row = s->w.item + v * D;
        s->offset[v] = s->w.bias[v] - (model->kind == &pr_transrec ? dot(row, row, D) : 0);
    }
    for (size_t r = 0; r < scorer->active; r++) {
        const pr_history *h = &starts[r].history;
        size_t user = starts[r].user >= 0 ? (size_t)starts[r].user : model->users;
        size_t first = pr_pairs_before(h), n = h->count - first;
        memcpy(s->user + r * D, pr_user_row(model, user), D * sizeof *s->user);
        pool_items(model, s->pool + r * D, s->w.item, n > 0 ? h->items + first : NULL, n);
        join(model, s->x + r * D, s->user + r * D, s->pool + r * D, n, &s->w);
        s->placed[r] = 0;
    }
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    size_t D = s->D;
    for (size_t r = 0; r < scorer->active; r++) {
        if (items[r] < 0)
            continue;
        pool_add(scorer->model, s->pool + r * D, s->w.item + (size_t)items[r] * D,
                 s->placed[r]++ == 0);
        join(scorer->model, s->x + r * D, s->user + r * D, s->pool + r * D, s->placed[r], &s->w);
    }
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    size_t V = scorer->model->items, n = scorer->active, D = s->D;
    pr_real scale = scorer->model->kind == &pr_transrec ? 2 : 1;
    pr_gemm(scores, V, pr_mat(s->x, D), pr_flip(s->w.item, D), 0, n, V, D);
    for (size_t r = 0; r < n; r++)
        for (size_t v = 0; v < V; v++)
            scores[r * V + v] = scale * scores[r * V + v] + s->offset[v];
}

static void score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    for (size_t i = 0; i < n; i++)
        scores[i] = score_one(scorer->model, &s->w, s->x + row * s->D, items[i]);
}

/* ---- learning ---- */

enum { ITEM, BIAS }; /* tables by item, as listed */

/* x, its gradient and the pools, [targets,D] each. */
static size_t room(const pr_model *model, size_t targets, size_t each)
{
    (void)each;
    return 3 * targets * (size_t)model->config.dim_item;
}

static void forward(pr_pair_block *b)
{
    const pr_model *model = b->model;
    view w = view_of(model, model->weights, false);
    size_t D = (size_t)model->config.dim_item;
    pr_real *x = b->work, *pool = x + b->targets * D;
    for (size_t t = 0; t < b->targets; t++, x += D, pool += D) {
        pool_items(model, pool, w.item, b->before[t], b->before_count[t]);
        join(model, x, b->user[t], pool, b->before_count[t], &w);
        for (size_t i = t * b->each; i < (t + 1) * b->each; i++)
            b->score[i] = score_one(model, &w, x, b->item[i]);
    }
}

/* The gradient of a pool goes to the items it was made of; that of a largest value to the first item that has it. */
static void pool_backward(const pr_pair_block *b, const pr_real *dpool, const pr_real *pool,
                          const pr_real *table, const int32_t *items, size_t n)
{
    const pr_model *model = b->model;
    size_t D = (size_t)model->config.dim_item;
    bool last = model->kind == &pr_transrec;
    if (last || model->config.pool == PR_POOL_MEAN) {
        for (size_t k = last && n > 0 ? n - 1 : 0; k < n; k++)
            pr_add(pr_pair_gradient(b, ITEM, pr_pair_slot(b, items[k]), D), dpool, D);
        return;
    }
    for (size_t i = 0; i < D && n > 0; i++) {
        size_t k = 0;
        while (k + 1 < n && table[(size_t)items[k] * D + i] != pool[i])
            k++;
        pr_pair_gradient(b, ITEM, pr_pair_slot(b, items[k]), D)[i] += dpool[i];
    }
}

static void backward(pr_pair_block *b)
{
    const pr_model *model = b->model;
    view w = view_of(model, model->weights, false), g = view_of(model, b->chunk->gradient, true);
    size_t D = (size_t)model->config.dim_item;
    bool distance = model->kind == &pr_transrec;
    pr_real *x = b->work, *pool = x + b->targets * D, *dx = pool + b->targets * D;
    for (size_t t = 0; t < b->targets; t++, x += D, pool += D, dx += D) {
        memset(dx, 0, D * sizeof *dx);
        for (size_t i = t * b->each; i < (t + 1) * b->each; i++) {
            const pr_real *row = w.item + (size_t)b->item[i] * D;
            pr_real *drow = pr_pair_gradient(b, ITEM, b->slot[i], D), by = b->score[i];
            pr_real scale = distance ? 2 * by : by;
            add_scaled(dx, row, scale, D);
            add_scaled(drow, x, scale, D);
            if (distance)
                add_scaled(drow, row, -scale, D);
            *pr_pair_gradient(b, BIAS, b->slot[i], 1) += by;
        }
        join_backward(model, dx, b->duser[t], b->user[t], pool, b->before_count[t], &g);
        pool_backward(b, dx, pool, w.item, b->before[t], b->before_count[t]);
    }
}

static double products(const pr_model *model)
{
    return (model->kind == &pr_transrec ? 2 : 1) * (double)model->config.dim_item;
}

static const pr_pairs_net net = {
    .room = room, .forward = forward, .backward = backward, .products = products};

static parsrec_status check_hrm(const pr_config *config, parsrec_error *err)
{
    if (config->loss != PR_LOSS_BCE && config->loss != PR_LOSS_BPR)
        return pr_fail(err, PARSREC_E_CONFIG, "hrm learns with loss = bce or bpr");
    return PARSREC_OK;
}

static parsrec_status check_transrec(const pr_config *config, parsrec_error *err)
{
    if (config->loss != PR_LOSS_BPR)
        return pr_fail(err, PARSREC_E_CONFIG, "transrec learns with loss = bpr");
    return PARSREC_OK;
}

static const char *const hrm_settings[] = {
    "loss=bce",       "dim.item=64",    "batch=0", "epochs=0",
    "negatives=8",    "rate=0.003",     "clip=0",  "weight_decay=0.02",
    "rate.final=0.1", "best=protocols", NULL,
};

static const char *const transrec_settings[] = {
    "loss=bpr",       "dim.item=64",    "batch=0", "epochs=0",
    "negatives=4",    "rate=0.003",     "clip=0",  "weight_decay=0.02",
    "rate.final=0.1", "best=protocols", NULL,
};

#define PR_JOINT                                                                                 \
    .layout = layout, .pairs = &net, .state_bytes = sizeof(state), .take = take, .start = start, \
    .place = place, .score_all = score_all, .score = score, PR_PAIRS_KIND

const pr_model_kind pr_hrm = {
    .name = "hrm",
    .summary = "the user and the last basket, pooled into one vector (Wang and others, 2015)",
    .settings = hrm_settings,
    .check = check_hrm,
    PR_JOINT,
};

const pr_model_kind pr_transrec = {
    .name = "transrec",
    .summary = "the next item is a step of the user away from the last (He and others, 2017)",
    .settings = transrec_settings,
    .check = check_transrec,
    PR_JOINT,
};
