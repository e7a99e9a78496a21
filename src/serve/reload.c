/* Loading the model, the first time and again. */
#include "serve/reload.h"

#include <malloc.h>

#include "serve/event_flow.h"

static parsrec_status load(app *a, parsrec_error *err)
{
    const serve_options *o = a->options;
    const engine_files files = {.model = o->model_path,
                                .data = o->data_path,
                                .limits = {(size_t)o->basket_most, (size_t)o->k_most}};
    engine *fresh;
    PR_TRY(engine_load(&fresh, &files, err));
    parsrec_status status = event_flow_open(a, err); /* not before there is a model to serve */
    if (status != PARSREC_OK) {
        engine_drop(fresh);
        return status;
    }
    engine *before = engine_take(&a->engines);
    atomic_fetch_add(&fresh->users, 1); /* it may be replaced as soon as it is in place */
    status = event_flow_put(a, fresh, err);
    if (status != PARSREC_OK) {
        engine_drop(fresh);
        engine_drop(before);
    } else {
        if (!o->no_quality)
            quality_start(&a->quality, fresh); /* which gives up the work on the one before */
        engine_retire(before);
    }
    engine_drop(fresh);
    return status;
}

/* What the engine before left in the heap goes back to the system. */
static void trim_heap(void)
{
#ifdef __GLIBC__
    malloc_trim(1 << 20);
#endif
}

parsrec_status reload(app *a, parsrec_error *err)
{
    pthread_mutex_lock(&a->reload_lock);
    parsrec_status status = load(a, err);
    trim_heap();
    pthread_mutex_unlock(&a->reload_lock);
    atomic_fetch_add(status == PARSREC_OK ? &a->counts.reloads : &a->counts.failed_reloads, 1);
    return status;
}
