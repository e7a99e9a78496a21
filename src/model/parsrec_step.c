/* One step of PARSRec: attention layers, feed-forward layers if any, recurrent cell. */
#include <string.h>

#include "math/activation.h"
#include "math/linear.h"
#include "model/parsrec_net.h"

void pr_arnn_user_forward(pr_arnn_net *net, size_t first, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_matrix u = pr_mat(net->t.u + first * d->du, d->du);
    pr_real *ucell = net->t.ucell + first * 2 * d->dv, *uq = net->t.uq + first * d->dq;
    pr_bias_spread(ucell, net->w.cell_b, rows, 2 * d->dv);
    pr_gemm(ucell, 2 * d->dv, u, pr_flip(net->w.cell_w, d->dz), 1, rows, 2 * d->dv, d->du);
    pr_bias_spread(uq, w->query_b, rows, d->dq);
    pr_gemm(uq, d->dq, u, pr_flip(w->query_w, d->dq), 1, rows, d->dq, d->du);
}

void pr_arnn_place_forward(pr_arnn_net *net, size_t first, size_t rows, bool keys)
{
    const pr_arnn_dims *d = &net->d;
    size_t skip = keys ? 0 : d->dq, width = 2 * d->dq;
    for (size_t l = 0; l < d->layers && !pr_arnn_is_upper(d, l); l++) {
        const pr_arnn_layer *w = &net->w.layer[l];
        pr_real *kv = net->t.layer[l].kv + first * width;
        pr_bias_spread(kv, w->kv_b, rows, width);
        pr_gemm(kv + skip, width, pr_mat(net->t.e + first * d->dv, d->dv),
                pr_flip(w->kv_w + skip * d->dv, d->dv), 1, rows, width - skip, d->dv);
    }
}

void pr_arnn_ffn_forward(pr_arnn_net *net, pr_real *y, const pr_real *x, size_t first, size_t rows)
{
    size_t dv = net->d.dv;
    pr_real *raw = net->t.raw + first * dv, *wide = net->t.wide + first * dv;
    memcpy(raw, x, rows * dv * sizeof *raw);
    pr_linear_forward(wide, raw, net->w.ffn_in_w, net->w.ffn_in_b, rows, dv, dv);
    pr_relu_forward(wide, wide, rows * dv);
    pr_linear_forward(y, wide, net->w.ffn_out_w, net->w.ffn_out_b, rows, dv, dv);
}

void pr_arnn_ffn_backward(pr_arnn_net *net, pr_real *dx, const pr_real *dy, size_t first,
                          size_t rows)
{
    size_t dv = net->d.dv, n = rows * dv;
    pr_real *dffn = net->t.dffn + first * dv, *dwide = net->t.dwide + first * dv;
    memcpy(dffn, dy, n * sizeof *dffn);
    pr_gemm(net->t.tmp, dv, pr_mat(dffn, dv), pr_mat(net->w.ffn_out_w, dv), 0, rows, dv, dv);
    memset(dwide, 0, n * sizeof *dwide);
    pr_relu_backward(dwide, net->t.tmp, net->t.wide + first * dv, n);
    pr_gemm(dx, dv, pr_mat(dwide, dv), pr_mat(net->w.ffn_in_w, dv), 0, rows, dv, dv);
}

/* One half of the cell: y = the user's share + z · w, without the user's columns of w. */
static void half_cell(pr_arnn_net *net, pr_real *y, size_t stride, size_t half, size_t first,
                      size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    for (size_t r = 0; r < rows; r++)
        memcpy(y + r * stride, net->t.ucell + r * 2 * d->dv + half * d->dv, d->dv * sizeof *y);
    pr_gemm(y, stride, pr_mat(net->t.z + first * 2 * d->dv, 2 * d->dv),
            pr_flip(net->w.cell_w + half * d->dv * d->dz + d->du, d->dz), 1, rows, d->dv,
            2 * d->dv);
}

static void cell_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    size_t dv = net->d.dv;
    half_cell(net, s->hidden, s->hidden_stride, 0, s->first, s->hidden_rows);
    for (size_t r = 0; r < s->hidden_rows; r++)
        pr_relu_forward(s->hidden + r * s->hidden_stride, s->hidden + r * s->hidden_stride, dv);
    half_cell(net, net->t.o + s->first * dv, dv, 1, s->first, s->rows);
}

