/* bpr and fpmc: tensors, scorers, and a chunk of pairs. */
#include "model/factors/factors.h"

#include <assert.h>
#include <string.h>

#include "base/rng.h"
#include "math/blas.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "math/wide.h"
#include "model/history.h"

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
    view unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, model);
    PR_TRY(l.status);
    return pr_params_add_users(&model->params, "user_emb", model->users + 1,
                               (size_t)model->config.dim_item, err);
}

static view view_of(const pr_model *model, pr_real *block)
{
    view v = {0};
    pr_lister l = {.have = &model->params, .block = block};
    list_all(&l, &v, model);
    return v;
}

static const pr_real *user_rows(const pr_model *model)
{
    return model->weights + pr_params_users(&model->params)->at;
}

/* Where the items before an empty basket begin: its last session, or its last item. */
static size_t last_items(const pr_history *h)
{
    return pr_history_last_session(h, h->count > 0 ? h->count - 1 : 0);
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
    const pr_real *users;
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
    s->users = user_rows(model);
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
        size_t first = last_items(h);
        memcpy(s->user + r * D, s->users + user * D, D * sizeof *s->user);
        s->count[r] = 0;
        if (s->w.last == NULL)
            continue;
        sum_rows(s->before + r * D, s->w.last, h->items + first, h->count - first, D);
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

/* ---- a chunk ---- */

enum { TRIES = 100 }; /* draws of a wrong item before a right one is let pass */

typedef struct pairs_run {
    const pr_model *model;
    pr_chunk *chunk;
    view w, g;
    size_t D;
    pr_real *mean, *dmean; /* [D] */
    uint32_t *stamp;       /* [V]: the sample, from 1, whose basket has the item */
} pairs_run;

static void take_run(pairs_run *run, pr_arena *arena, const pr_model *model)
{
    *run = (pairs_run){.model = model, .D = (size_t)model->config.dim_item};
    run->mean = pr_arena_take(arena, run->D, sizeof *run->mean);
    run->dmean = pr_arena_take(arena, run->D, sizeof *run->dmean);
    run->stamp = pr_arena_take_zero(arena, model->items, sizeof *run->stamp);
}

static size_t chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    (void)limits;
    pr_arena counter = pr_arena_counter();
    pairs_run sizing;
    take_run(&sizing, &counter, model);
    return counter.used;
}

static size_t mask_bytes(const pr_model *model)
{
    (void)model;
    return 0;
}

static pr_real score_one(const pairs_run *run, const pr_real *user, int32_t item)
{
    size_t at = (size_t)item * run->D;
    pr_real y = dot(user, run->w.item + at, run->D) + run->w.bias[item];
    return run->w.next != NULL ? y + dot(run->mean, run->w.next + at, run->D) : y;
}

/* The gradient of a score, to all that it is made of. */
static void give(pairs_run *run, pr_real *duser, const pr_real *user, int32_t item, pr_real by)
{
    size_t at = (size_t)item * run->D;
    add_scaled(duser, run->w.item + at, by, run->D);
    add_scaled(run->g.item + at, user, by, run->D);
    run->g.bias[item] += by;
    if (run->w.next == NULL)
        return;
    add_scaled(run->dmean, run->w.next + at, by, run->D);
    add_scaled(run->g.next + at, run->mean, by, run->D);
}

static int32_t draw_wrong(const pairs_run *run, pr_stream *stream, uint32_t sample)
{
    uint32_t item = 0;
    for (int k = 0; k < TRIES; k++) {
        item = pr_stream_below(stream, (uint32_t)run->model->items);
        if (run->stamp[item] != sample)
            break;
    }
    return (int32_t)item;
}

/* The items just before target j. */
static const int32_t *before_of(const pr_basket *b, size_t j, size_t *count)
{
    if (j > 0) {
        *count = j;
        return b->items;
    }
    size_t first = last_items(&b->history);
    *count = b->history.count - first;
    return b->history.items + first;
}

