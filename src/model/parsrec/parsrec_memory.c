/* Memory of a chunk, and the masks its batch shares. */
#include "model/parsrec/parsrec_chunk.h"

static void take_drop(pr_arnn_drop *drop, pr_arena *arena, double p, size_t rows, size_t width)
{
    *drop = (pr_arnn_drop){.how = pr_drop_make(p), .bytes = pr_drop_bytes(width)};
    if (p > 0)
        drop->keep = pr_arena_take(arena, rows, drop->bytes);
}

static void take_softmax(pr_softmax *s, pr_arena *arena, const pr_arnn_dims *d, size_t R, bool mask)
{
    size_t tiles = pr_tiles(d->items), one = sizeof(pr_real);
    s->score = pr_arena_take(arena, d->items * R, one);
    s->top = pr_arena_take(arena, tiles * R, one);
    s->total = pr_arena_take(arena, tiles * R, one);
    s->best = pr_arena_take(arena, R, one);
    s->winner = pr_arena_take(arena, R, sizeof *s->winner);
    s->tile = pr_arena_take(arena, PR_TILE * d->dv + R, one);
    if (mask)
        s->dropped = pr_arena_take(arena, d->items * d->dv, one);
}

static void take_bags(pr_arnn_run *run, pr_arena *arena, const pr_arnn_dims *d, size_t R,
                      size_t history)
{
    size_t distinct = history < d->items ? history : d->items;
    run->bag_items = pr_arena_take(arena, R * distinct, sizeof *run->bag_items);
    run->bag_weights = pr_arena_take(arena, R * distinct, sizeof *run->bag_weights);
    run->bag_offsets = pr_arena_take(arena, R + 1, sizeof *run->bag_offsets);
    run->slots = pr_arena_take_zero(arena, d->items, sizeof *run->slots);
}

void pr_arnn_run_take(pr_arnn_run *run, pr_arena *arena, const pr_model *model,
                      const pr_limits *limits)
{
    const pr_config *c = &model->config;
    pr_arnn_dims d = pr_arnn_dims_of(model);
    size_t R = limits->rows, T = R * limits->steps;
    *run = (pr_arnn_run){.net.d = d, .config = c, .steps = limits->steps};
    run->first = pr_arena_take(arena, limits->steps + 2, sizeof *run->first);
    run->rows = pr_arena_take(arena, limits->steps + 2, sizeof *run->rows);
    run->users = pr_arena_take(arena, R, sizeof *run->users);
    run->keys = pr_arena_take(arena, T, sizeof *run->keys);
    run->target = pr_arena_take(arena, R, sizeof *run->target);
    take_drop(&run->drop_user, arena, c->dropout_user, R, d.du);
    take_drop(&run->drop_history, arena, c->dropout_history, R, d.dv);
    take_drop(&run->drop_keys, arena, c->dropout_keys, T, d.dv);
    take_bags(run, arena, &d, R, limits->history);
    if (d.recall)
        pr_repeats_take(&run->recalled, arena, R, d.items, limits->history, d.neighbours > 0);
    pr_arnn_teacher_take(&run->teacher, arena, R, limits->basket);
    if (c->loss == PR_LOSS_CE)
        take_softmax(&run->softmax, arena, &d, R, pr_arnn_mask_bytes(model) > 0);
    else
        pr_arnn_drawn_take(&run->drawn, arena, model, R);
}

size_t pr_arnn_chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    pr_arena counter = pr_arena_counter();
    pr_arnn_run run;
    pr_arnn_run_take(&run, &counter, model, limits);
    pr_arnn_tape_take(&run.net.t, &counter, &run.net.d, limits->rows * limits->steps, limits->rows,
                      limits->steps);
    pr_arnn_tape_take_backward(&run.net.t, &counter, &run.net.d);
    return counter.used;
}

size_t pr_arnn_mask_bytes(const pr_model *model)
{
    const pr_config *c = &model->config;
    if (c->dropout_output == PR_DROP_NONE || !(c->dropout_output_rate > 0) || c->loss != PR_LOSS_CE)
        return 0; /* rows that are drawn are masked one by one */
    return pr_drop_bytes(model->items * (size_t)c->dim_item);
}

void pr_arnn_draw_mask(const pr_model *model, uint8_t *mask, uint64_t seed, uint32_t batch,
                       uint32_t step)
{
    const pr_config *c = &model->config;
    pr_rng rng = pr_rng_make(seed, UINT64_C(0x6F7574707574)); /* "output" */
    uint32_t place[3] = {batch, 0, c->dropout_output == PR_DROP_STEP ? step : 0};
    pr_drop_draw(mask, &rng, place, 0, pr_arnn_mask_bytes(model),
                 pr_drop_make(c->dropout_output_rate));
}
