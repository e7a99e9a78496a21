/* The attention-fused recurrent network, forward and backward (docs/math.md, One step).
 *
 *   paper                     here
 *   E^U, E^V                  rows of users (model/user_rows.h), w.item
 *   Q = [E^U_u ; h_j]         t.u and the first half of t.z
 *   K = V                     t.e, rows of the placed items
 *   W^Q, W^K and W^V, W^O     query_w, kv_w, join_w of a layer
 *   ~v_j                      the second half of t.z
 *   W^(1), W^(2) and b^(1)    the first blocks of cell_w, cell_b: columns of ~v_j, columns of Q
 *   W^(3), W^(4) and b^(2)    the last block; here it gives o_j, [dv], which E^V then turns into scores
 *
 * The user's columns of query_w, cell_w and gate_w are multiplied once per basket (user_forward,
 * parts_begin) and their gradients once from sums over the steps (maps_backward). */
#include <assert.h>
#include <string.h>

#include "math/attention.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "model/history.h"
#include "model/parsrec/parsrec_net.h"

static pr_real *take(pr_arena *arena, size_t rows, size_t cols)
{
    return pr_arena_take(arena, rows * cols, sizeof(pr_real));
}

/* Gradients of keys and values are added to, so they begin at zero, as do the sums over steps. */
static pr_real *take_zero(pr_arena *arena, size_t rows, size_t cols)
{
    return pr_arena_take_zero(arena, rows * cols, sizeof(pr_real));
}

/* The sums of a gru: candidate, then reset and update gate; of an lstm: candidate, then input, forget and
 * output gate. */
enum { GRU_CANDIDATE, GRU_GATES, GRU_BLOCKS = 3, LSTM_BLOCKS = 4 };

size_t pr_arnn_cell_blocks(pr_cell_kind cell)
{
    static const size_t sums[] = {
        [PR_CELL_RNN] = 1, [PR_CELL_GRU] = GRU_BLOCKS, [PR_CELL_LSTM] = LSTM_BLOCKS};
    return sums[cell] + 1;
}

static size_t output_block(const pr_arnn_dims *d)
{
    return d->blocks - 1;
}

static size_t inputs_of(const pr_arnn_dims *d)
{
    return PR_INPUT_WIDTH * d->inputs->numbers;
}

/* ---- the tape ---- */

static void cell_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t one = sizeof(pr_real);
    t->ucell = pr_arena_take(arena, t->R * d->blocks * d->dv, one);
    if (d->cell != PR_CELL_RNN)
        t->sums = pr_arena_take(arena, t->T * output_block(d) * d->dv, one);
    if (d->cell == PR_CELL_GRU)
        t->back = pr_arena_take(arena, t->T * d->dv, one);
    if (d->cell == PR_CELL_LSTM)
        t->memory = pr_arena_take(arena, t->T * d->dv, one);
}

static void cell_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t one = sizeof(pr_real);
    t->dcell = pr_arena_take(arena, t->T * d->blocks * d->dv, one);
    t->scell = pr_arena_take_zero(arena, t->R * d->blocks * d->dv, one);
    if (d->cell == PR_CELL_GRU)
        t->dback = pr_arena_take(arena, t->T * d->dv, one);
    if (d->cell == PR_CELL_LSTM)
        t->dmemory = pr_arena_take_zero(arena, t->R * d->dv, one);
}

static void parts_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    if (d->pull) {
        t->scale = take_zero(arena, t->R, d->dv);
        t->pull = take_zero(arena, t->T, d->dv);
    }
    if (d->follow)
        t->follow = take_zero(arena, t->T, d->dv);
    if (d->past)
        t->past = take_zero(arena, t->R, d->dv);
    if (d->recall) {
        t->ugate = take_zero(arena, t->R, d->gates);
        t->gate = take_zero(arena, t->T, d->gates);
    }
}

static void parts_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    if (d->pull) {
        t->dpull = take_zero(arena, t->T, d->dv);
        t->spull = take_zero(arena, t->R, d->dv);
        t->dscale = take_zero(arena, t->R, d->dv);
    }
    if (d->past)
        t->dpast = take_zero(arena, t->R, d->dv);
    if (d->recall) {
        t->dgate = take_zero(arena, t->T, d->gates);
        t->sgate = take_zero(arena, t->R, d->gates);
    }
}

static void about_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t one = sizeof(pr_real);
    if (d->inputs->count == 0)
        return;
    t->about = pr_arena_take(arena, t->R * d->dv, one);
    t->words = pr_arena_take(arena, d->inputs->words * t->R, sizeof *t->words);
    t->inputs = pr_arena_take(arena, t->R * inputs_of(d), one);
    t->middle = pr_arena_take(arena, t->R * d->width, one);
}

static void about_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    if (d->inputs->numbers > 0)
        t->dmiddle = pr_arena_take(arena, t->R * d->width, sizeof(pr_real));
}

