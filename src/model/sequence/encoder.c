/* The encoder: tensors, memory, the layers forward and backward, and one more position of sequences
 * whose keys and values are cached. */
#include "model/sequence/encoder.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "math/attention.h"
#include "math/blas.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "model/sequence/intervals.h"
#include "model/sequence/sequence.h"

pr_encoder_dims pr_encoder_dims_of(const pr_model *model)
{
    const pr_config *c = &model->config;
    pr_encoder_dims d = {.items = model->items, .cloze = model->kind == &pr_bert4rec};
    d.positions = (size_t)c->length;
    d.separated = c->separator;
    d.width = (size_t)c->dim_item;
    d.inner = d.width * (size_t)c->ffn_width;
    d.heads = (size_t)c->heads;
    d.layers = (size_t)c->layers;
    d.eps = (pr_real)c->layer_norm_eps;
    d.intervals = model->kind == &pr_tisasrec ? (size_t)c->intervals : 0;
    return d;
}

static void layer_tensor(pr_lister *l, pr_real **place, size_t layer, const char *what, size_t rows,
                         size_t cols, pr_fill fill)
{
    char name[48];
    snprintf(name, sizeof name, "block.%u.%s", (unsigned)layer, what);
    pr_list_tensor(l, place, name, rows, cols, fill);
}

static void list_layer(pr_lister *l, pr_encoder_layer *v, const pr_encoder_dims *d, size_t i)
{
    size_t D = d->width, I = d->inner;
    layer_tensor(l, &v->ask_gain, i, "ask_gain", 1, D, PR_FILL_ONE);
    layer_tensor(l, &v->ask_shift, i, "ask_shift", 1, D, PR_FILL_BIAS);
    layer_tensor(l, &v->qkv_w, i, "qkv_w", 3 * D, D, PR_FILL_QKV);
    layer_tensor(l, &v->qkv_b, i, "qkv_b", 1, 3 * D, PR_FILL_BIAS);
    layer_tensor(l, &v->join_w, i, "join_w", D, D, PR_FILL_MAP);
    layer_tensor(l, &v->join_b, i, "join_b", 1, D, PR_FILL_BIAS);
    layer_tensor(l, &v->ffn_gain, i, "ffn_gain", 1, D, PR_FILL_ONE);
    layer_tensor(l, &v->ffn_shift, i, "ffn_shift", 1, D, PR_FILL_BIAS);
    layer_tensor(l, &v->in_w, i, "in_w", I, D, PR_FILL_MAP);
    layer_tensor(l, &v->in_b, i, "in_b", 1, I, PR_FILL_BIAS);
    layer_tensor(l, &v->out_w, i, "out_w", D, I, PR_FILL_MAP);
    layer_tensor(l, &v->out_b, i, "out_b", 1, D, PR_FILL_BIAS);
}

static void list_all(pr_lister *l, pr_encoder_view *v, const pr_encoder_dims *d)
{
    size_t D = d->width;
    pr_list_tensor(l, &v->item, "item_emb", d->items + (d->separated ? 2 : 1), D, PR_FILL_TABLE);
    if (d->intervals == 0)
        pr_list_tensor(l, &v->position, "position_emb", d->positions, D, PR_FILL_TABLE);
    else {
        pr_list_tensor(l, &v->position_key, "position_key", d->positions, D, PR_FILL_TABLE);
        pr_list_tensor(l, &v->position_value, "position_value", d->positions, D, PR_FILL_TABLE);
        pr_list_tensor(l, &v->interval_key, "interval_key", d->intervals + 1, D, PR_FILL_TABLE);
        pr_list_tensor(l, &v->interval_value, "interval_value", d->intervals + 1, D, PR_FILL_TABLE);
    }
    for (size_t i = 0; i < d->layers; i++)
        list_layer(l, &v->layer[i], d, i);
    pr_list_tensor(l, &v->gain, "norm_gain", 1, D, PR_FILL_ONE);
    pr_list_tensor(l, &v->shift, "norm_shift", 1, D, PR_FILL_BIAS);
    if (d->cloze) {
        pr_list_tensor(l, &v->head_w, "head_w", D, D, PR_FILL_MAP);
        pr_list_tensor(l, &v->head_b, "head_b", 1, D, PR_FILL_BIAS);
        pr_list_tensor(l, &v->head_gain, "head_gain", 1, D, PR_FILL_ONE);
        pr_list_tensor(l, &v->head_shift, "head_shift", 1, D, PR_FILL_BIAS);
    }
}

