/* Joining the gradient rows of chunks, and updating the rows that were touched. */
#include "model/item_tables.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "math/layers.h"

enum {
    COLUMNS = 16,   /* of a task that sums */
    ROWS = 256,     /* of a task that updates */
    KEPT_ROWS = 512 /* of a task that puts sums into the weights */
};

/* One table of a group, with its rows of the batch. */
typedef struct item_table {
    const pr_param *param, *shared; /* shared: its parts, or NULL */
    size_t width;
    pr_real *pool;  /* rows of all chunks, one chunk behind the other */
    pr_real *sum;   /* [group->count, width]: joined */
    pr_real *parts; /* [group->part_count, width] */
    pr_real *kept;  /* [rows, width]: own rows while sums are shown */
} item_table;

typedef struct group {
    item_table tables[PR_ITEM_TABLES];
    size_t table_count;
    size_t room;      /* rows of all chunks of a batch, at most */
    int32_t *ids_of;  /* [room]: of all chunks */
    uint32_t *joined; /* [room]: where each row of a chunk is among the joined ones */
    /* The joined rows of the batch, in the order in which chunks first have them. */
    size_t count;
    int32_t *ids;
    /* Shared parts that the batch touched. */
    bool shares;
    size_t part_count;
    int32_t *part_ids;   /* [parts] */
    uint32_t *part_slot; /* [parts]: one more than a part's place in part_ids; 0: not touched */
} group;

/* Rows of a parameter that lie side by side in a sum: a task of squares and updates. */
typedef struct job {
    const pr_param *param;
    const int32_t *ids;
    const pr_real *sum;
    size_t count, width;
    double squares;
} job;

struct pr_item_tables {
    const pr_model *model;
    pr_pool *pool;
    size_t drawn, threads;
    group groups[PR_ITEM_GROUPS];
    int32_t *slots;   /* [items + 1]: of the join; zero between batches */
    int32_t *scratch; /* [threads, 2, items + 1] */
    job *jobs;
    size_t job_count, job_most;
    /* of the work under way: */
    const pr_chunk *chunks;
    size_t chunk_count;
    const pr_adam *adam;
    pr_real *const *moment;
    pr_real clip;
    bool shown;
};

/* ---- memory ---- */

static size_t most_rows(const pr_model *model, size_t rows)
{
    return rows < model->items + 1 ? rows : model->items + 1;
}

/* Rows of all chunks of a batch together. */
static size_t room_of(const pr_model *model, const pr_limits *limits, size_t chunks, size_t drawn,
                      size_t which)
{
    size_t items = which == PR_ITEMS_SCORED ? pr_limits_items(limits) + chunks * (drawn + 1)
                                            : limits->rows * limits->basket + chunks;
    size_t most = chunks * (model->items + 1);
    return items < most ? items : most;
}

static size_t tasks_of(size_t rows, size_t each)
{
    return (rows + each - 1) / each;
}

size_t pr_item_tables_bytes(const pr_model *model, const pr_limits *limits, size_t chunks,
                            size_t drawn, unsigned threads)
{
    size_t bytes = (1 + 2 * (size_t)threads) * (model->items + 1) * sizeof(int32_t);
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        if (p->group == PR_NOT_BY_ITEM)
            continue;
        size_t room = room_of(model, limits, chunks, drawn, p->group);
        size_t width = pr_param_item_width(p);
        bytes += (room + most_rows(model, room)) * width * sizeof(pr_real);
        if (pr_shared_of(model, p) != NULL)
            bytes += (model->tree.parts + p->rows) * width * sizeof(pr_real);
    }
    return bytes;
}

static bool take_table(const pr_item_tables *t, const group *g, item_table *table)
{
    size_t joined = most_rows(t->model, g->room), one = sizeof(pr_real);
    table->pool = pr_alloc_aligned(g->room * table->width, one);
    table->sum = pr_alloc_aligned(joined * table->width, one);
    if (table->shared != NULL) {
        table->parts = pr_alloc_aligned(t->model->tree.parts * table->width, one);
        table->kept = pr_alloc_aligned(pr_param_size(table->param), one);
    }
    return table->pool != NULL && table->sum != NULL &&
           (table->shared == NULL || (table->parts != NULL && table->kept != NULL));
}

