/* The store in front of its database: rows are made here, and commits are shared. The thread that finds
 * nobody writing takes everything that waits and commits it; those that come meanwhile wait for the next. */
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "serve/store_inside.h"

enum { BATCH_MOST = 8192 }; /* rows, unless one call brings more */

typedef struct waiting {
    const store_row *rows;
    size_t count;
    bool done;
    parsrec_status status;
    parsrec_error err;
    struct waiting *next;
} waiting;

struct store {
    const store_backend *backend;
    void *database;
    int64_t origin, batches;
    pthread_mutex_t lock, reading;
    pthread_cond_t changed;
    bool writing; /* a thread has the database for itself, without the lock */
    waiting *first, **end;
};

/* ---- opening ---- */

static const store_backend *backend_of(const char *url)
{
    static const store_backend *const all[] = {&store_sqlite, &store_postgres};
    if (strncmp(url, "postgres://", 11) == 0)
        return &store_postgres;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(url, all[i]->prefix, strlen(all[i]->prefix)) == 0)
            return all[i];
    return NULL;
}

static parsrec_status draw_origin(int64_t *origin, parsrec_error *err)
{
    if (getrandom(origin, sizeof *origin, 0) != (ssize_t)sizeof *origin)
        return pr_fail_errno(err, PARSREC_E_IO, "cannot draw a random number");
    return PARSREC_OK;
}

parsrec_status store_open(store **out, const char *url, parsrec_error *err)
{
    *out = NULL;
    const store_backend *backend = backend_of(url);
    if (backend == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "a store is sqlite:FILE or postgresql://user@host:port/database");
    store *s = pr_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return pr_fail_memory(err);
    s->backend = backend;
    s->end = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->reading, NULL);
    pthread_cond_init(&s->changed, NULL);
    parsrec_status status = draw_origin(&s->origin, err);
    if (status == PARSREC_OK)
        status = backend->open(&s->database, url, err);
    if (status == PARSREC_OK)
        *out = s;
    else
        store_close(s);
    return status;
}

void store_close(store *s)
{
    if (s == NULL)
        return;
    if (s->database != NULL)
        s->backend->close(s->database);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->reading);
    pthread_mutex_destroy(&s->lock);
    pr_free(s);
}

/* ---- rows ---- */

static parsrec_status check_text(const char *text, const char *what, parsrec_error *err)
{
    size_t at;
    if (pr_utf8_valid(text, strlen(text), &at))
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT, "%s is not valid UTF-8", what);
}

static parsrec_status check_name(const char *name, const char *what, parsrec_error *err)
{
    if (strlen(name) > STORE_NAME_MOST)
        return pr_fail(err, PARSREC_E_LIMIT, "%s has %zu bytes, at most %d are allowed", what,
                       strlen(name), STORE_NAME_MOST);
    return check_text(name, what, err);
}

