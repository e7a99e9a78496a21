/* PARSRec on open baskets: rows side by side, each with items placed so far. A step is run when its
 * outcome is asked for. */
#include <assert.h>
#include <string.h>

#include "math/bag.h"
#include "math/embedding.h"
#include "math/linear.h"
#include "model/history.h"
#include "model/parsrec_ready.h"
#include "model/recall.h"

enum { FEW = 8 }; /* rows of a session that uses what a model has ready */

typedef struct state {
    pr_arnn_net net;
    const pr_arnn_ready *ready;         /* NULL: rows are steps of the plain network */
    pr_real *umove, *joint;             /* [rows,dv], [rows,dv + dq] */
    pr_real *fresh[PR_ARNN_MAX_LAYERS]; /* [rows,2dq]: keys and values just projected */
    pr_real *kept[PR_ARNN_MAX_LAYERS];  /* [rows,capacity,2dq] */
    pr_real *hidden;                    /* [rows,dv]: after the present step */
    pr_real *memory;                    /* [rows,dv]: what an lstm keeps then */
    size_t *at;                         /* [capacity]: 0, 1, 2, ... */
    size_t *keys, *placed;              /* [rows] */
    int32_t *ids;                       /* [rows] */
    int32_t *chosen;            /* [rows,capacity]: what was placed, or the start of a basket */
    int32_t *bag_items, *slots; /* [V] */
    pr_real *bag_weights;
    int32_t *had;      /* [rows,V]: items of each row's past, had_count of them */
    size_t *had_count; /* [rows] */
    pr_real (*recall)[PR_RECALL_FEATURES]; /* [rows,V] */
    pr_real *expected;                     /* [rows,V], or NULL */
    /* What is there of the present step: normed sums, next hidden states, outputs. */
    bool looked, moved, ran;
} state;

static void take_state(state *s, pr_arena *arena, const pr_model *model, size_t rows,
                       size_t capacity)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    *s = (state){.net.d = d};
    pr_arnn_tape_take(&s->net.t, arena, &d, rows, rows, capacity);
    for (size_t l = 0; l < d.layers && !pr_arnn_is_upper(&d, l); l++) {
        s->fresh[l] = s->net.t.layer[l].kv;
        s->kept[l] = pr_arena_take(arena, rows * capacity * 2 * d.dq, sizeof(pr_real));
    }
    s->hidden = pr_arena_take(arena, rows * d.dv, sizeof(pr_real));
    s->memory = pr_arena_take(arena, rows * d.dv, sizeof(pr_real));
    s->umove = pr_arena_take(arena, rows * d.dv, sizeof(pr_real));
    s->joint = pr_arena_take(arena, rows * (d.dv + d.dq), sizeof(pr_real));
    s->at = pr_arena_take(arena, capacity, sizeof *s->at);
    s->keys = pr_arena_take(arena, rows, sizeof *s->keys);
    s->placed = pr_arena_take(arena, rows, sizeof *s->placed);
    s->ids = pr_arena_take(arena, rows, sizeof *s->ids);
    s->chosen = pr_arena_take(arena, rows * capacity, sizeof *s->chosen);
    s->bag_items = pr_arena_take(arena, d.items, sizeof *s->bag_items);
    s->bag_weights = pr_arena_take(arena, d.items, sizeof *s->bag_weights);
    s->slots = pr_arena_take_zero(arena, d.items, sizeof *s->slots);
    if (!d.recall)
        return;
    s->had = pr_arena_take(arena, rows * d.items, sizeof *s->had);
    s->had_count = pr_arena_take(arena, rows, sizeof *s->had_count);
    s->recall = pr_arena_take(arena, rows * d.items, sizeof *s->recall);
    if (d.neighbours > 0)
        s->expected = pr_arena_take(arena, rows * d.items, sizeof *s->expected);
}

size_t pr_arnn_session_bytes(const pr_model *model, size_t rows, size_t capacity)
{
    pr_arena counter = pr_arena_counter();
    state sizing;
    pr_arena_take(&counter, 1, sizeof sizing);
    take_state(&sizing, &counter, model, rows, capacity);
    return counter.used;
}

void pr_arnn_open(pr_session *session)
{
    state *s = pr_arena_take(&session->arena, 1, sizeof *s);
    take_state(s, &session->arena, session->model, session->rows, session->capacity);
    for (size_t p = 0; p < session->capacity; p++)
        s->at[p] = p;
    s->net.w = pr_arnn_view_of(session->model, session->model->weights);
    s->ready = session->rows <= FEW ? session->model->ready : NULL;
    session->own = s;
}

