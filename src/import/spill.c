/* Parts of actions, baskets of parts, and their merge into columns. */
#include "import/spill.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "data/shards.h"

/* ---- parts ---- */

enum { BLOCK_BYTES = 1 << 16 };

/* A stream of bytes in blocks, which lie anywhere in the file of actions. */
typedef struct part {
    unsigned char *block; /* the last one, not yet in the file */
    size_t used;
    uint64_t *places; /* of full blocks */
    size_t count, capacity;
} part;

struct pr_spill {
    pr_scratch_file actions, baskets;
    part parts[PR_SPILL_PARTS];
    uint64_t baskets_begin[PR_SPILL_PARTS + 1]; /* in the file of baskets */
    uint64_t total;                             /* actions */
    char *path;                                 /* files are made beside it */
    /* In another order than that of the input: places[user / PR_SPILL_PARTS] of a part is the user's
     * place among those of the part, in the order of the result. */
    uint32_t *places[PR_SPILL_PARTS];
    const pr_spill_order *order; /* or NULL */
};

/* An action in a part: this, then the bytes of the session's key. */
typedef struct action_head {
    int64_t time;
    uint32_t user, item; /* the user's number divided by PR_SPILL_PARTS */
    uint32_t key_bytes;
    uint32_t padding; /* 0 */
} action_head;

static size_t part_of(uint32_t user)
{
    return user % PR_SPILL_PARTS;
}

/* The users of a part. */
static size_t part_users(size_t users, size_t number)
{
    return (users + PR_SPILL_PARTS - 1 - number) / PR_SPILL_PARTS;
}

parsrec_status pr_spill_open(pr_spill **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    pr_spill *s = pr_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return pr_fail_memory(err);
    s->path = pr_copy_string(path, strlen(path));
    parsrec_status status =
        s->path != NULL ? pr_scratch_open(&s->actions, path, err) : pr_fail_memory(err);
    if (status == PARSREC_OK)
        status = pr_scratch_open(&s->baskets, path, err);
    if (status == PARSREC_OK)
        *out = s;
    else
        pr_spill_free(s);
    return status;
}

static void free_parts(pr_spill *s)
{
    for (size_t i = 0; i < PR_SPILL_PARTS; i++) {
        pr_free(s->parts[i].block);
        pr_free(s->parts[i].places);
        s->parts[i] = (part){0};
    }
}

void pr_spill_free(pr_spill *s)
{
    if (s == NULL)
        return;
    free_parts(s);
    for (size_t i = 0; i < PR_SPILL_PARTS; i++)
        pr_free(s->places[i]);
    pr_scratch_close(&s->actions);
    pr_scratch_close(&s->baskets);
    pr_free(s->path);
    pr_free(s);
}

static parsrec_status put(pr_spill *s, part *p, const void *bytes, size_t size, parsrec_error *err)
{
    const unsigned char *from = bytes;
    if (p->block == NULL && (p->block = pr_alloc(BLOCK_BYTES, 1)) == NULL)
        return pr_fail_memory(err);
    while (size > 0) {
        if (p->used == BLOCK_BYTES) {
            PR_TRY(pr_grow(&p->places, &p->capacity, p->count + 1, sizeof *p->places, err));
            p->places[p->count] = s->actions.size;
            PR_TRY(pr_scratch_append(&s->actions, p->block, BLOCK_BYTES, err));
            p->count++;
            p->used = 0;
        }
        size_t n = size < BLOCK_BYTES - p->used ? size : BLOCK_BYTES - p->used;
        memcpy(p->block + p->used, from, n);
        p->used += n;
        from += n;
        size -= n;
    }
    return PARSREC_OK;
}