parsrec_status pr_encoder_check(const pr_config *c, parsrec_error *err)
{
    if (c->dim_item % c->heads != 0)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "heads = %d does not divide dim.item = %d; choose another number", c->heads,
                       c->dim_item);
    if (c->separator && c->length == 1)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "separator = on needs a length of at least 2, or 0 for one by the data");
    return PARSREC_OK;
}

parsrec_status pr_encoder_layout(pr_model *model, parsrec_error *err)
{
    if (model->config.length == 0)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "length = 0 is chosen when training begins; a model cannot have it");
    pr_encoder_dims d = pr_encoder_dims_of(model);
    pr_encoder_view unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, &d);
    return l.status;
}

pr_encoder_view pr_encoder_view_of(const pr_model *model, pr_real *block)
{
    pr_encoder_dims d = pr_encoder_dims_of(model);
    pr_encoder_view v = {0};
    pr_lister l = {.have = &model->params, .block = block};
    list_all(&l, &v, &d);
    return v;
}

/* ---- memory ---- */

/* Most numbers that weight matrices of one layer take. */
static size_t weight_cells(const pr_encoder_dims *d, size_t count, size_t longest)
{
    return count * d->heads * longest * pr_self_stride(longest);
}

static pr_real *reals(pr_arena *arena, size_t n)
{
    return pr_arena_take(arena, n, sizeof(pr_real));
}

/* Masks of sequences that begin at any position: a byte for eight numbers of each row. */
static uint8_t *mask_of(pr_arena *arena, size_t T, size_t n)
{
    return pr_arena_take(arena, T * ((n + 7) / 8), 1);
}

static void take_kept(pr_encoder_kept *k, pr_arena *arena, const pr_encoder_dims *d, size_t T,
                      size_t cells)
{
    size_t D = d->width;
    k->ask_unit = reals(arena, T * D);
    k->ask_rate = reals(arena, T);
    k->ask = reals(arena, T * D);
    k->qkv = reals(arena, T * 3 * D);
    k->weight = reals(arena, cells);
    k->mix = reals(arena, T * D);
    k->ffn_unit = reals(arena, T * D);
    k->ffn_rate = reals(arena, T);
    k->ffn = reals(arena, T * D);
    k->raw = reals(arena, T * d->inner);
    k->act = reals(arena, T * d->inner);
}

static void take_masks(pr_encoder_kept *k, pr_arena *arena, const pr_encoder_dims *d, size_t T,
                       size_t cells)
{
    k->keep_weight = pr_arena_take(arena, cells / 8, 1);
    k->keep_join = mask_of(arena, T, d->width);
    k->keep_act = mask_of(arena, T, d->inner);
    k->keep_out = mask_of(arena, T, d->width);
}

void pr_encoder_tape_take(pr_encoder_tape *t, pr_arena *arena, const pr_encoder_dims *d,
                          size_t count, size_t longest, bool learn)
{
    size_t T = count * longest, D = d->width, wide = 3 * D > d->inner ? 3 * D : d->inner;
    size_t cells = weight_cells(d, learn ? count : 1, longest);
    *t = (pr_encoder_tape){.T = T};
    for (size_t l = 0; l < d->layers; l++) {
        if (l == 0 || learn)
            take_kept(&t->layer[l], arena, d, T, cells);
        else
            t->layer[l] = t->layer[0];
        if (learn)
            take_masks(&t->layer[l], arena, d, T, cells);
    }
    t->x = reals(arena, T * D);
    t->unit = reals(arena, T * D);
    t->rate = reals(arena, T);
    t->y = reals(arena, T * D);
    size_t square = 2 * longest * pr_self_stride(longest), line = d->heads * longest;
    if (d->intervals > 0)
        square = pr_interval_work(d, longest);
    t->work = reals(arena, square > line ? square : line); /* line: one position, all heads */
    t->weight_at = pr_arena_take_zero(arena, count, sizeof *t->weight_at);
    if (!learn)
        return;
    t->keep = mask_of(arena, T, D);
    t->dx = reals(arena, T * D);
    t->dt = reals(arena, T * D);
    t->dwide = reals(arena, T * wide);
}

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

