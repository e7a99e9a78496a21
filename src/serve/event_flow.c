/* Events into the store and into live histories. One read-write lock separates the
 * threads that add events, which run in parallel, from the one that replaces the engine. */
#include "serve/event_flow.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "serve/serve.h"
#include "serve/store.h"

enum {
    FOLLOW_MILLISECONDS = 1000, /* a look into the store even if nothing was announced */
    RETRY_MILLISECONDS = 100,   /* after a failure */
    UNWRITTEN_SECONDS = 60,
    ACKNOWLEDGE_SECONDS =
        10, /* a sender waits at most this long until the histories have an event */
};

/* ---- from the store into live histories ---- */

/* Adds a purchase to the history, or what was put into a basket to the open one. */
static parsrec_status add_items(engine *e, const store_event *event, parsrec_error *err)
{
    int32_t *items = pr_alloc(event->count, sizeof *items);
    if (items == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < event->count; i++)
        if (parsrec_model_find(e->model, PARSREC_ITEM, event->items[i], &items[i], NULL) !=
            PARSREC_OK)
            items[i] = -1;
    static_assert(STORE_NO_TIME == PARSREC_UNDATED, "the time of an event is passed on as it is");
    parsrec_status status =
        event->type == STORE_BUY
            ? parsrec_live_add_at(e->live, event->user, event->session, event->time, items,
                                  event->count, err)
            : parsrec_live_cart(e->live, event->user, event->session, items, event->count, err);
    pr_free(items);
    return status;
}

typedef struct catching_up {
    engine *e;
    const store_identity *store;
} catching_up;

/* Events that are already in the model's data are skipped, except for a forgotten user, whose data
 * are hidden. */
static parsrec_status take_event(engine *e, const store_entry *entry, parsrec_error *err)
{
    const store_event *event = &entry->event;
    switch (event->type) {
    case STORE_BUY:
        if (entry->number <= e->events_through && !parsrec_live_forgotten(e->live, event->user))
            return PARSREC_OK;
        return add_items(e, event, err);
    case STORE_CART:
        return add_items(e, event, err);
    case STORE_VIEW: /* stored for training; no model uses them yet */
    case STORE_TYPE_COUNT:
        break;
    }
    return PARSREC_OK;
}

static parsrec_status take_entry(void *context, const store_entry *entry, parsrec_error *err)
{
    catching_up *c = context;
    engine *e = c->e;
    PR_TRY(entry->forget
               ? parsrec_live_forget_hash(e->live, c->store->secret, entry->user_hash, err)
               : take_event(e, entry, err));
    atomic_fetch_add(&e->forgotten, entry->forget);
    e->entries++;
    atomic_store(&e->seen, entry->number);
    return PARSREC_OK;
}

/* The first thread does the work of all that wait. */
static parsrec_status catch_up(app *a, engine *e, parsrec_error *err)
{
    uint64_t last;
    catching_up c = {e, store_identity_of(a->store)};
    pthread_mutex_lock(&e->sync_lock);
    uint64_t before = atomic_load(&e->seen);
    parsrec_status status = store_replay(a->store, before, take_entry, &c, &last, err);
    pthread_mutex_unlock(&e->sync_lock);
    if (last > before) {
        pthread_mutex_lock(&a->news_lock);
        pthread_cond_broadcast(&a->news);
        pthread_mutex_unlock(&a->news_lock);
    }
    return status;
}

/* Brings the engine in use to the end of the store. */
static parsrec_status catch_up_current(app *a, parsrec_error *err)
{
    engine *e = engine_take(&a->engines);
    parsrec_status status = e != NULL ? catch_up(a, e, err) : PARSREC_OK;
    engine_drop(e);
    return status;
}

/* ---- whether the store answers ---- */

/* Logs once when the store is lost and once when it is back. An invalid event says neither: the store was not
 * asked. */
static void note_store(atomic_bool *down, parsrec_status status, const char *lost, const char *back,
                       const parsrec_error *err)
{
    bool failed = status == PARSREC_E_IO || status == PARSREC_E_FORMAT;
    if ((!failed && status != PARSREC_OK) || atomic_exchange(down, failed) == failed)
        return;
    if (failed)
        fprintf(stderr, "warning: %s: %s\n", lost, err->message);
    else
        fprintf(stderr, "%s\n", back);
}

