/* The part of the catalogue that a chunk looks at, under a loss against drawn items. Draws are a function
 * of seed and batch, so that every chunk of a batch draws the same (docs/adr/0002). */
#include <assert.h>
#include <string.h>

#include "model/parsrec/parsrec_learn.h"
#include "model/proposal.h"
#include "model/shared_parts.h"

static size_t most_rows(const pr_model *model, const pr_limits *limits)
{
    size_t rows = pr_limits_items(limits) + (size_t)model->config.negatives + 1;
    return rows < model->items + 1 ? rows : model->items + 1;
}

void pr_arnn_local_take(pr_arnn_local *l, pr_arena *arena, const pr_model *model,
                        const pr_limits *limits)
{
    const pr_config *c = &model->config;
    pr_arnn_dims d = pr_arnn_dims_of(model);
    size_t most = most_rows(model, limits), one = sizeof(pr_real);
    size_t placed = limits->rows * limits->basket + 1;
    placed = placed < most ? placed : most;
    *l = (pr_arnn_local){.items = d.items, .dv = d.dv, .draws = (size_t)c->negatives};
    l->drop = pr_drop_make(c->dropout_output_rate);
    if (c->dropout_output != PR_DROP_NONE && c->dropout_output_rate > 0)
        l->bytes = pr_drop_bytes(d.dv);
    l->place = pr_arena_take(arena, most, sizeof *l->place);
    l->item = pr_arena_take(arena, most * d.dv, one);
    l->seen = l->bytes > 0 ? pr_arena_take(arena, most * d.dv, one) : l->item;
    l->keep = pr_arena_take(arena, most, l->bytes);
    if (d.pull)
        l->pull = pr_arena_take(arena, placed * d.dv, one);
    if (d.follow)
        l->follow = pr_arena_take(arena, placed * d.dv, one);
    l->more = pr_arena_take(arena, l->draws, one);
    if (d.neighbours == 0)
        return;
    l->bought = pr_arena_take_zero(arena, most, sizeof *l->bought);
    l->link_at = pr_arena_take(arena, most + 1, sizeof *l->link_at);
    l->link_to = pr_arena_take(arena, most * d.neighbours, sizeof *l->link_to);
    l->link_weight = pr_arena_take(arena, most * d.neighbours, one);
}

/* ---- which items ---- */

static int32_t add(pr_arnn_local *l, pr_item_rows *rows, int32_t item)
{
    int32_t *slot = &l->slots[item];
    if (*slot == 0) {
        assert(rows->count < rows->most);
        l->place[rows->count] = -1;
        rows->ids[rows->count] = item;
        *slot = (int32_t)++rows->count;
    }
    return *slot - 1;
}

/* Items drawn again count more often and stand here once. */
static void draw(pr_arnn_local *l, const pr_model *model, const pr_chunk *chunk, pr_item_rows *rows)
{
    const pr_proposal *proposal = model->config.loss == PR_LOSS_SAMPLED ? model->proposal : NULL;
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x647261776E)); /* "drawn" */
    pr_stream stream = pr_stream_at(&rng, chunk->batch->number, 0, 0);
    for (size_t i = 0; i < l->draws; i++) {
        int32_t item = pr_proposal_draw(proposal, &stream, l->items);
        if (l->slots[item] == 0)
            l->more[rows->count] = 0;
        l->more[add(l, rows, item)] += 1;
    }
    l->drawn = rows->count;
    for (size_t n = 0; n < l->drawn && model->config.loss == PR_LOSS_SAMPLED; n++) {
        double chance = pr_proposal_chance(proposal, rows->ids[n], l->items);
        l->more[n] = pr_log(l->more[n] / (pr_real)((double)l->draws * chance));
    }
}

static void add_placed(pr_arnn_local *l, pr_item_rows *rows, pr_item_rows *placed, int32_t item)
{
    int32_t *place = &l->place[add(l, rows, item)];
    if (*place >= 0)
        return;
    assert(placed->count < placed->most);
    placed->ids[placed->count] = item;
    *place = (int32_t)placed->count++;
}

