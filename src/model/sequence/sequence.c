/* What both sequence models share: the head, scorers, and a chunk of training sequences. */
#include "model/sequence/sequence.h"

#include <assert.h>
#include <string.h>

#include "data/histories.h"
#include "math/attention.h"
#include "math/blas.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "math/ranking_loss.h"
#include "model/sequence/intervals.h"

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

/* ---- scorers ----
 *
 * A row is a window of the newest items. SASRec caches the keys and values of all positions, so that a
 * placed item costs one position; BERT4Rec attends in both directions and encodes the window again. */

typedef pr_sequence_state state;

void pr_sequence_take(void *own, pr_arena *arena, const pr_model *model, size_t rows,
                      size_t capacity)
{
    (void)capacity; /* a window drops its oldest items */
    state *s = own;
    pr_encoder_dims d = pr_encoder_dims_of(model);
    *s = (state){.e.d = d};
    pr_encoder_tape_take(&s->e.t, arena, &d, rows, d.positions, false);
    if (!d.cloze && d.intervals == 0)
        pr_encoder_cache_take(&s->e.cache, arena, &d, rows);
    s->s.first = pr_arena_take(arena, rows + 1, sizeof *s->s.first);
    s->s.ids = pr_arena_take(arena, rows * d.positions, sizeof *s->s.ids);
    s->window = pr_arena_take(arena, rows * d.positions, sizeof *s->window);
    if (d.intervals > 0) {
        s->s.when = pr_arena_take(arena, rows * d.positions, sizeof *s->s.when);
        s->when = pr_arena_take(arena, rows * d.positions, sizeof *s->when);
        s->now = pr_arena_take(arena, rows, sizeof *s->now);
    }
    s->count = pr_arena_take(arena, rows, sizeof *s->count);
    s->whole = pr_arena_take(arena, rows, sizeof *s->whole);
    s->stale = pr_arena_take(arena, rows, sizeof *s->stale);
    s->tokens = pr_arena_take(arena, rows, sizeof *s->tokens);
    s->chosen = pr_arena_take(arena, rows, sizeof *s->chosen);
    s->chosen_at = pr_arena_take(arena, rows, sizeof *s->chosen_at);
    s->o = pr_arena_take(arena, rows * d.width, sizeof *s->o);
    pr_head_take(&s->head, arena, rows, d.width);
    if (!pr_arena_counts(arena))
        s->e.w = pr_encoder_view_of(model, model->weights);
}

static void push(state *s, size_t r, int32_t token)
{
    size_t at = r * s->e.d.positions + s->count[r]++;
    s->window[at] = token;
    if (s->when != NULL)
        s->when[at] = s->now[r];
}

/* The window of a history: as much of it as fits. SASRec leaves out the start row before it cuts the
 * history; BERT4Rec needs a position for the mask. The separator at the end begins the open basket. */
static void fill_window(state *s, size_t r, const pr_history *h)
{
    const pr_encoder_dims *d = &s->e.d;
    int32_t *window = s->window + r * d->positions;
    size_t last = d->separated && h->count > 0 ? 1 : 0, tokens;
    size_t room = d->positions - last - (d->cloze ? 1 : 0);
    size_t from = pr_history_newest(h, 0, h->count, room, d->separated, &tokens);
    s->whole[r] = from == 0 && tokens + last < d->positions;
    s->count[r] = pr_history_tokens(window, h, from, h->count, d->separated, pr_separator_row(d));
    if (d->intervals > 0) {
        s->now[r] = pr_interval_now(h);
        pr_interval_times(s->when + r * d->positions, h, from, h->count, d->separated);
    }
    if (last > 0)
        push(s, r, pr_separator_row(d));
}

void pr_sequence_start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++) {
        fill_window(s, r, &starts[r].history);
        s->stale[r] = true;
    }
}

/* ---- encoding ---- */

/* SASRec begins with the start row where the user's past begins; BERT4Rec ends with the mask. The start row is as old as
 * the first item. */
