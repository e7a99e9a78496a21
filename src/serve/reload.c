/* Loading the model, the first time and again. */
#include "serve/reload.h"

static parsrec_status load(app *a, parsrec_error *err)
{
    const serve_options *o = a->options;
    engine *fresh;
    PR_TRY(engine_load(&fresh,
                       &(engine_files){.model = o->model_path,
                                       .data = o->data_path,
                                       .basket_most = (size_t)o->basket_most},
                       err));
    engine_put(&a->engines, fresh);
    if (!o->no_quality)
        quality_start(&a->quality, fresh);
    return PARSREC_OK;
}

parsrec_status reload(app *a, parsrec_error *err)
{
    pthread_mutex_lock(&a->reload_lock);
    parsrec_status status = load(a, err);
    pthread_mutex_unlock(&a->reload_lock);
    atomic_fetch_add(status == PARSREC_OK ? &a->counts.reloads : &a->counts.failed_reloads, 1);
    return status;
}
