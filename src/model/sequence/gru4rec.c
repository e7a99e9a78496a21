/* GRU4Rec: a gated recurrent cell over the sequence of items, the next item as the target of every position
 * (Hidasi and others, 2016; losses of Hidasi and Karatzoglou, 2018).
 *
 * One table is input and output. Sequences of a chunk are ordered by length, longest first, so that those that
 * still run at a step are the first rows; the positions of all sequences stand below each other step by step, and
 * all maps but the recurrent one are single products. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "data/histories.h"
#include "math/blas.h"
#include "math/embedding.h"
#include "math/layers.h"
#include "model/sequence/sequence.h"

enum { GATES = 3 }; /* candidate, reset, update (pr_gru_forward) */

/* ---- tensors ---- */

typedef struct view {
    pr_real *item, *bias;     /* [V + 1 or 2, D], [V] */
    pr_real *in_w, *in_b;     /* [3D, D], [3D] */
    pr_real *back_w, *back_b; /* [3D, D], [D]: the candidate's */
} view;

static void list_all(pr_lister *l, view *v, const pr_model *model)
{
    size_t D = (size_t)model->config.dim_item, rows = model->config.separator ? 2 : 1;
    pr_list_tensor(l, &v->item, "item_emb", model->items + rows, D, PR_FILL_TABLE);
    pr_list_tensor(l, &v->bias, "item_bias", 1, model->items, PR_FILL_BIAS);
    pr_list_tensor(l, &v->in_w, "gru_in_w", GATES * D, D, PR_FILL_QKV);
    pr_list_tensor(l, &v->in_b, "gru_in_b", 1, GATES * D, PR_FILL_BIAS);
    pr_list_tensor(l, &v->back_w, "gru_back_w", GATES * D, D, PR_FILL_QKV);
    pr_list_tensor(l, &v->back_b, "gru_back_b", 1, D, PR_FILL_BIAS);
}

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    if (model->config.length == 0)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "length = 0 is chosen when training begins; a model cannot have it");
    view unused;
    pr_lister l = {.add = &model->params, .err = err};
    list_all(&l, &unused, model);
    return l.status;
}

static view view_of(const pr_model *model, pr_real *block)
{
    view v = {0};
    pr_lister l = {.have = &model->params, .block = block};
    list_all(&l, &v, model);
    return v;
}

/* ---- scorers ---- */

typedef struct state {
    view w;
    size_t D, length;
    pr_real *h;            /* [rows,D] */
    pr_real *x, *hidden;   /* [rows,D]: of the rows that take a step */
    pr_real *gates, *back; /* [rows,3D], [rows,D] */
    pr_real *next;         /* [rows,D] */
    int32_t *ids;          /* [rows] */
    uint32_t *chosen;      /* [rows] */
    int32_t *tokens;       /* [rows,length + 2] */
    size_t *count;         /* [rows] */
} state;

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity;
    state *s = own;
    size_t one = sizeof(pr_real);
    *s = (state){.D = (size_t)model->config.dim_item, .length = (size_t)model->config.length};
    s->h = pr_arena_take(arena, rows * s->D, one);
    s->x = pr_arena_take(arena, rows * s->D, one);
    s->hidden = pr_arena_take(arena, rows * s->D, one);
    s->gates = pr_arena_take(arena, rows * GATES * s->D, one);
    s->back = pr_arena_take(arena, rows * s->D, one);
    s->next = pr_arena_take(arena, rows * s->D, one);
    s->ids = pr_arena_take(arena, rows, sizeof *s->ids);
    s->chosen = pr_arena_take(arena, rows, sizeof *s->chosen);
    s->tokens = pr_arena_take(arena, rows * (s->length + 2), sizeof *s->tokens);
    s->count = pr_arena_take(arena, rows, sizeof *s->count);
    if (!pr_arena_counts(arena))
        s->w = view_of(model, model->weights);
}

/* Rows chosen[n] read ids[n]. */
static void advance(state *s, size_t n)
{
    size_t D = s->D;
    pr_embedding_forward(s->x, s->w.item, s->ids, n, D);
    pr_linear_forward(s->gates, s->x, s->w.in_w, s->w.in_b, n, D, GATES * D);
    for (size_t i = 0; i < n; i++)
        memcpy(s->hidden + i * D, s->h + s->chosen[i] * D, D * sizeof *s->h);
    pr_gru_step_forward(s->next, s->gates, s->back, s->hidden, s->w.back_w, s->w.back_b, n, D);
    for (size_t i = 0; i < n; i++)
        memcpy(s->h + s->chosen[i] * D, s->next + i * D, D * sizeof *s->h);
}

