/* Joining the gradient rows of chunks, and updating the rows that were touched. */
#include "model/item_tables.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "math/layers.h"
#include "model/chunk_tree.h"
#include "model/storage.h"

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

/* Row `from` of all chunks' rows is added to row `to`; both are of the joined row `slot`. */
typedef struct addition {
    uint32_t to, from, slot;
} addition;

typedef struct group {
    item_table tables[PR_ITEM_TABLES];
    size_t table_count;
    size_t room;     /* rows of all chunks of a batch, at most */
    int32_t *ids_of; /* [room]: of all chunks */
    /* The joined rows of the batch, in the order in which chunks first have them. */
    size_t count;
    int32_t *ids;
    uint32_t *head;  /* [count]: the first row of each, which becomes the sum */
    addition *added; /* [room]: rows of chunks in the order in which they are added */
    size_t added_count;
    uint32_t *top, *below, *chunk_of; /* scratch of join_ids */
    /* With ranks: additions that whoever holds the chunks does before anything is sent, of this rank;
     * and of each row, its slot, or NOT_SENT. */
    addition *early;
    size_t early_count;
    uint32_t *slot_of;
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
    const pr_storage *storage; /* of `kept`; the model's */
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
    /* Several ranks; NULL and nothing else if there are none. */
    pr_ranks *ranks;
    bool divided; /* the batch: one of a single chunk is everybody's own */
    unsigned rank, size;
    size_t *begin;    /* [size + 1] */
    size_t *out, *in; /* [size + 1]: where rows to and from a rank begin, in numbers */
    pr_real *outbox, *inbox;
    size_t outbox_size, inbox_size;
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

static parsrec_status take_table(const pr_item_tables *t, const group *g, item_table *table,
                                 parsrec_error *err)
{
    size_t joined = most_rows(t->model, g->room), one = sizeof(pr_real);
    table->pool = pr_alloc_aligned(g->room * table->width, one);
    table->sum = pr_alloc_aligned(joined * table->width, one);
    if (table->pool == NULL || table->sum == NULL)
        return pr_fail_memory(err);
    if (table->shared == NULL)
        return PARSREC_OK;
    table->parts = pr_alloc_aligned(t->model->tree.parts * table->width, one);
    if (table->parts == NULL)
        return pr_fail_memory(err);
    return pr_storage_take(&table->kept, t->model, PR_BLOCK_ASIDE, pr_param_size(table->param),
                           err);
}

static parsrec_status take_group(pr_item_tables *t, group *g, parsrec_error *err)
{
    size_t joined = most_rows(t->model, g->room), parts = t->model->tree.parts;
    g->ids_of = pr_alloc(g->room, sizeof *g->ids_of);
    g->ids = pr_alloc(joined, sizeof *g->ids);
    g->head = pr_alloc(joined, sizeof *g->head);
    g->top = pr_alloc(joined, sizeof *g->top);
    g->added = pr_alloc(g->room, sizeof *g->added);
    g->below = pr_alloc(g->room, sizeof *g->below);
    g->chunk_of = pr_alloc(g->room, sizeof *g->chunk_of);
    g->part_ids = pr_alloc(parts, sizeof *g->part_ids);
    g->part_slot = pr_alloc_zero(parts, sizeof *g->part_slot);
    bool taken = g->ids_of != NULL && g->ids != NULL && g->head != NULL && g->top != NULL &&
                 g->added != NULL && g->below != NULL && g->chunk_of != NULL &&
                 g->part_ids != NULL && g->part_slot != NULL;
    if (!taken)
        return pr_fail_memory(err);
    for (size_t i = 0; i < g->table_count; i++) {
        PR_TRY(take_table(t, g, &g->tables[i], err));
        t->job_most += tasks_of(joined, ROWS) + tasks_of(parts, ROWS);
    }
    return PARSREC_OK;
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
    *t = (pr_item_tables){.model = model,
                          .storage = model->storage,
                          .pool = pool,
                          .drawn = drawn,
                          .threads = pr_pool_threads(pool)};
    list_tables(t);
    parsrec_status status = PARSREC_OK;
    for (size_t i = 0; i < PR_ITEM_GROUPS && status == PARSREC_OK; i++) {
        t->groups[i].room = room_of(model, limits, chunks, drawn, i);
        status = take_group(t, &t->groups[i], err);
    }
    t->slots = pr_alloc_zero(model->items + 1, sizeof *t->slots);
    t->scratch = pr_alloc_zero(2 * t->threads * (model->items + 1), sizeof *t->scratch);
    t->jobs = pr_alloc(t->job_most, sizeof *t->jobs);
    if (status == PARSREC_OK && (t->slots == NULL || t->scratch == NULL || t->jobs == NULL))
        status = pr_fail_memory(err);
    if (status != PARSREC_OK) {
        pr_item_tables_free(t);
        return status;
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
            pr_storage_give(t->storage, g->tables[k].kept);
        }
        pr_free(g->ids_of);
        pr_free(g->ids);
        pr_free(g->head);
        pr_free(g->top);
        pr_free(g->added);
        pr_free(g->below);
        pr_free(g->chunk_of);
        pr_free(g->early);
        pr_free(g->slot_of);
        pr_free(g->part_ids);
        pr_free(g->part_slot);
    }
    pr_free(t->slots);
    pr_free(t->scratch);
    pr_free(t->jobs);
    pr_free(t->begin);
    pr_free(t->out);
    pr_free(t->in);
    pr_free(t->outbox);
    pr_free(t->inbox);
    pr_free(t);
}

