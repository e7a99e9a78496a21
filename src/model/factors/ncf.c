/* ncf: NeuMF of neural collaborative filtering (He and others, 2017).
 *
 * A row of the tables has F factors, F = dim.item, followed by 4F numbers for the network:
 *
 *   a = ReLU(user_w · user + item_w · item + in_b)                    4F
 *   a = ReLU(mid_w · a + mid_b), ReLU(last_w · a + last_b)            2F, F
 *   score = out_w · (user factors * item factors, a) + item bias */
#include <assert.h>
#include <string.h>

#include "math/blas.h"
#include "math/layers.h"
#include "model/factors/factors.h"
#include "model/factors/pairwise.h"
#include "model/user_rows.h"

/* ---- tensors ---- */

typedef struct view {
    pr_real *item, *bias; /* [V,W], [V] */
    pr_real *user_w, *item_w, *in_b;
    pr_real *mid_w, *mid_b, *last_w, *last_b;
    pr_real *out_w; /* [2F] */
} view;

/* Factors, width of the network's part of a row and of its layers, width of a row. */
typedef struct dims {
    size_t F, E, M, W;
} dims;

static dims dims_of(const pr_model *model)
{
    size_t F = (size_t)model->config.dim_item;
    return (dims){.F = F, .E = 4 * F, .M = 2 * F, .W = 5 * F};
}

static void list_all(pr_lister *l, view *v, const pr_model *model)
{
    dims d = dims_of(model);
    pr_list_tensor(l, &v->item, "item_emb", model->items, d.W, PR_FILL_TABLE);
    pr_list_tensor(l, &v->bias, "item_bias", 1, model->items, PR_FILL_BIAS);
    pr_list_tensor(l, &v->user_w, "ncf_user_w", d.E, d.E, PR_FILL_MAP);
    pr_list_tensor(l, &v->item_w, "ncf_item_w", d.E, d.E, PR_FILL_MAP);
    pr_list_tensor(l, &v->in_b, "ncf_in_b", 1, d.E, PR_FILL_BIAS);
    pr_list_tensor(l, &v->mid_w, "ncf_mid_w", d.M, d.E, PR_FILL_MAP);
    pr_list_tensor(l, &v->mid_b, "ncf_mid_b", 1, d.M, PR_FILL_BIAS);
    pr_list_tensor(l, &v->last_w, "ncf_last_w", d.F, d.M, PR_FILL_MAP);
    pr_list_tensor(l, &v->last_b, "ncf_last_b", 1, d.F, PR_FILL_BIAS);
    pr_list_tensor(l, &v->out_w, "ncf_out_w", 2, d.F, PR_FILL_MAP);
}

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    static const char *const by_item[] = {"item_emb", "item_bias", NULL};
    view unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, model);
    PR_TRY(l.status);
    return pr_pairs_layout(model, by_item, dims_of(model).W, err);
}

static view view_of(const pr_model *model, pr_real *block, bool packed)
{
    view v = {0};
    pr_lister l = {.have = &model->params, .block = block, .packed = packed};
    list_all(&l, &v, model);
    return v;
}

/* ---- the network ---- */

/* The layers of n candidates. */
typedef struct layers {
    pr_real *in, *mid, *last; /* [n,E], [n,2F], [n,F] */
} layers;

/* From the sums of the first layer to the last one. */
static void run_layers(const layers *a, const view *w, const dims *d, size_t n)
{
    pr_relu_forward(a->in, a->in, n * d->E);
    pr_linear_forward(a->mid, a->in, w->mid_w, w->mid_b, n, d->E, d->M);
    pr_relu_forward(a->mid, a->mid, n * d->M);
    pr_linear_forward(a->last, a->mid, w->last_w, w->last_b, n, d->M, d->F);
    pr_relu_forward(a->last, a->last, n * d->F);
}

static pr_real score_one(const view *w, const dims *d, const pr_real *user, const pr_real *last,
                         int32_t item)
{
    const pr_real *row = w->item + (size_t)item * d->W, *out = w->out_w;
    pr_real sum = w->bias[item];
    for (size_t i = 0; i < d->F; i++)
        sum += out[i] * user[i] * row[i] + out[d->F + i] * last[i];
    return sum;
}

/* ---- scorers ---- */

enum { BLOCK = 128 }; /* items at a time */

