/* The trainer: its memory, the gradient of a batch, and the update. */
#include "model/trainer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/blas.h"
#include "math/layers.h"
#include "math/optimise.h"

enum {
    CHUNK_ROWS = 128,   /* large enough for fast products; a batch of 256 gives two */
    CHUNK_CELLS = 4096, /* rows times steps: limits memory when baskets are long */
    LEAST_ROWS = 16,
    SPAN = 16384, /* numbers per task of summing and updating */
};

/* A range of one parameter. */
typedef struct span {
    size_t at, n;
    bool lazy;
    bool decays;
} span;

struct pr_trainer {
    pr_model *model;
    pr_pool *pool;
    pr_limits limits;
    uint64_t seed, step;
    uint64_t planned; /* batches of the whole training; 0: not known */
    size_t chunk_max; /* most chunks per batch */
    pr_real *gradient, *moment[2];
    pr_real *extra; /* gradients of chunks 1, 2, ...; chunk 0 uses `gradient` */
    pr_arena *arenas;
    unsigned threads;
    pr_chunk *chunks;
    size_t chunk_count;
    uint32_t *order; /* rows of the batch, grouped by chunk */
    uint8_t *masks;
    pr_real *user_gradient;
    int32_t *users, *touched;
    size_t touched_count;
    uint32_t *stamp; /* per user row: the last batch that touched it */
    uint32_t stamp_now;
    span *spans;
    size_t span_count;
    double *squares; /* per span */
    pr_real *common; /* [categories, most columns]: sum of the parts of a category and of all above
                      * it */
    const pr_batch *batch;
    pr_adam adam;
    pr_real clip;
    double *parts; /* [threads, PR_STEP_PARTS]; NULL: not measured */
};

static size_t chunk_rows(size_t steps)
{
    size_t rows = CHUNK_CELLS / (steps > 0 ? steps : 1);
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    return rows > CHUNK_ROWS ? CHUNK_ROWS : rows;
}

/* If more than one, an even number, so that two threads get equal shares. */
static size_t chunk_count(size_t rows, size_t steps)
{
    size_t chunks = (rows + chunk_rows(steps) - 1) / chunk_rows(steps);
    return chunks > 1 ? (chunks + 1) / 2 * 2 : chunks;
}

/* ---- memory: everything batches will need, allocated once ---- */

