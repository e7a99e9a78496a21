/* Losses against drawn items: what is drawn, scores, choice and gradients of a step (docs/math.md,
 * Drawn items). Draws are a function of batch and step, so that every chunk of a batch draws the same
 * (docs/adr/0002). */
#include <string.h>

#include "math/blas.h"
#include "math/sampled_loss.h"
#include "math/wide.h"
#include "model/parsrec/parsrec_learn.h"

PR_LOCAL_LEVELS(pr_real, dot, pr_dot, (const pr_real *x, const pr_real *y, size_t n), (x, y, n))

PR_LOCAL_LEVELS(void, add_scaled, pr_add_scaled,
                (pr_real *restrict y, const pr_real *restrict x, pr_real factor, size_t n),
                (y, x, factor, n))

/* ---- drawing ---- */

static void take_seen(pr_arnn_seen *seen, pr_arena *arena, const pr_arnn_drawn *d, size_t n)
{
    seen->rows = pr_arena_take(arena, n * d->dv, sizeof *seen->rows);
    if (d->bytes > 0)
        seen->keep = pr_arena_take(arena, n, d->bytes);
}

void pr_arnn_drawn_take(pr_arnn_drawn *d, pr_arena *arena, const pr_model *model, size_t rows)
{
    const pr_config *c = &model->config;
    size_t N = (size_t)c->negatives, one = sizeof(pr_real);
    *d = (pr_arnn_drawn){.config = c, .items = model->items, .draws = N};
    d->dv = (size_t)c->dim_item;
    d->drop = pr_drop_make(c->dropout_output_rate);
    if (c->dropout_output != PR_DROP_NONE && c->dropout_output_rate > 0)
        d->bytes = pr_drop_bytes(d->dv);
    if (c->loss == PR_LOSS_SAMPLED)
        d->chance = pr_arena_take(arena, d->items, one);
    d->slots = pr_arena_take_zero(arena, d->items, sizeof *d->slots);
    d->ids = pr_arena_take(arena, N, sizeof *d->ids);
    d->times = pr_arena_take(arena, N, one);
    take_seen(&d->all, arena, d, N);
    take_seen(&d->own, arena, d, rows);
    d->score = pr_arena_take(arena, N * rows, one);
    d->top = pr_arena_take(arena, rows, one);
    d->target = pr_arena_take(arena, rows, one);
    d->work = pr_arena_take(arena, 2 * rows, one);
    d->winner = pr_arena_take(arena, rows, sizeof *d->winner);
}

/* Half of the draws are of any item, half of one in a basket of the batch: what is bought often is
 * drawn often, and everything is drawn now and then. */
static void weigh_items(pr_arnn_drawn *d)
{
    const pr_batch *batch = d->chunk->batch;
    for (size_t v = 0; v < d->items; v++)
        d->chance[v] = (pr_real)0.5 / (pr_real)d->items;
    for (size_t r = 0; r < batch->rows; r++) {
        const pr_basket *b = &batch->baskets[r];
        pr_real share = (pr_real)0.5 / ((pr_real)batch->rows * (pr_real)b->size);
        for (size_t i = 0; i < b->size; i++)
            d->chance[b->items[i]] += share;
    }
}

void pr_arnn_drawn_begin(pr_arnn_drawn *d, const pr_chunk *chunk)
{
    d->chunk = chunk;
    d->rng = pr_rng_make(chunk->seed, UINT64_C(0x647261776E));        /* "drawn" */
    d->mask_rng = pr_rng_make(chunk->seed, UINT64_C(0x6F7574707574)); /* "output" */
    if (d->chance != NULL)
        weigh_items(d);
}

static int32_t draw_one(const pr_arnn_drawn *d, pr_stream *stream)
{
    const pr_batch *batch = d->chunk->batch;
    if (d->chance == NULL || pr_stream_below(stream, 2) == 0)
        return (int32_t)pr_stream_below(stream, (uint32_t)d->items);
    const pr_basket *b = &batch->baskets[pr_stream_below(stream, (uint32_t)batch->rows)];
    return b->items[pr_stream_below(stream, (uint32_t)b->size)];
}

/* Items drawn again count more often and stand there once. */
static void draw_items(pr_arnn_drawn *d, uint32_t step)
{
    pr_stream stream = pr_stream_at(&d->rng, d->chunk->batch->number, step, 0);
    d->count = 0;
    for (size_t i = 0; i < d->draws; i++) {
        int32_t item = draw_one(d, &stream);
        if (d->slots[item] == 0) {
            d->ids[d->count] = item;
            d->times[d->count] = 0;
            d->slots[item] = (int32_t)++d->count;
        }
        d->times[d->slots[item] - 1] += 1;
    }
}

/* Row i of `seen` becomes an item's row as the output sees it. */
static void see(const pr_arnn_drawn *d, pr_arnn_seen *seen, size_t i, const pr_real *table,
                int32_t item)
{
    pr_real *row = seen->rows + i * d->dv;
    const pr_real *from = table + (size_t)item * d->dv;
    if (d->bytes == 0) {
        memcpy(row, from, d->dv * sizeof *row);
        return;
    }
    uint8_t *keep = seen->keep + i * d->bytes;
    pr_drop_draw(keep, &d->mask_rng, d->place, (size_t)item * d->bytes, d->bytes, d->drop);
    pr_drop_forward(row, from, keep, d->drop.scale, d->dv);
}

