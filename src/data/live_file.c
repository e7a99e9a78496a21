/* Writing and reading files of live histories. */
#include "data/histories.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/live_inside.h"

/* The columns of a file: U users, S sessions, A items in them, C open baskets, D items in those. */
#define LIVE_COLUMNS(X)                               \
    X(user_offsets, int64_t, PR_I64, users + 1)       \
    X(user_forgotten, uint8_t, PR_U8, users)          \
    X(session_offsets, int64_t, PR_I64, sessions + 1) \
    X(session_names, uint64_t, PR_U64, 2 * sessions)  \
    X(session_times, int64_t, PR_I64, sessions)       \
    X(items, int32_t, PR_I32, actions)                \
    X(cart_offsets, int64_t, PR_I64, users + 1)       \
    X(cart_names, uint64_t, PR_U64, 2 * carts)        \
    X(cart_item_offsets, int64_t, PR_I64, carts + 1)  \
    X(cart_items, int32_t, PR_I32, cart_actions)

typedef struct sizes {
    size_t users, sessions, actions, carts, cart_actions;
} sizes;

/* ---- writing ---- */

typedef struct writing {
    sizes size;  /* of the columns; while they are filled, how far they are */
    void *block; /* of all columns */
#define X(name, type, dtype, count) type *name;
    LIVE_COLUMNS(X)
#undef X
    pr_intern keys; /* of the users that are written */
} writing;

/* Whether there is anything to say of a user that a replay of the rest of the store would not. */
static bool is_written(const pr_live_histories *live, size_t user)
{
    const pr_added *s = live->shoppers[user];
    return s != NULL && (s->session_count > 0 || s->cart_count > 0 ||
                         (s->forgotten && user < live->base_users->count));
}

static size_t user_count(const pr_live_histories *live)
{
    size_t users = live->base_users->count + live->users.count;
    return users < live->shopper_count ? users : live->shopper_count;
}

static sizes count_all(const pr_live_histories *live)
{
    sizes n = {0};
    for (size_t u = 0; u < user_count(live); u++) {
        const pr_added *s = live->shoppers[u];
        if (!is_written(live, u))
            continue;
        n.users++;
        n.sessions += s->session_count;
        n.actions += s->count;
        n.carts += s->cart_count;
        for (size_t i = 0; i < s->cart_count; i++)
            n.cart_actions += s->carts[i].count;
    }
    return n;
}

/* In one block, each at a multiple of 8 bytes. */
static parsrec_status make_columns(writing *w, const sizes *n, parsrec_error *err)
{
    size_t bytes = 0, at = 0;
#define X(name, type, dtype, count) bytes += sizeof(type) * ((count) + 8);
    const size_t users = n->users, sessions = n->sessions, actions = n->actions, carts = n->carts,
                 cart_actions = n->cart_actions;
    LIVE_COLUMNS(X)
#undef X
    w->block = pr_alloc_zero(bytes, 1);
    if (w->block == NULL)
        return pr_fail_memory(err);
#define X(name, type, dtype, count)                    \
    w->name = (type *)(void *)((char *)w->block + at); \
    at += (sizeof(type) * (count) + 7) / 8 * 8;
    LIVE_COLUMNS(X)
#undef X
    assert(at <= bytes);
    return PARSREC_OK;
}

static void write_sessions(writing *w, const pr_added *s)
{
    for (size_t i = 0; i < s->session_count; i++) {
        w->session_times[w->size.sessions] = s->sessions[i].time;
        w->session_names[2 * w->size.sessions] = s->sessions[i].name.low;
        w->session_names[2 * w->size.sessions + 1] = s->sessions[i].name.high;
        w->session_offsets[++w->size.sessions] = (int64_t)(w->size.actions + s->sessions[i].end);
    }
    if (s->count > 0)
        memcpy(w->items + w->size.actions, s->items, s->count * sizeof *s->items);
    w->size.actions += s->count;
}

static void write_carts(writing *w, const pr_added *s)
{
    for (size_t i = 0; i < s->cart_count; i++) {
        const pr_added_cart *c = &s->carts[i];
        w->cart_names[2 * w->size.carts] = c->name.low;
        w->cart_names[2 * w->size.carts + 1] = c->name.high;
        if (c->count > 0)
            memcpy(w->cart_items + w->size.cart_actions, c->items, c->count * sizeof *c->items);
        w->size.cart_actions += c->count;
        w->cart_item_offsets[++w->size.carts] = (int64_t)w->size.cart_actions;
    }
}

