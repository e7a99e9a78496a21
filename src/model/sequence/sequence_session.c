/* Open baskets of sequence models: a window of the newest items a row. SASRec keeps the keys and
 * values of all positions, so that a placed item costs one position; BERT4Rec looks from both sides
 * and encodes the window again. */
#include <assert.h>
#include <string.h>

#include "math/blas.h"
#include "math/embedding.h"
#include "model/sequence/sequence.h"

typedef pr_sequence_state state;

void pr_sequence_take(void *own, pr_arena *arena, const pr_model *model, size_t rows,
                      size_t capacity)
{
    (void)capacity; /* a window drops its oldest items */
    state *s = own;
    pr_encoder_dims d = pr_encoder_dims_of(model);
    *s = (state){.e.d = d};
    pr_encoder_tape_take(&s->e.t, arena, &d, rows, d.positions, false);
    if (!d.cloze)
        pr_encoder_cache_take(&s->e.cache, arena, &d, rows);
    s->s.first = pr_arena_take(arena, rows + 1, sizeof *s->s.first);
    s->s.ids = pr_arena_take(arena, rows * d.positions, sizeof *s->s.ids);
    s->window = pr_arena_take(arena, rows * d.positions, sizeof *s->window);
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

/* Items that fit into a window beside the start row or the mask. */
static size_t room(const state *s)
{
    return s->e.d.positions - 1;
}

void pr_sequence_start(pr_scorer *session, const pr_start *starts)
{
    state *s = session->own;
    for (size_t r = 0; r < session->active; r++) {
        const pr_history *h = &starts[r].history;
        s->whole[r] = h->count <= room(s);
        size_t most = s->e.d.cloze ? room(s) : s->e.d.positions;
        s->count[r] = h->count < most ? h->count : most;
        s->stale[r] = true;
        if (s->count[r] > 0)
            memcpy(s->window + r * s->e.d.positions, h->items + h->count - s->count[r],
                   s->count[r] * sizeof *s->window);
    }
}

/* ---- encoding ---- */

/* SASRec begins with the start row where the user's past begins; BERT4Rec ends with the mask. */
static size_t write_row(const state *s, int32_t *ids, size_t r)
{
    size_t n = s->count[r], before = !s->e.d.cloze && s->whole[r] ? 1 : 0;
    int32_t extra = (int32_t)s->e.d.items;
    if (before > 0)
        *ids = extra;
    if (n > 0)
        memcpy(ids + before, s->window + r * s->e.d.positions, n * sizeof *ids);
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
static void run(pr_scorer *session)
{
    state *s = session->own;
    size_t n = 0, at = 0;
    for (size_t r = 0; r < session->active; r++) {
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

/* Makes room for one more item: BERT4Rec forgets the oldest, SASRec a quarter, so that it need not
 * encode again at every item. */
static void forget(state *s, size_t r)
{
    int32_t *window = s->window + r * s->e.d.positions;
    size_t keep = s->e.d.cloze ? s->count[r] - 1 : s->e.d.positions * 3 / 4;
    keep = keep < s->count[r] ? keep : s->count[r] - 1;
    memmove(window, window + s->count[r] - keep, keep * sizeof *window);
    s->count[r] = keep;
    s->whole[r] = false;
    s->stale[r] = true;
}

static void append(state *s, size_t r, int32_t item)
{
    size_t fixed = s->e.d.cloze || s->whole[r] ? 1 : 0;
    if (s->count[r] + fixed == s->e.d.positions)
        forget(s, r);
    s->window[r * s->e.d.positions + s->count[r]++] = item;
    s->stale[r] = s->stale[r] || s->e.d.cloze;
}

void pr_sequence_place(pr_scorer *session, const int32_t *items)
{
    state *s = session->own;
    size_t n = 0;
    for (size_t r = 0; r < session->active; r++) {
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

void pr_sequence_score_all(pr_scorer *session, pr_real *scores)
{
    state *s = session->own;
    size_t D = s->e.d.width, V = s->e.d.items;
    run(session);
    pr_gemm(scores, V, pr_mat(s->o, D), pr_flip(s->e.w.item, D), 0, session->active, V, D);
}

void pr_sequence_score(pr_scorer *session, size_t row, const int32_t *items, size_t n,
                       pr_real *scores)
{
    state *s = session->own;
    run(session);
    pr_embedding_scores(scores, s->e.w.item, items, s->o + row * s->e.d.width, n, s->e.d.width);
}
