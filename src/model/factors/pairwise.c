/* A chunk of baskets, in blocks of targets and drawn items. */
#include "model/factors/pairwise.h"

#include <assert.h>
#include <string.h>

#include "base/rng.h"
#include "math/layers.h"
#include "model/history.h"
#include "model/proposal.h"
#include "model/user_rows.h"

enum {
    CANDIDATES = 512, /* of a block, about */
    TRIES = 100       /* draws of a wrong item before a right one is let pass */
};

/* ---- layout ---- */

parsrec_status pr_pairs_layout(pr_model *model, const char *const *by_item, size_t user_width,
                               parsrec_error *err)
{
    for (size_t i = 0; by_item[i] != NULL; i++)
        pr_params_by_item(&model->params, by_item[i], PR_ITEMS_SCORED);
    return pr_params_add_users(&model->params, "user_emb", model->users + 1, user_width, err);
}

size_t pr_pairs_before(const pr_history *h)
{
    return pr_history_last_session(h, h->count > 0 ? h->count - 1 : 0);
}

size_t pr_pairs_drawn_items(const pr_model *model, size_t targets)
{
    return targets * (size_t)model->config.negatives;
}

size_t pr_pairs_mask_bytes(const pr_model *model)
{
    (void)model;
    return 0;
}

/* ---- memory ---- */

typedef struct pairs_run {
    pr_pair_block block;
    size_t most;  /* targets of a block */
    size_t width; /* of a user row */
    double factor;
} pairs_run;

static void take(pairs_run *run, pr_arena *arena, const pr_model *model)
{
    pr_pair_block *b = &run->block;
    size_t each = 1 + (size_t)model->config.negatives;
    *run = (pairs_run){.most = each < CANDIDATES ? CANDIDATES / each : 1,
                       .width = pr_params_users(&model->params)->cols};
    *b = (pr_pair_block){.model = model, .each = each};
    b->item = pr_arena_take(arena, run->most * each, sizeof *b->item);
    b->slot = pr_arena_take(arena, run->most * each, sizeof *b->slot);
    b->user = pr_arena_take(arena, run->most, sizeof *b->user);
    b->duser = pr_arena_take(arena, run->most, sizeof *b->duser);
    b->before = pr_arena_take(arena, run->most, sizeof *b->before);
    b->before_count = pr_arena_take(arena, run->most, sizeof *b->before_count);
    b->score = pr_arena_take(arena, run->most * each, sizeof *b->score);
    b->work =
        pr_arena_take(arena, model->kind->pairs->room(model, run->most, each), sizeof *b->work);
}

size_t pr_pairs_chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    (void)limits;
    pr_arena counter = pr_arena_counter();
    pairs_run sizing;
    take(&sizing, &counter, model);
    return counter.used;
}

/* ---- rows of items ---- */

/* A new row begins with zero gradients in every table by item. */
static void clear_row(const pr_pair_block *b, size_t row)
{
    const pr_params *params = &b->model->params;
    for (size_t i = 0, which = 0; i < params->count; i++)
        if (params->list[i].group == PR_ITEMS_SCORED) {
            size_t width = pr_param_item_width(&params->list[i]);
            memset(pr_pair_gradient(b, which++, (int32_t)row, width), 0, width * sizeof(pr_real));
        }
}

int32_t pr_pair_slot(const pr_pair_block *b, int32_t item)
{
    pr_item_rows *rows = &b->chunk->item_rows[PR_ITEMS_SCORED];
    int32_t *slot = &b->chunk->slots[0][item];
    if (*slot == 0) {
        assert(rows->count < rows->most);
        clear_row(b, rows->count);
        rows->ids[rows->count] = item;
        *slot = (int32_t)++rows->count;
    }
    return *slot - 1;
}

/* ---- targets ---- */

/* right[V]: not 0 for the items of the basket. */
static int32_t draw_wrong(const int32_t *right, pr_stream *stream, const pr_model *model)
{
    bool even = !(model->config.negatives_power > 0) || model->proposal == NULL;
    int32_t item = 0;
    for (int k = 0; k < TRIES; k++) {
        item = even ? (int32_t)pr_stream_below(stream, (uint32_t)model->items)
                    : pr_proposal_draw_bought(model->proposal, stream);
        if (right[item] == 0)
            break;
    }
    return item;
}

static void add_candidates(pr_pair_block *b, int32_t target, pr_stream *stream)
{
    size_t at = b->targets * b->each;
    b->item[at] = target;
    for (size_t n = 1; n < b->each; n++)
        b->item[at + n] = draw_wrong(b->chunk->slots[1], stream, b->model);
    for (size_t n = 0; n < b->each; n++)
        b->slot[at + n] = pr_pair_slot(b, b->item[at + n]);
}

