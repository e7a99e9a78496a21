/* Fast answers: tables made when a model is loaded, the steps of few rows that use them, and what is kept
 * of baskets that are still open (docs/math.md, Answering). */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "math/attention.h"
#include "math/layers.h"
#include "math/panels.h"
#include "model/parsrec/parsrec_scorer.h"

enum {
    ITEMS_AT_ONCE = 256,
    TABLES_MOST =
        64 << 20, /* beyond, the catalogue takes longer to score than the network to run */
};

/* ---- making the tables ---- */

static bool allows(const pr_arnn_dims *d)
{
    size_t row = (2 * d->heads * d->dq + d->heads + 2 * d->dv) * sizeof(pr_real);
    return d->layers == 1 && d->ffn == PR_FFN_NONE && d->cell == PR_CELL_RNN && d->norm &&
           d->residual && d->items < TABLES_MOST / row;
}

/* What a query is multiplied with, and what is added, of items whose keys and values are in kv. */
static void make_items(pr_real *out, size_t stride, const pr_arnn_net *net, const pr_real *kv,
                       size_t rows)
{
    size_t H = net->d.heads, dq = net->d.dq, width = dq / H;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_real scale = 1 / pr_sqrt((pr_real)width);
    for (size_t h = 0; h < H; h++) {
        pr_matrix keys = pr_mat(kv + h * width, 2 * dq);
        pr_matrix values = pr_mat(kv + dq + h * width, 2 * dq);
        pr_gemm(out + h * dq, stride, keys, pr_mat(w->query_w + h * width * dq, dq), 0, rows, dq,
                width);
        pr_gemm(out + 2 * H * dq + h, stride, keys, pr_mat(w->query_b + h * width, 1), 0, rows, 1,
                width);
        pr_gemm(out + (H + h) * dq, stride, values, pr_flip(w->join_w + h * width, dq), 0, rows, dq,
                width);
    }
    for (size_t r = 0; r < rows; r++) {
        pr_real *row = out + r * stride;
        for (size_t i = 0; i < H * dq; i++) {
            row[i] *= scale;
            row[H * dq + i] += w->join_b[i % dq] / (pr_real)H; /* weights of a head sum to 1 */
        }
        for (size_t h = 0; h < H; h++)
            row[2 * H * dq + h] *= scale;
    }
}

/* What w[n,dz], a map of [user ; h ; map], makes of [h ; unit]: the layer norm's gain and shift and the map behind it
 * are folded in. to[n,dv + dq], and to_b[n], to which what does not depend on them is added. */
static void fold(pr_real *to, pr_real *to_b, const pr_arnn_net *net, const pr_real *w, size_t n,
                 const pr_real *mapped)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *layer = &net->w.layer[0];
    size_t in = d->dv + d->dq;
    pr_matrix from_map = pr_mat(w + d->du + d->dv, d->dz);
    for (size_t r = 0; r < n; r++)
        memcpy(to + r * in, w + r * d->dz + d->du, d->dv * sizeof *to);
    pr_gemm(to + d->dv, in, from_map, pr_mat(layer->map_w, d->dq), 0, n, d->dq, d->dv);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < d->dq; i++)
            to[r * in + d->dv + i] *= layer->gain[i];
    pr_gemm(to_b, 1, from_map, pr_mat(mapped, 1), 1, n, 1, d->dv);
}

/* `room` is for 2dv * (dv + dq) numbers and dv more. */
static void make_maps(pr_arnn_ready *ready, const pr_arnn_net *net, pr_real *room)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    size_t in = d->dv + d->dq;
    pr_real *mapped = room + 2 * d->dv * in;
    pr_linear_forward(mapped, w->shift, w->map_w, w->map_b, 1, d->dq, d->dv);
    memcpy(ready->cell_b, net->w.cell_b, 2 * d->dv * sizeof *room);
    fold(room, ready->cell_b, net, net->w.cell_w, 2 * d->dv, mapped);
    pr_panels_make(ready->user_w, net->w.cell_w, d->dz, d->du, 2 * d->dv);
    pr_panels_make(ready->move_w, room, in, in, d->dv);
    pr_panels_make(ready->answer_w, room + d->dv * in, in, in, d->dv);
    pr_panels_make(ready->table, net->w.item, d->dv, d->dv, d->items);
    if (d->recall) {
        memset(ready->gate_b, 0, d->gates * sizeof *room); /* the map's own comes with the user */
        fold(ready->gate_w, ready->gate_b, net, net->w.gate_w, d->gates, mapped);
    }
}

