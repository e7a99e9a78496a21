/* One attention layer of PARSRec, forward and backward. */
#include <string.h>

#include "math/attention.h"
#include "math/layer_norm.h"
#include "math/linear.h"
#include "model/parsrec/parsrec_net.h"

static pr_keys keys_of(const pr_arnn_step *s, size_t r)
{
    return (pr_keys){s->at, r * s->stride, s->counts != NULL ? s->counts[r] : s->keys};
}

/* The input of a layer above the first: the output of the one below. */
static const pr_real *below(const pr_arnn_net *net, size_t l, size_t first)
{
    return net->t.layer[l - 1].out + first * pr_arnn_map_width(&net->d, l - 1);
}

/* The first layer's query is [u ; h]: u's share is known, h stands in z. */
static void query_forward(pr_arnn_net *net, size_t l, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    pr_real *q = net->t.layer[l].q + s->first * d->dq;
    const pr_arnn_layer *w = &net->w.layer[l];
    if (l > 0) {
        pr_linear_forward(q, below(net, l, s->first), w->query_w, w->query_b, s->rows, d->dq,
                          d->dq);
        return;
    }
    memcpy(q, net->t.uq, s->rows * d->dq * sizeof *q);
    pr_gemm(q, d->dq, pr_mat(net->t.z + s->first * 2 * d->dv, 2 * d->dv),
            pr_flip(w->query_w + d->du, d->dq), 1, s->rows, d->dq, d->dv);
}

static void attend(pr_arnn_net *net, size_t l, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_layer_tape *t = &net->t.layer[l];
    if (s->query)
        query_forward(net, l, s);
    for (size_t r = 0; r < s->rows; r++) {
        size_t row = s->first + r;
        pr_keys keys = keys_of(s, r);
        pr_attention_forward(t->mix + row * d->dq, t->weight + row * d->heads * net->t.keys,
                             t->q + row * d->dq, t->kv, &keys, d->heads, d->dq);
    }
}

/* a += the layer's query, which is [u ; h] or what came from below. */
static void add_query(pr_arnn_net *net, size_t l, const pr_arnn_step *s, pr_real *a)
{
    const pr_arnn_dims *d = &net->d;
    if (l > 0 && !d->paper) {
        pr_add(a, below(net, l, s->first), s->rows * d->dq);
        return;
    }
    for (size_t r = 0; r < s->rows; r++) {
        pr_add(a + r * d->dq, net->t.u + r * d->du, d->du);
        pr_add(a + r * d->dq + d->du, net->t.z + (s->first + r) * 2 * d->dv, d->dv);
    }
}

void pr_arnn_layer_forward(pr_arnn_net *net, size_t l, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[l];
    pr_arnn_layer_tape *t = &net->t.layer[l];
    size_t at = s->first * d->dq, out = pr_arnn_map_width(d, l);
    pr_real *a = t->a + at, *mix = t->mix + at;
    if (pr_arnn_is_upper(d, l)) /* one key: its weight is 1 */
        pr_linear_forward(mix, below(net, l, s->first), w->kv_w, w->kv_b, s->rows, d->dv, d->dq);
    else
        attend(net, l, s);
    pr_linear_forward(a, mix, w->join_w, w->join_b, s->rows, d->dq, d->dq);
    if (d->residual)
        add_query(net, l, s, a);
    if (d->norm)
        pr_layer_norm_forward(a, t->unit + at, t->rate + s->first, a, w->gain, w->shift, d->eps,
                              s->rows, d->dq);
    pr_linear_forward(t->out + s->first * out, a, w->map_w, w->map_b, s->rows, d->dq, out);
}

/* Through attention of the step's rows: dmix to dq and the keys' rows of dkv. */
static void attend_backward(pr_arnn_net *net, size_t l, const pr_arnn_step *s, const pr_real *dmix)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_layer_tape *t = &net->t.layer[l];
    for (size_t r = 0; r < s->rows; r++) {
        size_t row = s->first + r;
        pr_keys keys = keys_of(s, r);
        pr_attention_backward(t->dq + row * d->dq, t->dkv, net->t.work, dmix + r * d->dq,
                              t->weight + row * d->heads * net->t.keys, t->q + row * d->dq, t->kv,
                              &keys, d->heads, d->dq);
    }
}

/* dQ, as far as it goes to u and h: from the sum before the norm. */
static void query_sum_backward(pr_arnn_net *net, const pr_arnn_step *s, const pr_real *dsum)
{
    const pr_arnn_dims *d = &net->d;
    for (size_t r = 0; r < s->rows; r++) {
        pr_add(net->t.du + r * d->du, dsum + r * d->dq, d->du);
        pr_add(net->t.dh + r * d->dv, dsum + r * d->dq + d->du, d->dv);
    }
}

/* What the layer below hears: through the query (or the one value) and the sum before the norm. */
static void below_backward(pr_arnn_net *net, size_t l, const pr_arnn_step *s, const pr_real *dsum)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[l];
    pr_arnn_layer_tape *t = &net->t.layer[l];
    size_t width = pr_arnn_map_width(d, l - 1), n = s->rows * width;
    pr_real *dbelow = net->t.layer[l - 1].dout + s->first * width;
    memset(dbelow, 0, n * sizeof *dbelow);
    if (pr_arnn_is_upper(d, l)) {
        pr_linear_backward(dbelow, NULL, NULL, t->dkv + s->first * d->dq, NULL, w->kv_w, s->rows,
                           d->dv, d->dq);
        return;
    }
    if (d->residual)
        pr_add(dbelow, dsum, n);
    if (s->query)
        pr_linear_backward(dbelow, NULL, NULL, t->dq + s->first * d->dq, NULL, w->query_w, s->rows,
                           d->dq, d->dq);
}

