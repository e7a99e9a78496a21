/* bpr and fpmc: tensors, scorers, scores of candidates and their gradients. */
#include "model/factors/factors.h"

#include <assert.h>
#include <string.h>

#include "math/blas.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "math/wide.h"
#include "model/factors/pairwise.h"
#include "model/history.h"
#include "model/user_rows.h"

PR_LOCAL_LEVELS(pr_real, dot, pr_dot, (const pr_real *x, const pr_real *y, size_t n), (x, y, n))

PR_LOCAL_LEVELS(void, add_scaled, pr_add_scaled,
                (pr_real *restrict y, const pr_real *restrict x, pr_real factor, size_t n),
                (y, x, factor, n))

/* ---- tensors ---- */

typedef struct view {
    pr_real *item, *bias; /* [V,D], [V] */
    pr_real *last, *next; /* [V,D]: fpmc; else NULL */
} view;

static void list_all(pr_lister *l, view *v, const pr_model *model)
{
    size_t D = (size_t)model->config.dim_item, V = model->items;
    pr_list_tensor(l, &v->item, "item_emb", V, D, PR_FILL_TABLE);
    pr_list_tensor(l, &v->bias, "item_bias", 1, V, PR_FILL_BIAS);
    if (model->kind == &pr_fpmc) {
        pr_list_tensor(l, &v->last, "last_emb", V, D, PR_FILL_TABLE);
        pr_list_tensor(l, &v->next, "next_emb", V, D, PR_FILL_TABLE);
    }
}

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    static const char *const by_item[] = {"item_emb", "item_bias", "last_emb", "next_emb", NULL};
    view unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, model);
    PR_TRY(l.status);
    return pr_pairs_layout(model, by_item, (size_t)model->config.dim_item, err);
}

static view view_of(const pr_model *model, pr_real *block)
{
    view v = {0};
    pr_lister l = {.have = &model->params, .block = block};
    list_all(&l, &v, model);
    return v;
}

/* sum[D] = the sum of rows of a table. */
static void sum_rows(pr_real *sum, const pr_real *table, const int32_t *items, size_t n, size_t D)
{
    memset(sum, 0, D * sizeof *sum);
    for (size_t i = 0; i < n; i++)
        pr_add(sum, table + (size_t)items[i] * D, D);
}

/* ---- scorers ---- */

typedef struct state {
    view w;
    size_t D;
    pr_real *user;   /* [rows,D] */
    pr_real *before; /* [rows,D]: the sum of what is just before ... */
    pr_real *mean;   /* [rows,D]: ... and the mean */
    size_t *count;   /* [rows]: placed items */
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity;
    state *s = own;
    *s = (state){.D = (size_t)model->config.dim_item};
    s->user = pr_arena_take(arena, rows * s->D, sizeof *s->user);
    s->before = pr_arena_take(arena, rows * s->D, sizeof *s->before);
    s->mean = pr_arena_take(arena, rows * s->D, sizeof *s->mean);
    s->count = pr_arena_take(arena, rows, sizeof *s->count);
    if (pr_arena_counts(arena))
        return;
    s->w = view_of(model, model->weights);
}

static void set_mean(state *s, size_t r, size_t n)
{
    for (size_t i = 0; i < s->D; i++)
        s->mean[r * s->D + i] = n > 0 ? s->before[r * s->D + i] / (pr_real)n : 0;
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    size_t D = s->D;
    for (size_t r = 0; r < scorer->active; r++) {
        const pr_history *h = &starts[r].history;
        size_t user = starts[r].user >= 0 ? (size_t)starts[r].user : scorer->model->users;
        size_t first = pr_pairs_before(h);
        memcpy(s->user + r * D, pr_user_row(scorer->model, user), D * sizeof *s->user);
        s->count[r] = 0;
        if (s->w.last == NULL)
            continue;
        const int32_t *last = h->count > 0 ? h->items + first : NULL;
        sum_rows(s->before + r * D, s->w.last, last, h->count - first, D);
        set_mean(s, r, h->count - first);
    }
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    size_t D = s->D;
    for (size_t r = 0; r < scorer->active; r++) {
        if (items[r] < 0 || s->w.last == NULL)
            continue;
        if (s->count[r]++ == 0)
            memset(s->before + r * D, 0, D * sizeof *s->before);
        pr_add(s->before + r * D, s->w.last + (size_t)items[r] * D, D);
        set_mean(s, r, s->count[r]);
    }
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    size_t V = scorer->model->items, n = scorer->active, D = s->D;
    pr_gemm(scores, V, pr_mat(s->user, D), pr_flip(s->w.item, D), 0, n, V, D);
    if (s->w.next != NULL)
        pr_gemm(scores, V, pr_mat(s->mean, D), pr_flip(s->w.next, D), 1, n, V, D);
    for (size_t r = 0; r < n; r++)
        pr_add(scores + r * V, s->w.bias, V);
}

static void score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    size_t D = s->D;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)items[i] * D;
        scores[i] = dot(s->user + row * D, s->w.item + at, D) + s->w.bias[items[i]];
        if (s->w.next != NULL)
            scores[i] += dot(s->mean + row * D, s->w.next + at, D);
    }
}

/* ---- learning ---- */

enum { ITEM, BIAS, LAST, NEXT }; /* tables by item, as listed */

