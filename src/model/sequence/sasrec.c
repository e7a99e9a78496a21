/* SASRec: self-attention over what came before, the next item as the target of every position; and TiSASRec, whose
 * attention knows the time between positions (intervals.h). */
#include <string.h>

#include "data/histories.h"
#include "math/sampled_loss.h"
#include "model/sequence/sequence.h"

enum { TRIES = 100 }; /* draws of a wrong item before a right one is let pass */

/* Binary loss only. */
typedef struct wrong_items {
    int32_t *ids;    /* [longest, 1 + negatives] */
    uint32_t *stamp; /* [V]: the sequence, from 1, whose user had the item */
} wrong_items;

typedef struct sasrec_run {
    pr_sequence_run base;
    pr_real *y, *dy; /* [T,D]: outputs of the positions that predict an item, and their gradients */
    wrong_items wrong;
} sasrec_run;

static void take_run(sasrec_run *run, pr_arena *arena, const pr_model *model,
                     const pr_limits *limits)
{
    pr_sequence_run_take(&run->base, arena, model, limits);
    size_t cells = run->base.e.t.T * run->base.e.d.width;
    run->y = pr_arena_take(arena, cells, sizeof *run->y);
    run->dy = pr_arena_take(arena, cells, sizeof *run->dy);
    if (model->config.loss != PR_LOSS_BCE)
        return;
    run->wrong.ids = pr_arena_take(arena, limits->steps * (1 + (size_t)model->config.negatives),
                                   sizeof *run->wrong.ids);
    run->wrong.stamp = pr_arena_take_zero(arena, model->items, sizeof *run->wrong.stamp);
}

static size_t chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    pr_arena counter = pr_arena_counter();
    sasrec_run sizing;
    take_run(&sizing, &counter, model, limits);
    return counter.used;
}

/* Items that the user of sequence i had must not be drawn as wrong. */
static void mark_own(sasrec_run *run, size_t i)
{
    const pr_basket *b = pr_sequence_basket(&run->base, i);
    for (size_t k = 0; k < b->size; k++)
        run->wrong.stamp[b->items[k]] = (uint32_t)i + 1;
    for (size_t k = 0; k < b->history.count; k++)
        run->wrong.stamp[b->history.items[k]] = (uint32_t)i + 1;
}

static int32_t draw_wrong(const sasrec_run *run, pr_stream *stream, size_t i)
{
    uint32_t item = 0, items = (uint32_t)run->base.e.d.items;
    for (int k = 0; k < TRIES; k++) {
        item = pr_stream_below(stream, items);
        if (run->wrong.stamp[item] != (uint32_t)i + 1)
            break;
    }
    return (int32_t)item;
}

static void binary_loss(sasrec_run *run, const pr_model *model, double factor)
{
    pr_sequence_run *base = &run->base;
    size_t D = base->e.d.width, N = 1 + (size_t)model->config.negatives;
    pr_rng rng = pr_rng_make(base->chunk->seed, UINT64_C(0x77726F6E67)); /* "wrong" */
    for (size_t i = 0, at = 0, L; i < base->s.count; i++, at += L) {
        pr_stream stream = pr_stream_at(&rng, base->chunk->batch->number, base->rows[i], 0);
        for (L = 0; at + L < base->asked_count && base->asked[at + L] < base->s.first[i + 1];)
            L++;
        mark_own(run, i);
        for (size_t p = 0; p < L; p++) {
            run->wrong.ids[p * N] = base->target[at + p];
            for (size_t k = 1; k < N; k++)
                run->wrong.ids[p * N + k] = draw_wrong(run, &stream, i);
        }
        double loss = pr_binary_gradient(run->dy + at * D, base->e.g.item, run->y + at * D,
                                         base->e.w.item, run->wrong.ids, (pr_real)factor, L, N, D);
        pr_chunk_add_loss(base->chunk, loss, factor, L);
    }
    pr_chunk_mark(base->chunk, PR_PART_LOSS);
}

static void learn(const pr_model *model, pr_chunk *chunk)
{
    sasrec_run run;
    pr_limits limits = {.rows = chunk->rows, .steps = chunk->steps};
    take_run(&run, chunk->arena, model, &limits);
    pr_sequence_run *base = &run.base;
    pr_sequence_run_begin(base, model, chunk);
    pr_lessons_write(&base->s, base->target, base->asked, &base->asked_count, chunk,
                     base->e.d.items, base->e.d.positions, base->e.d.separated);
    pr_sequence_run_plan(base);
    double factor = pr_lessons_factor(chunk->batch, base->e.d.positions, base->e.d.separated);
    pr_encoder_forward(&base->e, &base->s);
    pr_sequence_gather(base, run.y, base->e.t.y);
    pr_chunk_mark(chunk, PR_PART_FORWARD);
    if (model->config.loss == PR_LOSS_CE)
        pr_sequence_cross_entropy(base, run.dy, run.y, base->target, base->asked_count, factor);
    else
        binary_loss(&run, model, factor);
    pr_sequence_scatter(base, base->e.t.dx, run.dy);
    pr_encoder_backward(&base->e, &base->s);
    pr_chunk_mark(chunk, PR_PART_BACKWARD);
}

/* Attention is counted as far as a position can see. */
static double operations(const pr_model *model, const pr_batch *batch, uint64_t items)
{
    const pr_config *c = &model->config;
    double positions = 0, pairs = 0;
    for (size_t r = 0; r < batch->rows; r++) {
        double L = (double)pr_lesson_positions(&batch->baskets[r], (size_t)c->length, c->separator);
        positions += L;
        pairs += L * (L + 1) / 2;
    }
    double scored = c->loss == PR_LOSS_CE ? (double)model->items : 1 + (double)c->negatives;
    return PR_OPERATIONS_A_PRODUCT * (pr_sequence_products(model, positions, pairs) +
                                      (double)items * scored * (double)c->dim_item);
}

static parsrec_status check(const pr_config *config, parsrec_error *err)
{
    if (config->loss != PR_LOSS_CE && config->loss != PR_LOSS_BCE)
        return pr_fail(err, PARSREC_E_CONFIG, "sasrec and tisasrec learn with loss = ce or bce");
    return pr_encoder_check(config, err);
}

static const char *const settings[] = {
    "layers=2",
    "heads=2",
    "ffn.width=1",
    "batch=0",
    "layer_norm.eps=1e-08",
    "length=0",
    "separator=auto",
    "dropout.hidden=0.2",
    "dropout.attention=0.2",
    "epochs=0",
    "best=protocols",
    "rate.warmup=0.05",
    "rate.final=0.1",
    "clip=0",
    "negatives=1",
    NULL,
};

#define PR_SASREC                                                                                 \
    .settings = settings, .sequence = true, .check = check, .layout = pr_encoder_layout,          \
    .state_bytes = sizeof(pr_sequence_state), .take = pr_sequence_take,                           \
    .start = pr_sequence_start, .place = pr_sequence_place, .score_all = pr_sequence_score_all,   \
    .score = pr_sequence_score, .chunk_bytes = chunk_bytes, .mask_bytes = pr_sequence_mask_bytes, \
    .learn = learn, .operations = operations

const pr_model_kind pr_sasrec = {
    .name = "sasrec",
    .summary = "self-attention over the sequence of a user's items (Kang and McAuley, 2018)",
    PR_SASREC,
};

const pr_model_kind pr_tisasrec = {
    .name = "tisasrec",
    .summary = "the same, attention knowing the time between items (Li and others, 2020)",
    PR_SASREC,
};
