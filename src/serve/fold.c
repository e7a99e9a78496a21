/* Events folded into a file beside the model, with the code by which a server starts: it loads the
 * model, takes the file that is there, replays the rest of the store; and then writes. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "serve/app.h"
#include "serve/event_flow.h"
#include "serve/serve.h"

static parsrec_status write_histories(serve_fold *f, const app *a, const engine *e,
                                      parsrec_error *err)
{
    parsrec_live_note note;
    PR_TRY(event_flow_note(a, e, &note, err));
    PR_TRY(parsrec_live_save(e->live, &note, f->output, err));
    f->entries = note.entries;
    f->fresh = e->entries - e->folded;
    f->through = note.through;
    f->users = note.users;
    f->sessions = note.sessions;
    f->actions = note.actions;
    snprintf(f->id, sizeof f->id, "%s", note.store);
    return PARSREC_OK;
}

static parsrec_status fold(serve_fold *f, app *a, engine *e, parsrec_error *err)
{
    PR_TRY(event_flow_open_existing(a, err));
    if (a->store == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is nothing to fold without a store");
    atomic_fetch_add(&e->users, 1); /* for the slot */
    parsrec_status status = event_flow_put(a, e, err);
    if (status != PARSREC_OK) {
        engine_drop(e);
        return status;
    }
    return write_histories(f, a, e, err);
}

parsrec_status serve_fold_events(serve_fold *f, parsrec_error *err)
{
    serve_options o = serve_default();
    o.model_path = f->model_path;
    o.data_path = f->data_path;
    o.store = f->store;
    o.store_path = f->store_path;
    const engine_files files = {.model = o.model_path,
                                .data = o.data_path,
                                .limits = {(size_t)o.basket_most, (size_t)o.k_most}};
    engine *e = NULL;
    if (!event_flow_fold_path(f->output, f->model_path))
        return pr_fail(err, PARSREC_E_LIMIT, "the name of the model is too long");
    app *a = pr_alloc_zero(1, sizeof *a);
    if (a == NULL)
        return pr_fail_memory(err);
    parsrec_status status = app_init(a, &o, err);
    if (status == PARSREC_OK)
        status = engine_load(&e, &files, err);
    if (status == PARSREC_OK)
        status = fold(f, a, e, err);
    engine_drop(e);
    app_free(a);
    pr_free(a);
    return status;
}
