/* Memory of a forward and backward pass. */
#include "model/parsrec/parsrec_net.h"

static pr_real *take(pr_arena *arena, size_t rows, size_t cols)
{
    return pr_arena_take(arena, rows * cols, sizeof(pr_real));
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
    l->mix = take(arena, T, dq);
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
    pr_arnn_cell_take(t, arena, d);
    t->uq = take(arena, R, d->dq);
    t->z = take(arena, T, 2 * d->dv);
    t->e = take(arena, T, d->dv);
    t->o = take(arena, T, d->dv);
    if (d->ffn != PR_FFN_NONE) {
        t->raw = take(arena, T, d->dv);
        t->wide = take(arena, T, d->dv);
        t->ffn = take(arena, T, d->dv);
    }
    pr_arnn_parts_take(t, arena, d);
    pr_arnn_about_take(t, arena, d);
    for (size_t i = 0; i < d->layers; i++)
        take_layer(&t->layer[i], arena, t, d, i);
}

/* Gradients of keys and values are added to, so they begin at zero, as do the sums over steps. */
static pr_real *take_zero(pr_arena *arena, size_t rows, size_t cols)
{
    return pr_arena_take_zero(arena, rows * cols, sizeof(pr_real));
}

static void take_layer_backward(pr_arnn_layer_tape *l, pr_arena *arena, const pr_arnn_tape *t,
                                const pr_arnn_dims *d, size_t i)
{
    bool upper = pr_arnn_is_upper(d, i);
    l->dout = take(arena, t->T, pr_arnn_map_width(d, i));
    l->djoin = take(arena, t->T, d->dq);
    if (!upper)
        l->dq = take(arena, t->T, d->dq);
    l->dkv = take_zero(arena, t->T, upper ? d->dq : 2 * d->dq);
}

void pr_arnn_tape_take_backward(pr_arnn_tape *t, pr_arena *arena, const pr_arnn_dims *d)
{
    size_t widest = d->dq > 2 * d->dv ? d->dq : 2 * d->dv;
    t->do_ = take(arena, t->T, d->dv);
    pr_arnn_cell_take_backward(t, arena, d);
    t->de = take(arena, t->T, d->dv);
    if (d->ffn != PR_FFN_NONE) {
        t->dffn = take(arena, t->T, d->dv);
        t->dwide = take(arena, t->T, d->dv);
    }
    t->du = take_zero(arena, t->R, d->du);
    t->dh = take_zero(arena, t->R, d->dv);
    t->sq = take_zero(arena, t->R, d->dq);
    t->tmp = take(arena, t->R, widest);
    t->tmp2 = take(arena, t->R, widest);
    t->work = take(arena, 1, t->keys);
    pr_arnn_parts_take_backward(t, arena, d);
    pr_arnn_about_take_backward(t, arena, d);
    for (size_t i = 0; i < d->layers; i++)
        take_layer_backward(&t->layer[i], arena, t, d, i);
}