parsrec_status pr_spill_add(pr_spill *s, const pr_action *action, parsrec_error *err)
{
    if (action->session.size > UINT32_MAX)
        return pr_fail(err, PARSREC_E_LIMIT, "the key of a session has more than 4 GB");
    action_head head = {.time = action->time,
                        .user = action->user / PR_SPILL_PARTS,
                        .item = action->item,
                        .key_bytes = (uint32_t)action->session.size};
    part *p = &s->parts[part_of(action->user)];
    PR_TRY(put(s, p, &head, sizeof head, err));
    PR_TRY(put(s, p, action->session.bytes, action->session.size, err));
    s->total++;
    return PARSREC_OK;
}

parsrec_status pr_spill_take(pr_spill *s, pr_gather *g, parsrec_error *err)
{
    uint32_t *key_of = pr_alloc(g->sessions, sizeof *key_of);
    if (key_of == NULL)
        return pr_fail_memory(err);
    memset(key_of, 0xFF, g->sessions * sizeof *key_of);
    for (size_t k = 0; k < g->keys.count; k++)
        key_of[g->key_session[k]] = (uint32_t)k;
    parsrec_status status = PARSREC_OK;
    for (size_t r = 0, a = 0; r < g->run_count && status == PARSREC_OK; r++) {
        uint32_t session = g->runs[r].session;
        pr_action action = {
            .user = g->session_user[session], .time = g->session_time[session], .session = {"", 0}};
        if (key_of[session] != UINT32_MAX)
            action.session = pr_gather_key(g, key_of[session], &action.user);
        for (uint32_t i = 0; i < g->runs[r].count && status == PARSREC_OK; i++, a++) {
            action.item = (uint32_t)g->action_items[a];
            status = pr_spill_add(s, &action, err);
        }
    }
    pr_free(key_of);
    pr_gather_free(g);
    return status;
}

/* ---- from a part to its baskets ---- */

/* Reads a stream of known length through a buffer. */
typedef struct reader {
    const pr_spill *spill;
    const part *blocks;   /* of a part of actions; NULL: bytes at..end of the file of baskets */
    uint64_t at, end;     /* what is not yet in the buffer */
    size_t next_block;    /* of `blocks` */
    unsigned char *bytes; /* [BLOCK_BYTES] */
    size_t used, filled;
} reader;

/* Fills the buffer; *end when there is nothing left. */
static parsrec_status refill(reader *r, bool *end, parsrec_error *err)
{
    r->used = r->filled = 0;
    *end = false;
    if (r->blocks != NULL && r->next_block < r->blocks->count) {
        PR_TRY(pr_scratch_read(&r->spill->actions, r->blocks->places[r->next_block++], r->bytes,
                               BLOCK_BYTES, err));
        r->filled = BLOCK_BYTES;
    } else if (r->blocks != NULL && r->next_block == r->blocks->count && r->blocks->used > 0) {
        memcpy(r->bytes, r->blocks->block, r->blocks->used);
        r->filled = r->blocks->used;
        r->next_block++;
    } else if (r->blocks == NULL && r->at < r->end) {
        uint64_t left = r->end - r->at;
        r->filled = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
        PR_TRY(pr_scratch_read(&r->spill->baskets, r->at, r->bytes, r->filled, err));
        r->at += r->filled;
    } else {
        *end = true;
    }
    return PARSREC_OK;
}

/* Whether there is a byte left. */
static parsrec_status more(reader *r, bool *yes, parsrec_error *err)
{
    bool end = false;
    if (r->used == r->filled)
        PR_TRY(refill(r, &end, err));
    *yes = !end;
    return PARSREC_OK;
}

static parsrec_status get(reader *r, void *bytes, size_t size, parsrec_error *err)
{
    unsigned char *to = bytes;
    while (size > 0) {
        bool there;
        PR_TRY(more(r, &there, err));
        if (!there) /* cannot be: what is read was written by this file */
            return pr_fail(err, PARSREC_E_IO, "a temporary file ends too early");
        size_t n = size < r->filled - r->used ? size : r->filled - r->used;
        memcpy(to, r->bytes + r->used, n);
        r->used += n;
        to += n;
        size -= n;
    }
    return PARSREC_OK;
}

