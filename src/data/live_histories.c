/* Live histories: adding, forgetting, copies for readers. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "data/live_inside.h"

/* ---- beginning and end ---- */

static int make_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t kind;
    int bad = pthread_rwlockattr_init(&kind);
    if (bad != 0)
        return bad;
    /* Readers come without a pause; by default writers would wait for one. */
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    bad = pthread_rwlock_init(lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    return bad;
}

parsrec_status pr_live_new(pr_live_histories **out, const pr_histories *base,
                           const pr_intern *users, size_t items, const pr_live_rows *rows,
                           parsrec_error *err)
{
    *out = NULL;
    pr_live_histories *live = pr_alloc_zero(1, sizeof *live);
    if (live == NULL || make_lock(&live->lock) != 0) {
        pr_free(live);
        return pr_fail_memory(err);
    }
    live->base = base;
    live->base_users = users;
    live->rows = *rows;
    live->items = items;
    live->seed = pr_name_seed();
    live->shopper_count = users->count;
    live->shoppers = pr_alloc_zero(users->count, sizeof *live->shoppers);
    live->held = pr_alloc_zero(items, sizeof *live->held);
    if (live->shoppers == NULL || live->held == NULL) {
        pr_live_free(live);
        return pr_fail_memory(err);
    }
    *out = live;
    return PARSREC_OK;
}

static void empty_shopper(pr_added *s)
{
    pr_free(s->items);
    pr_free(s->sessions);
    pr_free(s->sum);
    for (size_t i = 0; i < s->cart_count; i++)
        pr_free(s->carts[i].items);
    *s = (pr_added){0};
}

void pr_live_clear(pr_live_histories *live)
{
    for (size_t u = 0; live->shoppers != NULL && u < live->shopper_count; u++) {
        if (live->shoppers[u] != NULL)
            empty_shopper(live->shoppers[u]);
        pr_free(live->shoppers[u]);
        live->shoppers[u] = NULL;
    }
    pr_free(live->by_hash.hashes);
    pr_free(live->by_hash.slots);
    live->by_hash = (pr_added_index){0};
    pr_intern_free(&live->users);
}

void pr_live_free(pr_live_histories *live)
{
    if (live == NULL)
        return;
    pr_live_clear(live);
    pr_free(live->shoppers);
    pr_free(live->held);
    pthread_rwlock_destroy(&live->lock);
    pr_free(live);
}

/* ---- users; the caller holds the lock ---- */

static bool has_key(const pr_live_histories *live, pr_slice key, size_t *number)
{
    uint32_t found;
    size_t first = live->base_users->count;
    if (pr_intern_find(live->base_users, key, &found))
        *number = found;
    else if (pr_intern_find(&live->users, key, &found) && first + found < live->shopper_count)
        *number = first + found;
    else
        return false;
    return true;
}

static bool number_of(const pr_live_histories *live, pr_slice key, size_t *number)
{
    pr_slice own = pr_key_trim(key);
    return has_key(live, key, number) || (own.size < key.size && has_key(live, own, number));
}

static bool is_known(const pr_live_histories *live, size_t user)
{
    const pr_added *s = live->shoppers[user];
    if (s != NULL && s->session_count + s->cart_count > 0)
        return true;
    return user < live->base->users && (s == NULL || !s->forgotten);
}

/* What the base has of a user who was not forgotten. */
static pr_history base_history(const pr_live_histories *live, size_t user)
{
    const pr_added *s = live->shoppers[user];
    if (user >= live->base->users || (s != NULL && s->forgotten))
        return (pr_history){.now = PR_NO_TIME};
    return pr_user_history(live->base, (int32_t)user);
}