/* The largest arena that chunks of any length need. */
static size_t arena_bytes(const pr_model *model, const pr_limits *limits)
{
    size_t most = 0;
    for (size_t steps = 1; steps <= limits->steps; steps++) {
        pr_limits chunk = *limits;
        chunk.steps = steps;
        chunk.rows = chunk_rows(steps) < limits->rows ? chunk_rows(steps) : limits->rows;
        size_t bytes = model->kind->chunk_bytes(model, &chunk);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static size_t span_total(const pr_params *params)
{
    size_t n = 0;
    for (size_t i = 0; i < params->count && params->list[i].at < params->shared; i++)
        n += (pr_param_size(&params->list[i]) + SPAN - 1) / SPAN;
    return n; /* an upper bound: counted parameters have none */
}

/* Weight decay applies to maps and tables, not to biases, gains and gates. */
static bool decays(const pr_param *p)
{
    return p->fill != PR_FILL_BIAS && p->fill != PR_FILL_CELL_BIAS && p->fill != PR_FILL_ONE;
}

static void list_spans(pr_trainer *t)
{
    const pr_params *params = &t->model->params;
    for (size_t i = 0; i < params->count && params->list[i].at < params->shared; i++) {
        const pr_param *p = &params->list[i];
        size_t size = p->counted ? 0 : pr_param_size(p);
        for (size_t at = 0; at < size; at += SPAN)
            t->spans[t->span_count++] =
                (span){p->at + at, size - at < SPAN ? size - at : SPAN, p->lazy, decays(p)};
    }
}

static size_t user_rows(const pr_model *model)
{
    const pr_param *users = pr_params_users(&model->params);
    return users != NULL ? users->rows : 0;
}

static size_t user_width(const pr_model *model)
{
    const pr_param *users = pr_params_users(&model->params);
    return users != NULL ? users->cols : 0;
}

size_t pr_trainer_bytes(const pr_model *model, const pr_limits *limits, unsigned threads)
{
    size_t chunks = chunk_count(limits->rows, limits->steps), one = sizeof(pr_real);
    return 3 * model->params.size * one + (chunks - 1) * model->params.shared * one +
           threads * arena_bytes(model, limits) + limits->steps * model->kind->mask_bytes(model) +
           limits->rows * user_width(model) * one;
}

/* The most columns of a table with shared parts; 0 if there is none. */
static size_t shared_width(const pr_model *model)
{
    size_t most = 0;
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        if (p->fill == PR_FILL_SHARED && p->cols > most)
            most = p->cols;
    }
    return most;
}

static bool take_arenas(pr_trainer *t)
{
    t->arenas = pr_alloc_zero(t->threads, sizeof *t->arenas);
    size_t bytes = arena_bytes(t->model, &t->limits);
    for (unsigned i = 0; t->arenas != NULL && i < t->threads; i++)
        if (pr_arena_init(&t->arenas[i], bytes, NULL) != PARSREC_OK)
            return false;
    return t->arenas != NULL;
}

static bool take_memory(pr_trainer *t)
{
    const pr_params *params = &t->model->params;
    size_t one = sizeof(pr_real), rows = t->limits.rows;
    t->gradient = pr_alloc_aligned(params->size, one);
    t->moment[0] = pr_alloc_aligned(params->size, one);
    t->moment[1] = pr_alloc_aligned(params->size, one);
    t->extra = pr_alloc_aligned((t->chunk_max - 1) * params->shared, one);
    t->chunks = pr_alloc_zero(t->chunk_max, sizeof *t->chunks);
    t->order = pr_alloc_zero(rows, sizeof *t->order);
    t->masks = pr_alloc_zero(t->limits.steps, t->model->kind->mask_bytes(t->model));
    t->user_gradient = pr_alloc_aligned(rows * user_width(t->model), one);
    t->users = pr_alloc_zero(rows, sizeof *t->users);
    t->touched = pr_alloc_zero(rows, sizeof *t->touched);
    t->stamp = pr_alloc_zero(user_rows(t->model), sizeof *t->stamp);
    t->common = pr_alloc_aligned(t->model->tree.parts * shared_width(t->model), one);
    t->spans = pr_alloc_zero(span_total(params), sizeof *t->spans);
    t->squares = pr_alloc_zero(span_total(params), sizeof *t->squares);
    return t->gradient != NULL && t->moment[0] != NULL && t->moment[1] != NULL &&
           t->extra != NULL && t->chunks != NULL && t->order != NULL && t->masks != NULL &&
           t->user_gradient != NULL && t->users != NULL && t->touched != NULL && t->stamp != NULL &&
           t->common != NULL && t->spans != NULL && t->squares != NULL && take_arenas(t);
}

parsrec_status pr_trainer_new(pr_trainer **out, pr_model *model, pr_pool *pool,
                              const pr_limits *limits, uint64_t seed, parsrec_error *err)
{
    *out = NULL;
    if (model->kind->learn == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "model %s does not learn from batches",
                       model->kind->name);
    pr_trainer *t = pr_alloc_zero(1, sizeof *t);
    if (t == NULL)
        return pr_fail_memory(err);
    *t = (pr_trainer){.model = model, .pool = pool, .limits = *limits, .seed = seed};
    size_t most = pr_model_steps(model);
    t->limits.steps = limits->steps < most ? limits->steps : most;
    t->threads = pr_pool_threads(pool);
    t->chunk_max = chunk_count(t->limits.rows, t->limits.steps);
    if (!take_memory(t)) {
        pr_trainer_free(t);
        return pr_fail_memory(err);
    }
    pr_blas_load();
    list_spans(t);
    *out = t;
    return PARSREC_OK;
}

void pr_trainer_free(pr_trainer *t)
{
    if (t == NULL)
        return;
    for (unsigned i = 0; t->arenas != NULL && i < t->threads; i++)
        pr_arena_free(&t->arenas[i]);
    pr_free(t->arenas);
    pr_free_aligned(t->gradient);
    pr_free_aligned(t->moment[0]);
    pr_free_aligned(t->moment[1]);
    pr_free_aligned(t->extra);
    pr_free_aligned(t->user_gradient);
    pr_free_aligned(t->common);
    pr_free(t->chunks);
    pr_free(t->order);
    pr_free(t->masks);
    pr_free(t->users);
    pr_free(t->touched);
    pr_free(t->stamp);
    pr_free(t->spans);
    pr_free(t->squares);
    pr_free(t->parts);
    pr_free(t);
}

/* ---- embeddings that items share ----
 *
 * A row of an item table is the sum of what was learnt for the item itself and of the rows of its
 * category, of all categories above it, and of its features (docs/math.md, Kin). A model stores
 * only the sums, so only training knows about the parts. The gradient of a shared row is the sum
 * of its items' gradients. An update first subtracts the shared rows from the table and afterwards
 * adds the updated ones. */

enum { SHARED_COLUMNS = 16, SHARED_ROWS = 512 }; /* per task */

typedef struct shared_work {
    pr_trainer *trainer;
    const pr_param *table, *shared;
    pr_real sign;
} shared_work;

/* Calls `each` for every table that has shared parts. */
static void for_tables(pr_trainer *t, void (*each)(shared_work *w), pr_real sign)
{
    const pr_params *params = &t->model->params;
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].fill == PR_FILL_SHARED && params->list[i].rows > 0) {
            const pr_param *shared = &params->list[i];
            shared_work w = {t, &params->list[shared->table], shared, sign};
            each(&w);
        }
}

