/* One more position of some sequences, over keys and values kept from those before. */
#include <string.h>

#include "math/activation.h"
#include "math/attention.h"
#include "math/embedding.h"
#include "math/layer_norm.h"
#include "math/linear.h"
#include "model/sequence/encoder_inside.h"

void pr_encoder_cache_take(pr_encoder_cache *c, pr_arena *arena, const pr_encoder_dims *d,
                           size_t rows)
{
    size_t cells = rows * d->positions * 2 * d->width;
    for (size_t l = 0; l < d->layers; l++)
        c->kv[l] = pr_arena_take(arena, cells, sizeof(pr_real));
    c->at = pr_arena_take(arena, d->positions, sizeof *c->at);
    for (size_t p = 0; c->at != NULL && p < d->positions; p++)
        c->at[p] = p;
}

void pr_encoder_keep(pr_encoder *e, size_t layer, size_t i, size_t position, const pr_real *qkv,
                     size_t n)
{
    size_t D = e->d.width;
    pr_real *to = e->cache.kv[layer] + (e->cache.rows[i] * e->d.positions + position) * 2 * D;
    for (size_t p = 0; p < n; p++)
        memcpy(to + p * 2 * D, qkv + p * 3 * D + D, 2 * D * sizeof *to);
}

static void attend(pr_encoder *e, size_t layer, const size_t *at, size_t n)
{
    pr_encoder_kept *k = &e->t.layer[layer];
    size_t D = e->d.width;
    for (size_t i = 0; i < n; i++) {
        pr_keys keys = {e->cache.at, e->cache.rows[i] * e->d.positions, at[i] + 1};
        pr_encoder_keep(e, layer, i, at[i], k->qkv + i * 3 * D, 1);
        pr_attention_forward(k->mix + i * D, e->t.work, k->qkv + i * 3 * D, e->cache.kv[layer],
                             &keys, e->d.heads, D);
    }
}

void pr_encoder_step(pr_encoder *e, const int32_t *ids, const size_t *at, size_t n)
{
    size_t D = e->d.width;
    pr_real scale = pr_sqrt((pr_real)D);
    pr_embedding_forward(e->t.x, e->w.item, ids, n, D);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < D; c++)
            e->t.x[i * D + c] = scale * e->t.x[i * D + c] + e->w.position[at[i] * D + c];
    for (size_t l = 0; l < e->d.layers; l++) {
        pr_encoder_ask(e, l, n);
        attend(e, l, at, n);
        pr_encoder_answer(e, NULL, l, n);
    }
    pr_layer_norm_forward(e->t.y, e->t.unit, e->t.rate, e->t.x, e->w.gain, e->w.shift, e->d.eps, n,
                          D);
}
