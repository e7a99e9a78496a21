/* The store in front of its database. It builds rows and shares commits: a thread that finds no
 * writer takes all waiting rows and commits them; rows that arrive in the meantime wait for the
 * next commit. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "serve/store_inside.h"

enum {
    BATCH_MOST = 8192,      /* rows per commit, unless one call has more */
    ASK_MILLISECONDS = 250, /* between two looks into a database that announces nothing */
};

const char *const store_type_names[] = {
#define X(name, text) text,
    STORE_TYPES(X)
#undef X
};

typedef struct waiting {
    store_row *rows;
    size_t count;
    bool done;
    uint64_t last; /* as in store_receipt */
    parsrec_status status;
    parsrec_error err;
    struct waiting *next;
} waiting;

struct store {
    const store_backend *backend;
    store_identity identity;
    void *database;
    int64_t origin, batches;
    pthread_mutex_t lock, reading;
    pthread_cond_t changed;
    bool writing; /* a thread uses the database exclusively, without holding the lock */
    waiting *first, **end;
    int wake; /* an eventfd that ends store_wait */
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

static parsrec_status draw(void *bytes, size_t size, parsrec_error *err)
{
    if (getrandom(bytes, size, 0) != (ssize_t)size)
        return pr_fail_errno(err, PARSREC_E_IO, "cannot draw a random number");
    return PARSREC_OK;
}

parsrec_status store_open(store **out, const char *url, parsrec_error *err)
{
    *out = NULL;
    uint8_t id[PR_SIPHASH_BYTES] = {0};
    const store_backend *backend = backend_of(url);
    if (backend == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "a store is sqlite:FILE or postgresql://user@host:port/database");
    store *s = pr_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return pr_fail_memory(err);
    s->backend = backend;
    s->end = &s->first;
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->reading, NULL);
    pthread_cond_init(&s->changed, NULL);
    parsrec_status status = s->wake >= 0 ? draw(&s->origin, sizeof s->origin, err)
                                         : pr_fail_errno(err, PARSREC_E_IO, "cannot open a store");
    if (status == PARSREC_OK)
        status = draw(id, sizeof id, err);
    if (status == PARSREC_OK)
        status = draw(s->identity.secret, sizeof s->identity.secret, err);
    store_bytes_text(s->identity.id, id);
    if (status == PARSREC_OK)
        status = backend->open(&s->database, url, &s->identity, err);
    if (status == PARSREC_OK)
        *out = s;
    else
        store_close(s);
    return status;
}

parsrec_status store_open_existing(store **out, const char *url, parsrec_error *err)
{
    *out = NULL;
    if (backend_of(url) == &store_sqlite && access(url + strlen(store_sqlite.prefix), F_OK) != 0)
        return pr_fail_errno(err, PARSREC_E_IO, "%s", url);
    return store_open(out, url, err);
}

void store_close(store *s)
{
    if (s == NULL)
        return;
    if (s->database != NULL)
        s->backend->close(s->database);
    if (s->wake >= 0)
        close(s->wake);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->reading);
    pthread_mutex_destroy(&s->lock);
    pr_free(s);
}

const store_identity *store_identity_of(const store *s)
{
    return &s->identity;
}

/* ---- hashes ---- */