parsrec_status pr_item_tables_divide(pr_item_tables *t, pr_ranks *ranks, parsrec_error *err)
{
    assert(t->ranks == NULL && ranks != NULL);
    t->rank = parsrec_ranks_rank(ranks);
    t->size = parsrec_ranks_size(ranks);
    t->begin = pr_alloc(t->size + 1, sizeof *t->begin);
    t->out = pr_alloc(t->size + 1, sizeof *t->out);
    t->in = pr_alloc(t->size + 1, sizeof *t->in);
    bool taken = t->begin != NULL && t->out != NULL && t->in != NULL;
    for (size_t i = 0; taken && i < PR_ITEM_GROUPS; i++) {
        group *g = &t->groups[i];
        g->early = pr_alloc(g->room, sizeof *g->early);
        g->slot_of = pr_alloc(g->room, sizeof *g->slot_of);
        taken = g->early != NULL && g->slot_of != NULL;
    }
    if (!taken)
        return pr_fail_memory(err);
    t->ranks = ranks;
    return PARSREC_OK;
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

enum { NOTHING_BELOW = UINT32_MAX, NOT_SENT = UINT32_MAX };

static size_t chunks_begin(const pr_item_tables *t, size_t rank)
{
    return pr_ranks_begin(t->chunk_count, t->size, rank);
}

/* The rank that holds a chunk, or owns a slot, of `count` that are dealt in order. */
static unsigned dealt_to(const pr_item_tables *t, size_t at, size_t count)
{
    return (unsigned)(((at + 1) * t->size - 1) / count);
}

/* Whether one rank holds all chunks that two rows of them can have been added up from. */
static bool held_by_one(const pr_item_tables *t, size_t to, size_t from, unsigned holder)
{
    size_t block = (size_t)2 << pr_tree_height(to, from), first = to / block * block;
    size_t end = first + block < t->chunk_count ? first + block : t->chunk_count;
    return first >= chunks_begin(t, holder) && end <= chunks_begin(t, holder + 1);
}

static void add_top(const pr_item_tables *t, group *g, size_t slot)
{
    uint32_t from = g->top[slot], to = g->below[from];
    addition added = {to, from, (uint32_t)slot};
    g->top[slot] = to;
    if (t->divided) {
        unsigned holder = dealt_to(t, g->chunk_of[from], t->chunk_count);
        if (held_by_one(t, g->chunk_of[to], g->chunk_of[from], holder)) {
            g->slot_of[from] = NOT_SENT;
            if (holder == t->rank)
                g->early[g->early_count++] = added;
            return;
        }
    }
    g->added[g->added_count++] = added;
}

/* Numbers the items of all chunks in the order in which they first occur, and lists the additions of
 * their rows along the tree of chunks (chunk_tree.h). An item is in some chunks only; its rows wait in a
 * stack, and the two on top are added as soon as no later chunk can come between them. */
static void join_ids(pr_item_tables *t, group *g, size_t which)
{
    g->count = g->added_count = g->early_count = 0;
    for (size_t c = 0; c < t->chunk_count; c++) {
        const pr_item_rows *rows = &t->chunks[c].item_rows[which];
        uint32_t row = (uint32_t)(rows->ids - g->ids_of);
        for (size_t i = 0; i < rows->count; i++, row++) {
            int32_t *known = &t->slots[rows->ids[i]];
            g->chunk_of[row] = (uint32_t)c;
            g->below[row] = NOTHING_BELOW;
            if (*known == 0) {
                g->ids[g->count] = rows->ids[i];
                g->head[g->count] = g->top[g->count] = row;
                if (t->divided)
                    g->slot_of[row] = (uint32_t)g->count;
                *known = (int32_t)++g->count;
                continue;
            }
            size_t slot = (size_t)*known - 1;
            if (t->divided)
                g->slot_of[row] = (uint32_t)slot;
            for (uint32_t top; (top = g->top[slot], g->below[top] != NOTHING_BELOW) &&
                               pr_tree_height(g->chunk_of[g->below[top]], g->chunk_of[top]) <
                                   pr_tree_height(g->chunk_of[top], c);)
                add_top(t, g, slot);
            g->below[row] = g->top[slot];
            g->top[slot] = row;
        }
    }
    for (size_t i = 0; i < g->count; i++) {
        while (g->below[g->top[i]] != NOTHING_BELOW)
            add_top(t, g, i);
        assert(g->top[i] == g->head[i]);
        t->slots[g->ids[i]] = 0;
    }
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

/* Some columns of a table, so that every sum has one order. */
typedef struct columns {
    const pr_item_tables *tables;
    group *group;
    size_t table;
    size_t slots_from, slots_to;
} columns;

static void add_rows(const addition *added, size_t count, pr_real *pool, size_t width, size_t n)
{
    for (size_t i = 0; i < count; i++)
        pr_add(pool + added[i].to * width, pool + added[i].from * width, n);
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

/* Columns of the table that a task has. */
static size_t columns_of(const item_table *k, size_t task, size_t *first)
{
    *first = task * COLUMNS;
    return k->width - *first < COLUMNS ? k->width - *first : COLUMNS;
}

/* Additions that need nothing of other ranks. */
static void add_early(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const columns *w = context;
    const group *g = w->group;
    const item_table *k = &g->tables[w->table];
    size_t first, n = columns_of(k, task, &first);
    add_rows(g->early, g->early_count, k->pool + first, k->width, n);
}

/* The sums of slots that this rank owns. */
static void add_slots(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const columns *w = context;
    const group *g = w->group;
    const item_table *k = &g->tables[w->table];
    size_t first, n = columns_of(k, task, &first);
    add_rows(g->added, g->added_count, k->pool + first, k->width, n);
    for (size_t i = w->slots_from; i < w->slots_to; i++)
        memcpy(k->sum + i * k->width + first, k->pool + g->head[i] * k->width + first,
               n * sizeof *k->sum);
}

static void add_parts(void *context, size_t task, unsigned worker)
{
    (void)worker;
    const columns *w = context;
    const item_table *k = &w->group->tables[w->table];
    size_t first, n = columns_of(k, task, &first);
    sum_parts(w, k, first, n);
}

static void run_columns(pr_item_tables *t, pr_task *task, size_t which, bool shared_only)
{
    group *g = &t->groups[which];
    size_t from = 0, to = g->count;
    if (t->divided) {
        from = pr_ranks_begin(g->count, t->size, t->rank);
        to = pr_ranks_begin(g->count, t->size, t->rank + 1);
    }
    for (size_t k = 0; k < g->table_count; k++) {
        columns w = {t, g, k, from, to};
        if (!shared_only || g->tables[k].shared != NULL)
            pr_pool_run(t->pool, task, &w, tasks_of(g->tables[k].width, COLUMNS));
    }
}

/* ---- joining among ranks ----
 *
 * The list of items of every chunk goes to every rank, so that all number the joined rows alike and know
 * who sends what. The slots are dealt to the ranks in order; their owner gets the rows of a slot, adds
 * them and sends the sum to all. */

static void share_ids(pr_item_tables *t)
{
    for (unsigned i = 1; i < t->size; i++) {
        unsigned from = (t->rank + t->size - i) % t->size, to = (t->rank + i) % t->size;
        for (size_t which = 0; which < PR_ITEM_GROUPS; which++) {
            for (size_t c = chunks_begin(t, from); c < chunks_begin(t, from + 1); c++) {
                const pr_item_rows *rows = &t->chunks[c].item_rows[which];
                pr_ranks_receive(t->ranks, from, rows->ids, rows->count * sizeof *rows->ids);
            }
            for (size_t c = chunks_begin(t, t->rank); c < chunks_begin(t, t->rank + 1); c++) {
                const pr_item_rows *rows = &t->chunks[c].item_rows[which];
                pr_ranks_send(t->ranks, to, rows->ids, rows->count * sizeof *rows->ids);
            }
        }
    }
}

/* Visits the rows that travel, in the order in which they lie in a message: what this rank sends (out)
 * and what it gets, counted or copied. */
typedef enum visit { COUNT_ROWS, PACK_ROWS, UNPACK_ROWS } visit;

static size_t copy_row(const group *g, size_t row, pr_real *box, visit what)
{
    size_t at = 0;
    for (size_t k = 0; k < g->table_count; k++) {
        const item_table *table = &g->tables[k];
        pr_real *values = table->pool + row * table->width;
        if (what == PACK_ROWS)
            memcpy(box + at, values, table->width * sizeof *box);
        else if (what == UNPACK_ROWS)
            memcpy(values, box + at, table->width * sizeof *box);
        at += table->width;
    }
    return at;
}

static void visit_rows(pr_item_tables *t, visit what)
{
    for (size_t which = 0; which < PR_ITEM_GROUPS; which++) {
        const group *g = &t->groups[which];
        for (size_t c = 0; c < t->chunk_count; c++) {
            unsigned holder = dealt_to(t, c, t->chunk_count);
            const pr_item_rows *rows = &t->chunks[c].item_rows[which];
            size_t row = (size_t)(rows->ids - g->ids_of);
            if ((what == PACK_ROWS && holder != t->rank) ||
                (what == UNPACK_ROWS && holder == t->rank))
                continue;
            for (size_t i = 0; i < rows->count; i++, row++) {
                if (g->slot_of[row] == NOT_SENT)
                    continue;
                unsigned owner = dealt_to(t, g->slot_of[row], g->count);
                if (owner == holder || (holder != t->rank && owner != t->rank))
                    continue;
                bool out = holder == t->rank;
                size_t *at = out ? &t->out[owner] : &t->in[holder];
                *at += copy_row(g, row, (out ? t->outbox : t->inbox) + *at, what);
            }
        }
    }
}

/* Numbers per rank become places where the messages of each begin; returns their sum. */
static size_t places(size_t *at, unsigned size)
{
    size_t sum = 0;
    for (unsigned r = 0; r <= size; r++) {
        size_t n = r < size ? at[r] : 0;
        at[r] = sum;
        sum += n;
    }
    return sum;
}

/* After packing or unpacking, the place of each rank is where the next one's was. */
static void restore(size_t *at, unsigned size)
{
    memmove(at + 1, at, (size - 1) * sizeof *at);
    at[0] = 0;
}

static parsrec_status exchange_rows(pr_item_tables *t, parsrec_error *err)
{
    memset(t->out, 0, (t->size + 1) * sizeof *t->out);
    memset(t->in, 0, (t->size + 1) * sizeof *t->in);
    visit_rows(t, COUNT_ROWS);
    size_t out = places(t->out, t->size), in = places(t->in, t->size);
    PR_TRY(pr_grow(&t->outbox, &t->outbox_size, out, sizeof *t->outbox, err));
    PR_TRY(pr_grow(&t->inbox, &t->inbox_size, in, sizeof *t->inbox, err));
    visit_rows(t, PACK_ROWS);
    restore(t->out, t->size);
    for (unsigned i = 1; i < t->size; i++) {
        unsigned from = (t->rank + t->size - i) % t->size, to = (t->rank + i) % t->size;
        pr_ranks_receive(t->ranks, from, t->inbox + t->in[from],
                         (t->in[from + 1] - t->in[from]) * sizeof *t->inbox);
        pr_ranks_send(t->ranks, to, t->outbox + t->out[to],
                      (t->out[to + 1] - t->out[to]) * sizeof *t->outbox);
    }
    PR_TRY(pr_ranks_exchange(t->ranks, err));
    visit_rows(t, UNPACK_ROWS);
    return PARSREC_OK;
}

/* Keeps the additions of slots that this rank owns. */
static void keep_own(const pr_item_tables *t, group *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->added_count; i++)
        if (dealt_to(t, g->added[i].slot, g->count) == t->rank)
            g->added[kept++] = g->added[i];
    g->added_count = kept;
}

static parsrec_status share_sums(pr_item_tables *t, parsrec_error *err)
{
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++) {
        const group *g = &t->groups[i];
        for (size_t k = 0; k < g->table_count; k++) {
            size_t bytes = g->tables[k].width * sizeof(pr_real);
            for (unsigned r = 0; r <= t->size; r++)
                t->begin[r] = pr_ranks_begin(g->count, t->size, r) * bytes;
            pr_ranks_share(t->ranks, g->tables[k].sum, t->begin);
        }
    }
    return pr_ranks_exchange(t->ranks, err);
}

/* ---- the joined rows ---- */

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

parsrec_status pr_item_tables_join(pr_item_tables *t, const pr_chunk *chunks, size_t count,
                                   double *squares, parsrec_error *err)
{
    t->chunks = chunks;
    t->chunk_count = count;
    t->job_count = 0;
    t->divided = t->ranks != NULL && count > 1;
    if (t->divided) {
        share_ids(t);
        PR_TRY(pr_ranks_exchange(t->ranks, err));
    }
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++) {
        join_ids(t, &t->groups[i], i);
        join_parts(t, &t->groups[i]);
    }
    if (t->divided) {
        for (size_t i = 0; i < PR_ITEM_GROUPS; i++) {
            run_columns(t, add_early, i, false);
            keep_own(t, &t->groups[i]);
        }
        PR_TRY(exchange_rows(t, err));
    }
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++)
        run_columns(t, add_slots, i, false);
    if (t->divided)
        PR_TRY(share_sums(t, err));
    for (size_t i = 0; i < PR_ITEM_GROUPS; i++) {
        const group *g = &t->groups[i];
        run_columns(t, add_parts, i, true);
        for (size_t k = 0; k < g->table_count; k++) {
            const item_table *table = &g->tables[k];
            list_jobs(t, table->param, g->ids, table->sum, g->count, table->width);
            if (table->shared != NULL)
                list_jobs(t, table->shared, g->part_ids, table->parts, g->part_count, table->width);
        }
    }
    pr_pool_run(t->pool, square_job, t, t->job_count);
    *squares = 0;
    for (size_t i = 0; i < t->job_count; i++)
        *squares += t->jobs[i].squares;
    return PARSREC_OK;
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