parsrec_status pr_live_added(pr_live_histories *live, size_t user, pr_added **out,
                             parsrec_error *err)
{
    if (live->shoppers[user] == NULL)
        live->shoppers[user] = pr_alloc_zero(1, sizeof **out);
    *out = live->shoppers[user];
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

pr_slice pr_live_key(const pr_live_histories *live, size_t user)
{
    assert(user < live->base_users->count + live->users.count);
    size_t first = live->base_users->count;
    return user < first ? pr_intern_name(live->base_users, user)
                        : pr_intern_name(&live->users, user - first);
}

parsrec_status pr_live_number(pr_live_histories *live, pr_slice key, size_t *number,
                              parsrec_error *err)
{
    uint32_t added;
    if (number_of(live, key, number))
        return PARSREC_OK;
    PR_TRY(pr_intern_add(&live->users, key, &added, err));
    *number = live->base_users->count + added;
    if (*number < live->shopper_count)
        return PARSREC_OK;
    size_t capacity = live->shopper_count; /* doubles */
    PR_TRY(pr_grow(&live->shoppers, &capacity, *number + 1, sizeof *live->shoppers, err));
    memset(live->shoppers + live->shopper_count, 0,
           (capacity - live->shopper_count) * sizeof *live->shoppers);
    live->shopper_count = capacity;
    return PARSREC_OK;
}

/* ---- sums of rows ---- */

static void add_rows(const pr_live_rows *rows, float *sum, const int32_t *items, size_t count,
                     float sign)
{
    for (size_t i = 0; i < count; i++) {
        const float *row = rows->table + (size_t)items[i] * rows->width;
        for (size_t k = 0; k < rows->width; k++)
            sum[k] += sign * row[k];
    }
}

/* Before something is added to a user of whom there is no sum. What a file had has none until then,
 * as what the base has. */
static parsrec_status begin_sum(const pr_live_histories *live, size_t user, pr_added *s,
                                parsrec_error *err)
{
    if (live->rows.table == NULL || s->sum != NULL)
        return PARSREC_OK;
    s->sum = pr_alloc_zero(live->rows.width, sizeof *s->sum);
    if (s->sum == NULL)
        return pr_fail_memory(err);
    pr_history base = base_history(live, user);
    add_rows(&live->rows, s->sum, base.items, base.count, 1);
    add_rows(&live->rows, s->sum, s->items, s->count, 1);
    return PARSREC_OK;
}

/* ---- adding ---- */

static pr_mark mark_of(const pr_live_histories *live, const char *name)
{
    if (name == NULL)
        return (pr_mark){0, 0};
    XXH128_hash_t hash = XXH3_128bits_withSeed(name, strlen(name), live->seed);
    return (pr_mark){hash.low64 | (hash.high64 == 0), hash.high64};
}

/* session_count if there is none of that name among the newest. The very newest is asked for most. */
static size_t session_named(const pr_added *s, pr_mark name)
{
    size_t over = s->session_count > PR_SESSIONS_OPEN ? s->session_count - PR_SESSIONS_OPEN : 0;
    for (size_t i = s->session_count; i-- > over && (name.low | name.high) != 0;)
        if (s->sessions[i].name.low == name.low && s->sessions[i].name.high == name.high)
            return i;
    return s->session_count;
}

static size_t begin_of(const pr_added *s, size_t i)
{
    return i > 0 ? s->sessions[i - 1].end : 0;
}

/* Appends to the user's items those that the session does not hold yet; returns how many. */
static size_t append_new(pr_live_histories *live, pr_added *s, size_t first, size_t end,
                         const int32_t *items, size_t count)
{
    size_t added = 0;
    for (size_t i = first; i < end; i++)
        live->held[s->items[i]] = 1;
    for (size_t i = 0; i < count; i++)
        if (items[i] >= 0 && live->held[items[i]] == 0) {
            live->held[items[i]] = 1;
            s->items[s->count + added++] = items[i];
        }
    for (size_t i = first; i < end; i++)
        live->held[s->items[i]] = 0;
    for (size_t i = 0; i < added; i++)
        live->held[s->items[s->count + i]] = 0;
    return added;
}

static void add_to(pr_live_histories *live, pr_added *s, pr_mark name, int64_t time,
                   const int32_t *items, size_t count)
{
    size_t at = session_named(s, name);
    if (at == s->session_count)
        s->sessions[s->session_count++] =
            (pr_added_session){.name = name, .end = s->count, .time = time};
    if (s->sessions[at].time == PR_NO_TIME)
        s->sessions[at].time = time;
    size_t added = append_new(live, s, begin_of(s, at), s->sessions[at].end, items, count);
    if (s->sum != NULL)
        add_rows(&live->rows, s->sum, s->items + s->count, added, 1);
    if (s->sessions[at].end < s->count) {
        /* Moves the last `added` items to the end of a session before others. `spare` has room for them. */
        int32_t *spare = s->items + s->count + count;
        size_t end = s->sessions[at].end;
        memcpy(spare, s->items + s->count, added * sizeof *spare);
        memmove(s->items + end + added, s->items + end, (s->count - end) * sizeof *s->items);
        memcpy(s->items + end, spare, added * sizeof *spare);
    }
    for (size_t i = at; i < s->session_count; i++)
        s->sessions[i].end += added;
    s->count += added;
    s->stamp -= s->sessions[at].stamp;
    s->sessions[at].stamp = pr_history_stamp();
    s->stamp += s->sessions[at].stamp;
}

/* NULL if there is none of that name. */
static pr_added_cart *cart_named(pr_added *s, pr_mark name)
{
    for (size_t i = 0; i < s->cart_count; i++)
        if (s->carts[i].name.low == name.low && s->carts[i].name.high == name.high)
            return &s->carts[i];
    return NULL;
}

static bool cart_holds(const pr_added_cart *c, int32_t item)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i] == item)
            return true;
    return false;
}