static parsrec_status items_text(char **out, const store_event *e, parsrec_error *err)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0; i < e->count; i++)
        bad |= json_array_append_new(list, json_string_nocheck(e->items[i]));
    *out = bad == 0 && list != NULL ? pr_json_text(list) : NULL;
    json_decref(list);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status make_row(store_row *row, const store_event *e, parsrec_error *err)
{
    char *items;
    if (e->user == NULL || e->user[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT, "an event has no user; guests' are not stored");
    PR_TRY(check_name(e->user, "the user's key", err));
    if (e->session != NULL)
        PR_TRY(check_name(e->session, "the session's name", err));
    for (size_t i = 0; i < e->count; i++)
        PR_TRY(check_text(e->items[i], "an item's key", err));
    PR_TRY(items_text(&items, e, err));
    *row = (store_row){e->user, e->session, items, e->time};
    return PARSREC_OK;
}

static void free_rows(store_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pr_free((char *)(uintptr_t)rows[i].items);
    pr_free(rows);
}

static parsrec_status make_rows(store_row **out, const store_event *events, size_t count,
                                parsrec_error *err)
{
    store_row *rows = pr_alloc_zero(count, sizeof *rows);
    if (rows == NULL)
        return pr_fail_memory(err);
    parsrec_status status = PARSREC_OK;
    for (size_t i = 0; i < count && status == PARSREC_OK; i++)
        status = make_row(&rows[i], &events[i], err);
    if (status == PARSREC_OK)
        *out = rows;
    else
        free_rows(rows, count);
    return status;
}

/* ---- writing; the caller has set s->writing ---- */

static parsrec_status write_rows(store *s, waiting *from, size_t count, parsrec_error *err)
{
    store_batch batch = {.origin = s->origin, .number = s->batches++};
    batch.rows = pr_alloc(count, sizeof *batch.rows);
    if (batch.rows == NULL)
        return pr_fail_memory(err);
    for (waiting *w = from; batch.count < count; w = w->next)
        for (size_t i = 0; i < w->count; i++)
            batch.rows[batch.count++] = &w->rows[i];
    parsrec_status status = s->backend->append(s->database, &batch, err);
    pr_free(batch.rows);
    return status;
}

/* Together, or, when that fails, each alone, so that one does not spoil the others' day. */
static void write_all(store *s, waiting *from, waiting *end, size_t count)
{
    parsrec_error err = {0};
    parsrec_status status = write_rows(s, from, count, &err);
    bool alone = status != PARSREC_OK && status != PARSREC_E_IO && from->next != end;
    for (waiting *w = from; w != end; w = w->next) {
        w->status = status;
        w->err = err;
        if (alone)
            w->status = write_rows(s, w, w->count, &w->err);
    }
}

/* Takes what waits, up to a limit, and writes it. The lock is held on entry and on return. */
static void lead(store *s)
{
    waiting *from = s->first, *w = from;
    size_t count = 0;
    for (; w != NULL && (count == 0 || count + w->count <= BATCH_MOST); w = w->next)
        count += w->count;
    s->first = w;
    if (w == NULL)
        s->end = &s->first;
    s->writing = true;
    pthread_mutex_unlock(&s->lock);
    write_all(s, from, w, count);
    pthread_mutex_lock(&s->lock);
    s->writing = false;
    for (waiting *next; from != w; from = next) {
        next = from->next; /* it is gone once its thread sees that it is done */
        from->done = true;
    }
    pthread_cond_broadcast(&s->changed);
}

parsrec_status store_append(store *s, const store_event *events, size_t count, parsrec_error *err)
{
    store_row *rows = NULL;
    if (count == 0)
        return PARSREC_OK;
    PR_TRY(make_rows(&rows, events, count, err));
    waiting own = {.rows = rows, .count = count};
    pthread_mutex_lock(&s->lock);
    *s->end = &own;
    s->end = &own.next;
    while (!own.done)
        if (s->writing)
            pthread_cond_wait(&s->changed, &s->lock);
        else
            lead(s);
    pthread_mutex_unlock(&s->lock);
    free_rows(rows, count);
    if (own.status != PARSREC_OK)
        return pr_fail(err, own.status, "%s", own.err.message);
    return PARSREC_OK;
}

parsrec_status store_forget(store *s, const char *user, parsrec_error *err)
{
    store_row row = {.user = user, .time = STORE_NO_TIME};
    const store_row *rows[] = {&row};
    if (user[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT, "there is no user without a key");
    PR_TRY(check_name(user, "the user's key", err));
    pthread_mutex_lock(&s->lock);
    while (s->writing)
        pthread_cond_wait(&s->changed, &s->lock);
    s->writing = true;
    store_batch batch = {rows, 1, s->origin, s->batches++};
    pthread_mutex_unlock(&s->lock);
    parsrec_status status = s->backend->forget(s->database, &batch, err);
    pthread_mutex_lock(&s->lock);
    s->writing = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* ---- reading ---- */

typedef struct replay {
    const store *s;
    store_visit *visit;
    void *context;
    uint64_t last;
    const char **items; /* kept from entry to entry */
    size_t capacity;
} replay;

/* The keys in a list, which live as long as it does. */
static parsrec_status read_items(replay *r, const json_t *list, size_t *count, parsrec_error *err)
{
    *count = json_array_size(list);
    PR_TRY(pr_grow(&r->items, &r->capacity, *count, sizeof *r->items, err));
    for (size_t i = 0; i < *count; i++)
        if ((r->items[i] = json_string_value(json_array_get(list, i))) == NULL)
            return pr_fail(err, PARSREC_E_FORMAT, "a list of items holds something else than keys");
    return PARSREC_OK;
}

static parsrec_status take(void *context, uint64_t number, int64_t origin, const store_row *row,
                           parsrec_error *err)
{
    replay *r = context;
    json_t *list = NULL;
    store_entry entry = {.number = number,
                         .forget = row->items == NULL,
                         .own = origin == r->s->origin,
                         .event = {.user = row->user, .session = row->session, .time = row->time}};
    parsrec_status status = PARSREC_OK;
    if (!entry.forget)
        status = pr_json_parse(&list, row->items, strlen(row->items), "the store", err);
    if (status == PARSREC_OK && !entry.forget)
        status = read_items(r, list, &entry.event.count, err);
    entry.event.items = r->items;
    if (status == PARSREC_OK)
        status = r->visit(r->context, &entry, err);
    if (status == PARSREC_OK)
        r->last = number;
    json_decref(list);
    return status;
}

parsrec_status store_replay(store *s, uint64_t after, store_visit *visit, void *context,
                            uint64_t *last, parsrec_error *err)
{
    replay r = {.s = s, .visit = visit, .context = context, .last = after};
    pthread_mutex_lock(&s->reading);
    parsrec_status status = s->backend->read(s->database, after, take, &r, err);
    pthread_mutex_unlock(&s->reading);
    pr_free(r.items);
    *last = r.last;
    return status;
}

parsrec_status store_check(store *s, parsrec_error *err)
{
    pthread_mutex_lock(&s->reading);
    parsrec_status status = s->backend->check(s->database, err);
    pthread_mutex_unlock(&s->reading);
    return status;
}