typedef struct state {
    view w;
    dims d;
    pr_real *user;   /* [rows,W] */
    pr_real *begin;  /* [rows,E]: the user's part of the first layer */
    pr_real *item;   /* [BLOCK,E]: the items' part of it */
    pr_real *rows;   /* [BLOCK,E]: the network's part of items' rows */
    pr_real *scores; /* [rows,V]: all items', which placed ones do not change, ... */
    bool scored;     /* ... once they were asked for */
    layers a;
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity;
    state *s = own;
    dims d = dims_of(model);
    size_t one = sizeof(pr_real);
    *s = (state){.d = d};
    s->user = pr_arena_take(arena, rows * d.W, one);
    s->begin = pr_arena_take(arena, rows * d.E, one);
    s->item = pr_arena_take(arena, BLOCK * d.E, one);
    s->rows = pr_arena_take(arena, BLOCK * d.E, one);
    s->scores = pr_arena_take(arena, rows * model->items, one);
    s->a.in = pr_arena_take(arena, BLOCK * d.E, one);
    s->a.mid = pr_arena_take(arena, BLOCK * d.M, one);
    s->a.last = pr_arena_take(arena, BLOCK * d.F, one);
    if (pr_arena_counts(arena))
        return;
    s->w = view_of(model, model->weights, false);
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    size_t W = s->d.W, E = s->d.E;
    s->scored = false;
    for (size_t r = 0; r < scorer->active; r++) {
        size_t user = starts[r].user >= 0 ? (size_t)starts[r].user : scorer->model->users;
        memcpy(s->user + r * W, pr_user_row(scorer->model, user), W * sizeof *s->user);
        pr_linear_forward(s->begin + r * E, s->user + r * W + s->d.F, s->w.user_w, s->w.in_b, 1, E,
                          E);
    }
}

/* The items' part of the first layer, for n of them. */
static void read_items(state *s, const int32_t *items, size_t n)
{
    size_t E = s->d.E;
    assert(n <= BLOCK);
    for (size_t i = 0; i < n; i++)
        memcpy(s->rows + i * E, s->w.item + (size_t)items[i] * s->d.W + s->d.F,
               E * sizeof *s->rows);
    pr_gemm(s->item, E, pr_mat(s->rows, E), pr_flip(s->w.item_w, E), 0, n, E, E);
}

static void score_read(state *s, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    size_t E = s->d.E;
    for (size_t i = 0; i < n; i++) {
        memcpy(s->a.in + i * E, s->item + i * E, E * sizeof *s->item);
        pr_add(s->a.in + i * E, s->begin + row * E, E);
    }
    run_layers(&s->a, &s->w, &s->d, n);
    for (size_t i = 0; i < n; i++)
        scores[i] =
            score_one(&s->w, &s->d, s->user + row * s->d.W, s->a.last + i * s->d.F, items[i]);
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    state *s = scorer->own;
    size_t V = scorer->model->items;
    int32_t items[BLOCK];
    for (size_t at = 0; at < V && !s->scored; at += BLOCK) {
        size_t n = V - at < BLOCK ? V - at : BLOCK;
        for (size_t i = 0; i < n; i++)
            items[i] = (int32_t)(at + i);
        read_items(s, items, n);
        for (size_t r = 0; r < scorer->active; r++)
            score_read(s, r, items, n, s->scores + r * V + at);
    }
    s->scored = true;
    memcpy(scores, s->scores, scorer->active * V * sizeof *scores);
}

static void score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    state *s = scorer->own;
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t some = n - at < BLOCK ? n - at : BLOCK;
        read_items(s, items + at, some);
        score_read(s, row, items + at, some, scores + at);
    }
}

/* ---- learning ---- */

enum { ITEM, BIAS }; /* tables by item, as listed */

/* What forward keeps: the network's parts of the rows of users and items, and the layers; and the gradients. */
typedef struct parts {
    pr_real *user, *begin;   /* [targets,E] */
    pr_real *duser, *dbegin; /* likewise */
    pr_real *item, *ditem;   /* [n,E] */
    layers a, da;
} parts;

static parts parts_of(pr_real *work, const dims *d, size_t targets, size_t n)
{
    parts p;
    pr_real **places[] = {&p.user, &p.begin, &p.duser,  &p.dbegin, &p.item,   &p.ditem,
                          &p.a.in, &p.a.mid, &p.a.last, &p.da.in,  &p.da.mid, &p.da.last};
    size_t sizes[] = {targets * d->E, targets * d->E, targets * d->E, targets * d->E,
                      n * d->E,       n * d->E,       n * d->E,       n * d->M,
                      n * d->F,       n * d->E,       n * d->M,       n * d->F};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; work += sizes[i++])
        *places[i] = work;
    return p;
}

static size_t room(const pr_model *model, size_t targets, size_t each)
{
    dims d = dims_of(model);
    return 4 * targets * d.E + targets * each * (2 * d.E + 2 * (d.E + d.M + d.F));
}