/* The next action of a part; *end when there is none. Its key is in *key, whose room grows. */
static parsrec_status next_action(reader *r, pr_action *action, char **key, size_t *capacity,
                                  bool *end, parsrec_error *err)
{
    action_head head;
    bool there;
    PR_TRY(more(r, &there, err));
    *end = !there;
    if (*end)
        return PARSREC_OK;
    PR_TRY(get(r, &head, sizeof head, err));
    PR_TRY(pr_grow(key, capacity, head.key_bytes, 1, err));
    PR_TRY(get(r, *key, head.key_bytes, err));
    *action = (pr_action){.user = head.user,
                          .item = head.item,
                          .time = head.time,
                          .session = {head.key_bytes > 0 ? *key : "", head.key_bytes}};
    return PARSREC_OK;
}

static parsrec_status gather_part(const pr_spill *s, size_t number, pr_gather *g, reader *r,
                                  parsrec_error *err)
{
    char *key = NULL;
    size_t capacity = 0;
    parsrec_status status = PARSREC_OK;
    *r = (reader){.spill = s, .blocks = &s->parts[number], .bytes = r->bytes};
    for (;;) {
        pr_action action;
        bool end;
        PR_TRY_GOTO(next_action(r, &action, &key, &capacity, &end, err));
        if (end)
            break;
        PR_TRY_GOTO(pr_gather_add(g, &action, err));
    }
done:
    pr_free(key);
    return status;
}

/* ---- a part in another order than that of the input ---- */

/* An action with the numbers of the result. */
typedef struct sorted_action {
    int64_t time;
    uint32_t user, item;
    uint64_t key_at; /* in the keys of the part */
    uint32_t key_bytes;
    uint32_t row; /* in the part */
} sorted_action;

typedef struct sorted_part {
    sorted_action *actions;
    char *keys;
    size_t count, capacity, key_bytes, key_capacity;
    bool rows_ordered;
} sorted_part;

static pr_slice sorted_key(const sorted_part *p, const sorted_action *a)
{
    return (pr_slice){a->key_bytes > 0 ? p->keys + a->key_at : "", a->key_bytes};
}

static int by_user_time_session(const void *left, const void *right, void *context)
{
    const sorted_action *a = left, *b = right;
    const sorted_part *p = context;
    if (a->user != b->user)
        return a->user < b->user ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    int order = pr_key_compare(sorted_key(p, a), sorted_key(p, b));
    if (order != 0)
        return order;
    uint32_t x = p->rows_ordered ? a->row : a->item, y = p->rows_ordered ? b->row : b->item;
    return (x > y) - (x < y);
}

static parsrec_status sort_part(const pr_spill *s, size_t number, sorted_part *p, reader *r,
                                parsrec_error *err)
{
    char *key = NULL;
    size_t room = 0;
    parsrec_status status = PARSREC_OK;
    *r = (reader){.spill = s, .blocks = &s->parts[number], .bytes = r->bytes};
    for (;;) {
        pr_action a;
        bool end;
        PR_TRY_GOTO(next_action(r, &a, &key, &room, &end, err));
        if (end)
            break;
        PR_TRY_GOTO(pr_grow(&p->actions, &p->capacity, p->count + 1, sizeof *p->actions, err));
        PR_TRY_GOTO(pr_grow(&p->keys, &p->key_capacity, p->key_bytes + a.session.size, 1, err));
        p->actions[p->count] = (sorted_action){.time = a.time,
                                               .user = s->places[number][a.user],
                                               .item = s->order->item_to[a.item],
                                               .key_at = p->key_bytes,
                                               .key_bytes = (uint32_t)a.session.size,
                                               .row = (uint32_t)p->count};
        if (a.session.size > 0)
            memcpy(p->keys + p->key_bytes, a.session.bytes, a.session.size);
        p->key_bytes += a.session.size;
        p->count++;
    }
    if (p->count > 0)
        qsort_r(p->actions, p->count, sizeof *p->actions, by_user_time_session, p);
done:
    pr_free(key);
    return status;
}