/* The items just before target j: those placed or, before the first, the user's last session. */
static void set_before(pr_pair_block *b, const pr_basket *basket, size_t j)
{
    const pr_history *h = &basket->history;
    size_t first = j > 0 ? 0 : pr_pairs_before(h);
    b->before[b->targets] = j > 0 ? basket->items : h->count > 0 ? h->items + first : NULL;
    b->before_count[b->targets] = j > 0 ? j : h->count - first;
}

/* ---- losses ---- */

/* log(1 + exp(x)), and its slope. */
static pr_real softplus(pr_real x, pr_real *slope)
{
    pr_real e = pr_exp(x < 0 ? x : -x);
    *slope = (x < 0 ? e : 1) / (1 + e);
    return (x > 0 ? x : 0) + pr_log(1 + e);
}

/* The scores of a target's candidates become gradients. */
static double pairwise(pr_real *score, size_t each, pr_real factor)
{
    pr_real right = score[0], sum = 0;
    double loss = 0;
    factor /= (pr_real)(each - 1);
    for (size_t n = 1; n < each; n++) {
        loss += (double)softplus(score[n] - right, &score[n]);
        score[n] *= factor;
        sum += score[n];
    }
    score[0] = -sum;
    return loss / (double)(each - 1);
}

static double binary(pr_real *score, size_t each, pr_real factor)
{
    double loss = (double)softplus(-score[0], &score[0]);
    score[0] *= -factor;
    for (size_t n = 1; n < each; n++) {
        loss += (double)softplus(score[n], &score[n]);
        score[n] *= factor;
    }
    return loss;
}

static void learn_block(pairs_run *run)
{
    pr_pair_block *b = &run->block;
    const pr_model *model = b->model;
    double loss = 0;
    if (b->targets == 0)
        return;
    model->kind->pairs->forward(b);
    for (size_t t = 0; t < b->targets; t++) {
        pr_real *score = b->score + t * b->each;
        loss += model->config.loss == PR_LOSS_BCE ? binary(score, b->each, (pr_real)run->factor)
                                                  : pairwise(score, b->each, (pr_real)run->factor);
    }
    pr_chunk_add_loss(b->chunk, loss, run->factor, b->targets);
    model->kind->pairs->backward(b);
    b->targets = 0;
}

/* ---- a chunk ---- */

/* 1 / the targets of the whole batch. */
static double factor_of(const pr_batch *batch, size_t steps)
{
    size_t targets = 0;
    for (size_t r = 0; r < batch->rows; r++)
        targets += batch->baskets[r].size < steps ? batch->baskets[r].size : steps;
    return 1 / (double)targets;
}

static void learn_basket(pairs_run *run, const pr_rng *rng, uint32_t row)
{
    pr_pair_block *b = &run->block;
    pr_chunk *chunk = b->chunk;
    const pr_model *model = b->model;
    const pr_basket *basket = &chunk->batch->baskets[row];
    pr_stream stream = pr_stream_at(rng, chunk->batch->number, row, 0);
    bool anyone =
        basket->user < 0 ||
        pr_unit32(pr_rng_at(rng, chunk->batch->number, row, 1, 0).word[0]) < model->config.anyone;
    chunk->users[row] = anyone ? (int32_t)model->users : basket->user;
    const pr_real *user = pr_user_row(model, (size_t)chunk->users[row]);
    pr_real *duser = chunk->user_gradient + row * run->width;
    memset(duser, 0, run->width * sizeof *duser);
    for (size_t i = 0; i < basket->size; i++)
        chunk->slots[1][basket->items[i]] = 1;
    for (size_t j = 0; j < basket->size && j < (size_t)model->config.steps; j++) {
        b->user[b->targets] = user;
        b->duser[b->targets] = duser;
        set_before(b, basket, j);
        add_candidates(b, basket->items[j], &stream);
        if (++b->targets == run->most)
            learn_block(run);
    }
    for (size_t i = 0; i < basket->size; i++)
        chunk->slots[1][basket->items[i]] = 0;
}

void pr_pairs_learn(const pr_model *model, pr_chunk *chunk)
{
    pairs_run run;
    take(&run, chunk->arena, model);
    run.block.chunk = chunk;
    run.factor = factor_of(chunk->batch, (size_t)model->config.steps);
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x7061697273)); /* "pairs" */
    pr_item_rows *rows = &chunk->item_rows[PR_ITEMS_SCORED];
    rows->count = chunk->item_rows[PR_ITEMS_PLACED].count = 0;
    for (size_t r = 0; r < chunk->rows; r++)
        learn_basket(&run, &rng, chunk->order[r]);
    learn_block(&run);
    for (size_t i = 0; i < rows->count; i++)
        chunk->slots[0][rows->ids[i]] = 0;
    pr_chunk_mark(chunk, PR_PART_LOSS);
}

double pr_pairs_operations(const pr_model *model, const pr_batch *batch, uint64_t items)
{
    (void)batch;
    return PR_OPERATIONS_A_PRODUCT * (double)items * (1 + model->config.negatives) *
           model->kind->pairs->products(model);
}