static bool take_group(pr_item_tables *t, group *g)
{
    size_t joined = most_rows(t->model, g->room), parts = t->model->tree.parts;
    g->ids_of = pr_alloc(g->room, sizeof *g->ids_of);
    g->joined = pr_alloc(g->room, sizeof *g->joined);
    g->ids = pr_alloc(joined, sizeof *g->ids);
    g->part_ids = pr_alloc(parts, sizeof *g->part_ids);
    g->part_slot = pr_alloc_zero(parts, sizeof *g->part_slot);
    bool taken = g->ids_of != NULL && g->joined != NULL && g->ids != NULL && g->part_ids != NULL &&
                 g->part_slot != NULL;
    for (size_t i = 0; taken && i < g->table_count; i++) {
        taken = take_table(t, g, &g->tables[i]);
        t->job_most += tasks_of(joined, ROWS) + tasks_of(parts, ROWS);
    }
    return taken;
}

static void list_tables(pr_item_tables *t)
{
    const pr_params *params = &t->model->params;
    for (size_t i = 0; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        if (p->group == PR_NOT_BY_ITEM)
            continue;
        group *g = &t->groups[p->group];
        assert(g->table_count < PR_ITEM_TABLES);
        const pr_param *shared = pr_shared_of(t->model, p);
        g->shares |= shared != NULL;
        g->tables[g->table_count++] =
            (item_table){.param = p, .shared = shared, .width = pr_param_item_width(p)};
    }
}

parsrec_status pr_item_tables_new(pr_item_tables **out, const pr_model *model, pr_pool *pool,
                                  const pr_limits *limits, size_t chunks, size_t drawn,
                                  parsrec_error *err)
{
    *out = NULL;
    pr_item_tables *t = pr_alloc_zero(1, sizeof *t);
    if (t == NULL)
        return pr_fail_memory(err);
    *t = (pr_item_tables){
        .model = model, .pool = pool, .drawn = drawn, .threads = pr_pool_threads(pool)};
    list_tables(t);
    bool taken = true;
    for (size_t i = 0; i < PR_ITEM_GROUPS && taken; i++) {
        t->groups[i].room = room_of(model, limits, chunks, drawn, i);
        taken = take_group(t, &t->groups[i]);
    }
    t->slots = pr_alloc_zero(model->items + 1, sizeof *t->slots);
    t->scratch = pr_alloc_zero(2 * t->threads * (model->items + 1), sizeof *t->scratch);
    t->jobs = pr_alloc(t->job_most, sizeof *t->jobs);
    if (!taken || t->slots == NULL || t->scratch == NULL || t->jobs == NULL) {
        pr_item_tables_free(t);
        return pr_fail_memory(err);
    }
    *out = t;
    return PARSREC_OK;
}

void pr_item_tables_free(pr_item_tables *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++) {
        group *g = &t->groups[i];
        for (size_t k = 0; k < g->table_count; k++) {
            pr_free_aligned(g->tables[k].pool);
            pr_free_aligned(g->tables[k].sum);
            pr_free_aligned(g->tables[k].parts);
            pr_free_aligned(g->tables[k].kept);
        }
        pr_free(g->ids_of);
        pr_free(g->joined);
        pr_free(g->ids);
        pr_free(g->part_ids);
        pr_free(g->part_slot);
    }
    pr_free(t->slots);
    pr_free(t->scratch);
    pr_free(t->jobs);
    pr_free(t);
}

int32_t *pr_item_tables_slots(pr_item_tables *t, unsigned worker, size_t which)
{
    assert(worker < t->threads && which < 2);
    return t->scratch + (2 * worker + which) * (t->model->items + 1);
}

/* ---- chunks ---- */

void pr_item_tables_deal(pr_item_tables *t, const pr_batch *batch, pr_chunk *chunks, size_t count)
{
    size_t at[PR_ITEM_GROUPS] = {0};
    for (size_t c = 0; c < count; c++) {
        size_t most[PR_ITEM_GROUPS] = {[PR_ITEMS_SCORED] = t->drawn + 1, [PR_ITEMS_PLACED] = 1};
        for (size_t r = 0; r < chunks[c].rows; r++) {
            const pr_basket *b = &batch->baskets[chunks[c].order[r]];
            most[PR_ITEMS_PLACED] += b->size;
            most[PR_ITEMS_SCORED] += b->size + b->history.count;
        }
        for (size_t i = 0; i < PR_ITEM_GROUPS; i++) {
            group *g = &t->groups[i];
            pr_item_rows *rows = &chunks[c].item_rows[i];
            *rows = (pr_item_rows){.ids = g->ids_of + at[i], .most = most_rows(t->model, most[i])};
            for (size_t k = 0; k < g->table_count; k++)
                rows->values[k] = g->tables[k].pool + at[i] * g->tables[k].width;
            at[i] += rows->most;
            assert(at[i] <= g->room);
        }
    }
}

/* ---- joining ---- */