/* What was bought is no longer open. */
static void take_from_cart(pr_added *s, pr_mark name, const int32_t *items, size_t count)
{
    pr_added_cart *c = cart_named(s, name);
    for (size_t i = 0; c != NULL && i < count; i++)
        for (size_t j = 0; j < c->count; j++)
            if (c->items[j] == items[i]) {
                memmove(c->items + j, c->items + j + 1, (--c->count - j) * sizeof *c->items);
                break;
            }
}

static pr_added_cart *new_cart(pr_added *s, pr_mark name)
{
    if (s->cart_count == PR_CARTS_MOST) {
        pr_free(s->carts[0].items);
        memmove(s->carts, s->carts + 1, --s->cart_count * sizeof *s->carts);
    }
    s->carts[s->cart_count] = (pr_added_cart){.name = name};
    return &s->carts[s->cart_count++];
}

static parsrec_status put_into_cart(pr_live_histories *live, pr_slice user, pr_mark name,
                                    const int32_t *items, size_t count, parsrec_error *err)
{
    size_t number;
    pr_added *s;
    PR_TRY(pr_live_number(live, user, &number, err));
    PR_TRY(pr_live_added(live, number, &s, err));
    pr_added_cart *c = cart_named(s, name);
    if (c == NULL)
        c = new_cart(s, name);
    PR_TRY(pr_grow(&c->items, &c->capacity, c->count + count, sizeof *c->items, err));
    for (size_t i = 0; i < count; i++)
        if (items[i] >= 0 && !cart_holds(c, items[i]))
            c->items[c->count++] = items[i];
    return PARSREC_OK;
}

parsrec_status pr_live_cart(pr_live_histories *live, pr_slice user, const char *name,
                            const int32_t *items, size_t count, parsrec_error *err)
{
    assert(items != NULL || count == 0);
    if (name == NULL)
        return PARSREC_OK;
    pthread_rwlock_wrlock(&live->lock);
    parsrec_status status = put_into_cart(live, user, mark_of(live, name), items, count, err);
    pthread_rwlock_unlock(&live->lock);
    return status;
}

static parsrec_status add(pr_live_histories *live, pr_slice user, pr_mark name, int64_t time,
                          const int32_t *items, size_t count, parsrec_error *err)
{
    size_t number;
    pr_added *s;
    PR_TRY(pr_live_number(live, user, &number, err));
    PR_TRY(pr_live_added(live, number, &s, err));
    /* Twice the room: an older session grows by way of the end. */
    PR_TRY(pr_grow(&s->items, &s->capacity, s->count + 2 * count, sizeof *s->items, err));
    PR_TRY(pr_grow(&s->sessions, &s->session_capacity, s->session_count + 1, sizeof *s->sessions,
                   err));
    PR_TRY(begin_sum(live, number, s, err));
    add_to(live, s, name, time, items, count);
    take_from_cart(s, name, items, count);
    return PARSREC_OK;
}

