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
    TABLES_MOST = 64 << 20, /* bytes of a table with a row per item, beside the weights */
    SEARCH_LEAST = 16384,   /* items; below, reading all of them takes less */
};

/* ---- making the tables ---- */

static bool allows(const pr_arnn_dims *d)
{
    return d->layers == 1 && d->ffn == PR_FFN_NONE && d->cell == PR_CELL_RNN && d->norm &&
           d->residual;
}

/* Whether a row per item is made of everything beforehand. */
static bool small(const pr_arnn_dims *d)
{
    size_t row = (2 * d->heads * d->dq + d->heads + 2 * d->dv) * sizeof(pr_real);
    return d->items < TABLES_MOST / row;
}

static bool may_search(const pr_arnn_dims *d)
{
    return d->items >= SEARCH_LEAST && d->dv <= PR_SEARCH_WIDTH_MOST;
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
    if (ready->table != NULL)
        pr_panels_make(ready->table, net->w.item, d->dv, d->dv, d->items);
    if (d->recall) {
        memset(ready->gate_b, 0, d->gates * sizeof *room); /* the map's own comes with the user */
        fold(ready->gate_w, ready->gate_b, net, net->w.gate_w, d->gates, mapped);
    }
}

static void take_bounds(pr_arnn_bounds *bounds, pr_arena *arena, const pr_arnn_dims *d,
                        size_t blocks)
{
    size_t real = sizeof(pr_real);
    for (size_t i = 0; d->bias && i < PR_MIX_STAGES; i++)
        bounds->bias[i] = pr_arena_take(arena, blocks, real);
    if (d->neighbours > 0) {
        bounds->base_most = pr_arena_take(arena, blocks, real);
        bounds->base_least = pr_arena_take(arena, blocks, real);
    }
    if (d->times) {
        bounds->trend_most = pr_arena_take(arena, PR_PERIODS * blocks, real);
        bounds->trend_least = pr_arena_take(arena, PR_PERIODS * blocks, real);
    }
}

/* Takes the parts from an arena; with a counting arena this is how they are sized. `blocks`: of the
 * search, 0 without one. */
static pr_arnn_ready *take_ready(pr_arena *arena, const pr_arnn_dims *d, size_t blocks)
{
    size_t in = d->dv + d->dq, real = sizeof(pr_real);
    pr_arnn_ready *ready = pr_arena_take(arena, 1, sizeof *ready);
    pr_arnn_ready parts = {.stride = (2 * d->heads * d->dq + d->heads + 15) / 16 * 16};
    if (small(d)) {
        parts.items = pr_arena_take(arena, (d->items + 1) * parts.stride, real);
    } else {
        parts.item_w = pr_arena_take(arena, pr_panels_size(d->dv, parts.stride), real);
        parts.item_b = pr_arena_take(arena, parts.stride, real);
    }
    parts.user_w = pr_arena_take(arena, pr_panels_size(d->du, 2 * d->dv), real);
    parts.move_w = pr_arena_take(arena, pr_panels_size(in, d->dv), real);
    parts.answer_w = pr_arena_take(arena, pr_panels_size(in, d->dv), real);
    if (pr_panels_size(d->dv, d->items) <= TABLES_MOST / real)
        parts.table = pr_arena_take(arena, pr_panels_size(d->dv, d->items), real);
    parts.cell_b = pr_arena_take(arena, 2 * d->dv, real);
    parts.gate_w = pr_arena_take(arena, d->gates * in, real);
    parts.gate_b = pr_arena_take(arena, d->gates, real);
    for (size_t i = 0; d->mix && i < PR_MIX_STAGES; i++)
        parts.bias[i] = pr_arena_take(arena, d->items, real);
    if (blocks > 0) {
        pr_search_take(&parts.search, arena, d->items, d->dv, blocks);
        take_bounds(&parts.bounds, arena, d, blocks);
    } else {
        parts.coarse.codes = pr_arena_take(arena, pr_coarse_bytes(d->items, d->dv), 1);
    }
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

/* The same map as panels. It is linear, so it is read off the rows of the unit vectors and of zero. */
static parsrec_status make_item_map(pr_arnn_ready *ready, const pr_arnn_net *net,
                                    parsrec_error *err)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    size_t stride = ready->stride, rows = d->dv + 1;
    pr_real *units = pr_alloc_zero(rows * d->dv, sizeof *units);
    pr_real *kv = pr_alloc(rows * 2 * d->dq, sizeof *kv);
    pr_real *made = pr_alloc_zero(rows * stride, sizeof *made);
    pr_real *map = pr_alloc(stride * d->dv, sizeof *map);
    parsrec_status status = PARSREC_OK;
    if (units == NULL || kv == NULL || made == NULL || map == NULL) {
        status = pr_fail_memory(err);
    } else {
        for (size_t i = 0; i < d->dv; i++)
            units[i * d->dv + i] = 1;
        pr_linear_forward(kv, units, w->kv_w, w->kv_b, rows, d->dv, 2 * d->dq);
        make_items(made, stride, net, kv, rows);
        const pr_real *zero = made + d->dv * stride;
        for (size_t i = 0; i < d->dv; i++)
            for (size_t o = 0; o < stride; o++)
                map[o * d->dv + i] = made[i * stride + o] - zero[o];
        memcpy(ready->item_b, zero, stride * sizeof *zero);
        pr_panels_make(ready->item_w, map, d->dv, d->dv, stride);
    }
    pr_free(units);
    pr_free(kv);
    pr_free(made);
    pr_free(map);
    return status;
}