/* Projects e's rows and files them as the newest key of each row that placed something. */
static void file_keys(pr_session *session, const int32_t *items)
{
    state *s = session->own;
    size_t width = 2 * s->net.d.dq;
    for (size_t l = 0; l < s->net.d.layers; l++)
        s->net.t.layer[l].kv = s->fresh[l];
    pr_arnn_place_forward(&s->net, 0, session->active, true);
    for (size_t l = 0; l < s->net.d.layers && s->kept[l] != NULL; l++) {
        for (size_t r = 0; r < session->active; r++)
            if (items == NULL || items[r] >= 0)
                memcpy(s->kept[l] + (r * session->capacity + s->keys[r] - 1) * width,
                       s->fresh[l] + r * width, width * sizeof(pr_real));
        s->net.t.layer[l].kv = s->kept[l];
    }
}

static void begin_history(pr_session *session, size_t r, const pr_start *start)
{
    state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    pr_real *h = s->net.t.z + r * 2 * d->dv;
    if (start->vector != NULL) {
        memcpy(h, start->vector, d->dv * sizeof *h);
        return;
    }
    size_t offsets[2] = {0, pr_history_bag(s->bag_items, s->bag_weights, s->slots, &start->history,
                                           &session->model->config)};
    pr_bags bag = {s->bag_items, s->bag_weights, offsets};
    pr_bag_forward(h, s->net.w.item, &bag, NULL, 1, d->items, d->dv);
}

static void add_features(pr_session *session, const pr_start *starts)
{
    state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    if (d->traits->count == 0)
        return;
    for (size_t r = 0; r < session->active; r++)
        pr_arnn_about_read(&s->net, r, &starts[r].about);
    pr_arnn_about_forward(&s->net, session->active);
    for (size_t r = 0; r < session->active; r++)
        pr_add(s->net.t.z + r * 2 * d->dv, s->net.t.about + r * d->dv, d->dv);
}

/* Rows that leave something out have the same past, most of them. */
static bool same_past(const pr_start *a, const pr_start *b)
{
    return a->vector == b->vector && a->history.items == b->history.items &&
           a->history.count == b->history.count && a->history.sessions == b->history.sessions &&
           a->history.session_count == b->history.session_count;
}

void pr_arnn_start(pr_session *session, const pr_start *starts)
{
    state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    size_t rows = session->active;
    for (size_t r = 0; r < rows; r++) {
        s->ids[r] = starts[r].user < 0 ? (int32_t)d->users : starts[r].user;
        if (r > 0 && same_past(&starts[r], &starts[r - 1]))
            memcpy(s->net.t.z + r * 2 * d->dv, s->net.t.z + (r - 1) * 2 * d->dv,
                   d->dv * sizeof(pr_real));
        else
            begin_history(session, r, &starts[r]);
        if (d->recall)
            s->had_count[r] = pr_recall_make(
                s->had + r * d->items, s->recall + r * d->items,
                s->expected != NULL ? s->expected + r * d->items : NULL, s->slots,
                &starts[r].history, session->model->config.recall_decay, &s->net.w.near);
        if (d->pull)
            memset(s->net.t.pull + r * d->dv, 0, d->dv * sizeof(pr_real));
        s->keys[r] = 1; /* the start of the basket, until an item is placed */
        s->placed[r] = 0;
    }
    add_features(session, starts);
    pr_embedding_forward(s->net.t.u, s->net.w.user, s->ids, rows, d->du);
    pr_arnn_cell_begin(&s->net, rows);
    pr_arnn_parts_begin(&s->net, rows);
    s->looked = s->moved = s->ran = false;
    for (size_t r = 0; r < rows; r++)
        s->ids[r] = s->chosen[r * session->capacity] = (int32_t)d->items;
    if (s->ready != NULL) {
        pr_arnn_quick_user(&s->net, s->ready, rows, s->umove);
        return;
    }
    pr_arnn_user_forward(&s->net, 0, rows);
    pr_embedding_forward(s->net.t.e, s->net.w.item, s->ids, rows, d->dv);
    file_keys(session, NULL);
}

/* ---- steps of few rows ---- */

