/* Layers backward, in the order in which forward went, reversed. */
#include <string.h>

#include "math/activation.h"
#include "math/blas.h"
#include "math/layer_norm.h"
#include "math/linear.h"
#include "model/sequence/encoder_inside.h"

/* Of y = x·wᵀ + b: sets dx[T,I], adds into dw and db. */
static void map_backward(pr_real *dx, pr_real *dw, pr_real *db, const pr_real *dy, const pr_real *x,
                         const pr_real *w, size_t T, size_t I, size_t O)
{
    pr_gemm(dx, I, pr_mat(dy, O), pr_mat(w, I), 0, T, I, O);
    pr_linear_backward(NULL, dw, db, dy, x, w, T, I, O);
}

static void ffn_backward(pr_encoder *e, const pr_sequences *s, size_t l)
{
    const pr_encoder_layer *w = &e->w.layer[l];
    pr_encoder_layer *g = &e->g.layer[l];
    pr_encoder_kept *k = &e->t.layer[l];
    pr_encoder_tape *t = &e->t;
    size_t D = e->d.width, I = e->d.inner, T = s->first[s->count];
    memcpy(t->dt, t->dx, T * D * sizeof *t->dt);
    pr_encoder_drop_rows(e, s, t->dt, k->keep_out, 0, D, false);
    map_backward(t->dwide, g->out_w, g->out_b, t->dt, k->act, w->out_w, T, I, D);
    pr_encoder_drop_rows(e, s, t->dwide, k->keep_act, 0, I, false);
    if (e->d.cloze)
        pr_gelu_backward(t->dwide, t->dwide, k->raw, T * I);
    else
        pr_relu_through(t->dwide, k->raw, T * I);
    map_backward(t->dt, g->in_w, g->in_b, t->dwide, k->ffn, w->in_w, T, D, I);
    pr_layer_norm_backward(t->dt, g->ffn_gain, g->ffn_shift, t->dt, k->ffn_unit, k->ffn_rate,
                           w->ffn_gain, T, D);
    pr_add(t->dx, t->dt, T * D);
}

static void attend_backward(pr_encoder *e, const pr_sequences *s, size_t l)
{
    pr_encoder_kept *k = &e->t.layer[l];
    size_t D = e->d.width;
    for (size_t i = 0; i < s->count; i++) {
        size_t at = s->first[i];
        pr_self_shape shape = pr_encoder_shape(e, s, i);
        pr_self_mask mask = pr_encoder_weight_mask(e, s, l, i, false);
        pr_self_attention_backward(e->t.dwide + at * 3 * D, e->t.work, k->mix + at * D,
                                   k->weight + e->t.weight_at[i], k->qkv + at * 3 * D, &mask,
                                   &shape);
    }
}

static void ask_backward(pr_encoder *e, const pr_sequences *s, size_t l)
{
    const pr_encoder_layer *w = &e->w.layer[l];
    pr_encoder_layer *g = &e->g.layer[l];
    pr_encoder_kept *k = &e->t.layer[l];
    pr_encoder_tape *t = &e->t;
    size_t D = e->d.width, T = s->first[s->count];
    memcpy(t->dt, t->dx, T * D * sizeof *t->dt);
    pr_encoder_drop_rows(e, s, t->dt, k->keep_join, 0, D, false);
    pr_linear_backward(NULL, g->join_w, g->join_b, t->dt, k->mix, w->join_w, T, D, D);
    pr_gemm(k->mix, D, pr_mat(t->dt, D), pr_mat(w->join_w, D), 0, T, D, D); /* now its gradient */
    attend_backward(e, s, l);
    map_backward(t->dt, g->qkv_w, g->qkv_b, t->dwide, k->ask, w->qkv_w, T, D, 3 * D);
    pr_layer_norm_backward(t->dt, g->ask_gain, g->ask_shift, t->dt, k->ask_unit, k->ask_rate,
                           w->ask_gain, T, D);
    pr_add(t->dx, t->dt, T * D);
}

PR_INLINE void give_back_any(pr_real *item, pr_real *position, const pr_real *dx,
                             const int32_t *ids, pr_real scale, size_t L, size_t D)
{
    for (size_t p = 0; p < L; p++) {
        pr_add_scaled(item + (size_t)ids[p] * D, dx + p * D, scale, D);
        pr_add_scaled(position + p * D, dx + p * D, 1, D);
    }
}
PR_LOCAL_LEVELS(void, give_back, give_back_any,
                (pr_real * item, pr_real *position, const pr_real *dx, const int32_t *ids,
                 pr_real scale, size_t L, size_t D),
                (item, position, dx, ids, scale, L, D))

void pr_encoder_backward(pr_encoder *e, const pr_sequences *s)
{
    pr_encoder_tape *t = &e->t;
    size_t D = e->d.width, T = s->first[s->count];
    pr_layer_norm_backward(t->dx, e->g.gain, e->g.shift, t->dx, t->unit, t->rate, e->w.gain, T, D);
    for (size_t l = e->d.layers; l-- > 0;) {
        ffn_backward(e, s, l);
        ask_backward(e, s, l);
    }
    pr_encoder_drop_rows(e, s, t->dx, t->keep, 0, D, false);
    for (size_t i = 0; i < s->count; i++)
        give_back(e->g.item, e->g.position, t->dx + s->first[i] * D, s->ids + s->first[i],
                  pr_sqrt((pr_real)D), s->first[i + 1] - s->first[i], D);
}