static void take_layer(pr_arnn_layer_tape *l, pr_arena *arena, const pr_arnn_tape *t,
                       const pr_arnn_dims *d, size_t i)
{
    size_t T = t->T, dq = d->dq;
    if (!pr_arnn_is_upper(d, i)) {
        l->q = take(arena, T, dq);
        l->kv = take(arena, T, 2 * dq);
        l->weight = take(arena, T, d->heads * t->keys);
    }
    l->concat = take(arena, T, dq);
    l->unit = take(arena, T, dq);
    l->rate = take(arena, T, 1);
    l->a = take(arena, T, dq);
    l->out = take(arena, T, pr_arnn_map_width(d, i));
}

void pr_arnn_tape_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d, size_t T, size_t R,
                       size_t keys)
{
    *t = (pr_arnn_tape){.T = T, .R = R, .keys = keys};
    t->u = take(arena, R, d->du);
    cell_take(t, arena, d);
    t->uq = take(arena, R, d->dq);
    t->z = take(arena, T, 2 * d->dv);
    t->e = take(arena, T, d->dv);
    t->o = take(arena, T, d->dv);
    if (d->ffn != PR_FFN_NONE) {
        t->raw = take(arena, T, d->dv);
        t->wide = take(arena, T, d->dv);
        t->ffn = take(arena, T, d->dv);
    }
    parts_take(t, arena, d);
    about_take(t, arena, d);
    for (size_t i = 0; i < d->layers; i++)
        take_layer(&t->layer[i], arena, t, d, i);
}

static void take_layer_backward(pr_arnn_layer_tape *l, pr_arena *arena, const pr_arnn_tape *t,
                                const pr_arnn_dims *d, size_t i)
{
    bool upper = pr_arnn_is_upper(d, i);
    l->dout = take(arena, t->T, pr_arnn_map_width(d, i));
    l->djoin = take(arena, t->T, d->dq);
    if (!upper)
        l->dquery = take(arena, t->T, d->dq);
    l->dkv = take_zero(arena, t->T, upper ? d->dq : 2 * d->dq);
}

void pr_arnn_tape_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t widest = d->dq > 2 * d->dv ? d->dq : 2 * d->dv;
    t->do_ = take(arena, t->T, d->dv);
    cell_take_backward(t, arena, d);
    t->de = take(arena, t->T, d->dv);
    if (d->ffn != PR_FFN_NONE) {
        t->dffn = take(arena, t->T, d->dv);
        t->dwide = take(arena, t->T, d->dv);
    }
    t->duser = take_zero(arena, t->R, d->du);
    t->dh = take_zero(arena, t->R, d->dv);
    t->sq = take_zero(arena, t->R, d->dq);
    t->tmp = take(arena, t->R, widest);
    t->tmp2 = take(arena, t->R, widest);
    t->work = take(arena, 1, t->keys);
    parts_take_backward(t, arena, d);
    about_take_backward(t, arena, d);
    for (size_t i = 0; i < d->layers; i++)
        take_layer_backward(&t->layer[i], arena, t, d, i);
}

/* ---- attention ---- */

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
        pr_attention_forward(t->concat + row * d->dq, t->weight + row * d->heads * net->t.keys,
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

static void layer_forward(pr_arnn_net *net, size_t l, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[l];
    pr_arnn_layer_tape *t = &net->t.layer[l];
    size_t at = s->first * d->dq, out = pr_arnn_map_width(d, l);
    pr_real *a = t->a + at, *concat = t->concat + at;
    if (pr_arnn_is_upper(d, l)) /* one key: its weight is 1 */
        pr_linear_forward(concat, below(net, l, s->first), w->kv_w, w->kv_b, s->rows, d->dv, d->dq);
    else
        attend(net, l, s);
    pr_linear_forward(a, concat, w->join_w, w->join_b, s->rows, d->dq, d->dq);
    if (d->residual)
        add_query(net, l, s, a);
    if (d->norm)
        pr_layer_norm_forward(a, t->unit + at, t->rate + s->first, a, w->gain, w->shift, d->eps,
                              s->rows, d->dq);
    pr_linear_forward(t->out + s->first * out, a, w->map_w, w->map_b, s->rows, d->dq, out);
}

/* Through attention of the step's rows: dconcat to dquery and the keys' rows of dkv. */
static void attend_backward(pr_arnn_net *net, size_t l, const pr_arnn_step *s,
                            const pr_real *dconcat)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_layer_tape *t = &net->t.layer[l];
    for (size_t r = 0; r < s->rows; r++) {
        size_t row = s->first + r;
        pr_keys keys = keys_of(s, r);
        pr_attention_backward(t->dquery + row * d->dq, t->dkv, net->t.work, dconcat + r * d->dq,
                              t->weight + row * d->heads * net->t.keys, t->q + row * d->dq, t->kv,
                              &keys, d->heads, d->dq);
    }
}

