/* The parts of an output that are added to what the network says, so that they can be told apart:
 * what the history adds, what each placed item adds, scaled as the user sees it, and the weights of
 * what is recalled. */
#include <string.h>

#include "math/linear.h"
#include "model/parsrec/parsrec_net.h"
#include "model/repeats.h"

static pr_real *take_zero(pr_arena *arena, size_t rows, size_t cols)
{
    return pr_arena_take_zero(arena, rows * cols, sizeof(pr_real));
}

void pr_arnn_parts_take(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
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
        t->ugate = take_zero(arena, t->R, PR_GATES);
        t->gate = take_zero(arena, t->T, PR_GATES);
    }
}

void pr_arnn_parts_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    if (d->pull) {
        t->dpull = take_zero(arena, t->T, d->dv);
        t->spull = take_zero(arena, t->R, d->dv);
        t->dscale = take_zero(arena, t->R, d->dv);
    }
    if (d->past)
        t->dpast = take_zero(arena, t->R, d->dv);
    if (d->recall) {
        t->dgate = take_zero(arena, t->T, PR_GATES);
        t->sgate = take_zero(arena, t->R, PR_GATES);
    }
}

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
        pr_real *gate = t->ugate + first * PR_GATES;
        pr_bias_spread(gate, net->w.gate_b, rows, PR_GATES);
        size_t as_count = d->neighbours > 0 ? PR_GATE_EXPECTED : PR_REPEAT_COUNT;
        for (size_t r = 0; r < rows; r++)
            gate[r * PR_GATES + as_count] += 1; /* begins as a count */
        pr_gemm(gate, PR_GATES, u, pr_flip(net->w.gate_w, d->dz), 1, rows, PR_GATES, d->du);
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

void pr_arnn_parts_forward(pr_arnn_net *net, const pr_arnn_step *s)
{
    const pr_arnn_dims *d = &net->d;
    pr_arnn_tape *t = &net->t;
    pr_arnn_parts_sum(net, s->first, s->rows);
    if (d->recall) {
        pr_real *gate = t->gate + s->first * PR_GATES;
        memcpy(gate, t->ugate, s->rows * PR_GATES * sizeof *gate);
        pr_gemm(gate, PR_GATES, pr_mat(t->z + s->first * 2 * d->dv, 2 * d->dv),
                pr_flip(net->w.gate_w + d->du, d->dz), 1, s->rows, PR_GATES, 2 * d->dv);
    }
}

void pr_arnn_parts_backward(pr_arnn_net *net, const pr_arnn_step *s)
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

void pr_arnn_gates_backward(pr_arnn_net *net, const pr_arnn_step *s, pr_real *dz)
{
    const pr_arnn_dims *d = &net->d;
    if (!d->recall)
        return;
    const pr_real *dgate = net->t.dgate + s->first * PR_GATES;
    pr_add(net->t.sgate, dgate, s->rows * PR_GATES);
    pr_gemm(dz, 2 * d->dv, pr_mat(dgate, PR_GATES), pr_mat(net->w.gate_w + d->du, d->dz), 1,
            s->rows, 2 * d->dv, PR_GATES);
}

void pr_arnn_parts_maps_backward(pr_arnn_net *net)
{
    const pr_arnn_dims *d = &net->d;
    const pr_arnn_tape *t = &net->t;
    size_t F = PR_GATES, two = 2 * d->dv;
    if (d->recall) {
        pr_gemm(net->g.gate_w + d->du, d->dz, pr_flip(t->dgate, F), pr_mat(t->z, two), 1, F, two,
                t->T);
        pr_gemm(net->g.gate_w, d->dz, pr_flip(t->sgate, F), pr_mat(t->u, d->du), 1, F, d->du, t->R);
        pr_bias_backward(net->g.gate_b, t->sgate, t->R, F);
        pr_gemm(t->du, d->du, pr_mat(t->sgate, F), pr_mat(net->w.gate_w, d->dz), 1, t->R, d->du, F);
    }
    if (d->pull) {
        pr_gemm(net->g.scale_w, d->du, pr_flip(t->dscale, d->dv), pr_mat(t->u, d->du), 1, d->dv,
                d->du, t->R);
        pr_gemm(t->du, d->du, pr_mat(t->dscale, d->dv), pr_mat(net->w.scale_w, d->du), 1, t->R,
                d->du, d->dv);
    }
    if (d->past) {
        pr_gemm(net->g.past_w, d->dv, pr_flip(t->dpast, d->dv), pr_mat(t->z, two), 1, d->dv, d->dv,
                t->R);
        pr_gemm(t->dh, d->dv, pr_mat(t->dpast, d->dv), pr_mat(net->w.past_w, d->dv), 1, t->R, d->dv,
                d->dv);
    }
}