static void look(pr_session *session)
{
    state *s = session->own;
    for (size_t r = 0; r < session->active && !s->looked; r++)
        pr_arnn_quick_look(&s->net, s->ready, r, s->chosen + r * session->capacity, s->keys[r]);
    s->looked = true;
}

static void quick_move(pr_session *session)
{
    state *s = session->own;
    look(session);
    if (!s->moved)
        pr_arnn_quick_move(&s->net, s->ready, session->active, s->hidden, s->umove, s->joint);
    s->moved = true;
}

static void quick_run(pr_session *session)
{
    state *s = session->own;
    look(session);
    pr_arnn_quick_answer(&s->net, session->active);
    pr_arnn_parts_forward(&s->net, &(pr_arnn_step){.rows = session->active});
    s->ran = true;
}

/* ---- steps as matrices ---- */

static void run(pr_session *session)
{
    state *s = session->own;
    if (s->ran)
        return;
    if (s->ready != NULL) {
        quick_run(session);
        return;
    }
    pr_arnn_step step = {.rows = session->active,
                         .at = s->at,
                         .stride = session->capacity,
                         .counts = s->keys,
                         .hidden = s->hidden,
                         .hidden_stride = s->net.d.dv,
                         .hidden_rows = session->active,
                         .memory = s->memory};
    for (size_t r = 0; r < session->active; r++)
        step.query = step.query || s->keys[r] > 1;
    pr_arnn_step_forward(&s->net, &step);
    s->moved = s->ran = true;
}

/* The next hidden states. */
static void move(pr_session *session)
{
    const state *s = session->own;
    if (s->ready != NULL)
        quick_move(session);
    else
        run(session);
}

void pr_arnn_place(pr_session *session, const int32_t *items)
{
    state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    move(session);
    for (size_t r = 0; r < session->active; r++) {
        s->ids[r] = items[r] < 0 ? (int32_t)d->items : items[r];
        if (items[r] < 0)
            continue;
        assert(s->placed[r] < session->capacity);
        s->chosen[r * session->capacity + s->placed[r]] = items[r];
        s->keys[r] = ++s->placed[r]; /* the first item takes the place of the start */
        memcpy(s->net.t.z + r * 2 * d->dv, s->hidden + r * d->dv, d->dv * sizeof *s->hidden);
        if (d->cell == PR_CELL_LSTM)
            memcpy(s->net.t.memory + r * d->dv, s->memory + r * d->dv, d->dv * sizeof *s->memory);
        if (d->pull)
            pr_add(s->net.t.pull + r * d->dv, s->net.w.pull + (size_t)items[r] * d->dv, d->dv);
    }
    s->looked = s->moved = s->ran = false;
    if (s->ready != NULL)
        return;
    pr_embedding_forward(s->net.t.e, s->net.w.item, s->ids, session->active, d->dv);
    file_keys(session, items);
}

/* What item i of the row's past is recalled with. */
static pr_real recalled(const state *s, size_t row, size_t i)
{
    const pr_real *f = s->recall[row * s->net.d.items + i];
    const pr_real *gate = s->net.t.gate + row * PR_GATES;
    pr_real sum = 0;
    for (size_t k = 0; k < PR_RECALL_FEATURES; k++)
        sum += gate[k] * f[k];
    return sum;
}

/* The gate of what neighbours lead to expect. */
static pr_real expectation(const state *s, size_t row)
{
    return s->net.t.gate[row * PR_GATES + PR_GATE_EXPECTED];
}

void pr_arnn_score_all(pr_session *session, pr_real *scores)
{
    state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    run(session);
    if (d->bias)
        pr_bias_spread(scores, s->net.w.bias, session->active, d->items);
    void (*multiply)(pr_real *, size_t, pr_matrix, pr_matrix, pr_real, size_t, size_t, size_t) =
        s->ready != NULL ? pr_gemm_each
                         : pr_gemm; /* where a row's bits must not depend on others */
    multiply(scores, d->items, pr_mat(s->net.t.o, d->dv), pr_flip(s->net.w.item, d->dv), d->bias,
             session->active, d->items, d->dv);
    for (size_t r = 0; d->recall && r < session->active; r++) {
        pr_real *row = scores + r * d->items;
        for (size_t i = 0; i < s->had_count[r]; i++)
            row[s->had[r * d->items + i]] += recalled(s, r, i);
        if (s->expected != NULL)
            pr_add_scaled(row, s->expected + r * d->items, expectation(s, r), d->items);
    }
}

