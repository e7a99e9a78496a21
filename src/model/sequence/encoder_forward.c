/* Layers forward: each adds what its attention and its feed-forward map make of the stream. */
#include <string.h>

#include "math/activation.h"
#include "math/embedding.h"
#include "math/layer_norm.h"
#include "math/linear.h"
#include "math/self_attention.h"
#include "model/sequence/encoder_inside.h"

void pr_encoder_drop_rows(const pr_encoder *e, const pr_sequences *s, pr_real *x, uint8_t *keep,
                          size_t site, size_t n, bool draw)
{
    if (!e->drop.on_hidden)
        return;
    for (size_t i = 0; i < s->count; i++) {
        size_t at = s->first[i], cells = (s->first[i + 1] - at) * n;
        uint32_t place[3] = {e->drop.batch, e->drop.rows[i], (uint32_t)site};
        uint8_t *mask = keep + at * ((n + 7) / 8);
        if (draw)
            pr_drop_draw(mask, &e->drop.rng, place, 0, pr_drop_bytes(cells), e->drop.hidden);
        pr_drop_forward(x + at * n, x + at * n, mask, e->drop.hidden.scale, cells);
    }
}

/* x = scale · x + position */
PR_INLINE void embed_any(pr_real *x, const pr_real *position, pr_real scale, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = scale * x[i] + position[i];
}
PR_LOCAL_LEVELS(void, embed, embed_any,
                (pr_real * x, const pr_real *position, pr_real scale, size_t n),
                (x, position, scale, n))

static void begin(pr_encoder *e, const pr_sequences *s)
{
    size_t D = e->d.width, T = s->first[s->count];
    pr_embedding_forward(e->t.x, e->w.item, s->ids, T, D);
    for (size_t i = 0; i < s->count; i++)
        embed(e->t.x + s->first[i] * D, e->w.position, pr_sqrt((pr_real)D),
              (s->first[i + 1] - s->first[i]) * D);
    pr_encoder_drop_rows(e, s, e->t.x, e->t.keep, 0, D, true);
}

pr_self_mask pr_encoder_weight_mask(const pr_encoder *e, const pr_sequences *s, size_t layer,
                                    size_t i, bool draw)
{
    if (!e->drop.on_weights)
        return (pr_self_mask){0};
    size_t L = s->first[i + 1] - s->first[i];
    uint8_t *keep = e->t.layer[layer].keep_weight + e->t.weight_at[i] / 8;
    uint32_t place[3] = {e->drop.batch, e->drop.rows[i], (uint32_t)PR_SITE(layer, PR_SITE_WEIGHT)};
    if (draw)
        pr_drop_draw(keep, &e->drop.rng, place, 0, e->d.heads * L * pr_self_stride(L) / 8,
                     e->drop.weights);
    return (pr_self_mask){keep, e->drop.weights.scale};
}

static void attend(pr_encoder *e, const pr_sequences *s, size_t layer)
{
    pr_encoder_kept *k = &e->t.layer[layer];
    size_t D = e->d.width;
    for (size_t i = 0; i < s->count; i++) {
        size_t at = s->first[i];
        pr_self_shape shape = pr_encoder_shape(e, s, i);
        pr_self_mask mask = pr_encoder_weight_mask(e, s, layer, i, true);
        pr_self_attention_forward(k->mix + at * D, k->weight + e->t.weight_at[i], e->t.work,
                                  k->qkv + at * 3 * D, &mask, &shape);
        if (e->cache.kv[layer] != NULL)
            pr_encoder_keep(e, layer, i, 0, k->qkv + at * 3 * D, shape.L);
    }
}

void pr_encoder_ask(pr_encoder *e, size_t l, size_t n)
{
    const pr_encoder_layer *w = &e->w.layer[l];
    pr_encoder_kept *k = &e->t.layer[l];
    size_t D = e->d.width;
    pr_layer_norm_forward(k->ask, k->ask_unit, k->ask_rate, e->t.x, w->ask_gain, w->ask_shift,
                          e->d.eps, n, D);
    pr_linear_forward(k->qkv, k->ask, w->qkv_w, w->qkv_b, n, D, 3 * D);
}

void pr_encoder_answer(pr_encoder *e, const pr_sequences *s, size_t l, size_t n)
{
    const pr_encoder_layer *w = &e->w.layer[l];
    pr_encoder_kept *k = &e->t.layer[l];
    size_t D = e->d.width, I = e->d.inner;
    pr_real *made = e->t.y; /* free until the end */
    pr_linear_forward(made, k->mix, w->join_w, w->join_b, n, D, D);
    pr_encoder_drop_rows(e, s, made, k->keep_join, PR_SITE(l, PR_SITE_JOIN), D, true);
    pr_add(e->t.x, made, n * D);
    pr_layer_norm_forward(k->ffn, k->ffn_unit, k->ffn_rate, e->t.x, w->ffn_gain, w->ffn_shift,
                          e->d.eps, n, D);
    pr_linear_forward(k->raw, k->ffn, w->in_w, w->in_b, n, D, I);
    if (e->d.cloze)
        pr_gelu_forward(k->act, k->raw, n * I);
    else
        pr_relu_forward(k->act, k->raw, n * I);
    pr_encoder_drop_rows(e, s, k->act, k->keep_act, PR_SITE(l, PR_SITE_ACT), I, true);
    pr_linear_forward(made, k->act, w->out_w, w->out_b, n, I, D);
    pr_encoder_drop_rows(e, s, made, k->keep_out, PR_SITE(l, PR_SITE_OUT), D, true);
    pr_add(e->t.x, made, n * D);
}

void pr_encoder_forward(pr_encoder *e, const pr_sequences *s)
{
    size_t D = e->d.width, T = s->first[s->count];
    begin(e, s);
    for (size_t l = 0; l < e->d.layers; l++) {
        pr_encoder_ask(e, l, T);
        attend(e, s, l);
        pr_encoder_answer(e, s, l, T);
    }
    pr_layer_norm_forward(e->t.y, e->t.unit, e->t.rate, e->t.x, e->w.gain, e->w.shift, e->d.eps, T,
                          D);
}