bool pr_arnn_mixed_biases(pr_real *const *bias, const pr_arnn_dims *d, const pr_arnn_view *w)
{
    bool mixed = false;
    for (size_t k = 0; d->mix && k < PR_MIX_STAGES * pr_arnn_mix_weights(d); k++)
        mixed = mixed || w->mix[k] != 0;
    for (size_t i = 0; mixed && i < PR_MIX_STAGES; i++) {
        const pr_real *mix = w->mix + i * pr_arnn_mix_weights(d);
        for (size_t v = 0; v < d->items; v++)
            bias[i][v] =
                mix[PR_MIX_SCORE] * w->bias[v] + mix[pr_arnn_mix_popular(d)] * w->popular[v];
    }
    return mixed;
}

/* ---- the search ---- */

static void make_bounds(pr_arnn_ready *ready, const pr_arnn_net *net)
{
    const pr_search *search = &ready->search;
    pr_arnn_bounds *b = &ready->bounds;
    for (size_t i = 0; net->d.bias && i < PR_MIX_STAGES; i++)
        pr_search_extremes(b->bias[i], NULL, search, ready->bias[i]);
    if (b->base_most != NULL)
        pr_search_extremes(b->base_most, b->base_least, search, net->w.near.base);
    for (size_t p = 0; b->trend_most != NULL && p < PR_PERIODS; p++)
        pr_search_extremes(b->trend_most + p * search->blocks, b->trend_least + p * search->blocks,
                           search, net->w.times.trends + p * net->d.items);
}

/* What an item is expected to score at a later step without a product: its bias, and what a past of
 * this many actions leads to expect. */
static void expected_scores(pr_real *key, const pr_arnn_ready *ready, const pr_arnn_net *net)
{
    const pr_arnn_dims *d = &net->d;
    const pr_real root = 6;
    pr_real gate = 0;
    if (d->neighbours > 0) {
        pr_near_expect_bases(key, net->w.near.base, root, d->items);
        gate = net->w.gate_b[PR_GATE_EXPECTED];
        if (d->mix) {
            const pr_real *mix = net->w.mix + PR_MIX_LATER * pr_arnn_mix_weights(d);
            gate = mix[PR_MIX_SCORE] * gate + mix[PR_MIX_GATES + PR_GATE_EXPECTED];
        }
    }
    for (size_t v = 0; v < d->items; v++)
        key[v] =
            (d->neighbours > 0 ? gate * key[v] : 0) + (d->bias ? ready->bias[PR_MIX_LATER][v] : 0);
}

