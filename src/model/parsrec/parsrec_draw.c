/* Which items a step's targets are told apart from, by place, so that every chunk of a batch draws the
 * same (docs/adr/0002). */
#include <string.h>

#include "math/logarithm.h"
#include "model/parsrec/parsrec_drawn.h"

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

void pr_arnn_see(const pr_arnn_drawn *d, pr_arnn_seen *seen, size_t i, const pr_real *table,
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

void pr_arnn_draw(pr_arnn_drawn *d, const pr_real *table, size_t j)
{
    uint32_t masked = d->config->dropout_output == PR_DROP_STEP ? (uint32_t)j : 0;
    d->place[0] = d->chunk->batch->number;
    d->place[1] = 0;
    d->place[2] = masked;
    draw_items(d, (uint32_t)j);
    for (size_t n = 0; n < d->count; n++) {
        pr_arnn_see(d, &d->all, n, table, d->ids[n]);
        if (d->chance != NULL)
            d->times[n] = pr_ln(d->times[n] / ((pr_real)d->draws * d->chance[d->ids[n]]));
    }
}

void pr_arnn_draw_end(pr_arnn_drawn *d)
{
    for (size_t n = 0; n < d->count; n++)
        d->slots[d->ids[n]] = 0;
}