static size_t write_row(const state *s, int32_t *ids, size_t r)
{
    size_t n = s->count[r], before = !s->e.d.cloze && s->whole[r] ? 1 : 0;
    int32_t extra = pr_extra_row(&s->e.d);
    if (before > 0)
        *ids = extra;
    if (n > 0)
        memcpy(ids + before, s->window + r * s->e.d.positions, n * sizeof *ids);
    if (s->when != NULL) {
        const int64_t *from = s->when + r * s->e.d.positions;
        int64_t *when = s->s.when + (ids - s->s.ids);
        if (before > 0)
            *when = n > 0 ? *from : s->now[r];
        memcpy(when + before, from, n * sizeof *when);
    }
    if (s->e.d.cloze)
        ids[n] = extra;
    return n + before + (s->e.d.cloze ? 1 : 0);
}

/* Takes over what the last positions came out as: row i of y, or the last one of sequence i. */
static void take_outcomes(state *s, size_t n, const size_t *ends)
{
    size_t D = s->e.d.width;
    for (size_t i = 0; i < n; i++)
        memcpy(s->head.y + i * D, s->e.t.y + (ends != NULL ? ends[i + 1] - 1 : i) * D,
               D * sizeof *s->o);
    if (s->e.d.cloze)
        pr_head_forward(&s->head, &s->e, n);
    const pr_real *from = s->e.d.cloze ? s->head.o : s->head.y;
    for (size_t i = 0; i < n; i++)
        memcpy(s->o + s->chosen[i] * D, from + i * D, D * sizeof *s->o);
}

/* Encodes the windows of stale rows. */
static void run(pr_scorer *scorer)
{
    state *s = scorer->own;
    size_t n = 0, at = 0;
    for (size_t r = 0; r < scorer->active; r++) {
        if (!s->stale[r])
            continue;
        s->s.first[n] = at;
        s->chosen[n++] = (uint32_t)r;
        s->tokens[r] = write_row(s, s->s.ids + at, r);
        at += s->tokens[r];
        s->stale[r] = false;
    }
    if (n == 0)
        return;
    s->s.first[n] = at;
    s->s.count = n;
    s->e.cache.rows = s->chosen;
    pr_encoder_forward(&s->e, &s->s);
    take_outcomes(s, n, s->s.first);
}

/* ---- placing ---- */

/* Makes room for one more item with as little lost as possible: the start row, or else the oldest item
 * and a separator after it. The window is then encoded again. */
static void forget(state *s, size_t r)
{
    int32_t *window = s->window + r * s->e.d.positions;
    bool start = !s->e.d.cloze && s->whole[r];
    size_t gone = start ? 0 : s->count[r] > 1 && window[1] == pr_separator_row(&s->e.d) ? 2 : 1;
    memmove(window, window + gone, (s->count[r] - gone) * sizeof *window);
    if (s->when != NULL) {
        int64_t *when = s->when + r * s->e.d.positions;
        memmove(when, when + gone, (s->count[r] - gone) * sizeof *when);
    }
    s->count[r] -= gone;
    s->whole[r] = false;
    s->stale[r] = true;
}

static void append(state *s, size_t r, int32_t item)
{
    size_t fixed = s->e.d.cloze || s->whole[r] ? 1 : 0;
    if (s->count[r] + fixed == s->e.d.positions)
        forget(s, r);
    push(s, r, item);
    s->stale[r] = s->stale[r] || s->e.d.cloze || s->when != NULL;
}

void pr_sequence_place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    size_t n = 0;
    for (size_t r = 0; r < scorer->active; r++) {
        if (items[r] < 0)
            continue;
        append(s, r, items[r]);
        if (s->stale[r])
            continue;
        s->chosen[n] = (uint32_t)r;
        s->s.ids[n] = items[r];
        s->chosen_at[n++] = s->tokens[r]++;
    }
    if (n == 0)
        return;
    s->e.cache.rows = s->chosen;
    pr_encoder_step(&s->e, s->s.ids, s->chosen_at, n);
    take_outcomes(s, n, NULL);
}

/* ---- scores ---- */

void pr_sequence_score_all(pr_scorer *scorer, pr_real *scores)
{
    state *s = scorer->own;
    size_t D = s->e.d.width, V = s->e.d.items;
    run(scorer);
    pr_gemm(scores, V, pr_mat(s->o, D), pr_flip(s->e.w.item, D), 0, scorer->active, V, D);
}

void pr_sequence_score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n,
                       pr_real *scores)
{
    state *s = scorer->own;
    run(scorer);
    pr_embedding_scores(scores, s->e.w.item, items, s->o + row * s->e.d.width, n, s->e.d.width);
}