/* Numbers the items of all chunks in the order in which they first occur. */
static void join_ids(pr_item_tables *t, group *g, size_t which)
{
    g->count = 0;
    for (size_t c = 0; c < t->chunk_count; c++) {
        const pr_item_rows *rows = &t->chunks[c].item_rows[which];
        uint32_t *joined = g->joined + (rows->ids - g->ids_of);
        for (size_t i = 0; i < rows->count; i++) {
            int32_t *slot = &t->slots[rows->ids[i]];
            if (*slot == 0) {
                g->ids[g->count] = rows->ids[i];
                *slot = (int32_t)++g->count;
            }
            joined[i] = (uint32_t)*slot - 1;
        }
    }
    for (size_t i = 0; i < g->count; i++)
        t->slots[g->ids[i]] = 0;
}

/* The same for the shared parts of these items. */
static void join_parts(const pr_item_tables *t, group *g)
{
    for (size_t i = 0; i < g->part_count; i++)
        g->part_slot[g->part_ids[i]] = 0;
    g->part_count = 0;
    for (size_t i = 0; g->shares && i < g->count; i++) {
        pr_part_walk walk = pr_part_walk_of(t->model, (size_t)g->ids[i]);
        while (pr_part_next(&walk))
            if (g->part_slot[walk.part] == 0) {
                g->part_ids[g->part_count] = (int32_t)walk.part;
                g->part_slot[walk.part] = (uint32_t)++g->part_count;
            }
    }
}

/* Some columns of a table, so that every sum runs over chunks and items in order. */
typedef struct columns {
    const pr_item_tables *tables;
    group *group;
    size_t which, table;
} columns;

static void sum_rows(const columns *w, const item_table *k, size_t first, size_t n)
{
    const pr_item_tables *t = w->tables;
    size_t known = 0;
    for (size_t c = 0; c < t->chunk_count; c++) {
        const pr_item_rows *rows = &t->chunks[c].item_rows[w->which];
        const uint32_t *joined = w->group->joined + (rows->ids - w->group->ids_of);
        const pr_real *from = rows->values[w->table] + first;
        for (size_t i = 0; i < rows->count; i++, from += k->width) {
            pr_real *to = k->sum + joined[i] * k->width + first;
            if (joined[i] == known) { /* the first chunk that has it */
                memcpy(to, from, n * sizeof *to);
                known++;
            } else {
                pr_add(to, from, n);
            }
        }
    }
    assert(known == w->group->count);
}

static void sum_parts(const columns *w, const item_table *k, size_t first, size_t n)
{
    const group *g = w->group;
    for (size_t i = 0; i < g->part_count; i++)
        memset(k->parts + i * k->width + first, 0, n * sizeof *k->parts);
    for (size_t i = 0; i < g->count; i++) {
        pr_part_walk walk = pr_part_walk_of(w->tables->model, (size_t)g->ids[i]);
        const pr_real *from = k->sum + i * k->width + first;
        while (pr_part_next(&walk))
            pr_add_scaled(k->parts + (g->part_slot[walk.part] - 1) * k->width + first, from,
                          walk.factor, n);
    }
}

static void sum_columns(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const columns *w = context;
    const item_table *k = &w->group->tables[w->table];
    size_t first = task * COLUMNS, n = k->width - first < COLUMNS ? k->width - first : COLUMNS;
    sum_rows(w, k, first, n);
    if (k->shared != NULL)
        sum_parts(w, k, first, n);
}

static void list_jobs(pr_item_tables *t, const pr_param *param, const int32_t *ids,
                      const pr_real *sum, size_t count, size_t width)
{
    for (size_t at = 0; at < count; at += ROWS) {
        size_t n = count - at < ROWS ? count - at : ROWS;
        assert(t->job_count < t->job_most);
        t->jobs[t->job_count++] = (job){param, ids + at, sum + at * width, n, width, 0};
    }
}

static void square_job(void *context, size_t task, unsigned worker)
{
    (void)worker;
    pr_item_tables *t = context;
    job *j = &t->jobs[task];
    j->squares = pr_sum_squares(j->sum, j->count * j->width);
}

double pr_item_tables_join(pr_item_tables *t, const pr_chunk *chunks, size_t count)
{
    double squares = 0;
    t->chunks = chunks;
    t->chunk_count = count;
    t->job_count = 0;
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++) {
        group *g = &t->groups[i];
        join_ids(t, g, i);
        join_parts(t, g);
        for (size_t k = 0; k < g->table_count; k++) {
            const item_table *table = &g->tables[k];
            columns w = {t, g, i, k};
            pr_pool_run(t->pool, sum_columns, &w, tasks_of(table->width, COLUMNS));
            list_jobs(t, table->param, g->ids, table->sum, g->count, table->width);
            if (table->shared != NULL)
                list_jobs(t, table->shared, g->part_ids, table->parts, g->part_count, table->width);
        }
    }
    pr_pool_run(t->pool, square_job, t, t->job_count);
    for (size_t i = 0; i < t->job_count; i++)
        squares += t->jobs[i].squares;
    return squares;
}

