/* Loading, reference counting, and scratches for threads. */
#include "serve/engine.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

static const double RETIRE_SECONDS = 0.25;

/* ---- making ---- */

static void free_idle(engine *e)
{
    for (size_t i = 0; i < e->idle_count; i++)
        parsrec_scratch_free(e->idle[i]);
    pr_free(e->idle);
    e->idle = NULL;
    e->idle_count = e->idle_capacity = 0;
}

static void engine_free(engine *e)
{
    free_idle(e);
    parsrec_live_free(e->live);
    parsrec_data_free(e->own_data);
    parsrec_model_free(e->model);
    pthread_mutex_destroy(&e->idle_lock);
    pthread_mutex_destroy(&e->sync_lock);
    pr_free(e);
}

parsrec_status engine_new(engine **out, parsrec_model *model, engine_limits limits,
                          parsrec_error *err)
{
    assert(model != NULL);
    engine *e = pr_alloc_zero(1, sizeof *e);
    *out = NULL;
    if (e == NULL) {
        parsrec_model_free(model);
        return pr_fail_memory(err);
    }
    e->model = model;
    e->limits = limits;
    e->loaded_at = time(NULL);
    atomic_init(&e->users, 1);
    pthread_mutex_init(&e->idle_lock, NULL);
    pthread_mutex_init(&e->sync_lock, NULL);
    parsrec_status status = parsrec_live_new(&e->live, model, err);
    if (status == PARSREC_OK)
        *out = e;
    else
        engine_free(e);
    return status;
}

/* The whole file is verified first: a model that is half copied must not replace one that works. */
static parsrec_status load_model(parsrec_model **model, parsrec_data **data,
                                 const engine_files *files, parsrec_error *err)
{
    parsrec_file_report report;
    PR_TRY(parsrec_file_check(files->model, &report, err));
    PR_TRY(parsrec_model_load(model, files->model, err));
    if (files->data == NULL)
        return PARSREC_OK;
    PR_TRY(parsrec_data_load(data, files->data, err));
    parsrec_pasts_report pasts;
    return parsrec_model_take_pasts(*model, *data, &pasts, err);
}

parsrec_status engine_load(engine **out, const engine_files *files, parsrec_error *err)
{
    parsrec_model *model = NULL;
    parsrec_data *data = NULL;
    struct stat file = {0};
    double began = pr_now();
    *out = NULL;
    if (stat(files->model, &file) != 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s", files->model);
    parsrec_status status = load_model(&model, &data, files, err);
    if (status == PARSREC_OK)
        status = engine_new(out, model, files->limits, err);
    else
        parsrec_model_free(model);
    if (status != PARSREC_OK) {
        parsrec_data_free(data);
        return status;
    }
    (*out)->own_data = data;
    (*out)->file = file;
    (*out)->load_seconds = pr_now() - began;
    return PARSREC_OK;
}

void engine_drop(engine *e)
{
    assert(e == NULL || atomic_load(&e->users) > 0);
    if (e != NULL && atomic_fetch_sub(&e->users, 1) == 1)
        engine_free(e);
}

void engine_retire(engine *e)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    if (e == NULL)
        return;
    pthread_mutex_lock(&e->idle_lock);
    e->retired = true;
    free_idle(e);
    pthread_mutex_unlock(&e->idle_lock);
    for (double most = pr_now() + RETIRE_SECONDS; atomic_load(&e->users) > 1 && pr_now() < most;)
        nanosleep(&moment, NULL);
    engine_drop(e); /* a slow request that still uses it frees it */
}

const parsrec_data *engine_data(const engine *e)
{
    return e->own_data != NULL ? e->own_data : parsrec_model_data(e->model);
}

uint64_t engine_state(const engine *e)
{
    return e->number << 32 | atomic_load(&e->forgotten);
}

/* ---- memory of threads ---- */

parsrec_status engine_borrow(engine *e, parsrec_scratch **out, parsrec_error *err)
{
    assert(atomic_load(&e->users) > 0); /* the caller holds a reference */
    *out = NULL;
    pthread_mutex_lock(&e->idle_lock);
    if (e->idle_count > 0)
        *out = e->idle[--e->idle_count];
    pthread_mutex_unlock(&e->idle_lock);
    if (*out == NULL) {
        PR_TRY(parsrec_scratch_new(out, e->model, e->limits.basket_most, err));
        parsrec_scratch_limit(*out, e->limits.k_most);
    }
    return PARSREC_OK;
}

void engine_give_back(engine *e, parsrec_scratch *scratch)
{
    assert(scratch != NULL && atomic_load(&e->users) > 0);
    pthread_mutex_lock(&e->idle_lock);
    bool kept = !e->retired && pr_grow(&e->idle, &e->idle_capacity, e->idle_count + 1,
                                       sizeof(parsrec_scratch *), NULL) == PARSREC_OK;
    if (kept)
        e->idle[e->idle_count++] = scratch;
    pthread_mutex_unlock(&e->idle_lock);
    if (!kept)
        parsrec_scratch_free(scratch);
}

/* ---- the slot of the current engine ---- */

void engine_slot_init(engine_slot *slot)
{
    *slot = (engine_slot){0};
    pthread_mutex_init(&slot->lock, NULL);
}

void engine_slot_free(engine_slot *slot)
{
    engine_drop(slot->current);
    slot->current = NULL;
    pthread_mutex_destroy(&slot->lock);
}

engine *engine_take(engine_slot *slot)
{
    pthread_mutex_lock(&slot->lock);
    engine *e = slot->current;
    if (e != NULL)
        atomic_fetch_add(&e->users, 1);
    pthread_mutex_unlock(&slot->lock);
    return e;
}

void engine_put(engine_slot *slot, engine *e)
{
    assert(e != NULL && atomic_load(&e->users) > 0);
    pthread_mutex_lock(&slot->lock);
    engine *before = slot->current;
    e->number = ++slot->loads;
    slot->current = e;
    pthread_mutex_unlock(&slot->lock);
    engine_drop(before);
}