/* ---- a chunk of training sequences ---- */

void pr_sequence_softmax_take(pr_softmax *s, pr_arena *arena, size_t items, size_t width)
{
    size_t B = PR_LOSS_ROWS, one = sizeof(pr_real), cells = PR_TILE * width;
    s->score = pr_arena_take(arena, items * B, one);
    s->top = pr_arena_take(arena, pr_tiles(items) * B, one);
    s->total = pr_arena_take(arena, pr_tiles(items) * B, one);
    s->best = pr_arena_take(arena, B, one);
    s->winner = pr_arena_take(arena, B, sizeof *s->winner);
    s->tile = pr_arena_take(arena, cells > B ? cells : B, one);
}

void pr_sequence_run_take(pr_sequence_run *run, pr_arena *arena, const pr_model *model,
                          const pr_limits *limits)
{
    pr_encoder_dims d = pr_encoder_dims_of(model);
    size_t longest = limits->steps * (d.separated ? 2 : 1); /* a separator before each item */
    longest = longest < d.positions ? longest : d.positions;
    *run = (pr_sequence_run){.e.d = d};
    pr_encoder_tape_take(&run->e.t, arena, &d, limits->rows, longest, true);
    run->s.first = pr_arena_take(arena, limits->rows + 1, sizeof *run->s.first);
    run->s.ids = pr_arena_take(arena, limits->rows * longest + 1, sizeof *run->s.ids);
    if (d.intervals > 0)
        run->s.when = pr_arena_take(arena, limits->rows * longest + 1, sizeof *run->s.when);
    run->rows = pr_arena_take(arena, limits->rows, sizeof *run->rows);
    run->target = pr_arena_take(arena, limits->rows * longest, sizeof *run->target);
    run->asked = pr_arena_take(arena, limits->rows * longest, sizeof *run->asked);
    if (model->config.loss == PR_LOSS_CE)
        pr_sequence_softmax_take(&run->softmax, arena, d.items, d.width);
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

pr_sequence_cut pr_sequence_cut_of(const pr_basket *b, size_t room, bool separated)
{
    size_t low = b->history.count, end = low + b->size;
    pr_sequence_cut cut = {.past = b->history, .end = end};
    if (low == 0)
        cut.past.items = b->items; /* a history without items need not point to any */
    assert(cut.past.items + low == b->items);
    cut.past.count = end;
    cut.from = pr_history_newest(&cut.past, low, end, room, separated, &cut.tokens);
    return cut;
}

/* ---- lessons ---- */

typedef struct lesson {
    pr_sequence_cut cut;
    bool start;
} lesson;

static lesson lesson_of(const pr_basket *b, size_t positions, bool separated)
{
    lesson l = {.cut = pr_sequence_cut_of(b, positions + 1, separated)};
    l.start = l.cut.from == 0 && l.cut.tokens <= positions;
    return l;
}

size_t pr_lesson_positions(const pr_basket *basket, size_t positions, bool separated)
{
    lesson l = lesson_of(basket, positions, separated);
    return l.cut.tokens - (l.start ? 0 : 1);
}

double pr_lessons_factor(const pr_batch *batch, size_t positions, bool separated)
{
    size_t targets = 0;
    for (size_t r = 0; r < batch->rows; r++) {
        lesson l = lesson_of(&batch->baskets[r], positions, separated);
        targets += l.cut.end - l.cut.from - (l.start ? 0 : 1);
    }
    return 1 / (double)(targets > 0 ? targets : 1);
}

void pr_lessons_write(pr_sequences *s, int32_t *target, size_t *asked, size_t *asked_count,
                      const pr_chunk *chunk, size_t items, size_t positions, bool separated)
{
    int32_t start = (int32_t)items, separator = (int32_t)items + 1;
    size_t at = 0;
    s->count = chunk->rows;
    *asked_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const pr_basket *b = &chunk->batch->baskets[chunk->order[i]];
        lesson l = lesson_of(b, positions, separated);
        int32_t *ids = s->ids + at;
        size_t n = l.cut.tokens - (l.start ? 0 : 1);
        if (l.start)
            ids[0] = start;
        pr_history_tokens(ids + (l.start ? 1 : 0), &l.cut.past, l.cut.from, l.cut.end, separated,
                          separator);
        if (s->when != NULL) {
            int64_t *when = s->when + at;
            pr_interval_times(when + (l.start ? 1 : 0), &l.cut.past, l.cut.from, l.cut.end,
                              separated);
            if (l.start)
                when[0] = when[1];
        }
        for (size_t p = 0; p < n; p++)
            if (ids[p + 1] != separator) {
                asked[*asked_count] = at + p;
                target[(*asked_count)++] = ids[p + 1];
            }
        s->first[i] = at;
        at += n;
    }
    s->first[s->count] = at;
}