/* What gather_part does, with the actions in another order. Sessions then begin in the order of their
 * first actions, so nothing else has to know. */
static parsrec_status gather_sorted(const pr_spill *s, size_t number, pr_gather *g, reader *r,
                                    parsrec_error *err)
{
    sorted_part p = {.rows_ordered = s->order->rows_ordered};
    parsrec_status status = sort_part(s, number, &p, r, err);
    for (size_t i = 0; i < p.count && status == PARSREC_OK; i++) {
        pr_action action = {.user = p.actions[i].user,
                            .item = p.actions[i].item,
                            .time = p.actions[i].time,
                            .session = sorted_key(&p, &p.actions[i])};
        status = pr_gather_add(g, &action, err);
    }
    pr_free(p.actions);
    pr_free(p.keys);
    return status;
}

/* The place of each user among those of the part. */
static parsrec_status find_places(pr_spill *s, size_t users, parsrec_error *err)
{
    uint32_t next[PR_SPILL_PARTS] = {0};
    for (size_t p = 0; p < PR_SPILL_PARTS; p++) {
        s->places[p] = pr_alloc(part_users(users, p), sizeof *s->places[p]);
        if (s->places[p] == NULL)
            return pr_fail_memory(err);
    }
    for (size_t u = 0; u < users; u++) {
        uint32_t user = s->order->user_from[u];
        size_t p = part_of(user);
        s->places[p][user / PR_SPILL_PARTS] = next[p]++;
    }
    return PARSREC_OK;
}

/* Where user u of the result stands: as u % PR_SPILL_PARTS, u / PR_SPILL_PARTS for users in the order
 * of the input, part and place. */
static size_t slot_of(const pr_spill *s, size_t u)
{
    if (s->order == NULL)
        return u;
    uint32_t user = s->order->user_from[u];
    return (size_t)s->places[part_of(user)][user / PR_SPILL_PARTS] * PR_SPILL_PARTS + part_of(user);
}

/* ---- the baskets of a part ---- */

/* The file of baskets has, for each user of a part: the number of sessions; for each session a
 * basket_head and its items. */
typedef struct basket_head {
    int64_t time;
    uint32_t count;
    uint32_t padding; /* 0 */
} basket_head;

static parsrec_status put_baskets(pr_spill *s, const pr_assembly *b, parsrec_error *err)
{
    for (size_t u = 0; u < b->users; u++) {
        uint32_t sessions = (uint32_t)(b->user_offsets[u + 1] - b->user_offsets[u]);
        PR_TRY(pr_scratch_append(&s->baskets, &sessions, sizeof sessions, err));
        for (int64_t i = b->user_offsets[u]; i < b->user_offsets[u + 1]; i++) {
            int64_t first = b->session_offsets[i];
            basket_head head = {.time = b->times[i],
                                .count = (uint32_t)(b->session_offsets[i + 1] - first)};
            PR_TRY(pr_scratch_append(&s->baskets, &head, sizeof head, err));
            PR_TRY(pr_scratch_append(&s->baskets, b->action_items + first,
                                     head.count * sizeof *b->action_items, err));
        }
    }
    return PARSREC_OK;
}

static parsrec_status assemble_part(pr_spill *s, size_t number, size_t users, size_t items,
                                    const pr_spill_rules *rules, uint64_t *dropped, reader *r,
                                    parsrec_error *err)
{
    pr_gather g = {0};
    pr_assembly b = {0};
    uint64_t repeats = 0;
    parsrec_status status;
    s->baskets_begin[number] = s->baskets.size;
    PR_TRY_GOTO((s->order != NULL ? gather_sorted : gather_part)(s, number, &g, r, err));
    pr_gather_seal(&g);
    PR_TRY_GOTO(pr_assembly_make(&b, &g, part_users(users, number), items, err));
    if (rules->session_rule != PARSREC_SESSION_COLUMN)
        pr_assembly_join(&b, rules->session_rule, rules->session_gap);
    PR_TRY_GOTO(pr_assembly_unique(&b, &repeats, err));
    *dropped += repeats;
    PR_TRY_GOTO(put_baskets(s, &b, err));
done:
    pr_gather_free(&g);
    pr_assembly_free(&b);
    return status;
}