static void note_written(app *a, parsrec_status status, const parsrec_error *err)
{
    note_store(&a->unwritten, status, "events cannot be stored", "events are stored again", err);
    if (status == PARSREC_E_IO)
        atomic_store(&a->unwritten_at, pr_now());
}

/* There may be no further write for a long time, so a failed write counts for a while, or until the
 * store, lost to readers too, is back. */
const char *event_flow_state(const app *a)
{
    bool unwritten =
        atomic_load(&a->unwritten) && pr_now() - atomic_load(&a->unwritten_at) < UNWRITTEN_SECONDS;
    if (a->store == NULL)
        return "none";
    return atomic_load(&a->unread) || unwritten ? "down" : "up";
}

/* ---- adding ---- */

static parsrec_status no_store(parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_UNSUPPORTED,
                   "this server keeps no events; start it with --store sqlite:FILE");
}

/* The connection that reads may be lost, or memory, when the one that writes has just stored the
 * events. The following thread repeats the replay, so its next success is waited for. If there is
 * none for long, the events are acknowledged all the same: they are stored, and a sender without
 * ids who sent them again would store them twice. */
parsrec_status event_flow_append(app *a, const store_event *events, size_t count,
                                 store_receipt *receipt, parsrec_error *err)
{
    if (a->store == NULL)
        return no_store(err);
    pthread_rwlock_rdlock(&a->order);
    parsrec_status status = store_append(a->store, events, count, receipt, err);
    note_written(a, status, err);
    bool shown = status != PARSREC_OK || catch_up_current(a, NULL) == PARSREC_OK;
    pthread_rwlock_unlock(&a->order); /* a new engine may come now: it replays the store itself */
    if (status == PARSREC_OK)
        atomic_fetch_add(&a->counts.events, receipt->stored);
    if (!shown && a->follows)
        event_flow_await(a, receipt->last, pr_now() + ACKNOWLEDGE_SECONDS, NULL);
    return status;
}

parsrec_status event_flow_forget(app *a, const char *user, store_receipt *receipt,
                                 parsrec_error *err)
{
    if (a->store == NULL)
        return no_store(err);
    pthread_rwlock_rdlock(&a->order);
    parsrec_status status = store_forget(a->store, user, receipt, err);
    note_written(a, status, err);
    if (status == PARSREC_OK)
        status = catch_up_current(a, err);
    pthread_rwlock_unlock(&a->order);
    return status;
}

/* ---- a new engine ---- */

/* Takes what fold-events wrote beside the model. A file that does not fit is not used, which costs
 * time and nothing else; so is one that is ahead of the store, from which an older backup was
 * restored: its next events would have numbers that seem to be known. */
static parsrec_status take_folded(app *a, engine *e, parsrec_error *err)
{
    char path[FOLD_PATH_MOST];
    parsrec_live_note note = {0};
    parsrec_error why = {0};
    uint64_t newest = 0;
    pr_digits entries, through;
    double began = pr_now();
    if (!event_flow_fold_path(path, a->options->model_path) || access(path, F_OK) != 0)
        return PARSREC_OK;
    PR_TRY(event_flow_note(a, e, &note, err));
    PR_TRY(store_newest(a->store, &newest, err));
    parsrec_status status = parsrec_live_load(e->live, &note, path, &why);
    if (status == PARSREC_E_MEMORY)
        return pr_fail_memory(err);
    if (status == PARSREC_OK && note.through > newest) {
        parsrec_live_free(e->live);
        PR_TRY(parsrec_live_new(&e->live, e->model, err));
        status = pr_fail(&why, PARSREC_E_INPUT,
                         "%s: it has events up to number %llu, the store only up to %llu", path,
                         (unsigned long long)note.through, (unsigned long long)newest);
    }
    if (status != PARSREC_OK) {
        fprintf(stderr, "warning: all events are replayed: %s\n", why.message);
        return PARSREC_OK;
    }
    atomic_store(&e->seen, note.through);
    e->entries = e->folded = note.entries;
    fprintf(stderr, "%s has %s entries of the store, up to number %s: read in %.2f s\n", path,
            pr_digits_of(&entries, note.entries), pr_digits_of(&through, note.through),
            pr_now() - began);
    return PARSREC_OK;
}