/* Fills ids, times, slots and the rows seen of step j. */
static void draw_step(pr_arnn_drawn *d, const pr_real *table, size_t j)
{
    uint32_t masked = d->config->dropout_output == PR_DROP_STEP ? (uint32_t)j : 0;
    d->place[0] = d->chunk->batch->number;
    d->place[1] = 0;
    d->place[2] = masked;
    draw_items(d, (uint32_t)j);
    for (size_t n = 0; n < d->count; n++) {
        see(d, &d->all, n, table, d->ids[n]);
        if (d->chance != NULL)
            d->times[n] = pr_ln(d->times[n] / ((pr_real)d->draws * d->chance[d->ids[n]]));
    }
}

static void forget_draws(pr_arnn_drawn *d)
{
    for (size_t n = 0; n < d->count; n++)
        d->slots[d->ids[n]] = 0;
}

/* ---- scores ---- */

/* What drawn items score besides their products. */
static void add_parts(pr_arnn_drawn *d, const pr_output *out, size_t B)
{
    for (size_t n = 0; n < d->count && (out->bias != NULL || out->dense != NULL); n++) {
        pr_real own = out->bias != NULL ? out->bias[d->ids[n]] : 0, *score = d->score + n * B;
        for (size_t r = 0; r < B; r++)
            score[r] += own;
        if (out->dense == NULL)
            continue;
        const pr_real *values = out->dense->values + (size_t)d->ids[n] * out->dense->stride;
        for (size_t r = 0; r < B; r++)
            score[r] += out->dense->gates[r] * values[r];
    }
    const pr_class_term *c = out->classes;
    for (size_t n = 0; c != NULL && n < d->count; n++) {
        size_t of = c->class_of[d->ids[n]];
        for (size_t r = 0; c->live[of] && r < B; r++)
            d->score[n * B + r] += c->values[of * c->stride + r];
    }
    const pr_extra *x = out->extra;
    for (size_t t = 0; x != NULL && t < pr_tiles(d->items); t++)
        for (size_t r = 0; r < B; r++)
            for (size_t i = x->offsets[t * x->stride + r]; i < x->offsets[t * x->stride + r + 1];
                 i++)
                if (d->slots[x->items[i]] > 0)
                    d->score[(size_t)(d->slots[x->items[i]] - 1) * B + r] += x->values[i];
}

static void bar(pr_arnn_drawn *d, size_t r, int32_t item, size_t B)
{
    if (d->slots[item] > 0)
        d->score[(size_t)(d->slots[item] - 1) * B + r] = PR_BARRED;
}

static void bar_taken(pr_arnn_drawn *d, const pr_taken *taken, size_t B)
{
    for (size_t p = 0; p < taken->count; p++)
        for (size_t r = 0; r < B; r++)
            bar(d, r, taken->items[taken->at[p] + r], B);
}

/* Row r's score of an item, which is then row r of own. */
static pr_real score_of(pr_arnn_drawn *d, const pr_real *o, const pr_output *out, size_t r,
                        int32_t item, size_t B)
{
    int32_t slot = d->slots[item];
    see(d, &d->own, r, out->table, item);
    if (slot > 0)
        return d->score[(size_t)(slot - 1) * B + r];
    return pr_output_score(dot(o + r * d->dv, d->own.rows + r * d->dv, d->dv), out, r, item);
}

static int32_t best_left(pr_arnn_drawn *d, const pr_real *o, const pr_output *out,
                         const pr_arnn_teacher *teacher, size_t r, size_t B)
{
    pr_real most = d->top[r];
    int32_t best = -1;
    for (size_t i = 0; i < teacher->count[r]; i++) {
        int32_t item = teacher->left[r * teacher->stride + i];
        pr_real y = score_of(d, o, out, r, item, B);
        if (y > most || (y == most && best < 0)) { /* it may be the largest that was drawn itself */
            most = y;
            best = item;
        }
    }
    return best;
}

void pr_arnn_drawn_scores(pr_arnn_drawn *d, const pr_real *o, const pr_output *out,
                          const pr_arnn_teacher *teacher, size_t j, size_t B)
{
    draw_step(d, out->table, j);
    pr_gemm(d->score, B, pr_mat(d->all.rows, d->dv), pr_flip(o, d->dv), 0, d->count, B, d->dv);
    add_parts(d, out, B);
    bar_taken(d, &out->taken, B);
    pr_drawn_top(d->top, d->score, d->count, B);
    for (size_t r = 0; r < B && !d->chunk->batch->in_order; r++)
        d->winner[r] = best_left(d, o, out, teacher, r, B);
}

/* ---- gradients ---- */