void pr_sequence_gather(const pr_sequence_run *run, pr_real *out, const pr_real *x)
{
    size_t D = run->e.d.width;
    for (size_t k = 0; k < run->asked_count; k++)
        memcpy(out + k * D, x + run->asked[k] * D, D * sizeof *out);
}

void pr_sequence_scatter(const pr_sequence_run *run, pr_real *x, const pr_real *from)
{
    size_t D = run->e.d.width;
    memset(x, 0, run->s.first[run->s.count] * D * sizeof *x);
    for (size_t k = 0; k < run->asked_count; k++)
        memcpy(x + run->asked[k] * D, from + k * D, D * sizeof *x);
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
    pr_output out = {.table = run->e.w.item, .scale = 1, .bias = run->bias};
    for (size_t at = 0; at < n; at += PR_LOSS_ROWS) {
        size_t rows = n - at < PR_LOSS_ROWS ? n - at : PR_LOSS_ROWS;
        pr_softmax_scores(&run->softmax, o + at * D, &out, rows, V, D);
        pr_chunk_mark(run->chunk, PR_PART_SCORES);
        double loss =
            pr_softmax_gradient(do_ + at * D, run->e.g.item, run->dbias, &run->softmax, o + at * D,
                                &out, target + at, (pr_real)factor, rows, V, D);
        pr_chunk_add_loss(run->chunk, loss, factor, rows);
        pr_chunk_mark(run->chunk, PR_PART_LOSS);
    }
}

/* ---- losses of models with a bias ---- */

parsrec_status pr_sequence_check_loss(const char *kind, const pr_config *c, parsrec_error *err)
{
    if (c->loss == PR_LOSS_BCE || c->loss == PR_LOSS_BPR)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "%s learns with loss = ce, sampled, bpr-max or top1-max", kind);
    return PARSREC_OK;
}

void pr_sequence_loss_take(pr_sequence_run *run, pr_arena *arena, const pr_model *model,
                           size_t width)
{
    pr_sequence_drawn *d = &run->drawn;
    size_t N = (size_t)model->config.negatives, one = sizeof(pr_real);
    run->e.d.items = model->items;
    run->e.d.width = width;
    if (model->config.loss == PR_LOSS_CE) {
        pr_sequence_softmax_take(&run->softmax, arena, model->items, width);
        return;
    }
    d->ids = pr_arena_take(arena, N, sizeof *d->ids);
    d->rows = pr_arena_take(arena, N * width, one);
    d->drows = pr_arena_take(arena, N * width, one);
    d->score = pr_arena_take(arena, N * PR_LOSS_ROWS, one);
    d->t = pr_arena_take(arena, PR_LOSS_ROWS, one);
    d->work = pr_arena_take(arena, PR_RANKING_WORK * PR_LOSS_ROWS, one);
}

static void draw_items(pr_sequence_run *run, const pr_model *model, size_t block)
{
    const pr_chunk *chunk = run->chunk;
    pr_sequence_drawn *d = &run->drawn;
    size_t N = (size_t)model->config.negatives;
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x6772756472)); /* "grudr" */
    pr_stream stream = pr_stream_at(&rng, chunk->batch->number, chunk->order[0], (uint32_t)block);
    for (size_t n = 0; n < N; n++)
        d->ids[n] = (int32_t)pr_stream_below(&stream, (uint32_t)model->items);
    pr_embedding_forward(d->rows, run->e.w.item, d->ids, N, run->e.d.width);
}