void pr_arnn_step_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    size_t at = s->first * d->dv;
    for (size_t l = 0; l < d->layers; l++)
        pr_arnn_layer_forward(net, l, s);
    const pr_real *v = net->t.layer[d->layers - 1].out + at;
    if (d->ffn == PR_FFN_PRE) {
        pr_arnn_ffn_forward(net, net->t.ffn + at, v, s->first, s->rows);
        v = net->t.ffn + at;
    }
    for (size_t r = 0; r < s->rows; r++)
        memcpy(net->t.z + (s->first + r) * 2 * d->dv + d->dv, v + r * d->dv, d->dv * sizeof *v);
    cell_forward(net, s);
    if (d->ffn == PR_FFN_POST)
        pr_arnn_ffn_forward(net, net->t.o + at, net->t.o + at, s->first, s->rows);
    pr_arnn_parts_forward(net, s);
}

/* dcell = [gradient before the ReLU of the next hidden state ; gradient of the output]. */
static void cell_outputs_backward(pr_arnn_net *net, const pr_arnn_step *s, const pr_real *dout)
{
    size_t dv = net->d.dv;
    pr_real *dcell = net->t.dcell + s->first * 2 * dv;
    for (size_t r = 0; r < s->rows; r++) {
        pr_real *row = dcell + r * 2 * dv;
        memset(row, 0, dv * sizeof *row);
        if (r < s->hidden_rows)
            pr_relu_backward(row, net->t.dh + r * dv, s->hidden + r * s->hidden_stride, dv);
        memcpy(row + dv, dout + r * dv, dv * sizeof *row);
    }
    pr_add(net->t.scell, dcell, s->rows * 2 * dv);
}

/* tmp2 = gradient of z; rows that end here have no next hidden state, so that half is skipped. */
static void cell_inputs_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    size_t skip = s->hidden_rows > 0 ? 0 : d->dv;
    pr_gemm(net->t.tmp2, 2 * d->dv, pr_mat(net->t.dcell + s->first * 2 * d->dv + skip, 2 * d->dv),
            pr_mat(net->w.cell_w + skip * d->dz + d->du, d->dz), 0, s->rows, 2 * d->dv,
            2 * d->dv - skip);
}

void pr_arnn_step_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    size_t at = s->first * d->dv;
    const pr_real *dout = net->t.do_ + at;
    pr_arnn_parts_backward(net, s);
    if (d->ffn == PR_FFN_POST) {
        pr_arnn_ffn_backward(net, net->t.tmp2, dout, s->first, s->rows);
        dout = net->t.tmp2;
    }
    cell_outputs_backward(net, s, dout);
    cell_inputs_backward(net, s);
    pr_arnn_gates_backward(net, s, net->t.tmp2);
    pr_real *dv = net->t.layer[d->layers - 1].dout + at;
    for (size_t r = 0; r < s->rows; r++) {
        const pr_real *dz = net->t.tmp2 + r * 2 * d->dv;
        memcpy(net->t.dh + r * d->dv, dz, d->dv * sizeof *dz);
        memcpy(dv + r * d->dv, dz + d->dv, d->dv * sizeof *dz);
    }
    if (d->ffn == PR_FFN_PRE)
        pr_arnn_ffn_backward(net, dv, dv, s->first, s->rows);
    for (size_t l = d->layers; l-- > 0;)
        pr_arnn_layer_backward(net, l, s);
}

static void cell_maps_backward(pr_arnn_net *net)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_tape *t = &net->t;
    size_t two = 2 * d->dv;
    pr_gemm(net->g.cell_w + d->du, d->dz, pr_flip(t->dcell, two), pr_mat(t->z, two), 1, two, two,
            t->T);
    pr_gemm(net->g.cell_w, d->dz, pr_flip(t->scell, two), pr_mat(t->u, d->du), 1, two, d->du, t->R);
    pr_bias_backward(net->g.cell_b, t->scell, t->R, two);
    pr_gemm(t->du, d->du, pr_mat(t->scell, two), pr_mat(net->w.cell_w, d->dz), 1, t->R, d->du, two);
}

void pr_arnn_maps_backward(pr_arnn_net *net, size_t key_first, size_t query_first)
{
    const pr_arnn_tape *t = &net->t;
    size_t dv = net->d.dv;
    cell_maps_backward(net);
    pr_arnn_parts_maps_backward(net);
    if (net->d.ffn != PR_FFN_NONE) {
        pr_linear_backward(NULL, net->g.ffn_in_w, net->g.ffn_in_b, t->dwide, t->raw, NULL, t->T, dv,
                           dv);
        pr_linear_backward(NULL, net->g.ffn_out_w, net->g.ffn_out_b, t->dffn, t->wide, NULL, t->T,
                           dv, dv);
    }
    for (size_t l = 0; l < net->d.layers; l++)
        pr_arnn_layer_maps_backward(net, l, key_first, query_first);
}