/* The first layer's query back to h; u's share is summed up and done once at the end. */
static void first_query_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    const pr_real *dq = net->t.layer[0].dq + s->first * d->dq;
    pr_add(net->t.sq, dq, s->rows * d->dq);
    pr_gemm(net->t.dh, d->dv, pr_mat(dq, d->dq), pr_mat(net->w.layer[0].query_w + d->du, d->dq), 1,
            s->rows, d->dv, d->dq);
}

void pr_arnn_layer_backward(pr_arnn_net *net, size_t l, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[l], *g = &net->g.layer[l];
    pr_arnn_layer_tape *t = &net->t.layer[l];
    size_t at = s->first * d->dq, out = pr_arnn_map_width(d, l), rows = s->rows;
    pr_real *dsum = t->djoin + at;
    pr_real *dmix = pr_arnn_is_upper(d, l) ? t->dkv + at : net->t.tmp;
    pr_gemm(dsum, d->dq, pr_mat(t->dout + s->first * out, out), pr_mat(w->map_w, d->dq), 0, rows,
            d->dq, out);
    if (d->norm)
        pr_layer_norm_backward(dsum, g->gain, g->shift, dsum, t->unit + at, t->rate + s->first,
                               w->gain, rows, d->dq);
    pr_gemm(dmix, d->dq, pr_mat(dsum, d->dq), pr_mat(w->join_w, d->dq), 0, rows, d->dq, d->dq);
    if (!pr_arnn_is_upper(d, l))
        attend_backward(net, l, s, dmix);
    if (d->residual && (l == 0 || d->paper))
        query_sum_backward(net, s, dsum);
    if (l > 0)
        below_backward(net, l, s, dsum);
    else if (s->query)
        first_query_backward(net, s);
}

/* Keys and values: maps, and the rows of the items they came from. */
static void kv_maps_backward(pr_arnn_net *net, size_t l, size_t key_first)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[l], *g = &net->g.layer[l];
    const pr_real *dkv = net->t.layer[l].dkv, *e = net->t.e;
    size_t T = net->t.T, dq = d->dq, dv = d->dv, asked = T - key_first;
    const pr_real *dkeys = dkv + key_first * 2 * dq;
    pr_gemm(g->kv_w, dv, pr_flip(dkeys, 2 * dq), pr_mat(e + key_first * dv, dv), 1, dq, dv, asked);
    pr_gemm(g->kv_w + dq * dv, dv, pr_flip(dkv + dq, 2 * dq), pr_mat(e, dv), 1, dq, dv, T);
    pr_bias_backward(g->kv_b, dkv, T, 2 * dq);
    pr_gemm(net->t.de, dv, pr_mat(dkv + dq, 2 * dq), pr_mat(w->kv_w + dq * dv, dv), l > 0, T, dv,
            dq);
    pr_gemm(net->t.de + key_first * dv, dv, pr_mat(dkeys, 2 * dq), pr_mat(w->kv_w, dv), 1, asked,
            dv, dq);
}

static void query_maps_backward(pr_arnn_net *net, size_t l, size_t query_first)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *g = &net->g.layer[l];
    size_t rows = net->t.T - query_first, dq = d->dq;
    const pr_real *dquery = net->t.layer[l].dq + query_first * dq;
    if (l > 0) {
        pr_linear_backward(NULL, g->query_w, g->query_b, dquery, below(net, l, query_first), NULL,
                           rows, dq, dq);
        return;
    }
    pr_gemm(g->query_w + d->du, dq, pr_flip(dquery, dq),
            pr_mat(net->t.z + query_first * 2 * d->dv, 2 * d->dv), 1, dq, d->dv, rows);
    pr_gemm(g->query_w, dq, pr_flip(net->t.sq, dq), pr_mat(net->t.u, d->du), 1, dq, d->du,
            net->t.R);
    pr_bias_backward(g->query_b, net->t.sq, net->t.R, dq);
    pr_gemm(net->t.du, d->du, pr_mat(net->t.sq, dq), pr_mat(net->w.layer[0].query_w, dq), 1,
            net->t.R, d->du, dq);
}

void pr_arnn_layer_maps_backward(pr_arnn_net *net, size_t l, size_t key_first, size_t query_first)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *g = &net->g.layer[l];
    const pr_arnn_layer_tape *t = &net->t.layer[l];
    size_t T = net->t.T, out = pr_arnn_map_width(d, l);
    pr_linear_backward(NULL, g->map_w, g->map_b, t->dout, t->a, NULL, T, d->dq, out);
    pr_linear_backward(NULL, g->join_w, g->join_b, t->djoin, t->mix, NULL, T, d->dq, d->dq);
    if (pr_arnn_is_upper(d, l)) {
        pr_linear_backward(NULL, g->kv_w, g->kv_b, t->dkv, below(net, l, 0), NULL, T, d->dv, d->dq);
        return;
    }
    kv_maps_backward(net, l, key_first);
    if (query_first < T)
        query_maps_backward(net, l, query_first);
}