/* Takes the parts from an arena; with a counting arena this is how they are sized. */
static pr_arnn_ready *take_ready(pr_arena *arena, const pr_arnn_dims *d)
{
    size_t in = d->dv + d->dq, real = sizeof(pr_real);
    pr_arnn_ready *ready = pr_arena_take(arena, 1, sizeof *ready);
    pr_arnn_ready parts = {.stride = (2 * d->heads * d->dq + d->heads + 15) / 16 * 16};
    parts.items = pr_arena_take(arena, (d->items + 1) * parts.stride, real);
    parts.user_w = pr_arena_take(arena, pr_panels_size(d->du, 2 * d->dv), real);
    parts.move_w = pr_arena_take(arena, pr_panels_size(in, d->dv), real);
    parts.answer_w = pr_arena_take(arena, pr_panels_size(in, d->dv), real);
    parts.table = pr_arena_take(arena, pr_panels_size(d->dv, d->items), real);
    parts.cell_b = pr_arena_take(arena, 2 * d->dv, real);
    parts.gate_w = pr_arena_take(arena, d->gates * in, real);
    parts.gate_b = pr_arena_take(arena, d->gates, real);
    parts.coarse.codes = pr_arena_take(arena, pr_coarse_bytes(d->items, d->dv), 1);
    if (ready != NULL)
        *ready = parts;
    return ready;
}

static void make_all_items(pr_arnn_ready *ready, const pr_arnn_net *net, pr_real *kv)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    for (size_t i = 0; i < d->items + 1; i += ITEMS_AT_ONCE) {
        size_t rows = d->items + 1 - i < ITEMS_AT_ONCE ? d->items + 1 - i : ITEMS_AT_ONCE;
        pr_linear_forward(kv, net->w.item + i * d->dv, w->kv_w, w->kv_b, rows, d->dv, 2 * d->dq);
        make_items(ready->items + i * ready->stride, ready->stride, net, kv, rows);
    }
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

parsrec_status pr_arnn_make_ready(pr_model *model, parsrec_error *err)
{
    pr_arnn_net net = {.d = pr_arnn_dims_of(model), .w = pr_arnn_view_of(model, model->weights)};
    const pr_arnn_dims *d = &net.d;
    if (!allows(d))
        return PARSREC_OK;
    pr_arena arena = pr_arena_counter();
    take_ready(&arena, d);
    size_t bytes = arena.used, in = d->dv + d->dq;
    arena = (pr_arena){0};
    pr_real *room =
        pr_alloc_aligned(larger(ITEMS_AT_ONCE * 2 * d->dq, (2 * in + 1) * d->dv), sizeof *room);
    if (room == NULL || pr_arena_init(&arena, bytes, NULL) != PARSREC_OK) {
        pr_free_aligned(room);
        return pr_fail_memory(err);
    }
    pr_arnn_ready *ready = take_ready(&arena, d);
    make_all_items(ready, &net, room);
    make_maps(ready, &net, room);
    pr_coarse_make(&ready->coarse, ready->coarse.codes, net.w.item, d->items, d->dv);
    pr_free_aligned(room);
    model->ready = ready;
    return PARSREC_OK;
}

/* ---- steps ---- */