/* score[n] += x · rows of items */
PR_INLINE void add_scores_any(pr_real *restrict score, const pr_real *restrict x,
                              const pr_real *restrict table, const int32_t *restrict item, size_t n,
                              size_t D)
{
    for (size_t i = 0; i < n; i++)
        score[i] += pr_dot(x, table + (size_t)item[i] * D, D);
}
PR_LOCAL_LEVELS(void, add_scores, add_scores_any,
                (pr_real * score, const pr_real *x, const pr_real *table, const int32_t *item,
                 size_t n, size_t D),
                (score, x, table, item, n, D))

/* The gradients of it: dx += by · rows of items, rows of slots += by · x. */
PR_INLINE void give_scores_any(pr_real *restrict dx, pr_real *restrict dtable,
                               const pr_real *restrict by, const pr_real *restrict x,
                               const pr_real *restrict table, const int32_t *restrict item,
                               const int32_t *restrict slot, size_t n, size_t D)
{
    for (size_t i = 0; i < n; i++) {
        pr_add_scaled(dx, table + (size_t)item[i] * D, by[i], D);
        pr_add_scaled(dtable + (size_t)slot[i] * D, x, by[i], D);
    }
}
PR_LOCAL_LEVELS(void, give_scores, give_scores_any,
                (pr_real * dx, pr_real *dtable, const pr_real *by, const pr_real *x,
                 const pr_real *table, const int32_t *item, const int32_t *slot, size_t n,
                 size_t D),
                (dx, dtable, by, x, table, item, slot, n, D))

/* The means of what is just before, and their gradients. */
static size_t room(const pr_model *model, size_t targets, size_t each)
{
    (void)each;
    return model->kind == &pr_fpmc ? 2 * targets * (size_t)model->config.dim_item : 0;
}

static void forward(pr_pair_block *b)
{
    view w = view_of(b->model, b->model->weights);
    size_t D = (size_t)b->model->config.dim_item, each = b->each;
    for (size_t t = 0; t < b->targets; t++) {
        const int32_t *item = b->item + t * each;
        pr_real *score = b->score + t * each, *mean = b->work + t * D;
        for (size_t i = 0; i < each; i++)
            score[i] = w.bias[item[i]];
        add_scores(score, b->user[t], w.item, item, each, D);
        if (w.last == NULL)
            continue;
        sum_rows(mean, w.last, b->before[t], b->before_count[t], D);
        for (size_t i = 0; i < D && b->before_count[t] > 0; i++)
            mean[i] /= (pr_real)b->before_count[t];
        add_scores(score, mean, w.next, item, each, D);
    }
}

static void backward(pr_pair_block *b)
{
    view w = view_of(b->model, b->model->weights);
    size_t D = (size_t)b->model->config.dim_item, each = b->each;
    for (size_t t = 0; t < b->targets; t++) {
        const int32_t *item = b->item + t * each, *slot = b->slot + t * each;
        const pr_real *by = b->score + t * each, *mean = b->work + t * D;
        pr_real *dmean = b->work + (b->targets + t) * D;
        give_scores(b->duser[t], pr_pair_gradient(b, ITEM, 0, D), by, b->user[t], w.item, item,
                    slot, each, D);
        for (size_t i = 0; i < each; i++)
            *pr_pair_gradient(b, BIAS, slot[i], 1) += by[i];
        if (w.last == NULL)
            continue;
        memset(dmean, 0, D * sizeof *dmean);
        give_scores(dmean, pr_pair_gradient(b, NEXT, 0, D), by, mean, w.next, item, slot, each, D);
        for (size_t i = 0; i < b->before_count[t]; i++) {
            int32_t at = pr_pair_slot(b, b->before[t][i]);
            add_scaled(pr_pair_gradient(b, LAST, at, D), dmean, 1 / (pr_real)b->before_count[t], D);
        }
    }
}

static double products(const pr_model *model)
{
    return (model->kind == &pr_fpmc ? 2 : 1) * (double)model->config.dim_item;
}

static const pr_pairs_net net = {
    .room = room, .forward = forward, .backward = backward, .products = products};

static parsrec_status check(const pr_config *config, parsrec_error *err)
{
    if (config->loss != PR_LOSS_BPR)
        return pr_fail(err, PARSREC_E_CONFIG, "bpr and fpmc learn with loss = bpr");
    return PARSREC_OK;
}

static const char *const settings[] = {
    "loss=bpr",       "dim.item=64",    "batch=0", "epochs=0",
    "negatives=4",    "rate=0.003",     "clip=0",  "weight_decay=0.02",
    "rate.final=0.1", "best=protocols", NULL,
};

#define PR_FACTORS                                                              \
    .settings = settings, .check = check, .layout = layout, .pairs = &net,      \
    .state_bytes = sizeof(state), .take = take, .start = start, .place = place, \
    .score_all = score_all, .score = score, PR_PAIRS_KIND

const pr_model_kind pr_bpr = {
    .name = "bpr",
    .summary = "user and item factors, ranked pair by pair (Rendle and others, 2009)",
    PR_FACTORS,
};

const pr_model_kind pr_fpmc = {
    .name = "fpmc",
    .summary = "the same with factors of what comes next (Rendle and others, 2010)",
    PR_FACTORS,
};