static parsrec_status fill_columns(writing *w, const pr_live_histories *live, parsrec_error *err)
{
    uint32_t number;
    for (size_t u = 0; u < user_count(live); u++) {
        const pr_added *s = live->shoppers[u];
        if (!is_written(live, u))
            continue;
        PR_TRY(pr_intern_add(&w->keys, pr_live_key(live, u), &number, err));
        assert(number == w->size.users);
        w->user_forgotten[w->size.users] = s->forgotten;
        write_sessions(w, s);
        write_carts(w, s);
        w->size.users++;
        w->user_offsets[w->size.users] = (int64_t)w->size.sessions;
        w->cart_offsets[w->size.users] = (int64_t)w->size.carts;
    }
    return PARSREC_OK;
}

static parsrec_status write_file(const writing *w, const parsrec_live_note *note, uint64_t seed,
                                 const char *catalogue, const char *path, parsrec_error *err)
{
    static const int64_t none[] = {0};
    const size_t users = w->size.users, sessions = w->size.sessions, actions = w->size.actions,
                 carts = w->size.carts, cart_actions = w->size.cart_actions;
    pr_names keys = pr_intern_view(&w->keys);
    const pr_tensor tensors[] = {
#define X(name, type, dtype, count) {#name, dtype, 1, {count}, w->name},
        LIVE_COLUMNS(X)
#undef X
            {"user_keys.offsets", PR_I64, 1, {users + 1}, users > 0 ? keys.offsets : none},
        {"user_keys.bytes",
         PR_U8,
         1,
         {users > 0 ? (uint64_t)keys.offsets[users] : 0},
         users > 0 ? keys.bytes : ""},
    };
    char through[24], entries[24], seed_text[24];
    snprintf(through, sizeof through, "%" PRIu64, note->through);
    snprintf(entries, sizeof entries, "%" PRIu64, note->entries);
    snprintf(seed_text, sizeof seed_text, "%" PRIu64, seed);
    const pr_metadata metadata[] = {
        {"store", note->store}, {"base", note->base}, {"catalogue", catalogue},
        {"through", through},   {"entries", entries}, {"seed", seed_text},
    };
    return pr_container_write(path, PR_LIVE_FORMAT, PR_LIVE_VERSION, metadata,
                              sizeof metadata / sizeof *metadata, tensors,
                              sizeof tensors / sizeof *tensors, err);
}

parsrec_status pr_live_file_save(pr_live_histories *live, parsrec_live_note *note,
                                 const char *catalogue, const char *path, parsrec_error *err)
{
    writing w = {0};
    pthread_rwlock_rdlock(&live->lock);
    sizes all = count_all(live);
    parsrec_status status = make_columns(&w, &all, err);
    if (status == PARSREC_OK)
        status = fill_columns(&w, live, err);
    uint64_t seed = live->seed;
    pthread_rwlock_unlock(&live->lock);
    if (status == PARSREC_OK) {
        assert(memcmp(&all, &w.size, sizeof all) == 0);
        note->users = all.users;
        note->sessions = all.sessions;
        note->actions = all.actions;
        status = write_file(&w, note, seed, catalogue, path, err);
    }
    pr_intern_free(&w.keys);
    pr_free(w.block);
    return status;
}

/* ---- reading ---- */

typedef struct reading {
    const pr_container *file;
    sizes size;
    pr_names keys;
    uint64_t seed, through, entries;
#define X(name, type, dtype, count) const type *name;
    LIVE_COLUMNS(X)
#undef X
} reading;

static parsrec_status damaged(const reading *r, const char *what, parsrec_error *err)
{
    return pr_fail(err, PARSREC_E_FORMAT, "%s: %s; run parsrec fold-events again",
                   pr_container_path(r->file), what);
}

static parsrec_status read_number(const reading *r, const char *key, uint64_t *number,
                                  parsrec_error *err)
{
    const char *text = pr_container_metadata(r->file, key);
    char what[64];
    snprintf(what, sizeof what, "the metadata '%s' is not a number", key);
    return text != NULL && pr_parse_u64(pr_slice_of(text), number) ? PARSREC_OK
                                                                   : damaged(r, what, err);
}

/* Offsets rise from 0 to the number of what they divide. */
static bool rises(const int64_t *offsets, size_t count, size_t end)
{
    bool good = offsets[0] == 0 && offsets[count] >= 0 && (uint64_t)offsets[count] == end;
    for (size_t i = 0; i < count && good; i++)
        good = offsets[i] <= offsets[i + 1];
    return good;
}