/* The target is no wrong answer; of pairs, nothing in the basket is. */
static void bar_right_answers(pr_arnn_drawn *d, const int32_t *target, size_t B)
{
    for (size_t r = 0; r < B; r++) {
        const pr_basket *b = &d->chunk->batch->baskets[d->chunk->order[r]];
        bar(d, r, target[r], B);
        for (size_t i = 0; d->config->loss == PR_LOSS_BPR && i < b->size; i++)
            bar(d, r, b->items[i], B);
    }
}

static void bias_gradient(pr_real *dbias, const pr_arnn_drawn *d, const int32_t *target, size_t B)
{
    for (size_t n = 0; n < d->count; n++)
        dbias[d->ids[n]] += pr_sum(d->score + n * B, B);
    for (size_t r = 0; r < B; r++)
        dbias[target[r]] += d->target[r];
}

static void dense_gradient(const pr_dense *x, const pr_arnn_drawn *d, const int32_t *target,
                           size_t B)
{
    for (size_t r = 0; r < B; r++)
        x->dgates[r] = d->target[r] * x->values[(size_t)target[r] * x->stride + r];
    for (size_t n = 0; n < d->count; n++) {
        const pr_real *values = x->values + (size_t)d->ids[n] * x->stride;
        for (size_t r = 0; r < B; r++)
            x->dgates[r] += d->score[n * B + r] * values[r];
    }
}

static void class_gradient(const pr_class_term *c, const pr_arnn_drawn *d, const int32_t *target,
                           size_t B)
{
    for (size_t of = 0; of < c->classes; of++)
        if (c->live[of])
            memset(c->gradients + of * c->stride, 0, B * sizeof *c->gradients);
    for (size_t n = 0; n < d->count; n++) {
        size_t of = c->class_of[d->ids[n]];
        for (size_t r = 0; c->live[of] && r < B; r++)
            c->gradients[of * c->stride + r] += d->score[n * B + r];
    }
    for (size_t r = 0; r < B; r++) {
        size_t of = c->class_of[target[r]];
        if (c->live[of])
            c->gradients[of * c->stride + r] += d->target[r];
    }
}

static void extra_gradient(const pr_extra *x, const pr_arnn_drawn *d, const int32_t *target,
                           size_t B)
{
    for (size_t t = 0; t < pr_tiles(d->items); t++)
        for (size_t r = 0; r < B; r++)
            for (size_t i = x->offsets[t * x->stride + r]; i < x->offsets[t * x->stride + r + 1];
                 i++) {
                int32_t slot = d->slots[x->items[i]];
                x->gradients[i] = x->items[i] == target[r] ? d->target[r]
                                  : slot > 0               ? d->score[(size_t)(slot - 1) * B + r]
                                                           : 0;
            }
}

/* dtable's row += by · g, as far as it was seen. */
static void row_gradient(pr_real *dtable, const pr_arnn_drawn *d, const pr_arnn_seen *seen,
                         size_t i, int32_t item, const pr_real *g, pr_real by)
{
    pr_real *row = dtable + (size_t)item * d->dv;
    if (d->bytes > 0)
        pr_drop_backward(row, g, seen->keep + i * d->bytes, by * d->drop.scale, d->dv);
    else
        add_scaled(row, g, by, d->dv);
}

static void product_gradient(pr_real *do_, pr_real *dtable, pr_arnn_drawn *d, const pr_real *o,
                             const int32_t *target, size_t B)
{
    size_t D = d->dv;
    pr_gemm(do_, D, pr_flip(d->score, B), pr_mat(d->all.rows, D), 0, B, D, d->count);
    for (size_t r = 0; r < B; r++) {
        add_scaled(do_ + r * D, d->own.rows + r * D, d->target[r], D);
        row_gradient(dtable, d, &d->own, r, target[r], o + r * D, d->target[r]);
    }
    pr_gemm(d->all.rows, D, pr_mat(d->score, B), pr_mat(o, D), 0, d->count, D, B);
    for (size_t n = 0; n < d->count; n++)
        row_gradient(dtable, d, &d->all, n, d->ids[n], d->all.rows + n * D, 1);
}

double pr_arnn_drawn_gradient(pr_real *do_, pr_real *dtable, pr_real *dbias, pr_arnn_drawn *d,
                              const pr_real *o, const pr_output *out, const int32_t *target,
                              pr_real factor, size_t B)
{
    for (size_t r = 0; r < B; r++)
        d->target[r] = score_of(d, o, out, r, target[r], B);
    bar_right_answers(d, target, B);
    double loss =
        d->config->loss == PR_LOSS_BPR
            ? pr_pairwise_gradient(d->score, d->target, d->work, d->times, factor, d->count, B)
            : pr_sampled_gradient(d->score, d->target, d->work, d->times, factor, d->count, B);
    if (dbias != NULL)
        bias_gradient(dbias, d, target, B);
    if (out->dense != NULL)
        dense_gradient(out->dense, d, target, B);
    if (out->classes != NULL)
        class_gradient(out->classes, d, target, B);
    if (out->extra != NULL)
        extra_gradient(out->extra, d, target, B);
    product_gradient(do_, dtable, d, o, target, B);
    forget_draws(d);
    return loss;
}