/* As much of the history as training looks at, the start row before a whole one, a separator behind it. */
static void write_tokens(state *s, size_t r, const pr_history *h, size_t items, bool separated)
{
    int32_t *tokens = s->tokens + r * (s->length + 2);
    size_t used, from = pr_history_newest(h, 0, h->count, s->length, separated, &used), n = 0;
    if (from == 0)
        tokens[n++] = (int32_t)items;
    n += pr_history_tokens(tokens + n, h, from, h->count, separated, (int32_t)items + 1);
    if (separated && h->count > 0)
        tokens[n++] = (int32_t)items + 1;
    s->count[r] = n;
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    const pr_model *model = scorer->model;
    size_t longest = 0;
    memset(s->h, 0, scorer->active * s->D * sizeof *s->h);
    for (size_t r = 0; r < scorer->active; r++) {
        write_tokens(s, r, &starts[r].history, model->items, model->config.separator);
        longest = s->count[r] > longest ? s->count[r] : longest;
    }
    for (size_t t = 0; t < longest; t++) {
        size_t n = 0;
        for (size_t r = 0; r < scorer->active; r++)
            if (t < s->count[r]) {
                s->chosen[n] = (uint32_t)r;
                s->ids[n++] = s->tokens[r * (s->length + 2) + t];
            }
        advance(s, n);
    }
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    size_t n = 0;
    for (size_t r = 0; r < scorer->active; r++)
        if (items[r] >= 0) {
            s->chosen[n] = (uint32_t)r;
            s->ids[n++] = items[r];
        }
    if (n > 0)
        advance(s, n);
}

static void score_all(pr_scorer *scorer, pr_real *scores)
{
    const state *s = scorer->own;
    size_t V = scorer->model->items;
    pr_gemm(scores, V, pr_mat(s->h, s->D), pr_flip(s->w.item, s->D), 0, scorer->active, V, s->D);
    for (size_t r = 0; r < scorer->active; r++)
        pr_add(scores + r * V, s->w.bias, V);
}

static void score(pr_scorer *scorer, size_t row, const int32_t *items, size_t n, pr_real *scores)
{
    const state *s = scorer->own;
    pr_embedding_scores(scores, s->w.item, items, s->h + row * s->D, n, s->D);
    for (size_t i = 0; i < n; i++)
        scores[i] += s->w.bias[items[i]];
}

/* ---- a chunk ---- */

typedef struct gru_run {
    pr_sequence_run base; /* sequences, targets and the softmax; it has no encoder */
    view w, g;
    size_t D;
    size_t *length, *at; /* [rows]: positions of a sequence; [longest + 1]: where a step begins */
    uint32_t *order;     /* [rows]: sequences, longest first */
    size_t *place;       /* [T]: of each position of the sequences, its row in the arrays below */
    int32_t *ids;        /* [T] */
    pr_real *x, *h, *before, *back; /* [T,D]: inputs, hidden states, those before them */
    pr_real *gates;                 /* [T,3D] */
    pr_real *dh, *dback, *dgates, *carry;
    pr_real *y, *dy; /* [T,D]: what is asked, side by side */
    uint8_t *keep_x, *keep_y;
} gru_run;