void store_bytes_text(char out[STORE_HASH_TEXT], const uint8_t bytes[PR_SIPHASH_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < PR_SIPHASH_BYTES; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[STORE_HASH_TEXT - 1] = '\0';
}

bool store_text_bytes(uint8_t bytes[PR_SIPHASH_BYTES], const char *text)
{
    if (strlen(text) != STORE_HASH_TEXT - 1 || strspn(text, "0123456789abcdef") != strlen(text))
        return false;
    for (size_t i = 0; i < PR_SIPHASH_BYTES; i++) {
        char high = text[2 * i], low = text[2 * i + 1];
        bytes[i] = (uint8_t)((high <= '9' ? high - '0' : high - 'a' + 10) << 4 |
                             (low <= '9' ? low - '0' : low - 'a' + 10));
    }
    return true;
}

void store_hash_text(char out[STORE_HASH_TEXT], const store_identity *identity, const char *text,
                     size_t size)
{
    uint8_t hash[PR_SIPHASH_BYTES];
    pr_siphash(hash, identity->secret, text, size);
    store_bytes_text(out, hash);
}

/* ---- rows ---- */

bool store_type_of(const char *name, store_type *type)
{
    for (int i = 0; i < STORE_TYPE_COUNT; i++)
        if (strcmp(store_type_names[i], name) == 0) {
            *type = (store_type)i;
            return true;
        }
    return false;
}

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
    for (size_t i = 0; i < e->count; i++) {
        json_t *item = json_string_nocheck(e->items[i]);
        if (e->quantities != NULL && e->quantities[i] != 1)
            item = json_pack("[o, f]", item, e->quantities[i]);
        bad |= json_array_append_new(list, item);
    }
    *out = bad == 0 && list != NULL ? pr_json_text(list) : NULL;
    json_decref(list);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* Keys contain no zero byte, so different pairs give different texts. */
static parsrec_status hash_id(char out[STORE_HASH_TEXT], const store *s, const store_event *e,
                              parsrec_error *err)
{
    char text[2 * STORE_NAME_MOST + 1];
    size_t user = strlen(e->user), id = strlen(e->id);
    PR_TRY(check_name(e->id, "the event's id", err));
    memcpy(text, e->user, user + 1);
    memcpy(text + user + 1, e->id, id);
    store_hash_text(out, &s->identity, text, user + 1 + id);
    return PARSREC_OK;
}

static parsrec_status make_row(const store *s, store_row *row, const store_event *e,
                               parsrec_error *err)
{
    char *items;
    if (e->user == NULL || e->user[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "an event has no user; events of guests are not stored");
    PR_TRY(check_name(e->user, "the user's key", err));
    if (e->session != NULL)
        PR_TRY(check_name(e->session, "the session's name", err));
    for (size_t i = 0; i < e->count; i++)
        PR_TRY(check_text(e->items[i], "an item's key", err));
    *row = (store_row){
        .user = e->user, .session = e->session, .time = e->time, .type = store_type_names[e->type]};
    store_hash_text(row->user_hash, &s->identity, e->user, strlen(e->user));
    if (e->id != NULL)
        PR_TRY(hash_id(row->event_id, s, e, err));
    PR_TRY(items_text(&items, e, err));
    row->items = items;
    return PARSREC_OK;
}

static void free_rows(store_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pr_free((char *)(uintptr_t)rows[i].items);
    pr_free(rows);
}

static parsrec_status make_rows(const store *s, store_row **out, const store_event *events,
                                size_t count, parsrec_error *err)
{
    store_row *rows = pr_alloc_zero(count, sizeof *rows);
    if (rows == NULL)
        return pr_fail_memory(err);
    parsrec_status status = PARSREC_OK;
    for (size_t i = 0; i < count && status == PARSREC_OK; i++)
        status = make_row(s, &rows[i], &events[i], err);
    if (status == PARSREC_OK)
        *out = rows;
    else
        free_rows(rows, count);
    return status;
}

/* ---- writing; the caller has set s->writing ---- */

static parsrec_status write_rows(store *s, waiting *from, size_t count, uint64_t *last,
                                 parsrec_error *err)
{
    store_batch batch = {.origin = s->origin, .number = s->batches++};
    batch.rows = pr_alloc(count, sizeof *batch.rows);
    if (batch.rows == NULL)
        return pr_fail_memory(err);
    for (waiting *w = from; batch.count < count; w = w->next)
        for (size_t i = 0; i < w->count; i++)
            batch.rows[batch.count++] = &w->rows[i];
    parsrec_status status = s->backend->append(s->database, &batch, err);
    *last = batch.last;
    pr_free(batch.rows);
    return status;
}

/* All in one commit; if that fails, one by one, so that a bad row does not fail the others. */
static void write_all(store *s, waiting *from, waiting *end, size_t count)
{
    parsrec_error err = {0};
    uint64_t last = 0;
    parsrec_status status = write_rows(s, from, count, &last, &err);
    bool alone = status != PARSREC_OK && status != PARSREC_E_IO && from->next != end;
    for (waiting *w = from; w != end; w = w->next) {
        w->status = status;
        w->err = err;
        w->last = last;
        if (alone)
            w->status = write_rows(s, w, w->count, &w->last, &w->err);
    }
}

/* Takes the waiting rows, up to a limit, and writes them. The lock is held on entry and on
 * return. */
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
        next = from->next; /* its thread frees it once it is marked done */
        from->done = true;
    }
    pthread_cond_broadcast(&s->changed);
}

parsrec_status store_append(store *s, const store_event *events, size_t count,
                            store_receipt *receipt, parsrec_error *err)
{
    assert(events != NULL || count == 0);
    store_row *rows = NULL;
    store_receipt unwanted;
    if (receipt == NULL)
        receipt = &unwanted;
    *receipt = (store_receipt){0};
    if (count == 0)
        return PARSREC_OK;
    PR_TRY(make_rows(s, &rows, events, count, err));
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
    for (size_t i = 0; i < count; i++)
        receipt->stored += !rows[i].duplicate;
    receipt->last = own.last;
    free_rows(rows, count);
    if (own.status != PARSREC_OK)
        return pr_fail(err, own.status, "%s", own.err.message);
    return PARSREC_OK;
}