/* y[row,O] += x[row,I] through panels. Rows that are apart are brought together, so that weights are read once. */
static void through(pr_real *y, size_t y_stride, const pr_real *x, size_t x_stride,
                    const pr_arnn_rows *rows, const pr_real *panels, size_t I, size_t O)
{
    assert(rows->count > 0);
    size_t n = rows->count, first = rows->list[0];
    pr_real *near_x = rows->room, *near_y = rows->room + n * I;
    if (rows->list[n - 1] - first + 1 == n) {
        pr_panels_map(y + first * y_stride, y_stride, true, x + first * x_stride, x_stride, panels,
                      n, I, O);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(near_x + i * I, x + rows->list[i] * x_stride, I * sizeof *x);
        memcpy(near_y + i * O, y + rows->list[i] * y_stride, O * sizeof *y);
    }
    pr_panels_map(near_y, O, true, near_x, I, panels, n, I, O);
    for (size_t i = 0; i < n; i++)
        memcpy(y + rows->list[i] * y_stride, near_y + i * O, O * sizeof *y);
}

static void quick_user(pr_arnn_net *net, const pr_arnn_ready *ready, const pr_arnn_rows *rows)
{
    const pr_arnn_dims *d = &net->d;
    size_t two = 2 * d->dv;
    for (size_t i = 0; i < rows->count; i++)
        memcpy(net->t.ucell + rows->list[i] * two, ready->cell_b, two * sizeof(pr_real));
    through(net->t.ucell, two, net->t.u, d->du, rows, ready->user_w, d->du, two);
}

static void quick_look(pr_arnn_net *net, const pr_arnn_ready *ready, size_t row, pr_real *joint,
                       const int32_t *ids, size_t n)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_arnn_layer_tape *t = &net->t.layer[0];
    pr_real *a = t->a + row * d->dq;
    memcpy(joint, net->t.z + row * 2 * d->dv, d->dv * sizeof *joint);
    memcpy(a, net->t.u + row * d->du, d->du * sizeof *a);
    memcpy(a + d->du, joint, d->dv * sizeof *a);
    pr_item_attention(a, t->weight + row * d->heads * net->t.keys, a, ready->items, ready->stride,
                      ids, n, d->heads, d->dq);
    pr_layer_norm_forward(a, joint + d->dv, t->rate + row, a, w->gain, w->shift, d->eps, 1, d->dq);
}

/* One half of what the user brings to the cell. */
static void begin_half(const pr_arnn_net *net, pr_real *y, size_t row, size_t half)
{
    size_t dv = net->d.dv;
    memcpy(y + row * dv, net->t.ucell + (2 * row + half) * dv, dv * sizeof *y);
}

static void quick_move(const pr_arnn_net *net, const pr_arnn_ready *ready, const pr_arnn_rows *rows,
                       pr_real *hidden, const pr_real *joint)
{
    size_t dv = net->d.dv, in = dv + net->d.dq;
    for (size_t i = 0; i < rows->count; i++)
        begin_half(net, hidden, rows->list[i], 0);
    through(hidden, dv, joint, in, rows, ready->move_w, in, dv);
    for (size_t i = 0; i < rows->count; i++)
        pr_relu_forward(hidden + rows->list[i] * dv, hidden + rows->list[i] * dv, dv);
}

static void quick_answer(pr_arnn_net *net, const pr_arnn_ready *ready, size_t rows,
                         const pr_real *joint)
{
    const pr_arnn_dims *d = &net->d;
    size_t in = d->dv + d->dq;
    for (size_t r = 0; r < rows; r++)
        begin_half(net, net->t.o, r, 1);
    pr_panels_map(net->t.o, d->dv, true, joint, in, ready->answer_w, rows, in, d->dv);
    pr_arnn_parts_sum(net, 0, rows);
    for (size_t r = 0; d->recall && r < rows; r++)
        for (size_t g = 0; g < d->gates; g++)
            net->t.gate[r * d->gates + g] = net->t.ugate[r * d->gates + g] + ready->gate_b[g];
    if (d->recall)
        pr_gemm_each(net->t.gate, d->gates, pr_mat(joint, in), pr_flip(ready->gate_w, in), 1, rows,
                     d->gates, in);
}