bool event_flow_fold_path(char out[FOLD_PATH_MOST], const char *model)
{
    int size = snprintf(out, FOLD_PATH_MOST, "%s.histories", model);
    return size > 0 && size < FOLD_PATH_MOST;
}

parsrec_status event_flow_note(const app *a, const engine *e, parsrec_live_note *note,
                               parsrec_error *err)
{
    parsrec_data_stats stats = {0};
    PR_TRY(parsrec_data_statistics(engine_data(e), &stats, err));
    *note = (parsrec_live_note){.through = atomic_load(&e->seen), .entries = e->entries};
    snprintf(note->store, sizeof note->store, "%s", store_identity_of(a->store)->id);
    snprintf(note->base, sizeof note->base, "%s", stats.checksum);
    return PARSREC_OK;
}

parsrec_status event_flow_put(app *a, engine *e, parsrec_error *err)
{
    assert(e != NULL && e->live != NULL);
    parsrec_status status = PARSREC_OK;
    if (a->store != NULL) {
        status = parsrec_data_events_through(engine_data(e), store_identity_of(a->store)->id,
                                             &e->events_through, err);
        if (status == PARSREC_OK && e->events_through > 0)
            fprintf(stderr, "the model's data has the events of the store up to number %llu\n",
                    (unsigned long long)e->events_through);
    }
    if (status == PARSREC_OK && a->store != NULL)
        status = take_folded(a, e, err);
    double began = pr_now();
    if (status == PARSREC_OK && a->store != NULL)
        status = catch_up(a, e, err); /* most of the replay, while events are still accepted */
    pthread_rwlock_wrlock(&a->order);
    if (status == PARSREC_OK && a->store != NULL)
        status = catch_up(a, e, err);
    uint64_t replayed = e->entries - e->folded; /* afterwards other threads add to them */
    if (status == PARSREC_OK)
        engine_put(&a->engines, e);
    pthread_rwlock_unlock(&a->order);
    double seconds = pr_now() - began;
    pr_digits digits;
    if (seconds > 1) /* so that an operator can tell when to fold */
        fprintf(stderr,
                "replayed %s entries of the store in %.1f s; parsrec fold-events saves that\n",
                pr_digits_of(&digits, replayed), seconds);
    return status;
}

/* ---- following ---- */

static uint64_t seen_by_engine(app *a)
{
    engine *e = engine_take(&a->engines);
    uint64_t seen = e != NULL ? atomic_load(&e->seen) : 0;
    engine_drop(e);
    return seen;
}

/* What this server stored itself is announced to it as well, and has been read already. What was
 * announced before a failure (behind) is not announced again. */
static parsrec_status follow_once(app *a, bool behind, parsrec_error *err)
{
    uint64_t news = 0;
    PR_TRY(store_wait(a->store, behind ? 0 : FOLLOW_MILLISECONDS, &news, err));
    pthread_mutex_lock(&a->news_lock);
    uint64_t asked = a->asked, answered = a->answered;
    pthread_mutex_unlock(&a->news_lock);
    if (!behind && news <= seen_by_engine(a) && asked == answered)
        return PARSREC_OK;
    PR_TRY(catch_up_current(a, err));
    pthread_mutex_lock(&a->news_lock);
    a->answered = asked;
    pthread_cond_broadcast(&a->news);
    pthread_mutex_unlock(&a->news_lock);
    return PARSREC_OK;
}

static void *follow(void *context)
{
    app *a = context;
    const struct timespec pause = {.tv_nsec = RETRY_MILLISECONDS * 1000000L};
    parsrec_status status = PARSREC_OK;
    while (!atomic_load(&a->unfollow)) {
        parsrec_error err = {0};
        status = follow_once(a, status != PARSREC_OK, &err);
        if (status == PARSREC_OK && atomic_load(&a->unread))
            atomic_store(&a->unwritten_at, -INFINITY); /* a failed write counts no longer */
        note_store(&a->unread, status == PARSREC_OK ? PARSREC_OK : PARSREC_E_IO,
                   "the store does not answer", "the store answers again", &err);
        if (status != PARSREC_OK)
            nanosleep(&pause, NULL);
    }
    return NULL;
}

