/* The trainer: its memory, the gradient of a batch, and the update. */
#include "model/trainer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/blas.h"
#include "math/layers.h"
#include "math/optimise.h"
#include "model/chunk_tree.h"
#include "model/item_tables.h"
#include "model/storage.h"
#include "model/user_rows.h"

enum {
    CHUNK_ROWS = 128,   /* large enough for fast products; a batch of 256 gives two */
    CHUNK_CELLS = 4096, /* rows times steps: limits memory when baskets are long */
    LEAST_ROWS = 16,
    SPAN = 16384, /* numbers per task of summing and updating */
};

/* A range of one parameter. */
typedef struct span {
    size_t at, n;
    size_t from; /* of its gradient */
    bool lazy;
    bool decays;
} span;

/* What a chunk tells about itself. */
typedef struct chunk_facts {
    double loss, total;
    uint64_t items, rows[PR_ITEM_GROUPS];
} chunk_facts;

/* How a batch is divided among ranks, and what is sent around. */
typedef struct division {
    pr_ranks *ranks; /* NULL: there are no others, and nothing below is there */
    unsigned rank, size;
    size_t *begin;      /* [size + 1]: scratch of exchanges */
    chunk_facts *facts; /* [chunk_max] */
    pr_real *user_rows; /* [rows, columns]: gradients of users, chunk by chunk */
    int32_t *users;     /* [rows]: likewise */
} division;

struct pr_trainer {
    pr_model *model;
    pr_pool *pool;
    pr_limits limits;
    uint64_t seed, step;
    uint64_t planned;       /* batches of the whole training; 0: not known */
    size_t chunk_max;       /* most chunks per batch */
    pr_item_tables *tables; /* with sparse gradients; else NULL */
    /* The gradient as pr_params_pack lays it out: dense, everything before the user table as in the weights;
     * sparse, without item tables. That of users is user_sum. */
    pr_real *gradient, *moment[2];
    const pr_storage *storage; /* of the moments; the model's */
    pr_real *extra;            /* gradients of chunks 1, 2, ...; chunk 0 uses `gradient` */
    pr_arena *arenas;
    unsigned threads;
    pr_chunk *chunks;
    size_t chunk_count;
    uint32_t *order; /* rows of the batch, grouped by chunk */
    uint8_t *masks;
    pr_real *user_gradient;
    int32_t *users, *touched;
    size_t touched_count;
    uint32_t *user_slot; /* per user row: one more than its place in `touched`; 0: not there */
    pr_real *user_sum;   /* [touched, columns] */
    span *spans;
    size_t span_count;
    double *squares; /* per span */
    pr_real *common; /* [categories, most columns]: sum of the parts of a category and of all above
                      * it */
    const pr_batch *batch;
    size_t steps;  /* of it */
    bool expected; /* a batch was announced and not learnt yet: */
    uint32_t expected_number;
    uint64_t expected_rows; /* pr_user_rows_posted then */
    pr_adam adam;
    pr_real clip;
    division division;
    size_t own_first, own_end; /* the chunks of this rank */
    double *parts;             /* [threads, PR_STEP_PARTS]; NULL: not measured */
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
    return n; /* an upper bound: counted parameters and sparse tables have none */
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
        bool apart = t->tables != NULL && (p->group != PR_NOT_BY_ITEM || p->fill == PR_FILL_SHARED);
        size_t size = p->counted || apart ? 0 : pr_param_size(p);
        for (size_t at = 0; at < size; at += SPAN)
            t->spans[t->span_count++] = (span){p->at + at, size - at < SPAN ? size - at : SPAN,
                                               p->packed_at + at, p->lazy, decays(p)};
    }
}

/* Of all ranks. */
static size_t user_rows(const pr_model *model)
{
    const pr_param *users = pr_params_users(&model->params);
    return users != NULL ? pr_param_all_rows(users) : 0;
}