/* ---- open baskets that are kept ---- */

/* A start has one place where it may be kept; whoever comes later takes it over. */
enum {
    KEPT_BYTES = 4 << 20, /* per session: some hundred users, in the nearer caches */
    KEPT_SLOTS_MOST = 4096,
};

static size_t row_size(size_t dv)
{
    return (3 + PR_ARNN_KEPT_STEPS) * dv;
}

void pr_arnn_kept_take(pr_arnn_kept *kept, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t slots = KEPT_BYTES / (row_size(d->dv) * sizeof(pr_real)) + 1;
    *kept = (pr_arnn_kept){.slots = slots < KEPT_SLOTS_MOST ? slots : KEPT_SLOTS_MOST, .dv = d->dv};
    kept->open = kept->slots;
    kept->baskets = pr_arena_take_zero(arena, kept->slots, sizeof *kept->baskets);
    kept->rows = pr_arena_take(arena, kept->slots * row_size(d->dv), sizeof *kept->rows);
}

static pr_real *row_of(const pr_arnn_kept *kept, size_t slot)
{
    return kept->rows + slot * row_size(kept->dv);
}

bool pr_arnn_kept_begin(pr_arnn_kept *kept, uint64_t alike, pr_real *cell, pr_real *hidden)
{
    size_t slot = alike % kept->slots, dv = kept->dv;
    kept->placed = 0;
    kept->open = kept->slots;
    if (alike == 0 || kept->baskets[slot].alike != alike)
        return false;
    kept->open = slot;
    memcpy(cell, row_of(kept, slot), 2 * dv * sizeof *cell);
    memcpy(hidden, row_of(kept, slot) + 2 * dv, dv * sizeof *hidden);
    return true;
}

static void kept_learn(pr_arnn_kept *kept, uint64_t alike, const pr_real *cell,
                       const pr_real *hidden)
{
    size_t slot = alike % kept->slots, dv = kept->dv;
    if (alike == 0)
        return;
    kept->open = slot;
    kept->baskets[slot] = (pr_arnn_kept_basket){.alike = alike};
    memcpy(row_of(kept, slot), cell, 2 * dv * sizeof *cell);
    memcpy(row_of(kept, slot) + 2 * dv, hidden, dv * sizeof *hidden);
}

static bool kept_next(const pr_arnn_kept *kept, pr_real *hidden)
{
    if (kept->open == kept->slots || kept->placed >= kept->baskets[kept->open].steps)
        return false;
    memcpy(hidden, row_of(kept, kept->open) + (3 + kept->placed) * kept->dv,
           kept->dv * sizeof *hidden);
    return true;
}

static void kept_follow(pr_arnn_kept *kept, const pr_real *hidden)
{
    if (kept->open == kept->slots || kept->placed >= PR_ARNN_KEPT_STEPS)
        return;
    kept->baskets[kept->open].steps = (uint32_t)kept->placed + 1;
    memcpy(row_of(kept, kept->open) + (3 + kept->placed) * kept->dv, hidden,
           kept->dv * sizeof *hidden);
}

/* Another item than last time: what followed it is of no use. */
void pr_arnn_kept_place(pr_arnn_kept *kept, int32_t item)
{
    size_t at = kept->placed++;
    if (kept->open == kept->slots || at >= PR_ARNN_KEPT_STEPS)
        return;
    pr_arnn_kept_basket *b = &kept->baskets[kept->open];
    if (at < b->items && b->item[at] == item)
        return;
    b->item[at] = item;
    b->items = (uint32_t)at + 1;
    b->steps = b->steps < at + 1 ? b->steps : (uint32_t)at + 1;
}

/* ---- rows of a session ---- */

static pr_real *joint_of(const pr_arnn_state *s, size_t r)
{
    return s->joint + r * (s->net.d.dv + s->net.d.dq);
}