static double learn_target(pairs_run *run, pr_real *duser, const pr_real *user, const pr_basket *b,
                           size_t j, pr_stream *stream, uint32_t sample, pr_real factor)
{
    size_t N = (size_t)run->model->config.negatives, D = run->D, count;
    const int32_t *before = before_of(b, j, &count);
    double loss = 0;
    if (run->w.last != NULL) {
        sum_rows(run->mean, run->w.last, before, count, D);
        for (size_t i = 0; i < D && count > 0; i++)
            run->mean[i] /= (pr_real)count;
        memset(run->dmean, 0, D * sizeof *run->dmean);
    }
    pr_real right = score_one(run, user, b->items[j]), sum = 0;
    for (size_t n = 0; n < N; n++) {
        int32_t wrong = draw_wrong(run, stream, sample);
        pr_real x = score_one(run, user, wrong) - right; /* loss: log(1 + exp(x)) */
        pr_real e = pr_exp(x < 0 ? x : -x), slope = (x < 0 ? e : 1) / (1 + e);
        loss += (double)((x > 0 ? x : 0) + pr_log(1 + e));
        slope *= factor / (pr_real)N;
        give(run, duser, user, wrong, slope);
        sum += slope;
    }
    give(run, duser, user, b->items[j], -sum);
    for (size_t i = 0; run->w.last != NULL && i < count; i++)
        add_scaled(run->g.last + (size_t)before[i] * D, run->dmean, 1 / (pr_real)count, D);
    return loss / (double)N;
}

static void learn(const pr_model *model, pr_chunk *chunk)
{
    pairs_run run;
    take_run(&run, chunk->arena, model);
    run.chunk = chunk;
    run.w = view_of(model, model->weights);
    run.g = view_of(model, chunk->gradient);
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x7061697273)); /* "pairs" */
    size_t targets = 0, steps = (size_t)model->config.steps;
    for (size_t r = 0; r < chunk->batch->rows; r++) {
        size_t size = chunk->batch->baskets[r].size;
        targets += size < steps ? size : steps;
    }
    double factor = 1 / (double)targets;
    for (size_t r = 0; r < chunk->rows; r++) {
        uint32_t row = chunk->order[r];
        const pr_basket *b = &chunk->batch->baskets[row];
        pr_stream stream = pr_stream_at(&rng, chunk->batch->number, row, 0);
        bool anyone =
            b->user < 0 || pr_unit32(pr_rng_at(&rng, chunk->batch->number, row, 1, 0).word[0]) <
                               model->config.anyone;
        chunk->users[row] = anyone ? (int32_t)model->users : b->user;
        const pr_real *user = user_rows(model) + (size_t)chunk->users[row] * run.D;
        pr_real *duser = chunk->user_gradient + row * run.D;
        memset(duser, 0, run.D * sizeof *duser);
        for (size_t i = 0; i < b->size; i++)
            run.stamp[b->items[i]] = (uint32_t)r + 1;
        for (size_t j = 0; j < b->size && j < steps; j++)
            pr_chunk_add_loss(
                chunk,
                learn_target(&run, duser, user, b, j, &stream, (uint32_t)r + 1, (pr_real)factor),
                factor, 1);
    }
    pr_chunk_mark(chunk, PR_PART_LOSS);
}

static double operations(const pr_model *model, const pr_batch *batch, uint64_t items)
{
    (void)batch;
    double tables = model->kind == &pr_fpmc ? 2 : 1;
    return PR_OPERATIONS_A_PRODUCT * (double)items * tables * (1 + model->config.negatives) *
           (double)model->config.dim_item;
}

static parsrec_status check(const pr_config *config, parsrec_error *err)
{
    if (config->loss != PR_LOSS_BPR)
        return pr_fail(err, PARSREC_E_CONFIG, "bpr and fpmc learn with loss = bpr");
    return PARSREC_OK;
}

static const char *const settings[] = {
    "loss=bpr", "dim.item=64",      "batch=1024",     "epochs=100",     "negatives=4", "rate=0.003",
    "clip=0",   "weight_decay=0.1", "rate.final=0.1", "best=protocols", NULL,
};

#define PR_FACTORS                                                                        \
    .settings = settings, .check = check, .layout = layout, .state_bytes = sizeof(state), \
    .take = take, .start = start, .place = place, .score_all = score_all, .score = score, \
    .chunk_bytes = chunk_bytes, .mask_bytes = mask_bytes, .learn = learn, .operations = operations

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