/* Which part of a column item v has, and its factor; 0 if it has none. */
static pr_real part_of(const pr_shared_column *column, size_t v, size_t *part)
{
    const pr_feature_column *f = column->feature;
    *part = column->at;
    if (f->number != NULL)
        return isfinite(f->number[v]) ? ((pr_real)f->number[v] - column->mean) * column->rate : 0;
    *part += f->code[v] >= 0 ? (size_t)f->code[v] : 0;
    return f->code[v] >= 0;
}

/* ---- gradient ---- */

/* Processes some columns of the whole table, so that every sum runs over items in order. */
static void sum_columns(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const shared_work *w = context;
    const pr_category_tree *tree = &w->trainer->model->tree;
    size_t cols = w->table->cols, first = task * SHARED_COLUMNS;
    size_t n = cols - first < SHARED_COLUMNS ? cols - first : SHARED_COLUMNS;
    const pr_real *from = w->trainer->gradient + w->table->at + first;
    pr_real *to = w->trainer->gradient + w->shared->at + first;
    for (size_t c = 0; c < tree->parts; c++)
        for (size_t i = 0; i < n; i++)
            to[c * cols + i] = 0;
    for (size_t v = 0; v < w->trainer->model->items; v++) {
        if (tree->categories > 0 && tree->item_category[v] >= 0)
            pr_add(to + (size_t)tree->item_category[v] * cols, from + v * cols, n);
        for (size_t k = 0, part; k < tree->column_count; k++) {
            pr_real much = part_of(&tree->columns[k], v, &part);
            if (much != 0)
                pr_add_scaled(to + part * cols, from + v * cols, much, n);
        }
    }
    for (size_t c = tree->categories; c-- > 0;)
        if (tree->parent[c] >= 0)
            pr_add(to + (size_t)tree->parent[c] * cols, to + c * cols, n);
}

static void sum_table(shared_work *w)
{
    pr_pool_run(w->trainer->pool, sum_columns, w,
                (w->table->cols + SHARED_COLUMNS - 1) / SHARED_COLUMNS);
}

static double shared_gradient(pr_trainer *t)
{
    const pr_params *params = &t->model->params;
    double squares = 0;
    for_tables(t, sum_table, 0);
    for (size_t i = 0; i < params->count; i++)
        if (params->list[i].fill == PR_FILL_SHARED)
            squares +=
                pr_sum_squares(t->gradient + params->list[i].at, pr_param_size(&params->list[i]));
    return squares;
}

/* ---- shared parts of rows ---- */