/* dQ, as far as it goes to u and h: from the sum before the norm. */
static void query_sum_backward(pr_arnn_net *net, const pr_arnn_step *s, const pr_real *dsum)
{
    const pr_arnn_dims *d = &net->d;
    for (size_t r = 0; r < s->rows; r++) {
        pr_add(net->t.duser + r * d->du, dsum + r * d->dq, d->du);
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
        pr_linear_backward(dbelow, NULL, NULL, t->dquery + s->first * d->dq, NULL, w->query_w,
                           s->rows, d->dq, d->dq);
}

/* The first layer's query back to h; u's share is summed up and done once at the end. */
static void first_query_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    const pr_real *dquery = net->t.layer[0].dquery + s->first * d->dq;
    pr_add(net->t.sq, dquery, s->rows * d->dq);
    pr_gemm(net->t.dh, d->dv, pr_mat(dquery, d->dq), pr_mat(net->w.layer[0].query_w + d->du, d->dq),
            1, s->rows, d->dv, d->dq);
}

static void layer_backward(pr_arnn_net *net, size_t l, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[l], *g = &net->g.layer[l];
    pr_arnn_layer_tape *t = &net->t.layer[l];
    size_t at = s->first * d->dq, out = pr_arnn_map_width(d, l), rows = s->rows;
    pr_real *dsum = t->djoin + at;
    pr_real *dconcat = pr_arnn_is_upper(d, l) ? t->dkv + at : net->t.tmp;
    pr_gemm(dsum, d->dq, pr_mat(t->dout + s->first * out, out), pr_mat(w->map_w, d->dq), 0, rows,
            d->dq, out);
    if (d->norm)
        pr_layer_norm_backward(dsum, g->gain, g->shift, dsum, t->unit + at, t->rate + s->first,
                               w->gain, rows, d->dq);
    pr_gemm(dconcat, d->dq, pr_mat(dsum, d->dq), pr_mat(w->join_w, d->dq), 0, rows, d->dq, d->dq);
    if (!pr_arnn_is_upper(d, l))
        attend_backward(net, l, s, dconcat);
    if (d->residual && (l == 0 || d->paper))
        query_sum_backward(net, s, dsum);
    if (l > 0)
        below_backward(net, l, s, dsum);
    else if (s->query)
        first_query_backward(net, s);
}

/* Keys and values: maps, and the rows of the items they came from. The first layer sets t.de, others add. */
static void kv_maps_backward(pr_arnn_net *net, size_t l, size_t key_first)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[l], *g = &net->g.layer[l];
    const pr_real *dkv = net->t.layer[l].dkv, *e = net->t.e;
    size_t T = net->t.T, dq = d->dq, dv = d->dv, with_keys = T - key_first;
    const pr_real *dkeys = dkv + key_first * 2 * dq;
    pr_gemm(g->kv_w, dv, pr_flip(dkeys, 2 * dq), pr_mat(e + key_first * dv, dv), 1, dq, dv,
            with_keys);
    pr_gemm(g->kv_w + dq * dv, dv, pr_flip(dkv + dq, 2 * dq), pr_mat(e, dv), 1, dq, dv, T);
    pr_bias_backward(g->kv_b, dkv, T, 2 * dq);
    pr_gemm(net->t.de, dv, pr_mat(dkv + dq, 2 * dq), pr_mat(w->kv_w + dq * dv, dv), l > 0, T, dv,
            dq);
    pr_gemm(net->t.de + key_first * dv, dv, pr_mat(dkeys, 2 * dq), pr_mat(w->kv_w, dv), 1,
            with_keys, dv, dq);
}

static void query_maps_backward(pr_arnn_net *net, size_t l, size_t query_first)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *g = &net->g.layer[l];
    size_t rows = net->t.T - query_first, dq = d->dq;
    const pr_real *dquery = net->t.layer[l].dquery + query_first * dq;
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
    pr_gemm(net->t.duser, d->du, pr_mat(net->t.sq, dq), pr_mat(net->w.layer[0].query_w, dq), 1,
            net->t.R, d->du, dq);
}

static void layer_maps_backward(pr_arnn_net *net, size_t l, size_t key_first, size_t query_first)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *g = &net->g.layer[l];
    const pr_arnn_layer_tape *t = &net->t.layer[l];
    size_t T = net->t.T, out = pr_arnn_map_width(d, l);
    pr_linear_backward(NULL, g->map_w, g->map_b, t->dout, t->a, NULL, T, d->dq, out);
    pr_linear_backward(NULL, g->join_w, g->join_b, t->djoin, t->concat, NULL, T, d->dq, d->dq);
    if (pr_arnn_is_upper(d, l)) {
        pr_linear_backward(NULL, g->kv_w, g->kv_b, t->dkv, below(net, l, 0), NULL, T, d->dv, d->dq);
        return;
    }
    kv_maps_backward(net, l, key_first);
    if (query_first < T)
        query_maps_backward(net, l, query_first);
}