/* ---- forward: each layer adds the output of its attention and of its feed-forward map ---- */

/* Places of dropout: 0 is the embedding. */
enum { SITE_WEIGHT = 1, SITE_JOIN, SITE_ACT, SITE_OUT, SITES = 4 };
#define SITE(layer, what) ((layer)*SITES + (what))

static pr_self_shape shape_of(const pr_encoder *e, const pr_sequences *s, size_t i)
{
    return (pr_self_shape){s->first[i + 1] - s->first[i], e->d.heads, e->d.width, !e->d.cloze};
}

/* Applies the mask of a site to x[T,n]; forward draws it first. */
static void drop_rows(const pr_encoder *e, const pr_sequences *s, pr_real *x, uint8_t *keep,
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

/* x = scale · x + position; NULL: without */
PR_INLINE void embed_any(pr_real *x, const pr_real *position, pr_real scale, size_t n)
{
    for (size_t i = 0; i < n && position == NULL; i++)
        x[i] = scale * x[i];
    for (size_t i = 0; i < n && position != NULL; i++)
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
    drop_rows(e, s, e->t.x, e->t.keep, 0, D, true);
}

/* The mask over the attention weights of sequence i. */
static pr_self_mask weight_mask(const pr_encoder *e, const pr_sequences *s, size_t layer, size_t i,
                                bool draw)
{
    if (!e->drop.on_weights)
        return (pr_self_mask){0};
    size_t L = s->first[i + 1] - s->first[i];
    uint8_t *keep = e->t.layer[layer].keep_weight + e->t.weight_at[i] / 8;
    uint32_t place[3] = {e->drop.batch, e->drop.rows[i], (uint32_t)SITE(layer, SITE_WEIGHT)};
    if (draw)
        pr_drop_draw(keep, &e->drop.rng, place, 0, e->d.heads * L * pr_self_stride(L) / 8,
                     e->drop.weights);
    return (pr_self_mask){keep, e->drop.weights.scale};
}

/* Stores keys and values of n positions of sequence i, from `position` on. */
static void cache_keys(pr_encoder *e, size_t layer, size_t i, size_t position, const pr_real *qkv,
                       size_t n)
{
    size_t D = e->d.width;
    pr_real *to = e->cache.kv[layer] + (e->cache.rows[i] * e->d.positions + position) * 2 * D;
    for (size_t p = 0; p < n; p++)
        memcpy(to + p * 2 * D, qkv + p * 3 * D + D, 2 * D * sizeof *to);
}

static void attend(pr_encoder *e, const pr_sequences *s, size_t layer)
{
    pr_encoder_kept *k = &e->t.layer[layer];
    size_t D = e->d.width;
    for (size_t i = 0; i < s->count; i++) {
        size_t at = s->first[i];
        pr_self_shape shape = shape_of(e, s, i);
        pr_self_mask mask = weight_mask(e, s, layer, i, true);
        if (e->d.intervals > 0)
            pr_interval_attention_forward(k->mix + at * D, k->weight + e->t.weight_at[i], e->t.work,
                                          k->qkv + at * 3 * D, s->when + at, &e->w, &e->d, &mask,
                                          &shape);
        else
            pr_self_attention_forward(k->mix + at * D, k->weight + e->t.weight_at[i], e->t.work,
                                      k->qkv + at * 3 * D, &mask, &shape);
        if (e->cache.kv[layer] != NULL)
            cache_keys(e, layer, i, 0, k->qkv + at * 3 * D, shape.L);
    }
}

/* The part of a layer before its attention: t.x to queries, keys and values of n positions. */
static void to_attention(pr_encoder *e, size_t l, size_t n)
{
    const pr_encoder_layer *w = &e->w.layer[l];
    pr_encoder_kept *k = &e->t.layer[l];
    size_t D = e->d.width;
    pr_layer_norm_forward(k->ask, k->ask_unit, k->ask_rate, e->t.x, w->ask_gain, w->ask_shift,
                          e->d.eps, n, D);
    pr_linear_forward(k->qkv, k->ask, w->qkv_w, w->qkv_b, n, D, 3 * D);
}

/* The part after it: what attention mixed, to what the layer adds to t.x. s may be NULL without
 * dropout. */
static void from_attention(pr_encoder *e, const pr_sequences *s, size_t l, size_t n)
{
    const pr_encoder_layer *w = &e->w.layer[l];
    pr_encoder_kept *k = &e->t.layer[l];
    size_t D = e->d.width, I = e->d.inner;
    pr_real *made = e->t.y; /* free until the end */
    pr_linear_forward(made, k->mix, w->join_w, w->join_b, n, D, D);
    drop_rows(e, s, made, k->keep_join, SITE(l, SITE_JOIN), D, true);
    pr_add(e->t.x, made, n * D);
    pr_layer_norm_forward(k->ffn, k->ffn_unit, k->ffn_rate, e->t.x, w->ffn_gain, w->ffn_shift,
                          e->d.eps, n, D);
    pr_linear_forward(k->raw, k->ffn, w->in_w, w->in_b, n, D, I);
    if (e->d.cloze)
        pr_gelu_forward(k->act, k->raw, n * I);
    else
        pr_relu_forward(k->act, k->raw, n * I);
    drop_rows(e, s, k->act, k->keep_act, SITE(l, SITE_ACT), I, true);
    pr_linear_forward(made, k->act, w->out_w, w->out_b, n, I, D);
    drop_rows(e, s, made, k->keep_out, SITE(l, SITE_OUT), D, true);
    pr_add(e->t.x, made, n * D);
}

void pr_encoder_forward(pr_encoder *e, const pr_sequences *s)
{
    size_t D = e->d.width, T = s->first[s->count];
    begin(e, s);
    for (size_t l = 0; l < e->d.layers; l++) {
        to_attention(e, l, T);
        attend(e, s, l);
        from_attention(e, s, l, T);
    }
    pr_layer_norm_forward(e->t.y, e->t.unit, e->t.rate, e->t.x, e->w.gain, e->w.shift, e->d.eps, T,
                          D);
}

/* ---- one more position of some sequences, over the cached keys and values ---- */

static void attend_to_cache(pr_encoder *e, size_t layer, const size_t *at, size_t n)
{
    pr_encoder_kept *k = &e->t.layer[layer];
    size_t D = e->d.width;
    for (size_t i = 0; i < n; i++) {
        pr_keys keys = {e->cache.at, e->cache.rows[i] * e->d.positions, at[i] + 1};
        cache_keys(e, layer, i, at[i], k->qkv + i * 3 * D, 1);
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
        to_attention(e, l, n);
        attend_to_cache(e, l, at, n);
        from_attention(e, NULL, l, n);
    }
    pr_layer_norm_forward(e->t.y, e->t.unit, e->t.rate, e->t.x, e->w.gain, e->w.shift, e->d.eps, n,
                          D);
}

/* ---- backward: the layers in reverse order ---- */

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
    drop_rows(e, s, t->dt, k->keep_out, 0, D, false);
    map_backward(t->dwide, g->out_w, g->out_b, t->dt, k->act, w->out_w, T, I, D);
    drop_rows(e, s, t->dwide, k->keep_act, 0, I, false);
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
        pr_self_shape shape = shape_of(e, s, i);
        pr_self_mask mask = weight_mask(e, s, l, i, false);
        if (e->d.intervals > 0)
            pr_interval_attention_backward(e->t.dwide + at * 3 * D, e->t.work, k->mix + at * D,
                                           k->weight + e->t.weight_at[i], k->qkv + at * 3 * D,
                                           s->when + at, &e->w, &e->g, &e->d, &mask, &shape);
        else
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
    drop_rows(e, s, t->dt, k->keep_join, 0, D, false);
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
        if (position != NULL)
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
    drop_rows(e, s, t->dx, t->keep, 0, D, false);
    for (size_t i = 0; i < s->count; i++)
        give_back(e->g.item, e->g.position, t->dx + s->first[i] * D, s->ids + s->first[i],
                  pr_sqrt((pr_real)D), s->first[i + 1] - s->first[i], D);
}