static void add_rows(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const shared_work *w = context;
    const pr_model *model = w->trainer->model;
    const pr_category_tree *tree = &model->tree;
    const pr_real *common = w->trainer->common;
    size_t cols = w->table->cols, end = (task + 1) * SHARED_ROWS;
    pr_real *rows = model->weights + w->table->at;
    for (size_t v = task * SHARED_ROWS; v < end && v < model->items; v++) {
        if (tree->categories > 0 && tree->item_category[v] >= 0)
            pr_add_scaled(rows + v * cols, common + (size_t)tree->item_category[v] * cols, w->sign,
                          cols);
        for (size_t k = 0, part; k < tree->column_count; k++) {
            pr_real much = part_of(&tree->columns[k], v, &part);
            if (much != 0)
                pr_add_scaled(rows + v * cols, common + part * cols, w->sign * much, cols);
        }
    }
}

/* Adds to every row, or subtracts from it, the shared parts of its categories and features. */
static void add_table(shared_work *w)
{
    pr_trainer *t = w->trainer;
    const pr_category_tree *tree = &t->model->tree;
    size_t cols = w->table->cols;
    memcpy(t->common, t->model->weights + w->shared->at, tree->parts * cols * sizeof *t->common);
    for (size_t c = 0; c < tree->categories; c++)
        if (tree->parent[c] >= 0)
            pr_add(t->common + c * cols, t->common + (size_t)tree->parent[c] * cols, cols);
    pr_pool_run(t->pool, add_rows, w, (t->model->items + SHARED_ROWS - 1) / SHARED_ROWS);
}

static void shared_subtract(pr_trainer *t)
{
    for_tables(t, add_table, -1);
}

static void shared_add(pr_trainer *t)
{
    for_tables(t, add_table, 1);
}

/* ---- a batch ---- */

static parsrec_status check_batch(const pr_trainer *t, const pr_batch *batch, size_t *steps,
                                  parsrec_error *err)
{
    *steps = 0;
    bool fits = batch->rows > 0 && batch->rows <= t->limits.rows;
    for (size_t r = 0; fits && r < batch->rows; r++) {
        const pr_basket *b = &batch->baskets[r];
        fits = b->size > 0 && b->size <= t->limits.basket && b->history.count <= t->limits.history;
        *steps = b->size > *steps ? b->size : *steps;
    }
    *steps = *steps > pr_model_steps(t->model) ? pr_model_steps(t->model) : *steps;
    if (fits && *steps <= t->limits.steps)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_LIMIT, "batch %u does not fit the sizes that training began with",
                   batch->number);
}

/* The largest basket size below `limit`; 0 if there is none. */
static size_t next_size(const pr_batch *batch, size_t limit)
{
    size_t most = 0;
    for (size_t r = 0; r < batch->rows; r++)
        if (batch->baskets[r].size < limit && batch->baskets[r].size > most)
            most = batch->baskets[r].size;
    return most;
}

/* Where chunk c starts in order[]: the first rows % chunks chunks have one row more. */
static size_t chunk_begin(size_t rows, size_t chunks, size_t c)
{
    size_t more = rows % chunks;
    return c * (rows / chunks) + (c < more ? c : more);
}

/* Sorts rows by size, longest first, and deals them to the chunks in turn; order[] lists them chunk
 * by chunk. Equal sizes keep their order. */
static void deal(pr_trainer *t, const pr_batch *batch, size_t steps)
{
    size_t chunks = chunk_count(batch->rows, steps), rank = 0;
    for (size_t c = 0; c < chunks; c++) {
        size_t first = chunk_begin(batch->rows, chunks, c);
        t->chunks[c] = (pr_chunk){.order = t->order + first,
                                  .rows = chunk_begin(batch->rows, chunks, c + 1) - first};
    }
    for (size_t size = SIZE_MAX; (size = next_size(batch, size)) > 0;)
        for (size_t r = 0; r < batch->rows; r++)
            if (batch->baskets[r].size == size) {
                t->order[chunk_begin(batch->rows, chunks, rank % chunks) + rank / chunks] =
                    (uint32_t)r;
                rank++;
            }
    t->chunk_count = chunks;
}

static void draw_mask(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_trainer *t = context;
    const pr_model *m = t->model;
    m->kind->draw_mask(m, t->masks + task * m->kind->mask_bytes(m), t->seed, t->batch->number,
                       (uint32_t)task);
}

