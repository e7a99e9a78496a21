/* The recurrent cell of PARSRec: from z = [user ; hidden state ; what the attention gave] to the output
 * and the next hidden state. cell_w has a block of dv rows for each sum of the cell, the output's last:
 *   rnn: hidden | gru: candidate, reset, update | lstm: candidate, input, forget, output gate */
#include <string.h>

#include "math/activation.h"
#include "math/gated_cell.h"
#include "math/linear.h"
#include "model/parsrec/parsrec_net.h"

size_t pr_arnn_cell_blocks(pr_cell_kind cell)
{
    static const size_t sums[] = {[PR_CELL_RNN] = 1, [PR_CELL_GRU] = 3, [PR_CELL_LSTM] = 4};
    return sums[cell] + 1;
}

static size_t output_block(const pr_arnn_dims *d)
{
    return d->blocks - 1;
}

void pr_arnn_cell_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
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

void pr_arnn_cell_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t one = sizeof(pr_real);
    t->dcell = pr_arena_take(arena, t->T * d->blocks * d->dv, one);
    t->scell = pr_arena_take_zero(arena, t->R * d->blocks * d->dv, one);
    if (d->cell == PR_CELL_GRU)
        t->dback = pr_arena_take(arena, t->T * d->dv, one);
    if (d->cell == PR_CELL_LSTM)
        t->dmemory = pr_arena_take_zero(arena, t->R * d->dv, one);
}

void pr_arnn_cell_begin(pr_arnn_net *net, size_t rows)
{
    size_t dv = net->d.dv;
    for (size_t r = 0; net->d.cell == PR_CELL_LSTM && r < rows; r++)
        memcpy(net->t.memory + r * dv, net->t.z + r * 2 * dv, dv * sizeof(pr_real));
}

void pr_arnn_cell_user(pr_arnn_net *net, size_t first, size_t rows)
{
    const pr_arnn_dims *d = &net->d;
    size_t width = d->blocks * d->dv;
    pr_real *ucell = net->t.ucell + first * width;
    pr_bias_spread(ucell, net->w.cell_b, rows, width);
    pr_gemm(ucell, width, pr_mat(net->t.u + first * d->du, d->du), pr_flip(net->w.cell_w, d->dz), 1,
            rows, width, d->du);
}

/* Some blocks of a step's sums, or of the cell's weights, and columns of z = [hidden ; attended]. */
typedef struct part {
    size_t block, blocks; /* from this one, so many */
    size_t column, width; /* of z's 2dv */
} part;

static part whole(const pr_arnn_dims *d, size_t block, size_t blocks)
{
    return (part){block, blocks, 0, 2 * d->dv};
}

static pr_real *weights_of(const pr_arnn_dims *d, pr_real *cell_w, part p)
{
    return cell_w + p.block * d->dv * d->dz + d->du + p.column;
}

static pr_matrix z_of(const pr_arnn_net *net, size_t first, part p)
{
    return pr_mat(net->t.z + first * 2 * net->d.dv + p.column, 2 * net->d.dv);
}

/* y = keep · y + z · w */
static void apply(pr_arnn_net *net, pr_real *y, size_t stride, part p, pr_real keep,
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

static void gru_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    size_t dv = net->d.dv, rows = s->hidden_rows;
    pr_real *sums = net->t.sums + s->first * 3 * dv, *back = net->t.back + s->first * dv;
    const pr_real *h = net->t.z + s->first * 2 * dv;
    begin_sums(net, sums, 3 * dv, 0, 3, rows);
    apply(net, sums, 3 * dv, (part){0, 1, dv, dv}, 1, s, rows);
    apply(net, sums + dv, 3 * dv, whole(&net->d, 1, 2), 1, s, rows);
    apply(net, back, dv, (part){0, 1, 0, dv}, 0, s, rows);
    for (size_t r = 0; r < rows; r++)
        pr_gru_forward(s->hidden + r * s->hidden_stride, sums + r * 3 * dv, back + r * dv,
                       h + r * 2 * dv, dv);
}

static void lstm_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    size_t dv = net->d.dv, rows = s->hidden_rows;
    pr_real *sums = net->t.sums + s->first * 4 * dv, *memory = net->t.memory + s->first * dv;
    begin_sums(net, sums, 4 * dv, 0, 4, rows);
    apply(net, sums, 4 * dv, whole(&net->d, 0, 4), 1, s, rows);
    for (size_t r = 0; r < rows; r++)
        pr_lstm_forward(s->hidden + r * s->hidden_stride, s->memory + r * dv, sums + r * 4 * dv,
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

void pr_arnn_cell_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    size_t dv = net->d.dv, last = output_block(&net->d);
    pr_real *o = net->t.o + s->first * dv;
    if (s->hidden_rows > 0)
        next_forward(net, s);
    begin_sums(net, o, dv, last, 1, s->rows);
    apply(net, o, dv, whole(&net->d, last, 1), 1, s, s->rows);
}