parsrec_status pr_live_add(pr_live_histories *live, pr_slice user, const char *name, int64_t time,
                           const int32_t *items, size_t count, parsrec_error *err)
{
    assert(items != NULL || count == 0);
    pthread_rwlock_wrlock(&live->lock);
    parsrec_status status = add(live, user, mark_of(live, name), time, items, count, err);
    pthread_rwlock_unlock(&live->lock);
    return status;
}

/* ---- forgetting ---- */

static parsrec_status forget(pr_live_histories *live, size_t user, parsrec_error *err)
{
    pr_added *s;
    PR_TRY(pr_live_added(live, user, &s, err));
    empty_shopper(s);
    *s = (pr_added){.forgotten = true, .stamp = pr_history_stamp()};
    return PARSREC_OK;
}

parsrec_status pr_live_forget(pr_live_histories *live, pr_slice user, parsrec_error *err)
{
    size_t number;
    pthread_rwlock_wrlock(&live->lock);
    parsrec_status status = number_of(live, user, &number) ? forget(live, number, err) : PARSREC_OK;
    pthread_rwlock_unlock(&live->lock);
    return status;
}

static size_t users_so_far(const pr_live_histories *live)
{
    size_t users = live->base_users->count + live->users.count;
    return users < live->shopper_count ? users : live->shopper_count; /* memory may have run out */
}

/* Hashes are as good as random: any of their bits are a place to begin. */
static uint32_t *slot_of(const pr_added_index *x, const uint8_t hash[PR_SIPHASH_BYTES])
{
    uint64_t at;
    memcpy(&at, hash, sizeof at);
    for (;; at++) {
        uint32_t *slot = &x->slots[at & (x->slot_count - 1)];
        if (*slot == 0 || memcmp(x->hashes[*slot - 1], hash, PR_SIPHASH_BYTES) == 0)
            return slot;
    }
}

/* Adds the users who came since it was last asked. */
static parsrec_status extend_index(pr_live_histories *live, const uint8_t secret[PR_SIPHASH_BYTES],
                                   parsrec_error *err)
{
    pr_added_index *x = &live->by_hash;
    size_t users = users_so_far(live);
    PR_TRY(pr_grow(&x->hashes, &x->capacity, users, sizeof *x->hashes, err));
    if (x->slots == NULL || x->slot_count < 2 * users) {
        size_t slots = 64;
        while (slots < 4 * users)
            slots *= 2;
        uint32_t *fresh = pr_alloc_zero(slots, sizeof *fresh);
        if (fresh == NULL)
            return pr_fail_memory(err);
        pr_free(x->slots);
        x->slots = fresh;
        x->slot_count = slots;
        for (size_t u = 0; u < x->count; u++)
            *slot_of(x, x->hashes[u]) = (uint32_t)u + 1;
    }
    for (; x->count < users; x->count++) {
        pr_slice key = pr_live_key(live, x->count);
        pr_siphash(x->hashes[x->count], secret, key.bytes, key.size);
        *slot_of(x, x->hashes[x->count]) = (uint32_t)x->count + 1;
    }
    return PARSREC_OK;
}

parsrec_status pr_live_forget_hash(pr_live_histories *live, const uint8_t secret[PR_SIPHASH_BYTES],
                                   const uint8_t hash[PR_SIPHASH_BYTES], parsrec_error *err)
{
    pthread_rwlock_wrlock(&live->lock);
    parsrec_status status = extend_index(live, secret, err);
    uint32_t found = status == PARSREC_OK ? *slot_of(&live->by_hash, hash) : 0;
    if (found > 0)
        status = forget(live, found - 1, err);
    pthread_rwlock_unlock(&live->lock);
    return status;
}