/* ---- reading baskets ---- */

typedef struct basket {
    int64_t time;
    uint32_t count;
    int32_t *items;
    size_t capacity;
} basket;

static parsrec_status get_basket(reader *r, basket *b, parsrec_error *err)
{
    basket_head head;
    PR_TRY(get(r, &head, sizeof head, err));
    PR_TRY(pr_grow(&b->items, &b->capacity, head.count, sizeof *b->items, err));
    b->time = head.time;
    b->count = head.count;
    return get(r, b->items, head.count * sizeof *b->items, err);
}

static reader baskets_of(const pr_spill *s, size_t number, unsigned char *bytes)
{
    return (reader){.spill = s,
                    .at = s->baskets_begin[number],
                    .end = s->baskets_begin[number + 1],
                    .bytes = bytes};
}

/* ---- rare users and items ---- */

/* The users and items that stay. A pass counts the actions of each that are left and drops those with
 * too few; passes repeat until none is dropped. The set that is left does not depend on the order of
 * dropping, so it is that of pr_assembly_filter. Users by slot_of. */
typedef struct kept_set {
    bool *users, *items;
    uint32_t *user_count, *item_count;
    size_t user_total, item_total;
} kept_set;

static parsrec_status make_kept(kept_set *k, size_t users, size_t items, parsrec_error *err)
{
    *k = (kept_set){.users = pr_alloc(users, sizeof *k->users),
                    .items = pr_alloc(items, sizeof *k->items),
                    .user_count = pr_alloc(users, sizeof *k->user_count),
                    .item_count = pr_alloc(items, sizeof *k->item_count),
                    .user_total = users,
                    .item_total = items};
    if (k->users == NULL || k->items == NULL || k->user_count == NULL || k->item_count == NULL)
        return pr_fail_memory(err);
    memset(k->users, true, users);
    memset(k->items, true, items);
    return PARSREC_OK;
}

static parsrec_status count_part(const pr_spill *s, size_t number, kept_set *k, reader *r,
                                 basket *b, parsrec_error *err)
{
    *r = baskets_of(s, number, r->bytes);
    for (size_t u = number; u < k->user_total; u += PR_SPILL_PARTS) {
        uint32_t sessions;
        PR_TRY(get(r, &sessions, sizeof sessions, err));
        for (; sessions > 0; sessions--) {
            PR_TRY(get_basket(r, b, err));
            for (uint32_t i = 0; i < b->count && k->users[u]; i++) {
                k->user_count[u] += k->items[b->items[i]];
                k->item_count[b->items[i]]++;
            }
        }
    }
    return PARSREC_OK;
}

static size_t drop_below(bool *keep, const uint32_t *count, size_t total, uint64_t least)
{
    size_t dropped = 0;
    for (size_t i = 0; i < total; i++) {
        dropped += keep[i] && count[i] < least;
        keep[i] = keep[i] && count[i] >= least;
    }
    return dropped;
}

static parsrec_status drop_rare(const pr_spill *s, kept_set *k, uint64_t least, uint64_t *rounds,
                                reader *r, basket *b, parsrec_error *err)
{
    size_t dropped = 1;
    for (; dropped > 0; *rounds += dropped > 0) {
        memset(k->user_count, 0, k->user_total * sizeof *k->user_count);
        memset(k->item_count, 0, k->item_total * sizeof *k->item_count);
        for (size_t p = 0; p < PR_SPILL_PARTS; p++)
            PR_TRY(count_part(s, p, k, r, b, err));
        dropped = drop_below(k->users, k->user_count, k->user_total, least) +
                  drop_below(k->items, k->item_count, k->item_total, least);
    }
    return PARSREC_OK;
}