static void take_run(gru_run *run, pr_arena *arena, const pr_model *model, const pr_limits *limits)
{
    const pr_config *c = &model->config;
    size_t D = (size_t)c->dim_item, rows = limits->rows, one = sizeof(pr_real);
    size_t longest = limits->steps * (c->separator ? 2 : 1); /* a separator before each item */
    longest = longest < (size_t)c->length ? longest : (size_t)c->length;
    size_t T = rows * longest;
    *run = (gru_run){.D = D};
    pr_sequence_run *base = &run->base;
    base->s.first = pr_arena_take(arena, rows + 1, sizeof *base->s.first);
    base->s.ids = pr_arena_take(arena, T + 1, sizeof *base->s.ids);
    base->target = pr_arena_take(arena, T, sizeof *base->target);
    base->asked = pr_arena_take(arena, T, sizeof *base->asked);
    run->length = pr_arena_take(arena, rows, sizeof *run->length);
    run->order = pr_arena_take(arena, rows, sizeof *run->order);
    run->at = pr_arena_take(arena, longest + 2, sizeof *run->at);
    run->place = pr_arena_take(arena, T, sizeof *run->place);
    run->ids = pr_arena_take(arena, T, sizeof *run->ids);
    pr_real **all[] = {&run->x,     &run->h,     &run->before, &run->back, &run->dh,
                       &run->dback, &run->carry, &run->y,      &run->dy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = pr_arena_take(arena, T * D, one);
    run->gates = pr_arena_take(arena, T * GATES * D, one);
    run->dgates = pr_arena_take(arena, T * GATES * D, one);
    run->keep_x = pr_arena_take(arena, T, pr_drop_bytes(D));
    run->keep_y = pr_arena_take(arena, T, pr_drop_bytes(D));
    pr_sequence_loss_take(base, arena, model, D);
}

static size_t chunk_bytes(const pr_model *model, const pr_limits *limits)
{
    pr_arena counter = pr_arena_counter();
    gru_run sizing;
    take_run(&sizing, &counter, model, limits);
    return counter.used;
}

/* Puts the positions of the sequences in the order of steps. */
static void arrange(gru_run *run)
{
    const pr_sequences *s = &run->base.s;
    size_t longest = 0, at = 0;
    for (size_t i = 0; i < s->count; i++) {
        run->length[i] = s->first[i + 1] - s->first[i];
        longest = run->length[i] > longest ? run->length[i] : longest;
        size_t k = i; /* insertion; chunks have few rows, nearly in order */
        for (; k > 0 && run->length[run->order[k - 1]] < run->length[i]; k--)
            run->order[k] = run->order[k - 1];
        run->order[k] = (uint32_t)i;
    }
    for (size_t t = 0; t < longest; t++) {
        run->at[t] = at;
        for (size_t k = 0; k < s->count && run->length[run->order[k]] > t; k++, at++) {
            size_t position = s->first[run->order[k]] + t;
            run->place[position] = at;
            run->ids[at] = s->ids[position];
        }
    }
    run->at[longest] = at;
    run->base.e.t.T = longest;
}

/* One mask per position, from the sequence's row in the batch. */
static void draw_masks(gru_run *run, uint8_t *keep, pr_drop drop, uint32_t site)
{
    const pr_chunk *chunk = run->base.chunk;
    pr_rng rng = pr_rng_make(chunk->seed, UINT64_C(0x677275)); /* "gru" */
    size_t bytes = pr_drop_bytes(run->D);
    for (size_t i = 0; i < run->base.s.count; i++) {
        const uint32_t place[3] = {chunk->batch->number, chunk->order[i], site};
        for (size_t t = 0; t < run->length[i]; t++)
            pr_drop_draw(keep + run->place[run->base.s.first[i] + t] * bytes, &rng, place,
                         t * bytes, bytes, drop);
    }
}

/* Rows of x[T,D] in place. */
static void drop_rows(pr_real *x, const uint8_t *keep, pr_drop drop, size_t T, size_t D)
{
    for (size_t i = 0; i < T; i++)
        pr_drop_forward(x + i * D, x + i * D, keep + i * pr_drop_bytes(D), drop.scale, D);
}

static void forward(gru_run *run)
{
    size_t D = run->D, longest = run->base.e.t.T, T = run->at[longest];
    pr_linear_forward(run->gates, run->x, run->w.in_w, run->w.in_b, T, D, GATES * D);
    for (size_t t = 0; t < longest; t++) {
        size_t at = run->at[t], n = run->at[t + 1] - at;
        if (t == 0)
            memset(run->before, 0, n * D * sizeof *run->before);
        else /* the rows that still run are the first */
            memcpy(run->before + at * D, run->h + run->at[t - 1] * D, n * D * sizeof *run->h);
        pr_gru_step_forward(run->h + at * D, run->gates + at * GATES * D, run->back + at * D,
                            run->before + at * D, run->w.back_w, run->w.back_b, n, D);
    }
}

/* From dh[T,D], the gradients of the hidden states by what was asked. */
static void backward(gru_run *run)
{
    size_t D = run->D, longest = run->base.e.t.T, T = run->at[longest], G = GATES * D;
    const view *w = &run->w, *g = &run->g;
    for (size_t t = longest; t-- > 0;) {
        size_t at = run->at[t], n = run->at[t + 1] - at;
        pr_gru_step_backward(run->dgates + at * G, run->dback + at * D, run->carry + at * D,
                             run->dh + at * D, run->gates + at * G, run->back + at * D,
                             run->before + at * D, w->back_w, n, D);
        if (t > 0)
            pr_add(run->dh + run->at[t - 1] * D, run->carry + at * D, n * D);
    }
    pr_gru_maps_backward(g->back_w, g->back_b, run->dgates, run->dback, run->before, T, D);
    memset(run->carry, 0, T * D * sizeof *run->carry); /* now the gradient of x */
    pr_linear_backward(run->carry, g->in_w, g->in_b, run->dgates, run->x, w->in_w, T, D, G);
}

/* ---- learning ---- */

/* What is asked, side by side: y[k] = h[place]; and back. */
static void gather(const gru_run *run, pr_real *to, const pr_real *from, bool back)
{
    size_t D = run->D;
    for (size_t k = 0; k < run->base.asked_count; k++) {
        size_t at = run->place[run->base.asked[k]];
        memcpy(to + (back ? at : k) * D, from + (back ? k : at) * D, D * sizeof *to);
    }
}

/* The masks of what is asked. */
static void drop_asked(const gru_run *run, pr_real *y, pr_drop drop)
{
    size_t D = run->D, bytes = pr_drop_bytes(D);
    for (size_t k = 0; k < run->base.asked_count; k++)
        pr_drop_forward(y + k * D, y + k * D, run->keep_y + run->place[run->base.asked[k]] * bytes,
                        drop.scale, D);
}

static void learn(const pr_model *model, pr_chunk *chunk)
{
    const pr_config *c = &model->config;
    gru_run run;
    pr_limits limits = {.rows = chunk->rows, .steps = chunk->steps};
    take_run(&run, chunk->arena, model, &limits);
    pr_sequence_run *base = &run.base;
    base->chunk = chunk;
    run.w = view_of(model, model->weights);
    run.g = view_of(model, chunk->gradient);
    base->e.w.item = run.w.item;
    base->e.g.item = run.g.item;
    base->bias = run.w.bias;
    base->dbias = run.g.bias;
    pr_lessons_write(&base->s, base->target, base->asked, &base->asked_count, chunk, model->items,
                     (size_t)c->length, c->separator);
    double factor = pr_lessons_factor(chunk->batch, (size_t)c->length, c->separator);
    if (base->asked_count == 0)
        return;
    arrange(&run);
    size_t D = run.D, T = run.at[base->e.t.T];
    pr_drop drop = pr_drop_make(c->dropout_hidden);
    bool drops = c->dropout_hidden > 0;
    pr_embedding_forward(run.x, run.w.item, run.ids, T, D);
    if (drops) {
        draw_masks(&run, run.keep_x, drop, 0);
        draw_masks(&run, run.keep_y, drop, 1);
        drop_rows(run.x, run.keep_x, drop, T, D);
    }
    pr_chunk_mark(chunk, PR_PART_BEGIN);
    forward(&run);
    gather(&run, run.y, run.h, false);
    if (drops)
        drop_asked(&run, run.y, drop);
    pr_chunk_mark(chunk, PR_PART_FORWARD);
    pr_sequence_loss(base, model, run.dy, run.y, 0, base->asked_count, factor);
    if (drops)
        drop_asked(&run, run.dy, drop);
    memset(run.dh, 0, T * D * sizeof *run.dh);
    gather(&run, run.dh, run.dy, true);
    backward(&run);
    if (drops)
        drop_rows(run.carry, run.keep_x, drop, T, D);
    pr_embedding_backward(run.g.item, run.carry, run.ids, T, D);
    pr_chunk_mark(chunk, PR_PART_BACKWARD);
}

static double operations(const pr_model *model, const pr_batch *batch, uint64_t items)
{
    const pr_config *c = &model->config;
    double D = (double)c->dim_item, positions = 0;
    for (size_t r = 0; r < batch->rows; r++)
        positions +=
            (double)pr_lesson_positions(&batch->baskets[r], (size_t)c->length, c->separator);
    return PR_OPERATIONS_A_PRODUCT *
           (2 * GATES * positions * D * D + (double)items * pr_sequence_scored(model) * D);
}

static parsrec_status check(const pr_config *c, parsrec_error *err)
{
    PR_TRY(pr_sequence_check_loss("gru4rec", c, err));
    if (c->separator && c->length == 1)
        return pr_fail(err, PARSREC_E_CONFIG,
                       "separator = on needs a length of at least 2, or 0 for one by the data");
    return PARSREC_OK;
}

static const char *const settings[] = {
    "batch=0",
    "length=0",
    "separator=auto",
    "dropout.hidden=0.4",
    "rate=0.005",
    "epochs=0",
    "best=protocols",
    "rate.warmup=0.05",
    "rate.final=0.1",
    "clip=5",
    "negatives=2048",
    "loss=auto",
    NULL,
};

const pr_model_kind pr_gru4rec = {
    .name = "gru4rec",
    .summary = "a recurrent network over the sequence of a user's items (Hidasi and others, 2016)",
    .settings = settings,
    .sequence = true,
    .check = check,
    .layout = layout,
    .state_bytes = sizeof(state),
    .take = take,
    .start = start,
    .place = place,
    .score_all = score_all,
    .score = score,
    .chunk_bytes = chunk_bytes,
    .mask_bytes = pr_sequence_mask_bytes,
    .learn = learn,
    .operations = operations,
};