bool pr_live_forgotten(pr_live_histories *live, pr_slice user)
{
    size_t number;
    pthread_rwlock_rdlock(&live->lock);
    bool forgotten = number_of(live, user, &number) && live->shoppers[number] != NULL &&
                     live->shoppers[number]->forgotten;
    pthread_rwlock_unlock(&live->lock);
    return forgotten;
}

/* ---- asking ---- */

size_t pr_live_users(pr_live_histories *live)
{
    pthread_rwlock_rdlock(&live->lock);
    size_t users = users_so_far(live);
    pthread_rwlock_unlock(&live->lock);
    return users;
}

bool pr_live_find(pr_live_histories *live, pr_slice user, int32_t *number)
{
    size_t found;
    pthread_rwlock_rdlock(&live->lock);
    bool known = number_of(live, user, &found) && is_known(live, found);
    pthread_rwlock_unlock(&live->lock);
    if (known)
        *number = (int32_t)found;
    return known;
}

/* Returns false when that was enough. */
static bool visit_some(const pr_live_histories *live, size_t from, size_t end, pr_live_visit *visit,
                       void *context)
{
    for (size_t u = from; u < end; u++) {
        const pr_added *s = live->shoppers[u];
        if (!is_known(live, u))
            continue;
        pr_slice key = pr_live_key(live, u);
        size_t sessions = base_history(live, u).session_count + (s != NULL ? s->session_count : 0);
        if (!visit(context, (int32_t)u, key, sessions))
            return false;
    }
    return true;
}

void pr_live_each(pr_live_histories *live, pr_live_visit *visit, void *context)
{
    enum { PER_LOCK = 1024 }; /* users per turn, so that writers do not wait for all */
    size_t users = pr_live_users(live);
    bool more = true;
    for (size_t u = 0; u < users && more; u += PER_LOCK) {
        pthread_rwlock_rdlock(&live->lock);
        more = visit_some(live, u, users - u < PER_LOCK ? users : u + PER_LOCK, visit, context);
        pthread_rwlock_unlock(&live->lock);
    }
}

/* ---- copies ---- */

void pr_history_copy_free(pr_history_copy *copy)
{
    pr_free(copy->items);
    pr_free(copy->sessions);
    pr_free(copy->times);
    pr_free(copy->vector);
    *copy = (pr_history_copy){0};
}

static void append_session(pr_history_copy *copy, const int32_t *items, size_t count, int64_t time)
{
    pr_history *h = &copy->history;
    memcpy(copy->items + h->count, items, count * sizeof *items);
    h->count += count;
    copy->times[h->session_count++] = time;
    copy->sessions[h->session_count] = (int64_t)h->count;
}

/* Times never fall. A session without one is of the time of the one before it, and those before the
 * first known time are of that. False if no session has one. */
static bool complete_times(int64_t *times, size_t count)
{
    size_t known = 0;
    while (known < count && times[known] == PR_NO_TIME)
        known++;
    for (size_t i = 0; known < count && i < known; i++)
        times[i] = times[known];
    for (size_t i = known + 1; i < count; i++)
        times[i] = times[i] > times[i - 1] ? times[i] : times[i - 1];
    return known < count;
}

static void copy_both(pr_history_copy *copy, const pr_history *base, bool dated, const pr_added *s,
                      size_t skip)
{
    copy->history =
        (pr_history){.items = copy->items, .sessions = copy->sessions, .now = PR_NO_TIME};
    copy->sessions[0] = 0;
    for (size_t i = 0; i < base->session_count; i++)
        append_session(copy, base->items + (base->sessions[i] - base->sessions[0]),
                       (size_t)(base->sessions[i + 1] - base->sessions[i]),
                       base->times != NULL ? base->times[i] : PR_NO_TIME);
    for (size_t i = 0; i < s->session_count; i++)
        if (i != skip)
            append_session(copy, s->items + begin_of(s, i), s->sessions[i].end - begin_of(s, i),
                           s->sessions[i].time);
    if (dated && complete_times(copy->times, copy->history.session_count))
        copy->history.times = copy->times;
}