/* The numbers in the input of the users and items that stay, in the order of the result; new_item[i],
 * of item i before dropping, is its number then. Without a set all stay. */
static parsrec_status list_kept(const pr_spill *s, pr_assembly *b, const kept_set *kept,
                                size_t users, size_t items, int32_t *new_item, parsrec_error *err)
{
    b->user_from = pr_alloc(users, sizeof *b->user_from);
    b->item_from = pr_alloc(items, sizeof *b->item_from);
    if (b->user_from == NULL || b->item_from == NULL)
        return pr_fail_memory(err);
    b->users = b->items = 0;
    for (size_t u = 0; u < users; u++)
        if (kept == NULL || kept->users[slot_of(s, u)])
            b->user_from[b->users++] = s->order != NULL ? s->order->user_from[u] : (uint32_t)u;
    for (size_t i = 0; i < items; i++)
        if (kept == NULL || kept->items[i]) {
            new_item[i] = (int32_t)b->items;
            b->item_from[b->items++] = s->order != NULL ? s->order->item_from[i] : (uint32_t)i;
        }
    return PARSREC_OK;
}

/* ---- the columns ---- */

typedef struct merge {
    const pr_spill *spill;
    pr_assembly *b;
    const kept_set *kept;    /* NULL: all */
    const int32_t *new_item; /* [items], where kept != NULL */
    reader readers[PR_SPILL_PARTS];
    basket basket;
} merge;

static parsrec_status put_basket(merge *m, parsrec_error *err)
{
    pr_assembly *b = m->b;
    int64_t begin = (int64_t)b->actions;
    PR_TRY(pr_scratch_append(&b->files[PR_SESSION_FILE], &begin, sizeof begin, err));
    PR_TRY(pr_scratch_append(&b->files[PR_TIME_FILE], &m->basket.time, sizeof m->basket.time, err));
    PR_TRY(pr_scratch_append(&b->files[PR_ITEM_FILE], m->basket.items,
                             m->basket.count * sizeof *m->basket.items, err));
    b->sessions++;
    b->actions += m->basket.count;
    return PARSREC_OK;
}

/* Appends the baskets of every user that is kept, in the order of users. The next user of a part is
 * always the next in its stream. */
static parsrec_status merge_users(merge *m, size_t users, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    pr_assembly *b = m->b;
    size_t kept_users = 0;
    for (size_t u = 0; u < users; u++) {
        size_t slot = slot_of(m->spill, u);
        reader *r = &m->readers[slot % PR_SPILL_PARTS];
        bool keep = m->kept == NULL || m->kept->users[slot];
        uint32_t sessions;
        if (u % (1 << 14) == 0)
            PR_TRY(pr_progress(hooks, "merging", "users", u, users, err));
        PR_TRY(get(r, &sessions, sizeof sessions, err));
        if (keep)
            b->user_offsets[kept_users++] = (int64_t)b->sessions;
        for (; sessions > 0; sessions--) {
            PR_TRY(get_basket(r, &m->basket, err));
            if (m->kept != NULL && keep) {
                /* Drops items that are not kept and gives the others their new numbers. */
                uint32_t count = 0;
                for (uint32_t i = 0; i < m->basket.count; i++)
                    if (m->kept->items[m->basket.items[i]])
                        m->basket.items[count++] = m->new_item[m->basket.items[i]];
                m->basket.count = count;
            }
            if (keep && m->basket.count > 0)
                PR_TRY(put_basket(m, err));
        }
    }
    b->users = kept_users;
    b->user_offsets[kept_users] = (int64_t)b->sessions;
    int64_t end = (int64_t)b->actions;
    return pr_scratch_append(&b->files[PR_SESSION_FILE], &end, sizeof end, err);
}