static void learn_chunk(void *context, size_t task, unsigned worker)
{
    pr_trainer *t = context;
    pr_chunk *chunk = &t->chunks[task];
    chunk->arena = &t->arenas[worker];
    pr_arena_reset(chunk->arena);
    if (t->parts != NULL) {
        chunk->parts = t->parts + (size_t)worker * PR_STEP_PARTS;
        chunk->mark = pr_now();
    }
    memset(chunk->gradient, 0, t->model->params.shared * sizeof *chunk->gradient);
    t->model->kind->learn(t->model, chunk);
}

static void add_chunks(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_trainer *t = context;
    const span *s = &t->spans[task];
    for (size_t c = 1; c < t->chunk_count; c++)
        pr_add(t->gradient + s->at, t->chunks[c].gradient + s->at, s->n);
    t->squares[task] = pr_sum_squares(t->gradient + s->at, s->n);
}

/* Adds up the rows' user gradients in the order of the batch. Returns their sum of squares. */
static double add_users(pr_trainer *t, size_t rows)
{
    const pr_param *users = pr_params_users(&t->model->params);
    double squares = 0;
    t->touched_count = 0;
    t->stamp_now++;
    for (size_t r = 0; users != NULL && r < rows; r++) {
        int32_t user = t->users[r];
        pr_real *row = t->gradient + users->at + (size_t)user * users->cols;
        if (t->stamp[user] != t->stamp_now) {
            t->stamp[user] = t->stamp_now;
            t->touched[t->touched_count++] = user;
            memset(row, 0, users->cols * sizeof *row);
        }
        pr_add(row, t->user_gradient + r * users->cols, users->cols);
    }
    for (size_t i = 0; i < t->touched_count; i++)
        squares += pr_sum_squares(t->gradient + users->at + (size_t)t->touched[i] * users->cols,
                                  users->cols);
    return squares;
}

parsrec_status pr_trainer_gradient(pr_trainer *t, const pr_batch *batch, pr_batch_result *result,
                                   parsrec_error *err)
{
    size_t steps;
    PR_TRY(check_batch(t, batch, &steps, err));
    t->batch = batch;
    deal(t, batch, steps);
    for (size_t c = 0; c < t->chunk_count; c++) {
        pr_chunk *chunk = &t->chunks[c];
        chunk->batch = batch;
        chunk->steps = steps;
        chunk->seed = t->seed;
        chunk->masks = t->masks;
        chunk->user_gradient = t->user_gradient;
        chunk->users = t->users;
        chunk->gradient = c == 0 ? t->gradient : t->extra + (c - 1) * t->model->params.shared;
    }
    if (t->model->kind->mask_bytes(t->model) > 0)
        pr_pool_run(t->pool, draw_mask, t, steps);
    pr_pool_run(t->pool, learn_chunk, t, t->chunk_count);
    pr_pool_run(t->pool, add_chunks, t, t->span_count);
    double squares = add_users(t, batch->rows) + shared_gradient(t);
    *result = (pr_batch_result){0};
    for (size_t i = 0; i < t->span_count; i++)
        squares += t->squares[i];
    for (size_t c = 0; c < t->chunk_count; c++) {
        result->loss += t->chunks[c].loss;
        result->total += t->chunks[c].total;
        result->items += t->chunks[c].items;
    }
    result->norm = sqrt(squares);
    return PARSREC_OK;
}

/* ---- update ---- */

static void update(pr_trainer *t, size_t at, size_t n, bool lazy, bool decays)
{
    pr_adam adam = t->adam;
    adam.decay = decays ? t->model->config.weight_decay : 0;
    pr_real *w = t->model->weights + at, *g = t->gradient + at;
    if (t->model->config.optimiser == PR_SGD)
        pr_sgd_update(w, g, (pr_real)t->adam.rate, t->clip, n);
    else if (lazy)
        pr_adam_update_row(w, t->moment[0] + at, t->moment[1] + at, g, &adam, t->clip, n);
    else
        pr_adam_update(w, t->moment[0] + at, t->moment[1] + at, g, &adam, t->clip, n);
}

