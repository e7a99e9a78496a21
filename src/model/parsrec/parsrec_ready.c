/* Tables for answering, made when a model is loaded, and the steps that use them (docs/math.md, Answering). */
#include "model/parsrec/parsrec_ready.h"

#include <string.h>

#include "base/memory.h"
#include "math/activation.h"
#include "math/item_attention.h"
#include "math/layer_norm.h"
#include "math/linear.h"
#include "math/panels.h"
#include "model/repeats.h"

enum {
    ITEMS_AT_ONCE = 256,
    BYTES_MOST = 64 << 20, /* beyond, the catalogue takes longer to score than the network to run */
};

/* ---- making the tables ---- */

static bool allows(const pr_arnn_dims *d)
{
    size_t row = (2 * d->heads * d->dq + d->heads + 2 * d->dv) * sizeof(pr_real);
    return d->layers == 1 && d->ffn == PR_FFN_NONE && d->cell == PR_CELL_RNN && d->norm &&
           d->residual && d->items < BYTES_MOST / row;
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
        memset(ready->gate_b, 0, PR_GATES * sizeof *room); /* the map's own comes with the user */
        fold(ready->gate_w, ready->gate_b, net, net->w.gate_w, PR_GATES, mapped);
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
    parts.gate_w = pr_arena_take(arena, PR_GATES * in, real);
    parts.gate_b = pr_arena_take(arena, PR_GATES, real);
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

static size_t most(size_t a, size_t b)
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
        pr_alloc_aligned(most(ITEMS_AT_ONCE * 2 * d->dq, (2 * in + 1) * d->dv), sizeof *room);
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

void pr_arnn_quick_user(pr_arnn_net *net, const pr_arnn_ready *ready, const pr_arnn_rows *rows)
{
    const pr_arnn_dims *d = &net->d;
    size_t two = 2 * d->dv;
    for (size_t i = 0; i < rows->count; i++)
        memcpy(net->t.ucell + rows->list[i] * two, ready->cell_b, two * sizeof(pr_real));
    through(net->t.ucell, two, net->t.u, d->du, rows, ready->user_w, d->du, two);
}

void pr_arnn_quick_look(pr_arnn_net *net, const pr_arnn_ready *ready, size_t row, pr_real *joint,
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

void pr_arnn_quick_move(const pr_arnn_net *net, const pr_arnn_ready *ready,
                        const pr_arnn_rows *rows, pr_real *hidden, const pr_real *joint)
{
    size_t dv = net->d.dv, in = dv + net->d.dq;
    for (size_t i = 0; i < rows->count; i++)
        begin_half(net, hidden, rows->list[i], 0);
    through(hidden, dv, joint, in, rows, ready->move_w, in, dv);
    for (size_t i = 0; i < rows->count; i++)
        pr_relu_forward(hidden + rows->list[i] * dv, hidden + rows->list[i] * dv, dv);
}

void pr_arnn_quick_answer(pr_arnn_net *net, const pr_arnn_ready *ready, size_t rows,
                          const pr_real *joint)
{
    const pr_arnn_dims *d = &net->d;
    size_t in = d->dv + d->dq;
    for (size_t r = 0; r < rows; r++)
        begin_half(net, net->t.o, r, 1);
    pr_panels_map(net->t.o, d->dv, true, joint, in, ready->answer_w, rows, in, d->dv);
    pr_arnn_parts_sum(net, 0, rows);
    for (size_t r = 0; d->recall && r < rows; r++)
        for (size_t g = 0; g < PR_GATES; g++)
            net->t.gate[r * PR_GATES + g] = net->t.ugate[r * PR_GATES + g] + ready->gate_b[g];
    if (d->recall)
        pr_gemm_each(net->t.gate, PR_GATES, pr_mat(joint, in), pr_flip(ready->gate_w, in), 1, rows,
                     PR_GATES, in);
}
