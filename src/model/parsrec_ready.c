/* Tables for answering, made when a model is loaded, and the steps that use them (docs/math.md, Answering). */
#include "model/parsrec_ready.h"

#include <string.h>

#include "base/memory.h"
#include "math/activation.h"
#include "math/item_attention.h"
#include "math/layer_norm.h"
#include "math/linear.h"

enum {
    ITEMS_AT_ONCE = 256,
    BYTES_MOST = 64 << 20, /* beyond, the catalogue takes longer to score than the network to run */
};

/* ---- making the tables ---- */

static bool allows(const pr_arnn_dims *d)
{
    size_t row = (2 * d->heads * d->dq + d->heads) * sizeof(pr_real);
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

/* The hidden state from [h ; unit]: the layer norm's gain and shift and the map behind it are folded in. */
static void make_move(pr_arnn_ready *ready, const pr_arnn_net *net, pr_real *mapped)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    size_t in = d->dv + d->dq;
    pr_matrix from_map = pr_flip(net->w.cell_w + d->du + d->dv, d->dz); /* [dv in, dv out] */
    for (size_t r = 0; r < d->dv; r++)
        memcpy(ready->move_w + r * in, net->w.cell_w + r * d->dz + d->du,
               d->dv * sizeof *ready->move_w);
    pr_gemm(ready->move_w + d->dv, in, pr_mat(net->w.cell_w + d->du + d->dv, d->dz),
            pr_mat(w->map_w, d->dq), 0, d->dv, d->dq, d->dv);
    for (size_t r = 0; r < d->dv; r++)
        for (size_t i = 0; i < d->dq; i++)
            ready->move_w[r * in + d->dv + i] *= w->gain[i];
    pr_linear_forward(mapped, w->shift, w->map_w, w->map_b, 1, d->dq, d->dv);
    pr_gemm(ready->move_b, d->dv, pr_mat(mapped, d->dv), from_map, 0, 1, d->dv, d->dv);
}

static pr_arnn_ready *take_ready(const pr_arnn_dims *d)
{
    size_t head = (sizeof(pr_arnn_ready) / sizeof(pr_real) + 15) / 16 * 16;
    size_t stride = (2 * d->heads * d->dq + d->heads + 15) / 16 * 16;
    size_t items = (d->items + 1) * stride, move = d->dv * (d->dv + d->dq);
    pr_real *block = pr_alloc_aligned(head + items + move + d->dv, sizeof *block);
    if (block == NULL)
        return NULL;
    pr_arnn_ready *ready = (void *)block;
    *ready = (pr_arnn_ready){.stride = stride, .items = block + head};
    ready->move_w = ready->items + items;
    ready->move_b = ready->move_w + move;
    return ready;
}

parsrec_status pr_arnn_make_ready(pr_model *model, parsrec_error *err)
{
    pr_arnn_net net = {.d = pr_arnn_dims_of(model), .w = pr_arnn_view_of(model, model->weights)};
    const pr_arnn_dims *d = &net.d;
    if (!allows(d))
        return PARSREC_OK;
    pr_real *kv = pr_alloc_aligned(ITEMS_AT_ONCE * 2 * d->dq, sizeof *kv);
    pr_arnn_ready *ready = take_ready(d);
    if (kv == NULL || ready == NULL) {
        pr_free_aligned(kv);
        pr_free_aligned(ready);
        return pr_fail_memory(err);
    }
    for (size_t i = 0; i < d->items + 1; i += ITEMS_AT_ONCE) {
        size_t rows = d->items + 1 - i < ITEMS_AT_ONCE ? d->items + 1 - i : ITEMS_AT_ONCE;
        pr_linear_forward(kv, net.w.item + i * d->dv, net.w.layer[0].kv_w, net.w.layer[0].kv_b,
                          rows, d->dv, 2 * d->dq);
        make_items(ready->items + i * ready->stride, ready->stride, &net, kv, rows);
    }
    make_move(ready, &net, kv);
    pr_free_aligned(kv);
    model->ready = ready;
    return PARSREC_OK;
}

/* ---- steps ---- */

void pr_arnn_quick_user(pr_arnn_net *net, const pr_arnn_ready *ready, size_t rows, pr_real *umove)
{
    const pr_arnn_dims *d = &net->d;
    pr_real *ucell = net->t.ucell;
    pr_bias_spread(ucell, net->w.cell_b, rows, 2 * d->dv);
    pr_gemm_each(ucell, 2 * d->dv, pr_mat(net->t.u, d->du), pr_flip(net->w.cell_w, d->dz), 1, rows,
                 2 * d->dv, d->du);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < d->dv; i++)
            umove[r * d->dv + i] = ucell[r * 2 * d->dv + i] + ready->move_b[i];
}

void pr_arnn_quick_look(pr_arnn_net *net, const pr_arnn_ready *ready, size_t row,
                        const int32_t *ids, size_t n)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_arnn_layer_tape *t = &net->t.layer[0];
    pr_real *a = t->a + row * d->dq;
    memcpy(a, net->t.u + row * d->du, d->du * sizeof *a);
    memcpy(a + d->du, net->t.z + row * 2 * d->dv, d->dv * sizeof *a);
    pr_item_attention(a, t->weight + row * d->heads * net->t.keys, a, ready->items, ready->stride,
                      ids, n, d->heads, d->dq);
    pr_layer_norm_forward(a, t->unit + row * d->dq, t->rate + row, a, w->gain, w->shift, d->eps, 1,
                          d->dq);
}

void pr_arnn_quick_move(pr_arnn_net *net, const pr_arnn_ready *ready, size_t rows, pr_real *hidden,
                        const pr_real *umove, pr_real *joint)
{
    const pr_arnn_dims *d = &net->d;
    size_t in = d->dv + d->dq;
    for (size_t r = 0; r < rows; r++) {
        memcpy(joint + r * in, net->t.z + r * 2 * d->dv, d->dv * sizeof *joint);
        memcpy(joint + r * in + d->dv, net->t.layer[0].unit + r * d->dq, d->dq * sizeof *joint);
    }
    memcpy(hidden, umove, rows * d->dv * sizeof *hidden);
    pr_gemm_each(hidden, d->dv, pr_mat(joint, in), pr_flip(ready->move_w, in), 1, rows, d->dv, in);
    pr_relu_forward(hidden, hidden, rows * d->dv);
}

/* As the plain step has it, without the next hidden state. */
void pr_arnn_quick_answer(pr_arnn_net *net, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_real *z = net->t.z, *o = net->t.o;
    for (size_t r = 0; r < rows; r++) {
        memcpy(z + r * 2 * d->dv + d->dv, w->map_b, d->dv * sizeof *z);
        memcpy(o + r * d->dv, net->t.ucell + r * 2 * d->dv + d->dv, d->dv * sizeof *o);
    }
    pr_gemm_each(z + d->dv, 2 * d->dv, pr_mat(net->t.layer[0].a, d->dq), pr_flip(w->map_w, d->dq),
                 1, rows, d->dv, d->dq);
    pr_gemm_each(o, d->dv, pr_mat(z, 2 * d->dv),
                 pr_flip(net->w.cell_w + d->dv * d->dz + d->du, d->dz), 1, rows, d->dv, 2 * d->dv);
}