/* Rows that speak for themselves and of which something is not done yet; NULL: all such. */
static pr_arnn_rows rows_to_do(const pr_scorer *session, const bool *done)
{
    pr_arnn_state *s = session->own;
    size_t count = 0;
    for (size_t r = 0; r < session->active; r++)
        if (s->twin[r] == r && (done == NULL || !done[r]))
            s->list[count++] = r;
    return (pr_arnn_rows){s->list, count, s->room};
}

static bool alike(const pr_start *a, const pr_start *b)
{
    return a->user == b->user && pr_arnn_same_past(a, b);
}

void pr_arnn_quick_begin(pr_scorer *session, const pr_start *starts, bool known)
{
    pr_arnn_state *s = session->own;
    bool features = s->net.d.inputs->count > 0; /* may differ from row to row */
    for (size_t r = 0; r < session->active; r++) {
        s->twin[r] = r > 0 && !features && alike(&starts[r], &starts[r - 1]) ? s->twin[r - 1] : r;
        s->looked[r] = s->moved[r] = false;
    }
    if (known)
        return;
    pr_arnn_rows rows = rows_to_do(session, NULL);
    quick_user(&s->net, s->ready, &rows);
    if (s->lately.slots > 0)
        kept_learn(&s->lately, starts->alike, s->net.t.ucell, s->net.t.z);
}

static void look(pr_scorer *session, size_t r)
{
    pr_arnn_state *s = session->own;
    if (!s->looked[r])
        quick_look(&s->net, s->ready, r, joint_of(s, r), s->chosen + r * session->capacity,
                   s->keys[r]);
    s->looked[r] = true;
}

void pr_arnn_quick_moves(pr_scorer *session)
{
    pr_arnn_state *s = session->own;
    pr_arnn_rows rows = rows_to_do(session, s->moved);
    if (rows.count == 0)
        return;
    for (size_t i = 0; i < rows.count; i++)
        s->moved[rows.list[i]] = true;
    if (s->lately.slots > 0 && kept_next(&s->lately, s->hidden))
        return;
    for (size_t i = 0; i < rows.count; i++)
        look(session, rows.list[i]);
    quick_move(&s->net, s->ready, &rows, s->hidden, s->joint);
    if (s->lately.slots > 0)
        kept_follow(&s->lately, s->hidden);
}

/* The row takes over what was worked out for its twin. */
static void part(pr_arnn_state *s, size_t r)
{
    size_t t = s->twin[r], dv = s->net.d.dv, weights = s->net.d.heads * s->net.t.keys;
    pr_real *weight = s->net.t.layer[0].weight;
    memcpy(s->net.t.ucell + r * 2 * dv, s->net.t.ucell + t * 2 * dv, 2 * dv * sizeof(pr_real));
    memcpy(s->net.t.z + r * 2 * dv, s->net.t.z + t * 2 * dv, dv * sizeof(pr_real));
    if (s->looked[t]) {
        memcpy(joint_of(s, r), joint_of(s, t), (dv + s->net.d.dq) * sizeof(pr_real));
        memcpy(weight + r * weights, weight + t * weights, weights * sizeof *weight);
    }
    if (s->moved[t])
        memcpy(s->hidden + r * dv, s->hidden + t * dv, dv * sizeof(pr_real));
    s->looked[r] = s->looked[t];
    s->moved[r] = s->moved[t];
    s->twin[r] = r;
}

void pr_arnn_quick_part(pr_scorer *session, const int32_t *items)
{
    pr_arnn_state *s = session->own;
    for (size_t r = 0; r < session->active; r++)
        if (s->twin[r] != r && (items == NULL || items[r] != items[s->twin[r]]))
            part(s, r);
}

void pr_arnn_quick_run(pr_scorer *session)
{
    pr_arnn_state *s = session->own;
    pr_arnn_quick_part(session, NULL);
    for (size_t r = 0; r < session->active; r++)
        look(session, r);
    quick_answer(&s->net, s->ready, session->active, s->joint);
    s->ran = true;
}
