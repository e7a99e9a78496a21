/* What the training of both sequence models shares: memory, dropout and the loss over the
 * catalogue. */
#include "math/activation.h"
#include "math/blas.h"
#include "math/layer_norm.h"
#include "math/linear.h"
#include "math/self_attention.h"
#include "model/sequence/sequence.h"

static void take_softmax(pr_softmax *s, pr_arena *arena, const pr_encoder_dims *d)
{
    size_t B = PR_LOSS_ROWS, one = sizeof(pr_real), cells = PR_TILE * d->width;
    s->score = pr_arena_take(arena, d->items * B, one);
    s->top = pr_arena_take(arena, pr_tiles(d->items) * B, one);
    s->total = pr_arena_take(arena, pr_tiles(d->items) * B, one);
    s->best = pr_arena_take(arena, B, one);
    s->winner = pr_arena_take(arena, B, sizeof *s->winner);
    s->tile = pr_arena_take(arena, cells > B ? cells : B, one);
}

void pr_sequence_run_take(pr_sequence_run *run, pr_arena *arena, const pr_model *model,
                          const pr_limits *limits)
{
    pr_encoder_dims d = pr_encoder_dims_of(model);
    size_t longest = limits->steps < d.positions ? limits->steps : d.positions;
    *run = (pr_sequence_run){.e.d = d};
    pr_encoder_tape_take(&run->e.t, arena, &d, limits->rows, longest, true);
    run->s.first = pr_arena_take(arena, limits->rows + 1, sizeof *run->s.first);
    run->s.ids = pr_arena_take(arena, limits->rows * longest, sizeof *run->s.ids);
    run->rows = pr_arena_take(arena, limits->rows, sizeof *run->rows);
    run->target = pr_arena_take(arena, limits->rows * longest, sizeof *run->target);
    if (model->config.loss == PR_LOSS_CE)
        take_softmax(&run->softmax, arena, &d);
}

void pr_sequence_run_begin(pr_sequence_run *run, const pr_model *model, pr_chunk *chunk)
{
    const pr_config *c = &model->config;
    run->chunk = chunk;
    run->s.count = chunk->rows;
    run->e.w = pr_encoder_view_of(model, model->weights);
    run->e.g = pr_encoder_view_of(model, chunk->gradient);
    for (size_t i = 0; i < chunk->rows; i++)
        run->rows[i] = chunk->order[i];
    run->e.drop = (pr_encoder_drop){
        .hidden = pr_drop_make(c->dropout_hidden),
        .weights = pr_drop_make(c->dropout_attention),
        .on_hidden = c->dropout_hidden > 0,
        .on_weights = c->dropout_attention > 0,
        .rng = pr_rng_make(chunk->seed, UINT64_C(0x656E636F646572)), /* "encoder" */
        .batch = chunk->batch->number,
        .rows = run->rows,
    };
}

void pr_sequence_run_plan(pr_sequence_run *run)
{
    size_t at = 0;
    for (size_t i = 0; i < run->s.count; i++) {
        size_t L = run->s.first[i + 1] - run->s.first[i];
        run->e.t.weight_at[i] = at;
        at += run->e.d.heads * L * pr_self_stride(L);
    }
}

void pr_sequence_cross_entropy(pr_sequence_run *run, pr_real *do_, const pr_real *o,
                               const int32_t *target, size_t n, double factor)
{
    size_t D = run->e.d.width, V = run->e.d.items;
    pr_output out = {.table = run->e.w.item, .scale = 1};
    for (size_t at = 0; at < n; at += PR_LOSS_ROWS) {
        size_t rows = n - at < PR_LOSS_ROWS ? n - at : PR_LOSS_ROWS;
        pr_softmax_scores(&run->softmax, o + at * D, &out, rows, V, D);
        pr_chunk_mark(run->chunk, PR_PART_SCORES);
        double loss =
            pr_softmax_gradient(do_ + at * D, run->e.g.item, NULL, &run->softmax, o + at * D, &out,
                                target + at, (pr_real)factor, rows, V, D);
        pr_chunk_add_loss(run->chunk, loss, factor, rows);
        pr_chunk_mark(run->chunk, PR_PART_LOSS);
    }
}

double pr_sequence_products(const pr_model *model, double positions, double pairs)
{
    pr_encoder_dims d = pr_encoder_dims_of(model);
    double D = (double)d.width, I = (double)d.inner;
    double maps = 4 * D * D + 2 * D * I; /* query, key, value, join; feed-forward in and out */
    return (double)d.layers * (positions * maps + pairs * 2 * D);
}

size_t pr_sequence_mask_bytes(const pr_model *model)
{
    (void)model;
    return 0;
}

/* ---- BERT4Rec's head ---- */

void pr_head_take(pr_head *h, pr_arena *arena, size_t n, size_t D)
{
    pr_real **all[] = {&h->y, &h->raw, &h->act, &h->unit, &h->o};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = pr_arena_take(arena, n * D, sizeof(pr_real));
    h->rate = pr_arena_take(arena, n, sizeof(pr_real));
}

void pr_head_forward(pr_head *h, const pr_encoder *e, size_t n)
{
    size_t D = e->d.width;
    pr_linear_forward(h->raw, h->y, e->w.head_w, e->w.head_b, n, D, D);
    pr_gelu_forward(h->act, h->raw, n * D);
    pr_layer_norm_forward(h->o, h->unit, h->rate, h->act, e->w.head_gain, e->w.head_shift, e->d.eps,
                          n, D);
}

void pr_head_backward(pr_head *h, pr_encoder *e, size_t n)
{
    size_t D = e->d.width;
    pr_layer_norm_backward(h->o, e->g.head_gain, e->g.head_shift, h->o, h->unit, h->rate,
                           e->w.head_gain, n, D);
    pr_gelu_backward(h->o, h->o, h->raw, n * D);
    pr_linear_backward(NULL, e->g.head_w, e->g.head_b, h->o, h->y, e->w.head_w, n, D, D);
    pr_gemm(h->y, D, pr_mat(h->o, D), pr_mat(e->w.head_w, D), 0, n, D, D);
}