static parsrec_status map_columns(pr_assembly *b, parsrec_error *err)
{
    for (int i = 0; i < PR_COLUMN_FILES; i++) {
        PR_TRY(pr_scratch_flush(&b->files[i], err));
        PR_TRY(pr_scratch_map(&b->views[i], &b->files[i], err));
    }
    b->session_offsets = (int64_t *)(uintptr_t)b->views[PR_SESSION_FILE].bytes;
    b->times = (int64_t *)(uintptr_t)b->views[PR_TIME_FILE].bytes;
    b->action_items = (int32_t *)(uintptr_t)b->views[PR_ITEM_FILE].bytes;
    return PARSREC_OK;
}

static parsrec_status merge_parts(pr_spill *s, pr_assembly *b, size_t users, size_t items,
                                  const kept_set *kept, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    merge *m = pr_alloc_zero(1, sizeof *m);
    unsigned char *buffers = pr_alloc(PR_SPILL_PARTS, BLOCK_BYTES);
    int32_t *new_item = pr_alloc(items, sizeof *new_item);
    parsrec_status status = PARSREC_OK;
    *b = (pr_assembly){.items = items, .stored = true};
    b->user_offsets = pr_alloc(users + 1, sizeof *b->user_offsets);
    if (m == NULL || buffers == NULL || b->user_offsets == NULL || new_item == NULL) {
        status = pr_fail_memory(err);
        goto done;
    }
    if (kept != NULL || s->order != NULL)
        PR_TRY_GOTO(list_kept(s, b, kept, users, items, new_item, err));
    m->spill = s;
    m->b = b;
    m->kept = kept;
    m->new_item = new_item;
    for (size_t p = 0; p < PR_SPILL_PARTS; p++)
        m->readers[p] = baskets_of(s, p, buffers + p * BLOCK_BYTES);
    for (int i = 0; i < PR_COLUMN_FILES; i++)
        PR_TRY_GOTO(pr_scratch_open(&b->files[i], s->path, err));
    PR_TRY_GOTO(merge_users(m, users, hooks, err));
    PR_TRY_GOTO(map_columns(b, err));
done:
    if (m != NULL)
        pr_free(m->basket.items);
    pr_free(m);
    pr_free(buffers);
    pr_free(new_item);
    return status;
}

parsrec_status pr_spill_assemble(pr_spill *s, pr_assembly *b, size_t users, size_t items,
                                 const pr_spill_rules *rules, parsrec_import_report *report,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    reader r = {.bytes = pr_alloc(BLOCK_BYTES, 1)};
    basket hold = {0};
    kept_set left = {0};
    bool filters = rules->min_actions > 1;
    parsrec_status status;
    *b = (pr_assembly){0};
    if (r.bytes == NULL)
        return pr_fail_memory(err);
    s->order = rules->order;
    if (s->order != NULL)
        PR_TRY_GOTO(find_places(s, users, err));
    PR_TRY_GOTO(pr_scratch_flush(&s->actions, err));
    for (size_t p = 0; p < PR_SPILL_PARTS; p++) {
        PR_TRY_GOTO(pr_progress(hooks, "sorting", "parts", p, PR_SPILL_PARTS, err));
        PR_TRY_GOTO(assemble_part(s, p, users, items, rules, &report->repeats_dropped, &r, err));
    }
    s->baskets_begin[PR_SPILL_PARTS] = s->baskets.size;
    free_parts(s);
    pr_scratch_close(&s->actions);
    PR_TRY_GOTO(pr_scratch_flush(&s->baskets, err));
    if (filters) {
        PR_TRY_GOTO(make_kept(&left, users, items, err));
        PR_TRY_GOTO(
            drop_rare(s, &left, rules->min_actions, &report->filter_rounds, &r, &hold, err));
    }
    PR_TRY_GOTO(merge_parts(s, b, users, items, filters ? &left : NULL, hooks, err));
    report->filtered_users = users - b->users;
    report->filtered_items = items - b->items;
    report->filtered_actions = s->total - report->repeats_dropped - b->actions;
done:
    pr_free(left.users);
    pr_free(left.items);
    pr_free(left.user_count);
    pr_free(left.item_count);
    pr_free(hold.items);
    pr_free(r.bytes);
    return status;
}