/* ---- feed-forward layers ---- */

static void ffn_forward(pr_arnn_net *net, pr_real *y, const pr_real *x, size_t first, size_t rows)
{
    size_t dv = net->d.dv;
    pr_real *raw = net->t.raw + first * dv, *wide = net->t.wide + first * dv;
    memcpy(raw, x, rows * dv * sizeof *raw);
    pr_linear_forward(wide, raw, net->w.ffn_in_w, net->w.ffn_in_b, rows, dv, dv);
    pr_relu_forward(wide, wide, rows * dv);
    pr_linear_forward(y, wide, net->w.ffn_out_w, net->w.ffn_out_b, rows, dv, dv);
}

static void ffn_backward(pr_arnn_net *net, pr_real *dx, const pr_real *dy, size_t first,
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

/* ---- the recurrent cell ---- */

void pr_arnn_cell_begin(pr_arnn_net *net, size_t rows)
{
    size_t dv = net->d.dv;
    for (size_t r = 0; net->d.cell == PR_CELL_LSTM && r < rows; r++)
        memcpy(net->t.memory + r * dv, net->t.z + r * 2 * dv, dv * sizeof(pr_real));
}

static void cell_user(pr_arnn_net *net, size_t first, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    size_t width = d->blocks * d->dv;
    pr_real *ucell = net->t.ucell + first * width;
    pr_bias_spread(ucell, net->w.cell_b, rows, width);
    pr_gemm(ucell, width, pr_mat(net->t.u + first * d->du, d->du), pr_flip(net->w.cell_w, d->dz), 1,
            rows, width, d->du);
}

/* The weights of some blocks for some columns of z = [hidden ; attended], which are hidden [0,dv) and
 * attended [dv,2dv). */
typedef struct cell_part {
    size_t block, blocks; /* the first one, and how many */
    size_t column, width;
} cell_part;

/* All columns of z. */
static cell_part whole(const pr_arnn_dims *d, size_t block, size_t blocks)
{
    return (cell_part){block, blocks, 0, 2 * d->dv};
}

static pr_real *weights_of(const pr_arnn_dims *d, pr_real *cell_w, cell_part p)
{
    return cell_w + p.block * d->dv * d->dz + d->du + p.column;
}

static pr_matrix z_of(const pr_arnn_net *net, size_t first, cell_part p)
{
    return pr_mat(net->t.z + first * 2 * net->d.dv + p.column, 2 * net->d.dv);
}

/* y = keep · y + z · w */
static void apply(pr_arnn_net *net, pr_real *y, size_t stride, cell_part p, pr_real keep,
                  const pr_arnn_step *s, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    pr_gemm(y, stride, z_of(net, s->first, p), pr_flip(weights_of(d, net->w.cell_w, p), d->dz),
            keep, rows, p.blocks * d->dv, p.width);
}

/* y = the user's share of some blocks. */
static void begin_sums(const pr_arnn_net *net, pr_real *y, size_t stride, size_t block,
                       size_t blocks, size_t rows)
{
    size_t dv = net->d.dv, width = net->d.blocks * dv;
    for (size_t r = 0; r < rows; r++)
        memcpy(y + r * stride, net->t.ucell + r * width + block * dv, blocks * dv * sizeof *y);
}

/* ---- forward ---- */

static void rnn_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    begin_sums(net, s->hidden, s->hidden_stride, 0, 1, s->hidden_rows);
    apply(net, s->hidden, s->hidden_stride, whole(&net->d, 0, 1), 1, s, s->hidden_rows);
    for (size_t r = 0; r < s->hidden_rows; r++) {
        pr_real *h = s->hidden + r * s->hidden_stride;
        pr_relu_forward(h, h, net->d.dv);
    }
}

/* The reset gate acts on what the map makes of the hidden state, so that part of the candidate is a sum
 * of its own, `back`. */
static cell_part candidate_of_attended(size_t dv)
{
    return (cell_part){GRU_CANDIDATE, 1, dv, dv};
}

static cell_part candidate_of_hidden(size_t dv)
{
    return (cell_part){GRU_CANDIDATE, 1, 0, dv};
}

static void gru_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    size_t dv = net->d.dv, width = GRU_BLOCKS * dv, rows = s->hidden_rows;
    pr_real *sums = net->t.sums + s->first * width, *back = net->t.back + s->first * dv;
    const pr_real *h = net->t.z + s->first * 2 * dv;
    begin_sums(net, sums, width, 0, GRU_BLOCKS, rows);
    apply(net, sums, width, candidate_of_attended(dv), 1, s, rows);
    apply(net, sums + GRU_GATES * dv, width, whole(&net->d, GRU_GATES, GRU_BLOCKS - GRU_GATES), 1,
          s, rows);
    apply(net, back, dv, candidate_of_hidden(dv), 0, s, rows);
    for (size_t r = 0; r < rows; r++)
        pr_gru_forward(s->hidden + r * s->hidden_stride, sums + r * width, back + r * dv,
                       h + r * 2 * dv, dv);
}

