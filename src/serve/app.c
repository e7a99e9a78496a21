/* The shared state, created before the first request and freed after the last; and loading a
 * model. */
#include "serve/app.h"

#include <malloc.h>

#include "base/memory.h"
#include "serve/access.h"
#include "serve/event_flow.h"

parsrec_status app_init(app *a, const serve_options *options, parsrec_error *err)
{
    *a = (app){.options = options, .started_at = time(NULL)};
    engine_slot_init(&a->engines);
    jobs_init(&a->jobs, &a->engines, &a->stopping);
    quality_init(&a->quality);
    pthread_mutex_init(&a->reload_lock, NULL);
    event_flow_init(a);
    if (options->store != NULL && options->store_path != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "--store and --store-file exclude each other");
    if (options->store_path != NULL)
        PR_TRY(store_url_read(&a->store_url, options->store_path, err));
    return options->token_path != NULL ? token_read(&a->token, options->token_path, err)
                                       : PARSREC_OK;
}

void app_free(app *a)
{
    event_flow_close(a);
    jobs_free(&a->jobs);
    quality_free(&a->quality);
    engine_slot_free(&a->engines);
    pthread_mutex_destroy(&a->reload_lock);
    pr_free(a->token);
    pr_free(a->store_url);
    a->token = a->store_url = NULL;
}

/* ---- loading the model, the first time and again ---- */

static parsrec_status load(app *a, parsrec_error *err)
{
    const serve_options *o = a->options;
    const engine_files files = {.model = o->model_path,
                                .data = o->data_path,
                                .limits = {(size_t)o->basket_most, (size_t)o->k_most}};
    engine *fresh;
    PR_TRY(engine_load(&fresh, &files, err));
    parsrec_status status = event_flow_open(a, err); /* not until there is a model to serve */
    if (status != PARSREC_OK) {
        engine_drop(fresh);
        return status;
    }
    engine *before = engine_take(&a->engines);
    atomic_fetch_add(&fresh->users, 1); /* it may be replaced as soon as it is in the slot */
    status = event_flow_put(a, fresh, err);
    if (status != PARSREC_OK) {
        engine_drop(fresh);
        engine_drop(before);
    } else {
        if (!o->no_quality)
            quality_start(&a->quality, fresh); /* which abandons work on the previous model */
        engine_retire(before);
    }
    engine_drop(fresh);
    return status;
}

parsrec_status reload(app *a, parsrec_error *err)
{
    pthread_mutex_lock(&a->reload_lock);
    parsrec_status status = load(a, err);
#ifdef __GLIBC__
    malloc_trim(1 << 20); /* returns the heap memory of the previous engine to the system */
#endif
    pthread_mutex_unlock(&a->reload_lock);
    atomic_fetch_add(status == PARSREC_OK ? &a->counts.reloads : &a->counts.failed_reloads, 1);
    return status;
}