static parsrec_status make_search(pr_arnn_ready *ready, const pr_arnn_net *net, parsrec_error *err)
{
    const pr_arnn_dims *d = &net->d;
    pr_real *key = pr_alloc_aligned(d->items, sizeof *key);
    if (key == NULL)
        return pr_fail_memory(err);
    expected_scores(key, ready, net);
    parsrec_status status = pr_search_make(&ready->search, &ready->searches, net->w.item,
                                           d->pairs > 0 ? net->w.pairs.class_of : NULL, key, err);
    if (status == PARSREC_OK && ready->searches)
        make_bounds(ready, net);
    pr_free_aligned(key);
    return status;
}

/* ---- all of it ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static parsrec_status make_parts(pr_arnn_ready *ready, const pr_arnn_net *net, pr_real *room,
                                 parsrec_error *err)
{
    const pr_arnn_dims *d = &net->d;
    if (ready->items != NULL)
        make_all_items(ready, net, room);
    else
        PR_TRY(make_item_map(ready, net, err));
    make_maps(ready, net, room);
    if (!pr_arnn_mixed_biases(ready->bias, d, &net->w))
        ready->bias[PR_MIX_FIRST] = ready->bias[PR_MIX_LATER] = net->w.bias;
    if (ready->search.blocks > 0)
        return make_search(ready, net, err);
    pr_coarse_make(&ready->coarse, ready->coarse.codes, net->w.item, d->items, d->dv);
    return PARSREC_OK;
}

/* Each class of items may have a block of the search that is not full. */
size_t pr_arnn_ready_bytes(const pr_model *model)
{
    pr_arnn_dims d = pr_arnn_dims_of(model);
    pr_arena arena = pr_arena_counter();
    if (!allows(&d))
        return 0;
    take_ready(&arena, &d, may_search(&d) ? pr_search_blocks(NULL, d.items, 1) + d.pairs : 0);
    return arena.used;
}

parsrec_status pr_arnn_make_ready(pr_model *model, parsrec_error *err)
{
    pr_arnn_net net = {.d = pr_arnn_dims_of(model), .w = pr_arnn_view_of(model, model->weights)};
    const pr_arnn_dims *d = &net.d;
    if (!allows(d))
        return PARSREC_OK;
    size_t blocks = !may_search(d) ? 0
                    : d->pairs > 0 ? pr_search_blocks(net.w.pairs.class_of, d->items, d->pairs + 1)
                                   : pr_search_blocks(NULL, d->items, 1);
    pr_arena arena = pr_arena_counter();
    take_ready(&arena, d, blocks);
    size_t bytes = arena.used, in = d->dv + d->dq;
    arena = (pr_arena){0};
    pr_real *room =
        pr_alloc_aligned(larger(ITEMS_AT_ONCE * 2 * d->dq, (2 * in + 1) * d->dv), sizeof *room);
    if (room == NULL || pr_arena_init(&arena, bytes, NULL) != PARSREC_OK) {
        pr_free_aligned(room);
        return pr_fail_memory(err);
    }
    pr_arnn_ready *ready = take_ready(&arena, d, blocks);
    parsrec_status status = make_parts(ready, &net, room, err);
    pr_free_aligned(room);
    if (status == PARSREC_OK)
        model->ready = ready;
    else
        pr_free_aligned(ready);
    return status;
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
                       const pr_real *items, const int32_t *ids, size_t n)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_arnn_layer_tape *t = &net->t.layer[0];
    pr_real *a = t->a + row * d->dq;
    memcpy(joint, net->t.z + row * 2 * d->dv, d->dv * sizeof *joint);
    memcpy(a, net->t.u + row * d->du, d->du * sizeof *a);
    memcpy(a + d->du, joint, d->dv * sizeof *a);
    pr_item_attention(a, t->weight + row * d->heads * net->t.keys, a, items, ready->stride, ids, n,
                      d->heads, d->dq);
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