parsrec_status store_forget(store *s, const char *user, store_receipt *receipt, parsrec_error *err)
{
    assert(user != NULL);
    store_row row = {.user = user, .time = STORE_NO_TIME};
    store_row *rows[] = {&row};
    if (user[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT, "the user's key is empty");
    PR_TRY(check_name(user, "the user's key", err));
    store_hash_text(row.user_hash, &s->identity, user, strlen(user));
    pthread_mutex_lock(&s->lock);
    while (s->writing)
        pthread_cond_wait(&s->changed, &s->lock);
    s->writing = true;
    store_batch batch = {rows, 1, s->origin, s->batches++, 0};
    pthread_mutex_unlock(&s->lock);
    parsrec_status status = s->backend->forget(s->database, &batch, err);
    if (receipt != NULL)
        *receipt = (store_receipt){0, batch.last};
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
    const char **items; /* reused between entries, as are the quantities */
    double *quantities;
    size_t capacity, quantity_capacity;
} replay;

/* The keys in a list; they are valid as long as the list. */
static parsrec_status read_items(replay *r, const json_t *list, store_event *event,
                                 parsrec_error *err)
{
    size_t count = json_array_size(list);
    PR_TRY(pr_grow(&r->items, &r->capacity, count, sizeof *r->items, err));
    PR_TRY(pr_grow(&r->quantities, &r->quantity_capacity, count, sizeof *r->quantities, err));
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i), *key = item;
        r->quantities[i] = 1;
        if (json_is_array(item)) {
            key = json_array_get(item, 0);
            r->quantities[i] = json_number_value(json_array_get(item, 1));
        }
        if ((r->items[i] = json_string_value(key)) == NULL)
            return pr_fail(err, PARSREC_E_FORMAT,
                           "a list of items contains something other than keys");
    }
    event->items = r->items;
    event->quantities = r->quantities;
    event->count = count;
    return PARSREC_OK;
}

static parsrec_status take_event(replay *r, store_entry *entry, const store_row *row,
                                 parsrec_error *err)
{
    json_t *list;
    entry->event = (store_event){.user = row->user, .session = row->session, .time = row->time};
    if (row->user == NULL || !store_type_of(row->type, &entry->event.type))
        return pr_fail(err, PARSREC_E_FORMAT, "entry %llu of the store is not valid",
                       (unsigned long long)entry->number);
    PR_TRY(pr_json_parse(&list, row->items, strlen(row->items), "the store", err));
    parsrec_status status = read_items(r, list, &entry->event, err);
    if (status == PARSREC_OK)
        status = r->visit(r->context, entry, err);
    json_decref(list);
    return status;
}

static parsrec_status take(void *context, uint64_t number, int64_t origin, const store_row *row,
                           parsrec_error *err)
{
    replay *r = context;
    store_entry entry = {
        .number = number, .forget = row->items == NULL, .own = origin == r->s->origin};
    parsrec_status status;
    if (!entry.forget)
        status = take_event(r, &entry, row, err);
    else if (store_text_bytes(entry.user_hash, row->user_hash))
        status = r->visit(r->context, &entry, err);
    else
        status = pr_fail(err, PARSREC_E_FORMAT, "entry %llu of the store has no valid user",
                         (unsigned long long)number);
    if (status == PARSREC_OK)
        r->last = number;
    return status;
}

parsrec_status store_replay(store *s, uint64_t after, store_visit *visit, void *context,
                            uint64_t *last, parsrec_error *err)
{
    assert(visit != NULL && last != NULL);
    replay r = {.s = s, .visit = visit, .context = context, .last = after};
    pthread_mutex_lock(&s->reading);
    parsrec_status status = s->backend->read(s->database, after, take, &r, err);
    pthread_mutex_unlock(&s->reading);
    pr_free(r.items);
    pr_free(r.quantities);
    *last = r.last;
    return status;
}

parsrec_status store_newest(store *s, uint64_t *number, parsrec_error *err)
{
    pthread_mutex_lock(&s->reading);
    parsrec_status status = s->backend->newest(s->database, number, err);
    pthread_mutex_unlock(&s->reading);
    return status;
}

parsrec_status store_wait(store *s, int milliseconds, uint64_t *news, parsrec_error *err)
{
    assert(milliseconds >= 0 && news != NULL);
    parsrec_status status = PARSREC_OK;
    eventfd_t calls;
    if (s->backend->wait != NULL) {
        status = s->backend->wait(s->database, s->wake, milliseconds, news, err);
    } else {
        struct pollfd wake = {.fd = s->wake, .events = POLLIN};
        int most = milliseconds < ASK_MILLISECONDS ? milliseconds : ASK_MILLISECONDS;
        *news = poll(&wake, 1, most) > 0 ? 0 : STORE_ANYTHING;
    }
    eventfd_read(s->wake, &calls); /* fails where nobody woke it */
    return status;
}

void store_wake(store *s)
{
    eventfd_write(s->wake, 1); /* fails only where 2^64 - 2 calls wait already */
}

parsrec_status store_check(store *s, parsrec_error *err)
{
    pthread_mutex_lock(&s->reading);
    parsrec_status status = s->backend->check(s->database, err);
    pthread_mutex_unlock(&s->reading);
    return status;
}