static void lstm_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    size_t dv = net->d.dv, width = LSTM_BLOCKS * dv, rows = s->hidden_rows;
    pr_real *sums = net->t.sums + s->first * width, *memory = net->t.memory + s->first * dv;
    begin_sums(net, sums, width, 0, LSTM_BLOCKS, rows);
    apply(net, sums, width, whole(&net->d, 0, LSTM_BLOCKS), 1, s, rows);
    for (size_t r = 0; r < rows; r++)
        pr_lstm_forward(s->hidden + r * s->hidden_stride, s->memory + r * dv, sums + r * width,
                        memory + r * dv, dv);
}

static void next_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    switch (net->d.cell) {
    case PR_CELL_RNN:
        rnn_forward(net, s);
        return;
    case PR_CELL_GRU:
        gru_forward(net, s);
        return;
    case PR_CELL_LSTM:
        lstm_forward(net, s);
        return;
    }
}

static void cell_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    size_t dv = net->d.dv, last = output_block(&net->d);
    pr_real *o = net->t.o + s->first * dv;
    if (s->hidden_rows > 0)
        next_forward(net, s);
    begin_sums(net, o, dv, last, 1, s->rows);
    apply(net, o, dv, whole(&net->d, last, 1), 1, s, s->rows);
}

/* ---- backward ---- */

/* One row that has a next hidden state: from its gradient, t.dh, to those of the sums, dsums. A gru also
 * passes a part of it to the present hidden state without a map: to the row of tmp2[R,2dv]. */
static void rnn_backward(pr_arnn_net *net, const pr_arnn_step *s, pr_real *dsums, size_t r)
{
    memset(dsums, 0, net->d.dv * sizeof *dsums);
    pr_relu_backward(dsums, net->t.dh + r * net->d.dv, s->hidden + r * s->hidden_stride, net->d.dv);
}

static void gru_backward(pr_arnn_net *net, const pr_arnn_step *s, pr_real *dsums, size_t r)
{
    const pr_arnn_tape *t = &net->t;
    size_t dv = net->d.dv, row = s->first + r;
    pr_gru_backward(dsums, t->dback + row * dv, t->tmp2 + r * 2 * dv, t->dh + r * dv,
                    t->sums + row * GRU_BLOCKS * dv, t->back + row * dv, t->z + row * 2 * dv, dv);
}

static void lstm_backward(pr_arnn_net *net, const pr_arnn_step *s, pr_real *dsums, size_t r)
{
    const pr_arnn_tape *t = &net->t;
    size_t dv = net->d.dv, row = s->first + r;
    pr_lstm_backward(dsums, t->dmemory + r * dv, t->dh + r * dv, t->sums + row * LSTM_BLOCKS * dv,
                     t->memory + row * dv, s->memory + r * dv, dv);
}

static void next_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    static void (*const row_backward[])(pr_arnn_net *, const pr_arnn_step *, pr_real *, size_t) = {
        [PR_CELL_RNN] = rnn_backward, [PR_CELL_GRU] = gru_backward, [PR_CELL_LSTM] = lstm_backward};
    size_t dv = net->d.dv, width = net->d.blocks * dv;
    pr_real *dcell = net->t.dcell + s->first * width, *dback = net->t.dback;
    for (size_t r = 0; r < s->hidden_rows; r++)
        row_backward[net->d.cell](net, s, dcell + r * width, r);
    for (size_t r = s->hidden_rows; r < s->rows; r++) {
        memset(dcell + r * width, 0, (width - dv) * sizeof *dcell);
        if (dback != NULL)
            memset(dback + (s->first + r) * dv, 0, dv * sizeof *dback);
    }
}

/* The columns p of dz, which is tmp2[R,2dv]: keep · dz + dsums · w */
static void give_back(pr_arnn_net *net, const pr_real *dsums, size_t stride, cell_part p,
                      pr_real keep, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    pr_gemm(net->t.tmp2 + p.column, 2 * d->dv, pr_mat(dsums, stride),
            pr_mat(weights_of(d, net->w.cell_w, p), d->dz), keep, rows, p.width, p.blocks * d->dv);
}

/* Where a step has no next hidden state, the output's block alone has a gradient. */
static void inputs_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    size_t dv = d->dv, width = d->blocks * dv;
    const pr_real *dcell = net->t.dcell + s->first * width;
    bool gru = d->cell == PR_CELL_GRU, next = s->hidden_rows > 0;
    size_t from = !next ? output_block(d) : gru ? GRU_GATES : 0;
    give_back(net, dcell + from * dv, width, whole(d, from, d->blocks - from), gru && next,
              s->rows);
    if (!gru || !next)
        return;
    give_back(net, dcell, width, candidate_of_attended(dv), 1, s->rows);
    give_back(net, net->t.dback + s->first * dv, dv, candidate_of_hidden(dv), 1, s->rows);
}