void pr_arnn_score(pr_session *session, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    state *s = session->own;
    run(session);
    const pr_arnn_dims *d = &s->net.d;
    pr_embedding_scores(scores, s->net.w.item, items, s->net.t.o + row * d->dv, n, d->dv);
    for (size_t i = 0; d->bias && i < n; i++)
        scores[i] += s->net.w.bias[items[i]];
    for (size_t i = 0; s->expected != NULL && i < n; i++)
        scores[i] += expectation(s, row) * s->expected[row * d->items + (size_t)items[i]];
    if (!d->recall)
        return;
    const int32_t *had = s->had + row * d->items;
    for (size_t i = 0; i < s->had_count[row]; i++)
        s->slots[had[i]] = (int32_t)i + 1;
    for (size_t i = 0; i < n; i++)
        if (s->slots[items[i]] > 0)
            scores[i] += recalled(s, row, (size_t)s->slots[items[i]] - 1);
    for (size_t i = 0; i < s->had_count[row]; i++)
        s->slots[had[i]] = 0;
}

/* Of the last layer that looks at items, mean over heads. */
size_t pr_arnn_attention(pr_session *session, size_t row, pr_real *weights)
{
    state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    size_t n = s->placed[row], layer = d->paper ? 0 : d->layers - 1;
    if (n == 0)
        return 0;
    run(session);
    const pr_real *w = s->net.t.layer[layer].weight + row * d->heads * s->net.t.keys;
    for (size_t p = 0; p < n; p++) {
        weights[p] = 0;
        for (size_t h = 0; h < d->heads; h++)
            weights[p] += w[h * n + p] / (pr_real)d->heads;
    }
    return n;
}

/* What is recalled of an item and what is expected of it. */
static pr_real memory_of(const state *s, size_t row, int32_t item)
{
    size_t V = s->net.d.items;
    pr_real sum = 0;
    for (size_t i = 0; s->net.d.recall && i < s->had_count[row]; i++)
        if (s->had[row * V + i] == item)
            sum += recalled(s, row, i);
    if (s->expected != NULL)
        sum += expectation(s, row) * s->expected[row * V + (size_t)item];
    return sum;
}

/* What the history adds to every output, less what features add with it. */
static pr_real history_of(const state *s, size_t row, const pr_real *e)
{
    const pr_arnn_dims *d = &s->net.d;
    if (!d->past)
        return 0;
    pr_real sum = pr_dot(s->net.t.past + row * d->dv, e, d->dv);
    for (size_t i = 0; d->traits->count > 0 && i < d->dv; i++)
        sum -= e[i] * pr_dot(s->net.w.past_w + i * d->dv, s->net.t.about + row * d->dv, d->dv);
    return sum;
}

/* What the p-th placed item adds to an item with the row e of the table. */
static pr_real pulled(const pr_session *session, size_t row, size_t p, const pr_real *e)
{
    const state *s = session->own;
    size_t dv = s->net.d.dv;
    const pr_real *from = s->net.w.pull + (size_t)s->chosen[row * session->capacity + p] * dv;
    pr_real sum = 0;
    for (size_t i = 0; i < dv; i++)
        sum += s->net.t.scale[row * dv + i] * from[i] * e[i];
    return sum;
}

bool pr_arnn_score_parts(pr_session *session, size_t row, int32_t item, pr_parts *parts,
                         pr_real *placed)
{
    state *s = session->own;
    const pr_arnn_dims *d = &s->net.d;
    const pr_real *e = s->net.w.item + (size_t)item * d->dv;
    if (!d->bias && !d->pull && !d->past && !d->recall)
        return false;
    *parts = (pr_parts){.item = d->bias ? s->net.w.bias[item] : 0};
    pr_arnn_score(session, row, &item, 1, &parts->network);
    parts->history = history_of(s, row, e);
    parts->memory = memory_of(s, row, item);
    parts->network -= parts->item + parts->history + parts->memory;
    for (size_t p = 0; p < s->placed[row]; p++) {
        placed[p] = d->pull ? pulled(session, row, p, e) : 0;
        parts->network -= placed[p];
    }
    return true;
}

void pr_arnn_peek(pr_session *session, size_t row, const pr_real **o, const pr_real **hidden)
{
    state *s = session->own;
    run(session);
    move(session);
    *o = s->net.t.o + row * s->net.d.dv;
    *hidden = s->hidden + row * s->net.d.dv;
}