static void update_span(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_trainer *t = context;
    update(t, t->spans[task].at, t->spans[task].n, t->spans[task].lazy, t->spans[task].decays);
}

static void update_user(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_trainer *t = context;
    const pr_param *users = pr_params_users(&t->model->params);
    update(t, users->at + (size_t)t->touched[task] * users->cols, users->cols, true, true);
}

void pr_trainer_schedule(pr_trainer *t, uint64_t batches)
{
    t->planned = batches;
}

/* The learning rate of batch `step`, from 1: it rises to `rate` during the warm-up and falls in a
 * straight line to its final share. */
static double rate_at(const pr_config *c, uint64_t step, uint64_t planned)
{
    double warm = c->rate_warmup * (double)planned, rest = (double)planned - warm;
    double done = (double)step;
    if (planned == 0 || (c->rate_warmup == 0 && c->rate_final == 1))
        return c->rate;
    if (done < warm)
        return c->rate * done / warm;
    double fallen = rest > 0 ? fmin((done - warm) / rest, 1) : 1;
    return c->rate * (1 - (1 - c->rate_final) * fallen);
}

parsrec_status pr_trainer_update(pr_trainer *t, const pr_batch_result *result, parsrec_error *err)
{
    const pr_config *c = &t->model->config;
    if (!isfinite(result->norm) || !isfinite(result->loss))
        return pr_fail(
            err, PARSREC_E_DIVERGED,
            "batch %u: loss %g and gradient norm %g are not both finite; a lower rate or "
            "clip may help",
            t->batch->number, result->loss, result->norm);
    t->step++;
    t->adam = (pr_adam){rate_at(c, t->step, t->planned), c->beta1, c->beta2, c->eps, t->step, 0};
    t->clip = pr_clip_factor(result->norm * result->norm, c->clip);
    shared_subtract(t);
    pr_pool_run(t->pool, update_span, t, t->span_count);
    shared_add(t);
    pr_pool_run(t->pool, update_user, t, t->touched_count);
    return PARSREC_OK;
}

static double chunk_seconds(const pr_trainer *t)
{
    double parts[PR_STEP_PARTS], sum = 0;
    pr_trainer_parts(t, parts);
    for (size_t p = 0; p < PR_PART_UPDATE; p++)
        sum += parts[p];
    return sum;
}

parsrec_status pr_trainer_learn(pr_trainer *t, const pr_batch *batch, pr_batch_result *result,
                                parsrec_error *err)
{
    double began = t->parts != NULL ? pr_now() : 0, chunks = chunk_seconds(t);
    PR_TRY(pr_trainer_gradient(t, batch, result, err));
    PR_TRY(pr_trainer_update(t, result, err));
    if (t->parts != NULL) /* all time outside chunks, including waiting threads */
        t->parts[PR_PART_UPDATE] += (pr_now() - began) * t->threads - (chunk_seconds(t) - chunks);
    return PARSREC_OK;
}

/* ---- for checkpoints and measurements ---- */

pr_real *pr_trainer_gradients(pr_trainer *t)
{
    return t->gradient;
}

size_t pr_trainer_touched(const pr_trainer *t, const int32_t **users)
{
    *users = t->touched;
    return t->touched_count;
}

pr_real *pr_trainer_moment(pr_trainer *t, unsigned which)
{
    return t->moment[which];
}

uint64_t *pr_trainer_step(pr_trainer *t)
{
    return &t->step;
}

parsrec_status pr_trainer_measure(pr_trainer *t, parsrec_error *err)
{
    pr_free(t->parts);
    t->parts = pr_alloc_zero((size_t)t->threads * PR_STEP_PARTS, sizeof *t->parts);
    return t->parts != NULL ? PARSREC_OK : pr_fail_memory(err);
}

void pr_trainer_parts(const pr_trainer *t, double parts[PR_STEP_PARTS])
{
    for (size_t p = 0; p < PR_STEP_PARTS; p++) {
        parts[p] = 0;
        for (unsigned i = 0; t->parts != NULL && i < t->threads; i++)
            parts[p] += t->parts[i * PR_STEP_PARTS + p];
    }
}
