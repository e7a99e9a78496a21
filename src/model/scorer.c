/* Scorers: memory and checks common to all kinds. */
#include <assert.h>
#include <stddef.h>

#include "base/memory.h"
#include "math/topk.h"
#include "model/model.h"

/* The state itself comes from the arena too. */
static void *take(pr_arena *arena, void *sizing, const pr_model *model, size_t rows,
                  size_t capacity)
{
    void *state = pr_arena_take(arena, 1, model->kind->state_bytes);
    state = state != NULL ? state : sizing;
    model->kind->take(state, arena, model, rows, capacity);
    return state;
}

size_t pr_scorer_bytes(const pr_model *model, size_t rows, size_t capacity)
{
    union {
        max_align_t align;
        unsigned char bytes[PR_STATE_MOST];
    } sizing;
    assert(model->kind->state_bytes <= sizeof sizing);
    pr_arena counter = pr_arena_counter();
    take(&counter, &sizing, model, rows, capacity);
    return counter.used;
}

parsrec_status pr_scorer_new(pr_scorer **out, const pr_model *model, size_t rows, size_t capacity,
                             parsrec_error *err)
{
    *out = NULL;
    size_t bytes = pr_scorer_bytes(model, rows, capacity);
    pr_scorer *session = pr_alloc_zero(1, sizeof *session);
    if (session == NULL || bytes == SIZE_MAX ||
        pr_arena_init(&session->arena, bytes, NULL) != PARSREC_OK) {
        pr_free(session);
        return pr_fail_memory(err);
    }
    session->model = model;
    session->rows = rows;
    session->capacity = capacity;
    session->own = take(&session->arena, NULL, model, rows, capacity);
    *out = session;
    return PARSREC_OK;
}

void pr_scorer_free(pr_scorer *session)
{
    if (session == NULL)
        return;
    pr_arena_free(&session->arena);
    pr_free(session);
}

void pr_scorer_start(pr_scorer *session, const pr_start *starts, size_t rows)
{
    assert(rows <= session->rows);
    session->active = rows;
    session->model->kind->start(session, starts);
}

void pr_scorer_place(pr_scorer *session, const int32_t *items)
{
    session->model->kind->place(session, items);
}

void pr_scorer_score_all(pr_scorer *session, pr_real *scores)
{
    session->model->kind->score_all(session, scores);
}

void pr_scorer_score(pr_scorer *session, size_t row, const int32_t *items, size_t n,
                     pr_real *scores)
{
    assert(row < session->active);
    session->model->kind->score(session, row, items, n, scores);
}

size_t pr_scorer_best(pr_scorer *session, const uint8_t *barred, size_t k, int32_t *best,
                      pr_real *scores)
{
    const pr_model *model = session->model;
    size_t count;
    assert(session->active == 1 && k <= model->items);
    if (model->kind->best != NULL && model->kind->best(session, barred, k, best, scores, &count))
        return count;
    pr_scorer_score_all(session, scores);
    pr_topk_bar(scores, barred, UINT8_MAX, model->items);
    return pr_topk(best, scores, model->items, k);
}

size_t pr_scorer_attention(pr_scorer *session, size_t row, pr_real *weights)
{
    assert(row < session->active);
    if (session->model->kind->attention == NULL)
        return 0;
    return session->model->kind->attention(session, row, weights);
}

bool pr_scorer_terms(pr_scorer *session, size_t row, int32_t item, pr_score_terms *parts,
                     pr_real *placed)
{
    assert(row < session->active);
    return session->model->kind->parts != NULL &&
           session->model->kind->parts(session, row, item, parts, placed);
}