static void cell_backward(pr_arnn_net *net, const pr_arnn_step *s, const pr_real *dout)
{
    size_t dv = net->d.dv, width = net->d.blocks * dv;
    pr_real *dcell = net->t.dcell + s->first * width;
    for (size_t r = 0; r < s->rows; r++)
        memcpy(dcell + r * width + width - dv, dout + r * dv, dv * sizeof *dcell);
    /* dout has been copied and may be tmp2; from here on tmp2 is dz. A gru adds to it, others set it. */
    if (net->d.cell == PR_CELL_GRU)
        memset(net->t.tmp2, 0, s->rows * 2 * dv * sizeof *net->t.tmp2);
    next_backward(net, s);
    pr_add(net->t.scell, dcell, s->rows * width);
    inputs_backward(net, s);
}

/* Adds the gradient of some blocks' weights for columns of z. */
static void map_backward(pr_arnn_net *net, const pr_real *dsums, size_t stride, cell_part p)
{
    const pr_arnn_dims *d = &net->d;
    pr_gemm(weights_of(d, net->g.cell_w, p), d->dz, pr_flip(dsums, stride), z_of(net, 0, p), 1,
            p.blocks * d->dv, p.width, net->t.T);
}

void pr_arnn_cell_end(pr_arnn_net *net)
{
    if (net->d.cell == PR_CELL_LSTM)
        pr_add(net->t.dh, net->t.dmemory, net->t.R * net->d.dv);
}

static void cell_maps_backward(pr_arnn_net *net)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_tape *t = &net->t;
    size_t dv = d->dv, width = d->blocks * dv, from = d->cell == PR_CELL_GRU ? GRU_GATES : 0;
    map_backward(net, t->dcell + from * dv, width, whole(d, from, d->blocks - from));
    if (d->cell == PR_CELL_GRU) {
        map_backward(net, t->dcell, width, candidate_of_attended(dv));
        map_backward(net, t->dback, dv, candidate_of_hidden(dv));
    }
    pr_gemm(net->g.cell_w, d->dz, pr_flip(t->scell, width), pr_mat(t->u, d->du), 1, width, d->du,
            t->R);
    pr_bias_backward(net->g.cell_b, t->scell, t->R, width);
    pr_gemm(t->duser, d->du, pr_mat(t->scell, width), pr_mat(net->w.cell_w, d->dz), 1, t->R, d->du,
            width);
}

/* ---- parts that add up ---- */

void pr_arnn_parts_begin(pr_arnn_net *net, size_t first, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    pr_matrix u = pr_mat(t->u + first * d->du, d->du);
    if (d->pull) {
        pr_real *scale = t->scale + first * d->dv;
        for (size_t i = 0; i < rows * d->dv; i++)
            scale[i] = 1;
        pr_gemm(scale, d->dv, u, pr_flip(net->w.scale_w, d->du), 1, rows, d->dv, d->du);
    }
    if (d->past)
        pr_gemm(t->past + first * d->dv, d->dv, pr_mat(t->z + first * 2 * d->dv, 2 * d->dv),
                pr_flip(net->w.past_w, d->dv), 0, rows, d->dv, d->dv);
    if (d->recall) {
        pr_real *gate = t->ugate + first * d->gates;
        pr_bias_spread(gate, net->w.gate_b, rows, d->gates);
        size_t as_count = d->neighbours > 0 ? PR_GATE_EXPECTED : PR_REPEAT_COUNT;
        for (size_t r = 0; r < rows; r++)
            gate[r * d->gates + as_count] += 1; /* begins as a count */
        pr_gemm(gate, d->gates, u, pr_flip(net->w.gate_w, d->dz), 1, rows, d->gates, d->du);
    }
}

void pr_arnn_parts_sum(pr_arnn_net *net, size_t first, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_tape *t = &net->t;
    pr_real *o = t->o + first * d->dv;
    if (d->past)
        pr_add(o, t->past, rows * d->dv);
    if (d->follow)
        pr_add(o, t->follow + first * d->dv, rows * d->dv);
    for (size_t i = 0; d->pull && i < rows * d->dv; i++)
        o[i] += t->scale[i] * t->pull[first * d->dv + i];
}

static void parts_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    pr_arnn_parts_sum(net, s->first, s->rows);
    if (d->recall) {
        pr_real *gate = t->gate + s->first * d->gates;
        memcpy(gate, t->ugate, s->rows * d->gates * sizeof *gate);
        pr_gemm(gate, d->gates, pr_mat(t->z + s->first * 2 * d->dv, 2 * d->dv),
                pr_flip(net->w.gate_w + d->du, d->dz), 1, s->rows, d->gates, 2 * d->dv);
    }
}