static void list_items(pr_arnn_local *l, const pr_chunk *chunk, pr_item_rows *rows,
                       pr_item_rows *placed)
{
    add_placed(l, rows, placed, (int32_t)l->items); /* the start of a basket */
    for (size_t r = 0; r < chunk->rows; r++) {
        const pr_basket *b = &chunk->batch->baskets[chunk->order[r]];
        for (size_t i = 0; i < b->size; i++)
            add_placed(l, rows, placed, b->items[i]);
    }
    for (size_t r = 0; r < chunk->rows; r++) {
        const pr_history *h = &chunk->batch->baskets[chunk->order[r]].history;
        for (size_t i = 0; i < h->count; i++) {
            int32_t row = add(l, rows, h->items[i]);
            if (l->bought != NULL)
                l->bought[row] = true;
        }
    }
    l->ids = rows->ids;
    l->count = rows->count;
    l->placed = placed->count;
}

/* ---- their rows ---- */

static void mask_row(const pr_arnn_local *l, const pr_rng *rng, uint32_t batch, size_t i)
{
    const uint32_t place[3] = {batch, 0, 0};
    uint8_t *keep = l->keep + i * l->bytes;
    pr_drop_draw(keep, rng, place, (size_t)l->ids[i] * l->bytes, l->bytes, l->drop);
    pr_drop_forward(l->seen + i * l->dv, l->item + i * l->dv, keep, l->drop.scale, l->dv);
}

static void gather(pr_real *to, const pr_model *model, const char *name, const int32_t *ids,
                   size_t count)
{
    const pr_param *table = pr_params_find(&model->params, name);
    const pr_param *shared = pr_shared_of(model, table);
    for (size_t i = 0; i < count; i++) {
        if ((size_t)ids[i] < table->rows)
            pr_item_row(to + i * table->cols, model, table, shared, (size_t)ids[i]);
        else /* the start of a basket has no pull */
            memset(to + i * table->cols, 0, table->cols * sizeof *to);
    }
}

/* Only links from items of a history to items that are here: at most K to each. */
static void list_links(pr_arnn_local *l, const pr_near *near)
{
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++) {
        size_t h = (size_t)l->ids[i];
        l->link_at[i] = n;
        if (!l->bought[i])
            continue;
        for (uint32_t k = h > 0 ? near->ends[h - 1] : 0; k < near->ends[h]; k++) {
            int32_t slot = l->slots[near->to[k]];
            if (slot == 0)
                continue;
            l->link_to[n] = (uint32_t)slot - 1;
            l->link_weight[n++] = near->weights[k];
        }
    }
    l->link_at[l->count] = n;
}

void pr_arnn_local_begin(pr_arnn_local *l, const pr_model *model, pr_chunk *chunk,
                         const pr_near *near)
{
    pr_item_rows *rows = &chunk->item_rows[PR_ITEMS_SCORED],
                 *placed = &chunk->item_rows[PR_ITEMS_PLACED];
    l->slots = chunk->slots[0];
    rows->count = placed->count = 0;
    draw(l, model, chunk, rows);
    list_items(l, chunk, rows, placed);
    gather(l->item, model, "item_emb", l->ids, l->count);
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x6F7574707574)); /* "output" */
    for (size_t i = 0; l->bytes > 0 && i < l->count; i++)
        mask_row(l, &rng, chunk->batch->number, i);
    if (l->pull != NULL)
        gather(l->pull, model, "pull_emb", placed->ids, placed->count);
    if (l->follow != NULL)
        gather(l->follow, model, "follow_emb", placed->ids, placed->count);
    if (l->bought != NULL)
        list_links(l, near);
    const pr_params *params = &model->params;
    for (size_t i = 0, of[PR_ITEM_GROUPS] = {0}; i < params->count; i++) {
        const pr_param *p = &params->list[i];
        if (p->group == PR_NOT_BY_ITEM)
            continue;
        pr_item_rows *own = &chunk->item_rows[p->group];
        memset(own->values[of[p->group]++], 0,
               own->count * pr_param_item_width(p) * sizeof(pr_real));
    }
}

void pr_arnn_local_mask(const pr_arnn_local *l, pr_real *dtable)
{
    for (size_t i = 0; l->bytes > 0 && i < l->count; i++)
        pr_drop_forward(dtable + i * l->dv, dtable + i * l->dv, l->keep + i * l->bytes,
                        l->drop.scale, l->dv);
}

void pr_arnn_local_end(pr_arnn_local *l)
{
    for (size_t i = 0; i < l->count; i++)
        l->slots[l->ids[i]] = 0;
}