/* ---- backward ---- */

/* Gradients of the sums from that of the next hidden state; of rows that have one. tmp2[R,2dv] gets
 * what goes to the present hidden state without a map. */
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
                    t->sums + row * 3 * dv, t->back + row * dv, t->z + row * 2 * dv, dv);
}

static void lstm_backward(pr_arnn_net *net, const pr_arnn_step *s, pr_real *dsums, size_t r)
{
    const pr_arnn_tape *t = &net->t;
    size_t dv = net->d.dv, row = s->first + r;
    pr_lstm_backward(dsums, t->dmemory + r * dv, t->dh + r * dv, t->sums + row * 4 * dv,
                     t->memory + row * dv, s->memory + r * dv, dv);
}

static void next_backward(pr_arnn_net *net, const pr_arnn_step *s)
{
    static void (*const back[])(pr_arnn_net *, const pr_arnn_step *, pr_real *,
                                size_t) = {rnn_backward, gru_backward, lstm_backward};
    size_t dv = net->d.dv, width = net->d.blocks * dv;
    pr_real *dcell = net->t.dcell + s->first * width, *dback = net->t.dback;
    for (size_t r = 0; r < s->hidden_rows; r++)
        back[net->d.cell](net, s, dcell + r * width, r);
    for (size_t r = s->hidden_rows; r < s->rows; r++) {
        memset(dcell + r * width, 0, (width - dv) * sizeof *dcell);
        if (dback != NULL)
            memset(dback + (s->first + r) * dv, 0, dv * sizeof *dback);
    }
}

/* dz[R,2dv] += gradients of some sums, `stride` apart · w */
static void give_back(pr_arnn_net *net, const pr_real *dsums, size_t stride, part p, pr_real keep,
                      size_t rows)
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
    size_t from = !next ? output_block(d) : gru ? 1 : 0;
    give_back(net, dcell + from * dv, width, whole(d, from, d->blocks - from), gru && next,
              s->rows);
    if (!gru || !next)
        return;
    give_back(net, dcell, width, (part){0, 1, dv, dv}, 1, s->rows);
    give_back(net, net->t.dback + s->first * dv, dv, (part){0, 1, 0, dv}, 1, s->rows);
}

void pr_arnn_cell_backward(pr_arnn_net *net, const pr_arnn_step *s, const pr_real *dout)
{
    size_t dv = net->d.dv, width = net->d.blocks * dv;
    pr_real *dcell = net->t.dcell + s->first * width;
    for (size_t r = 0; r < s->rows; r++)
        memcpy(dcell + r * width + width - dv, dout + r * dv, dv * sizeof *dcell);
    if (net->d.cell == PR_CELL_GRU) /* dout may have stood there */
        memset(net->t.tmp2, 0, s->rows * 2 * dv * sizeof *net->t.tmp2);
    next_backward(net, s);
    pr_add(net->t.scell, dcell, s->rows * width);
    inputs_backward(net, s);
}

/* Adds the gradient of some blocks' weights for columns of z. */
static void map_backward(pr_arnn_net *net, const pr_real *dsums, size_t stride, part p)
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

void pr_arnn_cell_maps_backward(pr_arnn_net *net)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_tape *t = &net->t;
    size_t dv = d->dv, width = d->blocks * dv, from = d->cell == PR_CELL_GRU ? 1 : 0;
    map_backward(net, t->dcell + from * dv, width, whole(d, from, d->blocks - from));
    if (d->cell == PR_CELL_GRU) {
        map_backward(net, t->dcell, width, (part){0, 1, dv, dv});
        map_backward(net, t->dback, dv, (part){0, 1, 0, dv});
    }
    pr_gemm(net->g.cell_w, d->dz, pr_flip(t->scell, width), pr_mat(t->u, d->du), 1, width, d->du,
            t->R);
    pr_bias_backward(net->g.cell_b, t->scell, t->R, width);
    pr_gemm(t->du, d->du, pr_mat(t->scell, width), pr_mat(net->w.cell_w, d->dz), 1, t->R, d->du,
            width);
}
