/* The encoder's sizes, tensors and memory. */
#include "model/sequence/encoder.h"

#include <stdio.h>

#include "math/self_attention.h"
#include "model/param_list.h"
#include "model/sequence/sequence.h"

pr_encoder_dims pr_encoder_dims_of(const pr_model *model)
{
    const pr_config *c = &model->config;
    pr_encoder_dims d = {.items = model->items, .cloze = model->kind == &pr_bert4rec};
    d.positions = (size_t)c->length;
    d.width = (size_t)c->dim_item;
    d.inner = d.width * (size_t)c->ffn_width;
    d.heads = (size_t)c->heads;
    d.layers = (size_t)c->layers;
    d.eps = (pr_real)c->layer_norm_eps;
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
    pr_list_tensor(l, &v->item, "item_emb", d->items + 1, D, PR_FILL_TABLE);
    pr_list_tensor(l, &v->position, "position_emb", d->positions, D, PR_FILL_TABLE);
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
    return PARSREC_OK;
}

parsrec_status pr_encoder_layout(pr_model *model, parsrec_error *err)
{
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
    t->work = reals(arena, square > line ? square : line); /* line: one position, all heads */
    t->weight_at = pr_arena_take_zero(arena, count, sizeof *t->weight_at);
    if (!learn)
        return;
    t->keep = mask_of(arena, T, D);
    t->dx = reals(arena, T * D);
    t->dt = reals(arena, T * D);
    t->dwide = reals(arena, T * wide);
}