/* Adds the biases to score[N,B] and bars each row's target where it was drawn. */
PR_INLINE void finish_scores_any(pr_real *restrict score, const int32_t *restrict ids,
                                 const int32_t *restrict target, const pr_real *restrict bias,
                                 size_t N, size_t B)
{
    for (size_t n = 0; n < N; n++) {
        int32_t id = ids[n];
        pr_real more = bias[id];
        for (size_t r = 0; r < B; r++)
            score[n * B + r] = id == target[r] ? PR_BARRED : score[n * B + r] + more;
    }
}
PR_LOCAL_LEVELS(void, finish_scores, finish_scores_any,
                (pr_real * score, const int32_t *ids, const int32_t *target, const pr_real *bias,
                 size_t N, size_t B),
                (score, ids, target, bias, N, B))

PR_INLINE void add_drawn_biases_any(pr_real *dbias, const pr_real *score, const int32_t *ids,
                                    size_t N, size_t B)
{
    for (size_t n = 0; n < N; n++)
        dbias[ids[n]] += pr_sum(score + n * B, B);
}
PR_LOCAL_LEVELS(void, add_drawn_biases, add_drawn_biases_any,
                (pr_real * dbias, const pr_real *score, const int32_t *ids, size_t N, size_t B),
                (dbias, score, ids, N, B))

/* B rows: their loss, dy, and the gradients of table and bias. */
static void drawn_block(pr_sequence_run *run, const pr_model *model, pr_real *dy, const pr_real *y,
                        const int32_t *target, size_t B, double factor)
{
    const pr_config *c = &model->config;
    pr_sequence_drawn *d = &run->drawn;
    size_t N = (size_t)c->negatives, D = run->e.d.width;
    pr_real by = (pr_real)factor;
    pr_gemm(d->score, B, pr_mat(d->rows, D), pr_flip(y, D), 0, N, B, D);
    for (size_t r = 0; r < B; r++) {
        pr_embedding_scores(&d->t[r], run->e.w.item, &target[r], y + r * D, 1, D);
        d->t[r] += run->bias[target[r]];
    }
    finish_scores(d->score, d->ids, target, run->bias, N, B);
    /* each drawn item stands for this many */
    pr_real more = pr_log((pr_real)model->items / (pr_real)N);
    double loss =
        c->loss == PR_LOSS_BPR_MAX
            ? pr_bpr_max_gradient(d->score, d->t, d->work, (pr_real)c->score_decay, by, N, B)
        : c->loss == PR_LOSS_TOP1_MAX
            ? pr_top1_max_gradient(d->score, d->t, d->work, by, N, B)
            : pr_shared_softmax_gradient(d->score, d->t, d->work, more, by, N, B);
    pr_chunk_add_loss(run->chunk, loss, factor, B);
    pr_gemm(dy, D, pr_flip(d->score, B), pr_mat(d->rows, D), 0, B, D, N);
    pr_gemm(d->drows, D, pr_mat(d->score, B), pr_mat(y, D), 0, N, D, B);
    pr_embedding_backward(run->e.g.item, d->drows, d->ids, N, D);
    add_drawn_biases(run->dbias, d->score, d->ids, N, B);
    for (size_t r = 0; r < B; r++) {
        const pr_real *row = run->e.w.item + (size_t)target[r] * D;
        pr_real *drow = run->e.g.item + (size_t)target[r] * D;
        for (size_t i = 0; i < D; i++) {
            dy[r * D + i] += d->t[r] * row[i];
            drow[i] += d->t[r] * y[r * D + i];
        }
        run->dbias[target[r]] += d->t[r];
    }
}

void pr_sequence_loss(pr_sequence_run *run, const pr_model *model, pr_real *dy, const pr_real *y,
                      size_t from, size_t n, double factor)
{
    assert(from % PR_LOSS_ROWS == 0 && run->bias != NULL && run->dbias != NULL);
    size_t D = run->e.d.width;
    if (model->config.loss == PR_LOSS_CE) {
        pr_sequence_cross_entropy(run, dy, y, run->target + from, n, factor);
        return;
    }
    for (size_t at = 0; at < n; at += PR_LOSS_ROWS) {
        draw_items(run, model, (from + at) / PR_LOSS_ROWS);
        drawn_block(run, model, dy + at * D, y + at * D, run->target + from + at,
                    n - at < PR_LOSS_ROWS ? n - at : PR_LOSS_ROWS, factor);
    }
    pr_chunk_mark(run->chunk, PR_PART_LOSS);
}

double pr_sequence_scored(const pr_model *model)
{
    const pr_config *c = &model->config;
    return c->loss == PR_LOSS_CE ? (double)model->items : 1 + (double)c->negatives;
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
