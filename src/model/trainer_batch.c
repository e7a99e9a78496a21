/* Chunks of a batch on worker threads, their gradients added in order, clip and update. */
#include <math.h>
#include <string.h>

#include "math/linear.h"
#include "model/trainer_inside.h"

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

/* The largest basket size below `limit`, 0 if there is none. */
static size_t next_size(const pr_batch *batch, size_t limit)
{
    size_t most = 0;
    for (size_t r = 0; r < batch->rows; r++)
        if (batch->baskets[r].size < limit && batch->baskets[r].size > most)
            most = batch->baskets[r].size;
    return most;
}

/* Where chunk c begins in order[]: chunks before rows % chunks have one row more. */
static size_t chunk_begin(size_t rows, size_t chunks, size_t c)
{
    size_t more = rows % chunks;
    return c * (rows / chunks) + (c < more ? c : more);
}

/* Rows by size, longest first, dealt out in turn: order[] holds chunk after chunk. Equal sizes keep
 * their order. */
static void deal(pr_trainer *t, const pr_batch *batch, size_t steps)
{
    size_t chunks = pr_chunk_count(batch->rows, steps), rank = 0;
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
    const pr_span *s = &t->spans[task];
    for (size_t c = 1; c < t->chunk_count; c++)
        pr_add(t->gradient + s->at, t->chunks[c].gradient + s->at, s->n);
    t->squares[task] = pr_sum_squares(t->gradient + s->at, s->n);
}

/* Gathers the rows' user gradients in the order of the batch. */
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
    double squares = add_users(t, batch->rows) + pr_shared_gradient(t);
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
    t->adam = (pr_adam){c->rate, c->beta1, c->beta2, c->eps, t->step, 0};
    t->clip = pr_clip_factor(result->norm * result->norm, c->clip);
    pr_shared_subtract(t);
    pr_pool_run(t->pool, update_span, t, t->span_count);
    pr_shared_add(t);
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
    if (t->parts != NULL) /* whatever was not spent in chunks, threads that wait included */
        t->parts[PR_PART_UPDATE] += (pr_now() - began) * t->threads - (chunk_seconds(t) - chunks);
    return PARSREC_OK;
}