static void copy_vector(const pr_live_rows *rows, pr_history_copy *copy, const pr_added *s,
                        size_t skip)
{
    memcpy(copy->vector, s->sum, rows->width * sizeof *copy->vector);
    if (skip < s->session_count)
        add_rows(rows, copy->vector, s->items + begin_of(s, skip),
                 s->sessions[skip].end - begin_of(s, skip), -1);
    for (size_t k = 0; rows->mean && k < rows->width && copy->history.count > 0; k++)
        copy->vector[k] /= (float)copy->history.count;
}

static parsrec_status read_history(const pr_live_histories *live, size_t user, pr_mark without,
                                   pr_history_copy *copy, parsrec_error *err)
{
    const pr_added *s = live->shoppers[user];
    pr_history base = base_history(live, user);
    copy->own_row = s == NULL || !s->forgotten;
    copy->history = base;
    copy->has_vector = false;
    copy->stamp = s != NULL && s->stamp != 0 ? s->stamp : live->base->stamp;
    if (s == NULL || s->session_count == 0)
        return PARSREC_OK;
    PR_TRY(pr_grow(&copy->vector, &copy->vector_capacity, live->rows.width, sizeof *copy->vector,
                   err));
    PR_TRY(pr_grow(&copy->items, &copy->item_capacity, base.count + s->count, sizeof *copy->items,
                   err));
    PR_TRY(pr_grow(&copy->sessions, &copy->session_capacity,
                   base.session_count + s->session_count + 1, sizeof *copy->sessions, err));
    PR_TRY(pr_grow(&copy->times, &copy->time_capacity, base.session_count + s->session_count,
                   sizeof *copy->times, err));
    size_t skip = session_named(s, without);
    if (skip < s->session_count && copy->stamp == s->sessions[skip].stamp)
        copy->stamp = live->base->stamp;
    else if (skip < s->session_count)
        copy->stamp -= s->sessions[skip].stamp;
    copy_both(copy, &base, live->base->times != NULL, s, skip);
    copy->has_vector = s->sum != NULL && copy->history.count > 0;
    if (copy->has_vector)
        copy_vector(&live->rows, copy, s, skip);
    return PARSREC_OK;
}

parsrec_status pr_live_history(pr_live_histories *live, int32_t user, const char *without,
                               pr_history_copy *copy, parsrec_error *err)
{
    pthread_rwlock_rdlock(&live->lock);
    parsrec_status status = read_history(live, (size_t)user, mark_of(live, without), copy, err);
    pthread_rwlock_unlock(&live->lock);
    return status;
}

/* What was bought under the name, then what is in the open basket of that name. */
static parsrec_status read_session(pr_added *s, pr_mark name, size_t most, int32_t **items,
                                   size_t *capacity, size_t *count, parsrec_error *err)
{
    size_t at = session_named(s, name), n = 0;
    bool bought = at < s->session_count;
    const pr_added_cart *c = cart_named(s, name);
    size_t begin = bought ? begin_of(s, at) : 0, end = bought ? s->sessions[at].end : 0;
    PR_TRY(pr_grow(items, capacity, end - begin + (c != NULL ? c->count : 0), sizeof **items, err));
    for (size_t i = begin; i < end; i++)
        if (c == NULL || !cart_holds(c, s->items[i]))
            (*items)[n++] = s->items[i];
    for (size_t i = 0; c != NULL && i < c->count; i++)
        (*items)[n++] = c->items[i];
    *count = n < most ? n : most;
    if (n > most)
        memmove(*items, *items + (n - most), most * sizeof **items);
    return PARSREC_OK;
}

parsrec_status pr_live_session(pr_live_histories *live, int32_t user, const char *name, size_t most,
                               int32_t **items, size_t *capacity, size_t *count, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    *count = 0;
    pthread_rwlock_rdlock(&live->lock);
    if (live->shoppers[user] != NULL)
        status = read_session(live->shoppers[user], mark_of(live, name), most, items, capacity,
                              count, err);
    pthread_rwlock_unlock(&live->lock);
    return status;
}
