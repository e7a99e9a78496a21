/* BERT4Rec: some items of a sequence are masked and guessed from both sides; to recommend, a mask is
 * put at its end. */
#include <string.h>

#include "data/histories.h"
#include "model/sequence/sequence.h"

typedef struct cloze_run {
    pr_sequence_run base; /* `asked` are the masked positions */
    pr_head head;         /* of the masked positions */
    pr_real *dmasked;     /* [T,D] */
} cloze_run;

static void take_run(cloze_run *run, pr_arena *arena, const pr_model *model,
                     const pr_limits *limits)
{
    pr_sequence_run_take(&run->base, arena, model, limits);
    size_t T = run->base.e.t.T;
    pr_head_take(&run->head, arena, T, run->base.e.d.width);
    run->dmasked = pr_arena_take(arena, T * run->base.e.d.width, sizeof *run->dmasked);
}

static size_t chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    pr_arena counter = pr_arena_counter();
    cloze_run sizing;
    take_run(&sizing, &counter, model, limits);
    return counter.used;
}

static void mask_one(pr_sequence_run *run, size_t at)
{
    run->target[run->asked_count] = run->s.ids[at];
    run->asked[run->asked_count++] = at;
    run->s.ids[at] = pr_extra_row(&run->e.d);
}

static bool is_item(const pr_sequence_run *run, size_t at)
{
    return run->s.ids[at] < pr_extra_row(&run->e.d);
}

/* Each item with the same chance, at least one; in some sequences the last alone, since that is what
 * a recommendation asks for. */
static void mask_sequence(pr_sequence_run *run, const pr_config *c, pr_stream *stream, size_t i)
{
    size_t first = run->s.first[i], end = run->s.first[i + 1], before = run->asked_count;
    if (pr_stream_unit(stream) < c->mask_last) {
        mask_one(run, end - 1);
        return;
    }
    for (size_t at = first; at < end; at++)
        if (is_item(run, at) && pr_stream_unit(stream) < c->mask)
            mask_one(run, at);
    if (run->asked_count > before)
        return;
    size_t at = first + pr_stream_below(stream, (uint32_t)(end - first));
    mask_one(run, is_item(run, at) ? at : at + 1); /* an item follows every separator */
}

static void write_sequences(pr_sequence_run *base, const pr_config *c)
{
    const pr_encoder_dims *d = &base->e.d;
    pr_rng rng = pr_rng_make(base->chunk->seed, UINT64_C(0x636C6F7A65)); /* "cloze" */
    base->s.first[0] = 0;
    for (size_t i = 0; i < base->s.count; i++) {
        const pr_basket *b = pr_sequence_basket(base, i);
        pr_sequence_cut cut = pr_sequence_cut_of(b, d->positions, d->separated);
        size_t at = base->s.first[i];
        pr_stream stream = pr_stream_at(&rng, base->chunk->batch->number, base->rows[i], 0);
        base->s.first[i + 1] = at + pr_history_tokens(base->s.ids + at, &cut.past, cut.from,
                                                      cut.end, d->separated, pr_separator_row(d));
        mask_sequence(base, c, &stream, i);
    }
}

/* Outcomes of the masked positions side by side, their loss, and its gradient back in dx. */
static void guess(cloze_run *run, double factor)
{
    pr_sequence_run *base = &run->base;
    size_t D = base->e.d.width, n = base->asked_count;
    pr_sequence_gather(base, run->head.y, base->e.t.y);
    pr_head_forward(&run->head, &base->e, n);
    pr_chunk_mark(base->chunk, PR_PART_FORWARD);
    pr_sequence_cross_entropy(base, run->dmasked, run->head.o, base->target, n, factor);
    memcpy(run->head.o, run->dmasked, n * D * sizeof(pr_real));
    pr_head_backward(&run->head, &base->e, n);
    pr_sequence_scatter(base, base->e.t.dx, run->head.y);
}

static void learn(const pr_model *model, pr_chunk *chunk)
{
    cloze_run run;
    pr_limits limits = {.rows = chunk->rows, .steps = chunk->steps};
    take_run(&run, chunk->arena, model, &limits);
    pr_sequence_run *base = &run.base;
    pr_sequence_run_begin(base, model, chunk);
    write_sequences(base, &model->config);
    pr_sequence_run_plan(base);
    double items = 0; /* the mean over as many guesses as are to be expected */
    for (size_t r = 0; r < chunk->batch->rows; r++) {
        pr_sequence_cut cut =
            pr_sequence_cut_of(&chunk->batch->baskets[r], base->e.d.positions, base->e.d.separated);
        items += (double)(cut.end - cut.from);
    }
    pr_encoder_forward(&base->e, &base->s);
    guess(&run, 1 / (items * model->config.mask));
    pr_encoder_backward(&base->e, &base->s);
    pr_chunk_mark(chunk, PR_PART_BACKWARD);
}

/* Every position passes the layers, masked ones the head and the table. */
static double operations(const pr_model *model, const pr_batch *batch, uint64_t items)
{
    const pr_config *c = &model->config;
    double D = c->dim_item, positions = 0, pairs = 0;
    for (size_t r = 0; r < batch->rows; r++) {
        double L =
            (double)pr_sequence_cut_of(&batch->baskets[r], (size_t)c->length, c->separator).tokens;
        positions += L;
        pairs += L * L;
    }
    return PR_OPERATIONS_A_PRODUCT * (pr_sequence_products(model, positions, pairs) +
                                      (double)items * D * (D + (double)model->items));
}

static const char *const settings[] = {
    "layers=2",
    "heads=2",
    "ffn.width=4",
    "batch=0",
    "layer_norm.eps=1e-08",
    "length=0",
    "separator=auto",
    "dropout.hidden=0.1",
    "dropout.attention=0.1",
    "epochs=0",
    "best=protocols",
    "rate.warmup=0.05",
    "rate.final=0.1",
    "clip=5",
    NULL,
};

static parsrec_status check(const pr_config *config, parsrec_error *err)
{
    if (config->loss != PR_LOSS_CE)
        return pr_fail(err, PARSREC_E_CONFIG, "bert4rec learns with loss = ce only");
    if (config->length == 1)
        return pr_fail(err, PARSREC_E_CONFIG, "bert4rec needs a length of at least 2");
    return pr_encoder_check(config, err);
}

const pr_model_kind pr_bert4rec = {
    .name = "bert4rec",
    .summary = "masked items guessed from both sides of the sequence (Sun and others, 2019)",
    .settings = settings,
    .sequence = true,
    .check = check,
    .layout = pr_encoder_layout,
    .state_bytes = sizeof(pr_sequence_state),
    .take = pr_sequence_take,
    .start = pr_sequence_start,
    .place = pr_sequence_place,
    .score_all = pr_sequence_score_all,
    .score = pr_sequence_score,
    .chunk_bytes = chunk_bytes,
    .mask_bytes = pr_sequence_mask_bytes,
    .learn = learn,
    .operations = operations,
};
