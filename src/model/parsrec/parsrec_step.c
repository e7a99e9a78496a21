/* One step of PARSRec: attention layers, feed-forward layers if any, recurrent cell. */
#include <string.h>

#include "math/activation.h"
#include "math/linear.h"
#include "model/parsrec/parsrec_net.h"

void pr_arnn_user_forward(pr_arnn_net *net, size_t first, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_matrix u = pr_mat(net->t.u + first * d->du, d->du);
    pr_real *uq = net->t.uq + first * d->dq;
    pr_arnn_cell_user(net, first, rows);
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
    pr_arnn_cell_forward(net, s);
    if (d->ffn == PR_FFN_POST)
        pr_arnn_ffn_forward(net, net->t.o + at, net->t.o + at, s->first, s->rows);
    pr_arnn_parts_forward(net, s);
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
    pr_arnn_cell_backward(net, s, dout);
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

void pr_arnn_maps_backward(pr_arnn_net *net, size_t key_first, size_t query_first)
{
    const pr_arnn_tape *t = &net->t;
    size_t dv = net->d.dv;
    pr_arnn_cell_maps_backward(net);
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
