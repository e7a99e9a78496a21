/* Open baskets of sequence models: a window of the newest items a row, encoded when a score is asked
 * for. */
#include <assert.h>
#include <string.h>

#include "math/blas.h"
#include "math/embedding.h"
#include "model/sequence.h"

typedef struct state {
    pr_encoder e;
    pr_sequences s;
    int32_t *window; /* [rows,positions] */
    size_t *count;   /* [rows] */
    pr_real *o;      /* [rows,D]: what scores the catalogue */
    pr_head head;
    size_t room; /* items that fit into a window */
    bool ran;
} state;

static void take_state(state *s, pr_arena *arena, const pr_model *model, size_t rows)
{
    pr_encoder_dims d = pr_encoder_dims_of(model);
    *s = (state){.e.d = d, .room = d.positions - (d.cloze ? 1 : 0)};
    pr_encoder_tape_take(&s->e.t, arena, &d, rows, d.positions, false);
    s->s.first = pr_arena_take(arena, rows + 1, sizeof *s->s.first);
    s->s.ids = pr_arena_take(arena, rows * d.positions, sizeof *s->s.ids);
    s->window = pr_arena_take(arena, rows * d.positions, sizeof *s->window);
    s->count = pr_arena_take(arena, rows, sizeof *s->count);
    pr_head_take(&s->head, arena, rows, d.width);
    s->o = s->head.o;
}

size_t pr_sequence_session_bytes(const pr_model *model, size_t rows, size_t capacity)
{
    (void)capacity; /* a window forgets */
    pr_arena counter = pr_arena_counter();
    state sizing;
    pr_arena_take(&counter, 1, sizeof sizing);
    take_state(&sizing, &counter, model, rows);
    return counter.used;
}

void pr_sequence_open(pr_session *session)
{
    state *s = pr_arena_take(&session->arena, 1, sizeof *s);
    take_state(s, &session->arena, session->model, session->rows);
    s->e.w = pr_encoder_view_of(session->model, session->model->weights);
    session->own = s;
}

void pr_sequence_start(pr_session *session, const pr_start *starts)
{
    state *s = session->own;
    for (size_t r = 0; r < session->active; r++) {
        const pr_history *h = &starts[r].history;
        s->count[r] = h->count < s->room ? h->count : s->room;
        if (s->count[r] > 0)
            memcpy(s->window + r * s->e.d.positions, h->items + h->count - s->count[r],
                   s->count[r] * sizeof *s->window);
    }
    s->ran = false;
}

void pr_sequence_place(pr_session *session, const int32_t *items)
{
    state *s = session->own;
    for (size_t r = 0; r < session->active; r++) {
        int32_t *window = s->window + r * s->e.d.positions;
        if (items[r] < 0)
            continue;
        if (s->count[r] == s->room) {
            memmove(window, window + 1, (s->room - 1) * sizeof *window);
            s->count[r]--;
        }
        window[s->count[r]++] = items[r];
    }
    s->ran = false;
}

/* SASRec begins with the start row while that fits; BERT4Rec ends with the mask. */
static size_t write_row(const state *s, int32_t *ids, size_t r)
{
    size_t n = s->count[r];
    int32_t extra = (int32_t)s->e.d.items;
    const int32_t *window = s->window + r * s->e.d.positions;
    bool before = !s->e.d.cloze && n < s->e.d.positions;
    if (before)
        *ids = extra;
    if (n > 0)
        memcpy(ids + before, window, n * sizeof *ids);
    if (s->e.d.cloze)
        ids[n] = extra;
    return n + (before || s->e.d.cloze);
}

static void run(pr_session *session)
{
    state *s = session->own;
    size_t D = s->e.d.width, at = 0;
    if (s->ran)
        return;
    s->s.count = session->active;
    for (size_t r = 0; r < session->active; r++) {
        s->s.first[r] = at;
        at += write_row(s, s->s.ids + at, r);
    }
    s->s.first[session->active] = at;
    pr_encoder_forward(&s->e, &s->s);
    pr_real *to = s->e.d.cloze ? s->head.y : s->o;
    for (size_t r = 0; r < session->active; r++)
        memcpy(to + r * D, s->e.t.y + (s->s.first[r + 1] - 1) * D, D * sizeof *to);
    if (s->e.d.cloze)
        pr_head_forward(&s->head, &s->e, session->active);
    s->ran = true;
}

void pr_sequence_score_all(pr_session *session, pr_real *scores)
{
    state *s = session->own;
    size_t D = s->e.d.width, V = s->e.d.items;
    run(session);
    pr_gemm(scores, V, pr_mat(s->o, D), pr_flip(s->e.w.item, D), 0, session->active, V, D);
}

void pr_sequence_score(pr_session *session, size_t row, const int32_t *items, size_t n,
                       pr_real *scores)
{
    state *s = session->own;
    run(session);
    pr_embedding_scores(scores, s->e.w.item, items, s->o + row * s->e.d.width, n, s->e.d.width);
}