static parsrec_status check_keys(const reading *r, parsrec_error *err)
{
    size_t at;
    if (!rises(r->keys.offsets, r->keys.count, (size_t)r->keys.offsets[r->keys.count]))
        return damaged(r, "the offsets of the user keys do not rise", err);
    for (size_t u = 0; u < r->size.users; u++) {
        pr_slice key = pr_name(&r->keys, u);
        if (key.size == 0 || memchr(key.bytes, '\0', key.size) != NULL ||
            !pr_utf8_valid(key.bytes, key.size, &at))
            return damaged(r, "a user's key is not valid", err);
        if (r->user_forgotten[u] > 1)
            return damaged(r, "user_forgotten is 0 or 1", err);
        if (r->cart_offsets[u + 1] - r->cart_offsets[u] > PR_CARTS_MOST)
            return damaged(r, "a user has too many open baskets", err);
    }
    return PARSREC_OK;
}

/* Everything but what a catalogue says. */
static parsrec_status read_columns(reading *r, parsrec_error *err)
{
    uint32_t version;
    size_t *n[] = {&r->size.sessions, &r->size.carts}, doubled;
    const char *const names[] = {"session_names", "cart_names"};
    PR_TRY(pr_container_expect(r->file, PR_LIVE_FORMAT, PR_LIVE_VERSION, &version, err));
    PR_TRY(read_number(r, "through", &r->through, err));
    PR_TRY(read_number(r, "entries", &r->entries, err));
    PR_TRY(read_number(r, "seed", &r->seed, err));
    if (r->seed == 0)
        return damaged(r, "its seed is 0", err);
    PR_TRY(pr_names_need(r->file, "user_keys", &r->keys, err));
    r->size.users = r->keys.count;
    for (int i = 0; i < 2; i++) {
        const uint64_t *marks;
        PR_TRY(pr_vector_need(r->file, names[i], PR_U64, &marks, &doubled, err));
        *n[i] = doubled / 2;
    }
    const int32_t *items;
    PR_TRY(pr_vector_need(r->file, "items", PR_I32, &items, &r->size.actions, err));
    PR_TRY(pr_vector_need(r->file, "cart_items", PR_I32, &items, &r->size.cart_actions, err));
    const size_t users = r->size.users, sessions = r->size.sessions, actions = r->size.actions,
                 carts = r->size.carts, cart_actions = r->size.cart_actions;
#define X(name, type, dtype, count) \
    PR_TRY(pr_column_need(r->file, #name, dtype, &r->name, count, err));
    LIVE_COLUMNS(X)
#undef X
    if (!rises(r->user_offsets, users, sessions) || !rises(r->session_offsets, sessions, actions) ||
        !rises(r->cart_offsets, users, carts) || !rises(r->cart_item_offsets, carts, cart_actions))
        return damaged(r, "offsets do not rise to the end of what they divide", err);
    for (size_t i = 0; i < actions; i++)
        if (r->items[i] < 0)
            return damaged(r, "an item's number is negative", err);
    for (size_t i = 0; i < cart_actions; i++)
        if (r->cart_items[i] < 0)
            return damaged(r, "an item's number is negative", err);
    for (size_t i = 0; i < sessions; i++)
        if (!pr_time_fits(r->session_times[i]))
            return damaged(r, "the time of a session is out of range", err);
    return check_keys(r, err);
}

parsrec_status pr_live_file_inspect(pr_container *file, parsrec_error *err)
{
    reading r = {.file = file};
    pr_intern seen = {0};
    parsrec_status status = read_columns(&r, err);
    if (status == PARSREC_OK)
        status = pr_intern_load(&seen, &r.keys, err); /* every key once */
    pr_intern_free(&seen);
    pr_container_free(file);
    return status;
}

/* Whether the file was made of the same things. */
static parsrec_status check_origin(const reading *r, const parsrec_live_note *note,
                                   const char *catalogue, parsrec_error *err)
{
    const struct {
        const char *key, *expected, *sentence;
    } all[] = {
        {"store", note->store, "it was made of another store"},
        {"base", note->base, "it was made with other data"},
        {"catalogue", catalogue, "it was made with the catalogue of another model"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *text = pr_container_metadata(r->file, all[i].key);
        if (text == NULL || text[0] == '\0' || strcmp(text, all[i].expected) != 0)
            return pr_fail(err, PARSREC_E_INPUT, "%s: %s; run parsrec fold-events again",
                           pr_container_path(r->file), all[i].sentence);
    }
    return PARSREC_OK;
}

static parsrec_status check_items(const reading *r, size_t items, parsrec_error *err)
{
    bool good = true;
    for (size_t i = 0; i < r->size.actions; i++)
        good = good && (size_t)r->items[i] < items;
    for (size_t i = 0; i < r->size.cart_actions; i++)
        good = good && (size_t)r->cart_items[i] < items;
    return good ? PARSREC_OK : damaged(r, "an item's number is beyond the catalogue", err);
}

static parsrec_status copy_items(int32_t **out, const int32_t *items, size_t count,
                                 parsrec_error *err)
{
    *out = pr_alloc(count, sizeof **out);
    if (*out == NULL)
        return pr_fail_memory(err);
    if (count > 0)
        memcpy(*out, items, count * sizeof *items);
    return PARSREC_OK;
}

static parsrec_status load_carts(const reading *r, size_t user, pr_added *s, parsrec_error *err)
{
    for (int64_t i = r->cart_offsets[user]; i < r->cart_offsets[user + 1]; i++) {
        pr_added_cart *c = &s->carts[s->cart_count++];
        size_t count = (size_t)(r->cart_item_offsets[i + 1] - r->cart_item_offsets[i]);
        *c = (pr_added_cart){.name = {r->cart_names[2 * i], r->cart_names[2 * i + 1]}};
        PR_TRY(copy_items(&c->items, r->cart_items + r->cart_item_offsets[i], count, err));
        c->count = c->capacity = count;
    }
    return PARSREC_OK;
}

/* Sums of rows are made when something is added; until then the history is read as the base is. */
static parsrec_status load_user(const reading *r, pr_live_histories *live, size_t user,
                                parsrec_error *err)
{
    size_t number, first = (size_t)r->user_offsets[user],
                   count = (size_t)r->user_offsets[user + 1] - first;
    int64_t begin = r->session_offsets[first], end = r->session_offsets[first + count];
    pr_added *s;
    PR_TRY(pr_live_number(live, pr_name(&r->keys, user), &number, err));
    if (live->shoppers[number] != NULL)
        return damaged(r, "a user's key occurs twice", err);
    PR_TRY(pr_live_added(live, number, &s, err));
    s->forgotten = r->user_forgotten[user] != 0;
    s->stamp = s->forgotten ? pr_history_stamp() : 0;
    PR_TRY(copy_items(&s->items, r->items + begin, (size_t)(end - begin), err));
    s->count = s->capacity = (size_t)(end - begin);
    s->sessions = pr_alloc(count, sizeof *s->sessions);
    if (s->sessions == NULL)
        return pr_fail_memory(err);
    s->session_capacity = count;
    for (; s->session_count < count; s->session_count++) {
        size_t i = first + s->session_count;
        pr_added_session *one = &s->sessions[s->session_count];
        *one = (pr_added_session){{r->session_names[2 * i], r->session_names[2 * i + 1]},
                                  (size_t)(r->session_offsets[i + 1] - begin),
                                  r->session_times[i],
                                  pr_history_stamp()};
        s->stamp += one->stamp;
    }
    return load_carts(r, user, s, err);
}

static parsrec_status load_users(const reading *r, pr_live_histories *live, parsrec_error *err)
{
    for (size_t u = 0; u < live->shopper_count; u++)
        if (live->shoppers[u] != NULL)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "a file is read into live histories to which nothing was added");
    parsrec_status status = PARSREC_OK;
    for (size_t u = 0; u < r->size.users && status == PARSREC_OK; u++)
        status = load_user(r, live, u, err);
    if (status == PARSREC_OK)
        live->seed = r->seed;
    else
        pr_live_clear(live);
    return status;
}

parsrec_status pr_live_file_load(pr_live_histories *live, parsrec_live_note *note,
                                 const char *catalogue, pr_container *file, parsrec_error *err)
{
    reading r = {.file = file};
    parsrec_status status = read_columns(&r, err);
    if (status == PARSREC_OK)
        status = check_origin(&r, note, catalogue, err);
    if (status == PARSREC_OK)
        status = check_items(&r, live->items, err);
    if (status == PARSREC_OK) {
        pthread_rwlock_wrlock(&live->lock);
        status = load_users(&r, live, err);
        pthread_rwlock_unlock(&live->lock);
    }
    if (status == PARSREC_OK) {
        note->through = r.through;
        note->entries = r.entries;
        note->users = r.size.users;
        note->sessions = r.size.sessions;
        note->actions = r.size.actions;
    }
    pr_container_free(file);
    return status;
}
