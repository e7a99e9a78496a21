/* The shared state: made before the first request, freed after the last. */
#include "serve/app.h"

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
