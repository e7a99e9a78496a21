/* One lock orders those who add, of whom there may be many, and the one who puts a new engine in place. */
#include "serve/event_flow.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

enum { FOLLOW_MILLISECONDS = 250 };

/* ---- from the store into pasts ---- */

static parsrec_status add_items(engine *e, const store_event *event, parsrec_error *err)
{
    int32_t *items = pr_alloc(event->count, sizeof *items);
    if (items == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < event->count; i++)
        if (parsrec_model_find(e->model, PARSREC_ITEM, event->items[i], &items[i], NULL) !=
            PARSREC_OK)
            items[i] = -1;
    parsrec_status status =
        parsrec_live_add(e->live, event->user, event->session, items, event->count, err);
    pr_free(items);
    return status;
}

static parsrec_status take_entry(void *context, const store_entry *entry, parsrec_error *err)
{
    engine *e = context;
    PR_TRY(entry->forget ? parsrec_live_forget(e->live, entry->event.user, err)
                         : add_items(e, &entry->event, err));
    atomic_fetch_add(&e->forgotten, entry->forget);
    e->seen = entry->number;
    return PARSREC_OK;
}

/* Whoever comes first does the work of all who wait. */
static parsrec_status catch_up(app *a, engine *e, parsrec_error *err)
{
    uint64_t last;
    pthread_mutex_lock(&e->sync_lock);
    parsrec_status status = store_replay(a->store, e->seen, take_entry, e, &last, err);
    pthread_mutex_unlock(&e->sync_lock);
    return status;
}

static parsrec_status show_now(app *a, parsrec_error *err)
{
    engine *e = engine_take(&a->engines);
    parsrec_status status = e != NULL ? catch_up(a, e, err) : PARSREC_OK;
    engine_drop(e);
    return status;
}

/* ---- adding ---- */

static parsrec_status no_store(parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_UNSUPPORTED,
                   "this server keeps no events; start it with --store sqlite:FILE");
}

/* What is stored is acknowledged even if it cannot be shown at once: the thread that follows makes up
 * for it. */
parsrec_status event_flow_append(app *a, const store_event *events, size_t count,
                                 parsrec_error *err)
{
    if (a->store == NULL)
        return no_store(err);
    pthread_rwlock_rdlock(&a->order);
    parsrec_status status = store_append(a->store, events, count, err);
    if (status == PARSREC_OK) {
        atomic_fetch_add(&a->counts.events, count);
        show_now(a, NULL);
    }
    pthread_rwlock_unlock(&a->order);
    return status;
}

parsrec_status event_flow_forget(app *a, const char *user, parsrec_error *err)
{
    if (a->store == NULL)
        return no_store(err);
    pthread_rwlock_rdlock(&a->order);
    parsrec_status status = store_forget(a->store, user, err);
    if (status == PARSREC_OK)
        status = show_now(a, err);
    pthread_rwlock_unlock(&a->order);
    return status;
}

parsrec_status event_flow_put(app *a, engine *e, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    if (a->store != NULL)
        status = catch_up(a, e, err); /* the long way, while events still come in */
    pthread_rwlock_wrlock(&a->order);
    if (status == PARSREC_OK && a->store != NULL)
        status = catch_up(a, e, err);
    if (status == PARSREC_OK)
        engine_put(&a->engines, e);
    pthread_rwlock_unlock(&a->order);
    return status;
}

parsrec_status event_flow_check(app *a, parsrec_error *err)
{
    return a->store != NULL ? store_check(a->store, err) : PARSREC_OK;
}

/* ---- following ---- */

static void *follow(void *context)
{
    app *a = context;
    const struct timespec pause = {.tv_nsec = FOLLOW_MILLISECONDS * 1000000L};
    bool failing = false;
    while (!atomic_load(&a->stopping)) {
        parsrec_error err = {0};
        bool failed = show_now(a, &err) != PARSREC_OK;
        if (failed && !failing)
            fprintf(stderr, "warning: events are not followed: %s\n", err.message);
        failing = failed;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

parsrec_status event_flow_follow(app *a, parsrec_error *err)
{
    if (a->store == NULL)
        return PARSREC_OK;
    if (pthread_create(&a->follower, NULL, follow, a) != 0)
        return pr_fail(err, PARSREC_E_MEMORY, "the system gives no more threads");
    a->follows = true;
    return PARSREC_OK;
}

/* ---- opening ---- */

/* Those who want to put an engine in place must not wait for ever behind those who add. */
static void init_order(pthread_rwlock_t *order)
{
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(order, &kind);
    pthread_rwlockattr_destroy(&kind);
}

parsrec_status event_flow_open(app *a, parsrec_error *err)
{
    const serve_options *o = a->options;
    char beside[4096];
    init_order(&a->order);
    if (o->store != NULL && strcmp(o->store, "none") == 0)
        return PARSREC_OK;
    int size = snprintf(beside, sizeof beside, "sqlite:%s.events", o->model_path);
    if (size < 0 || (size_t)size >= sizeof beside)
        return pr_fail(err, PARSREC_E_LIMIT, "the name of the model is too long");
    return store_open(&a->store, o->store != NULL ? o->store : beside, err);
}

void event_flow_close(app *a)
{
    atomic_store(&a->stopping, true);
    if (a->follows)
        pthread_join(a->follower, NULL);
    a->follows = false;
    store_close(a->store);
    a->store = NULL;
    pthread_rwlock_destroy(&a->order);
}