static size_t user_width(const pr_model *model)
{
    const pr_param *users = pr_params_users(&model->params);
    return users != NULL ? users->cols : 0;
}

/* Items that a chunk draws; PR_WHOLE_CATALOGUE: gradients are dense. */
static size_t drawn_items(const pr_model *model, const pr_limits *limits)
{
    size_t targets = 0;
    for (size_t steps = 1; steps <= limits->steps; steps++) {
        size_t rows = chunk_rows(steps) < limits->rows ? chunk_rows(steps) : limits->rows;
        targets = rows * steps > targets ? rows * steps : targets;
    }
    return model->kind->drawn_items != NULL ? model->kind->drawn_items(model, targets)
                                            : PR_WHOLE_CATALOGUE;
}

size_t pr_trainer_bytes(const pr_model *model, const pr_limits *limits, unsigned threads)
{
    size_t chunks = chunk_count(limits->rows, limits->steps), one = sizeof(pr_real);
    size_t users = user_rows(model) * sizeof(uint32_t) + 2 * limits->rows * user_width(model) * one;
    size_t bytes = 2 * model->params.size * one + threads * arena_bytes(model, limits) +
                   limits->steps * model->kind->mask_bytes(model) + users;
    size_t drawn = drawn_items(model, limits);
    if (drawn != PR_WHOLE_CATALOGUE)
        return bytes + pr_item_tables_bytes(model, limits, chunks, drawn, threads);
    return bytes + chunks * model->params.shared * one;
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
    bool sparse = t->tables != NULL;
    t->gradient = pr_alloc_aligned(params->packed, one);
    t->extra = pr_alloc_aligned((t->chunk_max - 1) * params->packed, one);
    t->chunks = pr_alloc_zero(t->chunk_max, sizeof *t->chunks);
    t->order = pr_alloc_zero(rows, sizeof *t->order);
    t->masks = pr_alloc_zero(t->limits.steps, t->model->kind->mask_bytes(t->model));
    t->user_gradient = pr_alloc_aligned(rows * user_width(t->model), one);
    t->users = pr_alloc_zero(rows, sizeof *t->users);
    t->touched = pr_alloc_zero(rows, sizeof *t->touched);
    t->user_slot = pr_alloc_zero(user_rows(t->model), sizeof *t->user_slot);
    t->user_sum = pr_alloc_aligned(rows * user_width(t->model), one);
    t->common = pr_alloc_aligned(sparse ? 0 : pr_shared_room(t->model), one);
    t->spans = pr_alloc_zero(span_total(params), sizeof *t->spans);
    t->squares = pr_alloc_zero(span_total(params), sizeof *t->squares);
    return t->gradient != NULL && t->extra != NULL && t->chunks != NULL && t->order != NULL &&
           t->masks != NULL && t->user_gradient != NULL && t->users != NULL && t->touched != NULL &&
           t->user_slot != NULL && t->user_sum != NULL && t->common != NULL && t->spans != NULL &&
           t->squares != NULL && take_arenas(t);
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
    *t = (pr_trainer){
        .model = model, .pool = pool, .limits = *limits, .seed = seed, .storage = model->storage};
    size_t most = pr_model_steps(model);
    t->limits.steps = limits->steps < most ? limits->steps : most;
    t->threads = pr_pool_threads(pool);
    t->chunk_max = chunk_count(t->limits.rows, t->limits.steps);
    size_t drawn = drawn_items(model, &t->limits);
    parsrec_status status = PARSREC_OK;
    pr_params_pack(&model->params, drawn != PR_WHOLE_CATALOGUE);
    if (drawn != PR_WHOLE_CATALOGUE)
        status = pr_item_tables_new(&t->tables, model, pool, &t->limits, t->chunk_max, drawn, err);
    for (size_t i = 0; i < 2 && status == PARSREC_OK; i++)
        status = pr_storage_take(&t->moment[i], model, PR_BLOCK_USERS, model->params.size, err);
    if (status == PARSREC_OK && !take_memory(t))
        status = pr_fail_memory(err);
    if (status != PARSREC_OK) {
        pr_trainer_free(t);
        return status;
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
    pr_storage_give(t->storage, t->moment[0]);
    pr_storage_give(t->storage, t->moment[1]);
    pr_free_aligned(t->extra);
    pr_free_aligned(t->user_gradient);
    pr_free_aligned(t->common);
    pr_free(t->chunks);
    pr_free(t->order);
    pr_free(t->masks);
    pr_free(t->users);
    pr_free(t->touched);
    pr_free(t->user_slot);
    pr_free_aligned(t->user_sum);
    pr_item_tables_free(t->tables);
    pr_free(t->spans);
    pr_free(t->squares);
    pr_free(t->division.begin);
    pr_free(t->division.facts);
    pr_free_aligned(t->division.user_rows);
    pr_free(t->division.users);
    pr_free(t->parts);
    pr_free(t);
}

parsrec_status pr_trainer_divide(pr_trainer *t, pr_ranks *ranks, parsrec_error *err)
{
    division *d = &t->division;
    size_t rows = t->limits.rows;
    assert(d->ranks == NULL);
    if (ranks == NULL)
        return PARSREC_OK;
    *d = (division){.rank = parsrec_ranks_rank(ranks), .size = parsrec_ranks_size(ranks)};
    d->begin = pr_alloc(d->size + 1, sizeof *d->begin);
    d->facts = pr_alloc_zero(t->chunk_max, sizeof *d->facts);
    d->user_rows = pr_alloc_aligned(rows * user_width(t->model), sizeof *d->user_rows);
    d->users = pr_alloc_zero(rows, sizeof *d->users);
    if (d->begin == NULL || d->facts == NULL || d->user_rows == NULL || d->users == NULL)
        return pr_fail_memory(err);
    d->ranks = ranks;
    PR_TRY(pr_user_rows_reserve(t->model->user_rows, rows * d->size, rows, err));
    return t->tables != NULL ? pr_item_tables_divide(t->tables, ranks, err) : PARSREC_OK;
}

/* ---- a batch ---- */

static parsrec_status check_batch(const pr_trainer *t, const pr_batch *batch, size_t *steps,
                                  parsrec_error *err)
{
    size_t items = 0;
    *steps = 0;
    bool fits = batch->rows > 0 && batch->rows <= t->limits.rows;
    for (size_t r = 0; fits && r < batch->rows; r++) {
        const pr_basket *b = &batch->baskets[r];
        fits = b->size > 0 && b->size <= t->limits.basket && b->history.count <= t->limits.history;
        *steps = b->size > *steps ? b->size : *steps;
        items += b->size + b->history.count;
    }
    fits = fits && items <= pr_limits_items(&t->limits);
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
    pr_chunk *chunk = &t->chunks[t->own_first + task];
    chunk->arena = &t->arenas[worker];
    pr_arena_reset(chunk->arena);
    if (t->parts != NULL) {
        chunk->parts = t->parts + (size_t)worker * PR_STEP_PARTS;
        chunk->mark = pr_now();
    }
    for (size_t i = 0; t->tables != NULL && i < 2; i++)
        chunk->slots[i] = pr_item_tables_slots(t->tables, worker, i);
    memset(chunk->gradient, 0, t->model->params.packed * sizeof *chunk->gradient);
    t->model->kind->learn(t->model, chunk);
}

/* Adds up a range of the chunks' gradients along the tree, into that of chunk 0. */
static void add_chunks(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_trainer *t = context;
    const span *s = &t->spans[task];
    for (size_t stride = 1; stride < t->chunk_count; stride *= 2)
        for (size_t c = stride; c < t->chunk_count; c += 2 * stride)
            pr_add(t->chunks[c - stride].gradient + s->from, t->chunks[c].gradient + s->from, s->n);
    t->squares[task] = pr_sum_squares(t->gradient + s->from, s->n);
}

/* ---- a batch among ranks ----
 *
 * Every rank knows the whole batch and how it is cut into chunks. It learns from its own chunks and adds
 * up the subtrees that it holds all of. Each range of the gradient has one owner, who gets what the
 * others have of it, adds along the rest of the tree, and sends the sum to all. The update is the same
 * on all ranks, to the bit. */

static size_t chunks_begin(const pr_trainer *t, size_t rank)
{
    return pr_ranks_begin(t->chunk_count, t->division.size, rank);
}

static size_t spans_begin(const pr_trainer *t, size_t rank)
{
    return pr_ranks_begin(t->span_count, t->division.size, rank);
}

/* Additions that concern chunks of this rank alone. */
static void add_own(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const pr_trainer *t = context;
    const span *s = &t->spans[task];
    for (size_t stride = 1; stride < t->chunk_count; stride *= 2)
        for (size_t c = stride; c < t->chunk_count; c += 2 * stride)
            if (pr_tree_within(c, t->chunk_count, t->own_first, t->own_end))
                pr_add(t->chunks[c - stride].gradient + s->from, t->chunks[c].gradient + s->from,
                       s->n);
}

/* The other ones, of a range that this rank owns. */
static void add_others(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_trainer *t = context;
    const division *d = &t->division;
    size_t at = spans_begin(t, d->rank) + task;
    const span *s = &t->spans[at];
    for (size_t stride = 1; stride < t->chunk_count; stride *= 2)
        for (size_t c = stride, holder = 0; c < t->chunk_count; c += 2 * stride) {
            while (c >= chunks_begin(t, holder + 1))
                holder++;
            if (!pr_tree_within(c, t->chunk_count, chunks_begin(t, holder),
                                chunks_begin(t, holder + 1)))
                pr_add(t->chunks[c - stride].gradient + s->from, t->chunks[c].gradient + s->from,
                       s->n);
        }
    t->squares[at] = pr_sum_squares(t->gradient + s->from, s->n);
}

typedef void post_to(pr_ranks *ranks, unsigned rank, pr_real *numbers, size_t bytes);

static void post_out(pr_ranks *ranks, unsigned rank, pr_real *numbers, size_t bytes)
{
    pr_ranks_send(ranks, rank, numbers, bytes);
}

static void post_in(pr_ranks *ranks, unsigned rank, pr_real *numbers, size_t bytes)
{
    pr_ranks_receive(ranks, rank, numbers, bytes);
}

/* Posts to or from a rank those ranges of a gradient that `owner` owns; neighbours as one. */
static void post_ranges(const pr_trainer *t, post_to *post, unsigned rank, unsigned owner,
                        pr_real *gradient)
{
    size_t end = spans_begin(t, owner + 1);
    for (size_t i = spans_begin(t, owner), next; i < end; i = next) {
        size_t from = t->spans[i].from, n = t->spans[i].n;
        for (next = i + 1; next < end && t->spans[next].from == from + n; next++)
            n += t->spans[next].n;
        post(t->division.ranks, rank, gradient + from, n * sizeof *gradient);
    }
}

/* Subtree by subtree of the chunks that `holder` has, what `owner` owns. */
static void post_chunks(const pr_trainer *t, post_to *post, unsigned rank, unsigned holder,
                        unsigned owner)
{
    size_t from = chunks_begin(t, holder), to = chunks_begin(t, holder + 1);
    for (size_t c = from; c < to; c++)
        if (!pr_tree_within(c, t->chunk_count, from, to))
            post_ranges(t, post, rank, owner, t->chunks[c].gradient);
}

/* Everybody gets what is known of each chunk and each user row of the batch. */
static void share_facts(pr_trainer *t, size_t columns)
{
    division *d = &t->division;
    for (size_t c = t->own_first; c < t->own_end; c++) {
        const pr_chunk *chunk = &t->chunks[c];
        chunk_facts *f = &d->facts[c];
        *f = (chunk_facts){chunk->loss, chunk->total, chunk->items, {0}};
        for (size_t i = 0; i < PR_ITEM_GROUPS; i++)
            f->rows[i] = chunk->item_rows[i].count;
        for (size_t r = 0; r < chunk->rows; r++) {
            size_t at = (size_t)(chunk->order - t->order) + r;
            d->users[at] = t->users[chunk->order[r]];
            if (columns > 0)
                memcpy(d->user_rows + at * columns, t->user_gradient + chunk->order[r] * columns,
                       columns * sizeof *d->user_rows);
        }
    }
    size_t rows = t->batch->rows,
           sizes[] = {sizeof *d->facts, sizeof *d->users, columns * sizeof *d->user_rows};
    void *blocks[] = {d->facts, d->users, d->user_rows};
    for (size_t i = 0; i < 3; i++) {
        for (unsigned r = 0; r <= d->size; r++) {
            size_t chunk = chunks_begin(t, r);
            d->begin[r] = sizes[i] * (i == 0 ? chunk : chunk_begin(rows, t->chunk_count, chunk));
        }
        pr_ranks_share(d->ranks, blocks[i], d->begin);
    }
}

static void take_facts(pr_trainer *t, size_t columns)
{
    const division *d = &t->division;
    for (size_t c = 0; c < t->chunk_count; c++) {
        const chunk_facts *f = &d->facts[c];
        pr_chunk *chunk = &t->chunks[c];
        chunk->loss = f->loss;
        chunk->total = f->total;
        chunk->items = f->items;
        for (size_t i = 0; i < PR_ITEM_GROUPS; i++)
            chunk->item_rows[i].count = f->rows[i];
    }
    for (size_t i = 0; i < t->batch->rows; i++) {
        t->users[t->order[i]] = d->users[i];
        if (columns > 0)
            memcpy(t->user_gradient + t->order[i] * columns, d->user_rows + i * columns,
                   columns * sizeof *d->user_rows);
    }
}

/* After it every rank has all facts, all user gradients and all sums; those of item tables come with
 * pr_item_tables_join. */
static parsrec_status add_among_ranks(pr_trainer *t, parsrec_error *err)
{
    division *d = &t->division;
    size_t columns = user_width(t->model);
    pr_pool_run(t->pool, add_own, t, t->span_count);
    share_facts(t, columns);
    for (unsigned i = 1; i < d->size; i++) {
        unsigned from = (d->rank + d->size - i) % d->size, to = (d->rank + i) % d->size;
        post_chunks(t, post_in, from, from, d->rank);
        post_chunks(t, post_out, to, d->rank, to);
    }
    PR_TRY(pr_ranks_exchange(d->ranks, err));
    take_facts(t, columns);
    size_t own = spans_begin(t, d->rank + 1) - spans_begin(t, d->rank);
    pr_pool_run(t->pool, add_others, t, own);
    for (unsigned i = 1; i < d->size; i++) {
        unsigned from = (d->rank + d->size - i) % d->size, to = (d->rank + i) % d->size;
        post_ranges(t, post_in, from, from, t->gradient);
        post_ranges(t, post_out, to, d->rank, t->gradient);
    }
    for (unsigned r = 0; r <= d->size; r++)
        d->begin[r] = spans_begin(t, r) * sizeof *t->squares;
    pr_ranks_share(d->ranks, t->squares, d->begin);
    return pr_ranks_exchange(d->ranks, err);
}

/* Whether the chunks of the batch are. One alone is learnt by every rank, which is faster than to send what
 * one of them learnt. */
static bool is_divided(const pr_trainer *t)
{
    return t->division.ranks != NULL && t->chunk_count > 1;
}

parsrec_status pr_trainer_expect(pr_trainer *t, const pr_batch *batch, parsrec_error *err)
{
    pr_user_rows *rows = t->model->user_rows;
    PR_TRY(check_batch(t, batch, &t->steps, err));
    deal(t, batch, t->steps);
    for (unsigned r = 0; rows != NULL && r < t->division.size; r++) {
        bool divided = is_divided(t);
        size_t first = divided ? chunks_begin(t, r) : 0;
        size_t end = divided ? chunks_begin(t, r + 1) : t->chunk_count;
        size_t at = chunk_begin(batch->rows, t->chunk_count, first);
        for (; at < chunk_begin(batch->rows, t->chunk_count, end); at++)
            PR_TRY(pr_user_rows_want(rows, r, batch->baskets[t->order[at]].user, err));
    }
    PR_TRY(pr_user_rows_post(rows, t->model, err));
    t->expected = true;
    t->expected_number = batch->number;
    t->expected_rows = pr_user_rows_posted(rows);
    return PARSREC_OK;
}

/* Deals the batch to chunks, and has the rows of its users here, unless both is done. */
static parsrec_status begin_batch(pr_trainer *t, const pr_batch *batch, parsrec_error *err)
{
    const pr_user_rows *rows = t->model->user_rows;
    bool done = t->expected && t->expected_number == batch->number &&
                t->expected_rows == pr_user_rows_posted(rows);
    if (!done)
        PR_TRY(pr_trainer_expect(t, batch, err));
    t->expected = false;
    if (done)
        return PARSREC_OK;
    return rows != NULL ? pr_ranks_exchange(t->division.ranks, err) : PARSREC_OK;
}

/* ---- the sum ---- */

/* The gradient of touched[i]. */
static pr_real *user_gradient(const pr_trainer *t, const pr_param *users, size_t i)
{
    return t->user_sum + i * users->cols;
}

/* Adds up the rows' user gradients in the order of the batch. Returns their sum of squares. */
static double add_users(pr_trainer *t, size_t rows)
{
    const pr_param *users = pr_params_users(&t->model->params);
    double squares = 0;
    for (size_t i = 0; i < t->touched_count; i++)
        t->user_slot[t->touched[i]] = 0;
    t->touched_count = 0;
    for (size_t r = 0; users != NULL && r < rows; r++) {
        int32_t user = t->users[r];
        bool known = t->user_slot[user] > 0;
        if (!known) {
            t->touched[t->touched_count] = user;
            t->user_slot[user] = (uint32_t)++t->touched_count;
        }
        pr_real *row = user_gradient(t, users, t->user_slot[user] - 1);
        if (!known)
            memset(row, 0, users->cols * sizeof *row);
        pr_add(row, t->user_gradient + r * users->cols, users->cols);
    }
    for (size_t i = 0; i < t->touched_count; i++)
        squares += pr_sum_squares(user_gradient(t, users, i), users->cols);
    return squares;
}

parsrec_status pr_trainer_gradient(pr_trainer *t, const pr_batch *batch, pr_batch_result *result,
                                   parsrec_error *err)
{
    PR_TRY(begin_batch(t, batch, err));
    t->batch = batch;
    for (size_t c = 0; c < t->chunk_count; c++) {
        pr_chunk *chunk = &t->chunks[c];
        chunk->batch = batch;
        chunk->steps = t->steps;
        chunk->seed = t->seed;
        chunk->masks = t->masks;
        chunk->user_gradient = t->user_gradient;
        chunk->users = t->users;
        chunk->gradient = c == 0 ? t->gradient : t->extra + (c - 1) * t->model->params.packed;
    }
    if (t->tables != NULL)
        pr_item_tables_deal(t->tables, batch, t->chunks, t->chunk_count);
    if (t->model->kind->mask_bytes(t->model) > 0)
        pr_pool_run(t->pool, draw_mask, t, t->steps);
    bool divided = is_divided(t);
    t->own_first = divided ? chunks_begin(t, t->division.rank) : 0;
    t->own_end = divided ? chunks_begin(t, t->division.rank + 1) : t->chunk_count;
    pr_pool_run(t->pool, learn_chunk, t, t->own_end - t->own_first);
    if (divided)
        PR_TRY(add_among_ranks(t, err));
    else
        pr_pool_run(t->pool, add_chunks, t, t->span_count);
    double squares = add_users(t, batch->rows), more;
    if (t->tables != NULL)
        PR_TRY(pr_item_tables_join(t->tables, t->chunks, t->chunk_count, &more, err));
    else
        more = pr_shared_gradient(t->model, t->gradient, t->pool);
    squares += more;
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

static void update(pr_trainer *t, size_t at, const pr_real *g, size_t n, bool lazy, bool decays)
{
    pr_adam adam = t->adam;
    adam.decay = decays ? t->model->config.weight_decay : 0;
    pr_real *w = t->model->weights + at;
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
    const span *s = &t->spans[task];
    update(t, s->at, t->gradient + s->from, s->n, s->lazy, s->decays);
}

static void update_user(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_trainer *t = context;
    const pr_param *users = pr_params_users(&t->model->params);
    size_t row = pr_param_row_here(users, (size_t)t->touched[task]);
    if (row != PR_ROW_ELSEWHERE)
        update(t, users->at + row * users->cols, user_gradient(t, users, task), users->cols, true,
               true);
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
    if (t->tables == NULL)
        pr_shared_add(t->model, t->common, -1, t->pool);
    pr_pool_run(t->pool, update_span, t, t->span_count);
    if (t->tables == NULL)
        pr_shared_add(t->model, t->common, 1, t->pool);
    pr_pool_run(t->pool, update_user, t, t->touched_count);
    pr_adam adam = t->adam;
    adam.decay = c->weight_decay;
    if (t->tables != NULL)
        pr_item_tables_update(t->tables, t->moment, &adam, t->clip);
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
    assert(t->tables == NULL);
    return t->gradient;
}

void pr_trainer_copy_gradient(const pr_trainer *t, pr_real *block)
{
    const pr_param *users = pr_params_users(&t->model->params);
    assert(t->model->user_rows == NULL);
    memset(block, 0, t->model->params.size * sizeof *block);
    for (size_t i = 0; i < t->span_count; i++)
        memcpy(block + t->spans[i].at, t->gradient + t->spans[i].from,
               t->spans[i].n * sizeof *block);
    for (size_t i = 0; i < t->touched_count; i++)
        memcpy(block + users->at + (size_t)t->touched[i] * users->cols, user_gradient(t, users, i),
               users->cols * sizeof *block);
    if (t->tables != NULL)
        pr_item_tables_scatter(t->tables, block);
}

void pr_trainer_show(pr_trainer *t)
{
    if (t->tables != NULL)
        pr_item_tables_show(t->tables);
}

void pr_trainer_hide(pr_trainer *t)
{
    if (t->tables != NULL)
        pr_item_tables_hide(t->tables);
}

parsrec_status pr_trainer_take(pr_trainer *t, const pr_real *weights, parsrec_error *err)
{
    pr_real *room = NULL;
    if (t->tables != NULL) {
        room = pr_alloc_aligned(pr_shared_room(t->model), sizeof *room);
        if (room == NULL)
            return pr_fail_memory(err);
    }
    memcpy(t->model->weights, weights, t->model->params.size * sizeof *weights);
    if (t->tables != NULL) /* what is left are the items' own rows */
        pr_shared_add(t->model, room, -1, t->pool);
    pr_free_aligned(room);
    return PARSREC_OK;
}

size_t pr_trainer_touched(const pr_trainer *t, const int32_t **users)
{
    *users = t->touched;
    return t->touched_count;
}

pr_real *pr_trainer_moment(pr_trainer *t, unsigned which)
{
    assert(which < 2);
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