/* ---- update ---- */

/* Numbers for each item, or for each part. */
static size_t rows_of(const pr_param *p, size_t width)
{
    return pr_param_size(p) / width;
}

/* The rows whose turn it is decay by as much as all updates since their last turn amount to. */
static void decay_param(const pr_item_tables *t, const pr_param *p, size_t width)
{
    size_t rows = rows_of(p, width), turns = tasks_of(rows, PR_DECAY_ROWS);
    if (rows == 0)
        return;
    size_t from = (size_t)(t->adam->step % turns) * PR_DECAY_ROWS;
    size_t n = rows - from < PR_DECAY_ROWS ? rows - from : PR_DECAY_ROWS;
    pr_adam_decay(t->model->weights + p->at + from * width, t->adam, turns, n * width);
}

static void decay(const pr_item_tables *t)
{
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++)
        for (size_t k = 0; k < t->groups[i].table_count; k++) {
            const item_table *table = &t->groups[i].tables[k];
            if (table->param->fill == PR_FILL_TABLE) /* biases do not decay */
                decay_param(t, table->param, table->width);
            if (table->shared != NULL)
                decay_param(t, table->shared, table->width);
        }
}

static void update_job(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const pr_item_tables *t = context;
    const job *j = &t->jobs[task];
    pr_adam adam = *t->adam;
    adam.decay = 0;
    size_t at = j->param->at, rows = rows_of(j->param, j->width);
    pr_real *w = t->model->weights + at;
    if (t->model->config.optimiser != PR_SGD) {
        pr_adam_update_rows(w, t->moment[0] + at, t->moment[1] + at, j->sum, j->ids, &adam, t->clip,
                            j->count, rows, j->width);
        return;
    }
    for (size_t i = 0; i < j->count; i++)
        if ((size_t)j->ids[i] < rows)
            pr_sgd_update(w + (size_t)j->ids[i] * j->width, j->sum + i * j->width,
                          (pr_real)adam.rate, t->clip, j->width);
}

void pr_item_tables_update(pr_item_tables *t, pr_real *const moment[2], const pr_adam *adam,
                           pr_real clip)
{
    assert(!t->shown);
    t->adam = adam;
    t->moment = moment;
    t->clip = clip;
    if (t->model->config.optimiser != PR_SGD && adam->decay > 0)
        decay(t);
    pr_pool_run(t->pool, update_job, t, t->job_count);
}

void pr_item_tables_scatter(const pr_item_tables *t, pr_real *block)
{
    for (size_t i = 0; i < t->job_count; i++) {
        const job *j = &t->jobs[i];
        for (size_t k = 0; k < j->count; k++)
            if ((size_t)j->ids[k] < rows_of(j->param, j->width))
                memcpy(block + j->param->at + (size_t)j->ids[k] * j->width, j->sum + k * j->width,
                       j->width * sizeof *block);
    }
}

/* ---- showing ---- */

typedef struct showing {
    const pr_item_tables *tables;
    const item_table *table;
} showing;

static void show_rows(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const showing *s = context;
    const pr_model *model = s->tables->model;
    const item_table *k = s->table;
    size_t rows = k->param->rows, end = (task + 1) * KEPT_ROWS;
    for (size_t v = task * KEPT_ROWS; v < rows && v < end; v++) {
        pr_real *row = model->weights + k->param->at + v * k->width;
        memcpy(k->kept + v * k->width, row, k->width * sizeof *row);
        pr_item_add_parts(row, model, k->shared, v);
    }
}

void pr_item_tables_show(pr_item_tables *t)
{
    assert(!t->shown);
    t->shown = true;
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++)
        for (size_t k = 0; k < t->groups[i].table_count; k++) {
            showing s = {t, &t->groups[i].tables[k]};
            if (s.table->shared != NULL)
                pr_pool_run(t->pool, show_rows, &s, tasks_of(s.table->param->rows, KEPT_ROWS));
        }
}

void pr_item_tables_hide(pr_item_tables *t)
{
    assert(t->shown);
    t->shown = false;
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++)
        for (size_t k = 0; k < t->groups[i].table_count; k++) {
            const item_table *table = &t->groups[i].tables[k];
            if (table->shared != NULL)
                memcpy(t->model->weights + table->param->at, table->kept,
                       pr_param_size(table->param) * sizeof *table->kept);
        }
}