/* A start has one place where it may be kept; a later start with the same place replaces it. */
enum {
    KEPT_BYTES = 4 << 20, /* per scorer: some hundred users, in the nearer caches */
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

/* ---- rows of a scorer ---- */

static pr_real *joint_of(const pr_arnn_state *s, size_t r)
{
    return s->joint + r * (s->net.d.dv + s->net.d.dq);
}

/* Rows that speak for themselves and of which something is not done yet; NULL: all such. */
static pr_arnn_rows rows_to_do(const pr_scorer *scorer, const bool *done)
{
    pr_arnn_state *s = scorer->own;
    size_t count = 0;
    for (size_t r = 0; r < scorer->active; r++)
        if (s->twin[r] == r && (done == NULL || !done[r]))
            s->list[count++] = r;
    return (pr_arnn_rows){s->list, count, s->room};
}

static bool alike(const pr_start *a, const pr_start *b)
{
    return a->user == b->user && pr_arnn_same_past(a, b);
}

void pr_arnn_quick_make(const pr_arnn_state *s, size_t at, int32_t item)
{
    const pr_arnn_ready *ready = s->ready;
    pr_real *row = s->made + at * ready->stride;
    memcpy(row, ready->item_b, ready->stride * sizeof *row);
    pr_panels_map(row, ready->stride, true, s->net.w.item + (size_t)item * s->net.d.dv, s->net.d.dv,
                  ready->item_w, 1, s->net.d.dv, ready->stride);
}

/* What another row has just placed too is made once. */
void pr_arnn_quick_place(pr_scorer *scorer, size_t r, const int32_t *items)
{
    pr_arnn_state *s = scorer->own;
    size_t C = scorer->capacity, at = r * C + s->placed[r] - 1;
    for (size_t before = 0; before < r; before++)
        if (items[before] == items[r]) {
            s->made_at[at] = s->made_at[before * C + s->placed[before] - 1];
            return;
        }
    s->made_at[at] = (int32_t)at;
    pr_arnn_quick_make(s, at, items[r]);
}

void pr_arnn_quick_begin(pr_scorer *scorer, const pr_start *starts, bool known)
{
    pr_arnn_state *s = scorer->own;
    bool features = s->net.d.inputs->count > 0; /* may differ from row to row */
    for (size_t r = 0; r < scorer->active; r++) {
        s->twin[r] = r > 0 && !features && alike(&starts[r], &starts[r - 1]) ? s->twin[r - 1] : r;
        s->looked[r] = s->moved[r] = false;
        if (s->made != NULL)
            s->made_at[r * scorer->capacity] = (int32_t)(scorer->rows * scorer->capacity);
    }
    if (known)
        return;
    pr_arnn_rows rows = rows_to_do(scorer, NULL);
    quick_user(&s->net, s->ready, &rows);
    if (s->lately.slots > 0)
        kept_learn(&s->lately, starts->alike, s->net.t.ucell, s->net.t.z);
}

static void look(pr_scorer *scorer, size_t r)
{
    pr_arnn_state *s = scorer->own;
    bool made = s->made != NULL;
    if (!s->looked[r])
        quick_look(&s->net, s->ready, r, joint_of(s, r), made ? s->made : s->ready->items,
                   (made ? s->made_at : s->chosen) + r * scorer->capacity, s->keys[r]);
    s->looked[r] = true;
}

void pr_arnn_quick_moves(pr_scorer *scorer)
{
    pr_arnn_state *s = scorer->own;
    pr_arnn_rows rows = rows_to_do(scorer, s->moved);
    if (rows.count == 0)
        return;
    for (size_t i = 0; i < rows.count; i++)
        s->moved[rows.list[i]] = true;
    if (s->lately.slots > 0 && kept_next(&s->lately, s->hidden))
        return;
    for (size_t i = 0; i < rows.count; i++)
        look(scorer, rows.list[i]);
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

void pr_arnn_quick_part(pr_scorer *scorer, const int32_t *items)
{
    pr_arnn_state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++)
        if (s->twin[r] != r && (items == NULL || items[r] != items[s->twin[r]]))
            part(s, r);
}

void pr_arnn_quick_run(pr_scorer *scorer)
{
    pr_arnn_state *s = scorer->own;
    pr_arnn_quick_part(scorer, NULL);
    for (size_t r = 0; r < scorer->active; r++)
        look(scorer, r);
    quick_answer(&s->net, s->ready, scorer->active, s->joint);
    s->ran = true;
}