/* A replay that begins after the call and reaches the end of the store settles it: the number is
 * there, or it never was. The thread that follows does it, because a lost database may keep whoever
 * asks it for longer than `until`. */
parsrec_status event_flow_await(app *a, uint64_t number, double until, parsrec_error *err)
{
    const time_t whole = (time_t)until;
    const struct timespec limit = {whole, (long)((until - (double)whole) * 1e9)};
    if (a->store == NULL)
        return no_store(err);
    if (seen_by_engine(a) >= number)
        return PARSREC_OK;
    pthread_mutex_lock(&a->news_lock);
    uint64_t own = ++a->asked;
    store_wake(a->store);
    int late = 0;
    while (seen_by_engine(a) < number && a->answered < own && late == 0)
        late = pthread_cond_timedwait(&a->news, &a->news_lock, &limit);
    bool settled = a->answered >= own;
    pthread_mutex_unlock(&a->news_lock);
    uint64_t seen = seen_by_engine(a);
    if (seen >= number)
        return PARSREC_OK;
    if (settled)
        return pr_fail(err, PARSREC_E_INPUT,
                       "seen is %llu, and the newest event of the store has number %llu; pass the "
                       "number of an answer to /v1/events.",
                       (unsigned long long)number, (unsigned long long)seen);
    return pr_fail(err, PARSREC_E_STOPPED,
                   "This server has not heard of event %llu yet; ask again soon, or without seen.",
                   (unsigned long long)number);
}

parsrec_status event_flow_follow(app *a, parsrec_error *err)
{
    assert(!a->follows); /* one thread follows */
    if (a->store == NULL)
        return PARSREC_OK;
    if (pthread_create(&a->follower, NULL, follow, a) != 0)
        return pr_fail(err, PARSREC_E_MEMORY, "the system gives no more threads");
    a->follows = true;
    return PARSREC_OK;
}

/* ---- opening ---- */

void event_flow_init(app *a)
{
    /* A writer that replaces the engine must not starve behind threads that add events. */
    pthread_rwlockattr_t writers_first;
    pthread_rwlockattr_init(&writers_first);
    pthread_rwlockattr_setkind_np(&writers_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&a->order, &writers_first);
    pthread_rwlockattr_destroy(&writers_first);

    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC); /* as pr_now */
    pthread_cond_init(&a->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&a->news_lock, NULL);
}

static parsrec_status open_with(app *a,
                                parsrec_status (*open)(store **, const char *, parsrec_error *),
                                parsrec_error *err)
{
    const serve_options *o = a->options;
    char beside[4096];
    if (a->store_opened)
        return PARSREC_OK;
    const char *given = a->store_url != NULL ? a->store_url : o->store;
    if (given != NULL && strcmp(given, "none") == 0) {
        a->store_opened = true;
        return PARSREC_OK;
    }
    int size = snprintf(beside, sizeof beside, "sqlite:%s.events", o->model_path);
    if (size < 0 || (size_t)size >= sizeof beside)
        return pr_fail(err, PARSREC_E_LIMIT, "the name of the model is too long");
    PR_TRY(open(&a->store, given != NULL ? given : beside, err));
    a->store_opened = true;
    return PARSREC_OK;
}

parsrec_status event_flow_open(app *a, parsrec_error *err)
{
    return open_with(a, store_open, err);
}

parsrec_status event_flow_open_existing(app *a, parsrec_error *err)
{
    return open_with(a, store_open_existing, err);
}

void event_flow_close(app *a)
{
    atomic_store(&a->unfollow, true);
    if (a->follows) {
        store_wake(a->store);
        pthread_join(a->follower, NULL);
    }
    a->follows = false;
    store_close(a->store);
    a->store = NULL;
    pthread_rwlock_destroy(&a->order);
    pthread_cond_destroy(&a->news);
    pthread_mutex_destroy(&a->news_lock);
}