static void parts_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    const pr_real *dout = t->do_ + s->first * d->dv;
    size_t n = s->rows * d->dv;
    if (d->past)
        pr_add(t->dpast, dout, n);
    if (d->pull) {
        const pr_real *pull = t->pull + s->first * d->dv;
        for (size_t i = 0; i < n; i++) {
            t->spull[i] = t->spull[i] * d->fade + dout[i] * t->scale[i];
            t->dscale[i] += dout[i] * pull[i];
        }
        memcpy(t->dpull + s->first * d->dv, t->spull, n * sizeof *t->spull);
    }
}

static void gates_backward(pr_arnn_net *net, const pr_arnn_step *s, pr_real *dz)
{
    const pr_arnn_dims *d = &net->d;
    if (!d->recall)
        return;
    const pr_real *dgate = net->t.dgate + s->first * d->gates;
    pr_add(net->t.sgate, dgate, s->rows * d->gates);
    pr_gemm(dz, 2 * d->dv, pr_mat(dgate, d->gates), pr_mat(net->w.gate_w + d->du, d->dz), 1,
            s->rows, 2 * d->dv, d->gates);
}

static void parts_maps_backward(pr_arnn_net *net)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_tape *t = &net->t;
    size_t F = d->gates, two = 2 * d->dv;
    if (d->recall) {
        pr_gemm(net->g.gate_w + d->du, d->dz, pr_flip(t->dgate, F), pr_mat(t->z, two), 1, F, two,
                t->T);
        pr_gemm(net->g.gate_w, d->dz, pr_flip(t->sgate, F), pr_mat(t->u, d->du), 1, F, d->du, t->R);
        pr_bias_backward(net->g.gate_b, t->sgate, t->R, F);
        pr_gemm(t->duser, d->du, pr_mat(t->sgate, F), pr_mat(net->w.gate_w, d->dz), 1, t->R, d->du,
                F);
    }
    if (d->pull) {
        pr_gemm(net->g.scale_w, d->du, pr_flip(t->dscale, d->dv), pr_mat(t->u, d->du), 1, d->dv,
                d->du, t->R);
        pr_gemm(t->duser, d->du, pr_mat(t->dscale, d->dv), pr_mat(net->w.scale_w, d->du), 1, t->R,
                d->du, d->dv);
    }
    if (d->past) {
        pr_gemm(net->g.past_w, d->dv, pr_flip(t->dpast, d->dv), pr_mat(t->z, two), 1, d->dv, d->dv,
                t->R);
        pr_gemm(t->dh, d->dv, pr_mat(t->dpast, d->dv), pr_mat(net->w.past_w, d->dv), 1, t->R, d->dv,
                d->dv);
    }
}

/* ---- features ---- */

/* What features add is multiplied by this. Adam moves a weight by about the learning rate whatever the
 * size of its gradient, so rows of features that tell nothing grow as far as others. A tenth of them does
 * no harm, and features that do tell something are as good as without the factor (docs/results.md,
 * Features). */
static const pr_real feature_factor = (pr_real)0.1;

void pr_arnn_about_read(pr_arnn_net *net, size_t row, const pr_known_features *about)
{
    const pr_feature_inputs *inputs = net->d.inputs;
    if (inputs->count > 0)
        pr_feature_inputs_read(inputs, about, net->w.about_scale,
                               net->t.words + row * inputs->words,
                               net->t.inputs + row * inputs_of(&net->d));
}

/* Rows one by one, so that each has the bits that it has alone. */
void pr_arnn_about_forward(pr_arnn_net *net, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    size_t words = d->inputs->words, in = inputs_of(d);
    memset(t->about, 0, rows * d->dv * sizeof *t->about);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < words; i++)
            pr_add_scaled(t->about + r * d->dv,
                          net->w.word + (size_t)t->words[r * words + i] * d->dv, feature_factor,
                          d->dv);
    if (d->inputs->numbers == 0)
        return;
    pr_bias_spread(t->middle, net->w.about_in_b, rows, d->width);
    pr_gemm_each(t->middle, d->width, pr_mat(t->inputs, in), pr_flip(net->w.about_in_w, in), 1,
                 rows, d->width, in);
    pr_relu_forward(t->middle, t->middle, rows * d->width);
    for (size_t i = 0; i < rows * d->width; i++)
        t->middle[i] *= feature_factor;
    pr_gemm_each(t->about, d->dv, pr_mat(t->middle, d->width),
                 pr_flip(net->w.about_out_w, d->width), 1, rows, d->dv, d->width);
}