static void forward(pr_pair_block *b)
{
    const pr_model *model = b->model;
    view w = view_of(model, model->weights, false);
    dims d = dims_of(model);
    size_t each = b->each, n = b->targets * each, E = d.E;
    parts p = parts_of(b->work, &d, b->targets, n);
    for (size_t t = 0; t < b->targets; t++)
        memcpy(p.user + t * E, b->user[t] + d.F, E * sizeof *p.user);
    for (size_t i = 0; i < n; i++)
        memcpy(p.item + i * E, w.item + (size_t)b->item[i] * d.W + d.F, E * sizeof *p.item);
    pr_linear_forward(p.begin, p.user, w.user_w, w.in_b, b->targets, E, E);
    for (size_t i = 0; i < n; i++)
        memcpy(p.a.in + i * E, p.begin + i / each * E, E * sizeof *p.begin);
    pr_gemm(p.a.in, E, pr_mat(p.item, E), pr_flip(w.item_w, E), 1, n, E, E);
    run_layers(&p.a, &w, &d, n);
    for (size_t i = 0; i < n; i++)
        b->score[i] = score_one(&w, &d, b->user[i / each], p.a.last + i * d.F, b->item[i]);
}

/* The last map and the factors; sets the gradient of the last layer. */
static void scores_backward(const pr_pair_block *b, const parts *p, const view *w, const view *g,
                            const dims *d)
{
    size_t F = d->F;
    for (size_t i = 0; i < b->targets * b->each; i++) {
        pr_real by = b->score[i], *drow = pr_pair_gradient(b, ITEM, b->slot[i], d->W);
        const pr_real *row = w->item + (size_t)b->item[i] * d->W, *user = b->user[i / b->each];
        pr_real *duser = b->duser[i / b->each];
        const pr_real *last = p->a.last + i * F;
        for (size_t k = 0; k < F; k++) {
            g->out_w[k] += by * user[k] * row[k];
            g->out_w[F + k] += by * last[k];
            duser[k] += by * w->out_w[k] * row[k];
            drow[k] += by * w->out_w[k] * user[k];
            p->da.last[i * F + k] = by * w->out_w[F + k];
        }
        *pr_pair_gradient(b, BIAS, b->slot[i], 1) += by;
    }
}

static void backward(pr_pair_block *b)
{
    const pr_model *model = b->model;
    view w = view_of(model, model->weights, false), g = view_of(model, b->chunk->gradient, true);
    dims d = dims_of(model);
    size_t n = b->targets * b->each, E = d.E;
    parts p = parts_of(b->work, &d, b->targets, n);
    scores_backward(b, &p, &w, &g, &d);
    pr_relu_through(p.da.last, p.a.last, n * d.F);
    memset(p.da.mid, 0, n * d.M * sizeof *p.da.mid);
    pr_linear_backward(p.da.mid, g.last_w, g.last_b, p.da.last, p.a.mid, w.last_w, n, d.M, d.F);
    pr_relu_through(p.da.mid, p.a.mid, n * d.M);
    memset(p.da.in, 0, n * E * sizeof *p.da.in);
    pr_linear_backward(p.da.in, g.mid_w, g.mid_b, p.da.mid, p.a.in, w.mid_w, n, E, d.M);
    pr_relu_through(p.da.in, p.a.in, n * E);
    memset(p.ditem, 0, n * E * sizeof *p.ditem);
    memset(p.dbegin, 0, b->targets * E * sizeof *p.dbegin);
    memset(p.duser, 0, b->targets * E * sizeof *p.duser);
    pr_linear_backward(p.ditem, g.item_w, NULL, p.da.in, p.item, w.item_w, n, E, E);
    for (size_t i = 0; i < n; i++) {
        pr_add(p.dbegin + i / b->each * E, p.da.in + i * E, E);
        pr_add(pr_pair_gradient(b, ITEM, b->slot[i], d.W) + d.F, p.ditem + i * E, E);
    }
    pr_linear_backward(p.duser, g.user_w, g.in_b, p.dbegin, p.user, w.user_w, b->targets, E, E);
    for (size_t t = 0; t < b->targets; t++)
        pr_add(b->duser[t] + d.F, p.duser + t * E, E);
}

static double products(const pr_model *model)
{
    dims d = dims_of(model);
    return (double)(d.E * d.E + d.E * d.M + d.M * d.F + 3 * d.F);
}

static const pr_pairs_net net = {
    .room = room, .forward = forward, .backward = backward, .products = products};

static parsrec_status check(const pr_config *config, parsrec_error *err)
{
    if (config->loss != PR_LOSS_BCE && config->loss != PR_LOSS_BPR)
        return pr_fail(err, PARSREC_E_CONFIG, "ncf learns with loss = bce or bpr");
    return PARSREC_OK;
}

static const char *const settings[] = {
    "loss=bce",       "dim.item=16",    "batch=0", "epochs=0",
    "negatives=4",    "rate=0.002",     "clip=0",  "weight_decay=0.02",
    "rate.final=0.1", "best=protocols", NULL,
};

const pr_model_kind pr_ncf = {
    .name = "ncf",
    .summary = "NeuMF: factors and a network over users and items (He and others, 2017)",
    .settings = settings,
    .check = check,
    .layout = layout,
    .pairs = &net,
    .state_bytes = sizeof(state),
    .take = take,
    .start = start,
    .score_all = score_all,
    .score = score,
    PR_PAIRS_KIND,
};
