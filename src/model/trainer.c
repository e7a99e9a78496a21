/* A trainer's memory: all that its batches will need, taken once. */
#include "base/memory.h"
#include "math/blas.h"
#include "model/trainer_inside.h"

/* The largest arena that chunks of any length need. */
static size_t arena_bytes(const pr_model *model, const pr_limits *limits)
{
    size_t most = 0;
    for (size_t steps = 1; steps <= limits->steps; steps++) {
        pr_limits chunk = *limits;
        chunk.steps = steps;
        chunk.rows = pr_chunk_rows(steps) < limits->rows ? pr_chunk_rows(steps) : limits->rows;
        size_t bytes = model->kind->chunk_bytes(model, &chunk);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static size_t span_total(const pr_params *params)
{
    size_t n = 0;
    for (size_t i = 0; i < params->count && params->list[i].at < params->shared; i++)
        n += (pr_param_size(&params->list[i]) + SPAN - 1) / SPAN;
    return n; /* at most: what is counted has none */
}

/* Maps and tables shrink by the weight decay; biases, gains and gates do not. */
static bool decays(const pr_param *p)
{
    return p->fill != PR_FILL_BIAS && p->fill != PR_FILL_CELL_BIAS && p->fill != PR_FILL_ONE;
}

static void list_spans(pr_trainer *t)
{
    const pr_params *params = &t->model->params;
    for (size_t i = 0; i < params->count && params->list[i].at < params->shared; i++) {
        const pr_param *p = &params->list[i];
        size_t size = p->counted ? 0 : pr_param_size(p);
        for (size_t at = 0; at < size; at += SPAN)
            t->spans[t->span_count++] =
                (pr_span){p->at + at, size - at < SPAN ? size - at : SPAN, p->lazy, decays(p)};
    }
}

static size_t user_rows(const pr_model *model)
{
    const pr_param *users = pr_params_users(&model->params);
    return users != NULL ? users->rows : 0;
}

static size_t user_width(const pr_model *model)
{
    const pr_param *users = pr_params_users(&model->params);
    return users != NULL ? users->cols : 0;
}

size_t pr_trainer_bytes(const pr_model *model, const pr_limits *limits, unsigned threads)
{
    size_t chunks = pr_chunk_count(limits->rows, limits->steps), one = sizeof(pr_real);
    return 3 * model->params.size * one + (chunks - 1) * model->params.shared * one +
           threads * arena_bytes(model, limits) + limits->steps * model->kind->mask_bytes(model) +
           limits->rows * user_width(model) * one;
}

static bool take_arenas(pr_trainer *t)
{
    t->arenas = pr_alloc_zero(t->threads, sizeof *t->arenas);
    size_t bytes = arena_bytes(t->model, &t->limits);
    for (unsigned i = 0; t->arenas != NULL && i < t->threads; i++)
        if (pr_arena_init(&t->arenas[i], bytes, NULL) != PARSREC_OK)
            return false;
    return t->arenas != NULL;
}

static bool take_memory(pr_trainer *t)
{
    const pr_params *params = &t->model->params;
    size_t one = sizeof(pr_real), rows = t->limits.rows;
    t->gradient = pr_alloc_aligned(params->size, one);
    t->moment[0] = pr_alloc_aligned(params->size, one);
    t->moment[1] = pr_alloc_aligned(params->size, one);
    t->extra = pr_alloc_aligned((t->chunk_max - 1) * params->shared, one);
    t->chunks = pr_alloc_zero(t->chunk_max, sizeof *t->chunks);
    t->order = pr_alloc_zero(rows, sizeof *t->order);
    t->masks = pr_alloc_zero(t->limits.steps, t->model->kind->mask_bytes(t->model));
    t->user_gradient = pr_alloc_aligned(rows * user_width(t->model), one);
    t->users = pr_alloc_zero(rows, sizeof *t->users);
    t->touched = pr_alloc_zero(rows, sizeof *t->touched);
    t->stamp = pr_alloc_zero(user_rows(t->model), sizeof *t->stamp);
    t->common = pr_alloc_aligned(t->model->tree.parts * pr_shared_width(t->model), one);
    t->spans = pr_alloc_zero(span_total(params), sizeof *t->spans);
    t->squares = pr_alloc_zero(span_total(params), sizeof *t->squares);
    return t->gradient != NULL && t->moment[0] != NULL && t->moment[1] != NULL &&
           t->extra != NULL && t->chunks != NULL && t->order != NULL && t->masks != NULL &&
           t->user_gradient != NULL && t->users != NULL && t->touched != NULL && t->stamp != NULL &&
           t->common != NULL && t->spans != NULL && t->squares != NULL && take_arenas(t);
}

parsrec_status pr_trainer_new(pr_trainer **out, pr_model *model, pr_pool *pool,
                              const pr_limits *limits, uint64_t seed, parsrec_error *err)
{
    *out = NULL;
    if (model->kind->learn == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "model %s does not learn from batches",
                       model->kind->name);
    pr_trainer *t = pr_alloc_zero(1, sizeof *t);
    if (t == NULL)
        return pr_fail_memory(err);
    *t = (pr_trainer){.model = model, .pool = pool, .limits = *limits, .seed = seed};
    size_t most = pr_model_steps(model);
    t->limits.steps = limits->steps < most ? limits->steps : most;
    t->threads = pr_pool_threads(pool);
    t->chunk_max = pr_chunk_count(t->limits.rows, t->limits.steps);
    if (!take_memory(t)) {
        pr_trainer_free(t);
        return pr_fail_memory(err);
    }
    pr_blas_load();
    list_spans(t);
    *out = t;
    return PARSREC_OK;
}

void pr_trainer_free(pr_trainer *t)
{
    if (t == NULL)
        return;
    for (unsigned i = 0; t->arenas != NULL && i < t->threads; i++)
        pr_arena_free(&t->arenas[i]);
    pr_free(t->arenas);
    pr_free_aligned(t->gradient);
    pr_free_aligned(t->moment[0]);
    pr_free_aligned(t->moment[1]);
    pr_free_aligned(t->extra);
    pr_free_aligned(t->user_gradient);
    pr_free_aligned(t->common);
    pr_free(t->chunks);
    pr_free(t->order);
    pr_free(t->masks);
    pr_free(t->users);
    pr_free(t->touched);
    pr_free(t->stamp);
    pr_free(t->spans);
    pr_free(t->squares);
    pr_free(t->parts);
    pr_free(t);
}

pr_real *pr_trainer_gradients(pr_trainer *t)
{
    return t->gradient;
}

size_t pr_trainer_touched(const pr_trainer *t, const int32_t **users)
{
    *users = t->touched;
    return t->touched_count;
}

pr_real *pr_trainer_moment(pr_trainer *t, unsigned which)
{
    return t->moment[which];
}

uint64_t *pr_trainer_step(pr_trainer *t)
{
    return &t->step;
}

parsrec_status pr_trainer_measure(pr_trainer *t, parsrec_error *err)
{
    pr_free(t->parts);
    t->parts = pr_alloc_zero((size_t)t->threads * PR_STEP_PARTS, sizeof *t->parts);
    return t->parts != NULL ? PARSREC_OK : pr_fail_memory(err);
}

void pr_trainer_parts(const pr_trainer *t, double parts[PR_STEP_PARTS])
{
    for (size_t p = 0; p < PR_STEP_PARTS; p++) {
        parts[p] = 0;
        for (unsigned i = 0; t->parts != NULL && i < t->threads; i++)
            parts[p] += t->parts[i * PR_STEP_PARTS + p];
    }
}