void pr_arnn_about_backward(pr_arnn_net *net, const pr_real *dabout, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    size_t words = d->inputs->words, in = inputs_of(d), n = rows * d->width;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < words; i++)
            pr_add_scaled(net->g.word + (size_t)t->words[r * words + i] * d->dv, dabout + r * d->dv,
                          feature_factor, d->dv);
    if (d->inputs->numbers == 0)
        return;
    memset(t->dmiddle, 0, n * sizeof *t->dmiddle);
    pr_linear_backward(t->dmiddle, net->g.about_out_w, NULL, dabout, t->middle, net->w.about_out_w,
                       rows, d->width, d->dv);
    pr_relu_through(t->dmiddle, t->middle, n);
    for (size_t i = 0; i < n; i++)
        t->dmiddle[i] *= feature_factor;
    pr_linear_backward(NULL, net->g.about_in_w, net->g.about_in_b, t->dmiddle, t->inputs, NULL,
                       rows, in, d->width);
}

/* ---- one step ---- */

void pr_arnn_user_forward(pr_arnn_net *net, size_t first, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_layer *w = &net->w.layer[0];
    pr_matrix u = pr_mat(net->t.u + first * d->du, d->du);
    pr_real *uq = net->t.uq + first * d->dq;
    cell_user(net, first, rows);
    pr_bias_spread(uq, w->query_b, rows, d->dq);
    pr_gemm(uq, d->dq, u, pr_flip(w->query_w, d->dq), 1, rows, d->dq, d->du);
}

/* Without keys, that half of kv has the bias alone: nothing reads it, a single key has weight 1. */
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

/* The paper's equations, in their order; docs/math.md numbers them. u is in t.u, h_j and ṽ_j side by
 * side in t.z, keys and values of the placed items in t.layer[l].kv. */
void pr_arnn_step_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    size_t at = s->first * d->dv;
    assert(s->rows <= net->t.R && s->first + s->rows <= net->t.T && s->hidden_rows <= s->rows);
    /* 1, 2: Q = [u ; h_j], a = LayerNorm(Q + join(attention(query(Q), K, V))), out = map(a) */
    for (size_t l = 0; l < d->layers; l++)
        layer_forward(net, l, s);
    /* 3: ṽ_j = out of the last layer, or what a feed-forward layer makes of it */
    const pr_real *attended = net->t.layer[d->layers - 1].out + at;
    if (d->ffn == PR_FFN_PRE) {
        ffn_forward(net, net->t.ffn + at, attended, s->first, s->rows);
        attended = net->t.ffn + at;
    }
    for (size_t r = 0; r < s->rows; r++)
        memcpy(net->t.z + (s->first + r) * 2 * d->dv + d->dv, attended + r * d->dv,
               d->dv * sizeof *attended);
    /* 4: z = [Q ; ṽ_j], h_{j+1} = ReLU(z W_h + b_h), o_j = z W_o + b_o */
    cell_forward(net, s);
    if (d->ffn == PR_FFN_POST)
        ffn_forward(net, net->t.o + at, net->t.o + at, s->first, s->rows);
    /* Beyond the paper: what history and placed items add to o_j, and the gates of recall. The scores,
     * 5: y = o_j E^T, belong to the caller: a loss, or a scorer. */
    parts_forward(net, s);
}

void pr_arnn_step_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    assert(net->t.do_ != NULL && s->rows <= net->t.R && s->first + s->rows <= net->t.T);
    assert(s->hidden_rows <= s->rows);
    size_t at = s->first * d->dv;
    const pr_real *dout = net->t.do_ + at;
    parts_backward(net, s);
    if (d->ffn == PR_FFN_POST) {
        ffn_backward(net, net->t.tmp2, dout, s->first, s->rows);
        dout = net->t.tmp2;
    }
    cell_backward(net, s, dout);
    gates_backward(net, s, net->t.tmp2);
    pr_real *dattended = net->t.layer[d->layers - 1].dout + at;
    for (size_t r = 0; r < s->rows; r++) {
        const pr_real *dz = net->t.tmp2 + r * 2 * d->dv;
        memcpy(net->t.dh + r * d->dv, dz, d->dv * sizeof *dz);
        memcpy(dattended + r * d->dv, dz + d->dv, d->dv * sizeof *dz);
    }
    if (d->ffn == PR_FFN_PRE)
        ffn_backward(net, dattended, dattended, s->first, s->rows);
    for (size_t l = d->layers; l-- > 0;)
        layer_backward(net, l, s);
}

void pr_arnn_maps_backward(pr_arnn_net *net, size_t key_first, size_t query_first)
{
    const pr_arnn_tape *t = &net->t;
    size_t dv = net->d.dv;
    assert(key_first <= t->T && query_first <= t->T);
    cell_maps_backward(net);
    parts_maps_backward(net);
    if (net->d.ffn != PR_FFN_NONE) {
        pr_linear_backward(NULL, net->g.ffn_in_w, net->g.ffn_in_b, t->dwide, t->raw, NULL, t->T, dv,
                           dv);
        pr_linear_backward(NULL, net->g.ffn_out_w, net->g.ffn_out_b, t->dffn, t->wide, NULL, t->T,
                           dv, dv);
    }
    for (size_t l = 0; l < net->d.layers; l++)
        layer_maps_backward(net, l, key_first, query_first);
}
