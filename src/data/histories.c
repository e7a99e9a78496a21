/* Histories of a data set, and matched ones. */
#include "data/histories.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"

/* Consecutive numbers are hashed, so that sums of a few stamps differ as well. */
uint64_t pr_history_stamp(void)
{
    static atomic_uint_fast64_t used;
    uint64_t number = atomic_fetch_add(&used, 1) + 1;
    return XXH3_64bits(&number, sizeof number);
}

/* Every user's sessions are in the order of their times. */
static void find_times(pr_histories *h)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t u = 0; h->times != NULL && u < h->users; u++) {
        int64_t begin = h->user_offsets[u], end = h->user_offsets[u + 1];
        if (begin == end)
            continue;
        first = h->times[begin] < first ? h->times[begin] : first;
        last = h->times[end - 1] > last ? h->times[end - 1] : last;
    }
    h->first_time = first <= last ? first : PR_NO_TIME;
    h->last_time = first <= last ? last : PR_NO_TIME;
}

pr_histories pr_histories_of(const pr_dataset *data)
{
    pr_histories h = {.users = data->users,
                      .user_offsets = data->user_offsets,
                      .session_offsets = data->session_offsets,
                      .items = data->action_items,
                      .times = data->time_kind == PARSREC_TIME_UNIX ? data->times : NULL,
                      .stamp = pr_history_stamp()};
    find_times(&h);
    return h;
}

void pr_histories_free(pr_histories *histories)
{
    pr_free(histories->block);
    *histories = (pr_histories){0};
}

/* ---- a history as a sequence of tokens ---- */

/* The newest session that begins at or before item i, looking from session s downwards. */
static size_t session_down(const pr_history *h, size_t s, size_t i)
{
    while (s > 0 && (size_t)(h->sessions[s] - h->sessions[0]) > i)
        s--;
    return s;
}

static bool begins_at(const pr_history *h, size_t s, size_t i)
{
    return (size_t)(h->sessions[s] - h->sessions[0]) == i;
}

size_t pr_history_newest(const pr_history *h, size_t low, size_t end, size_t room, bool separated,
                         size_t *tokens)
{
    assert(low <= end);
    size_t from = end, used = 0, s = h->session_count;
    if (!separated || h->sessions == NULL) {
        *tokens = end - low < room ? end - low : room;
        return end - *tokens;
    }
    while (from > low) {
        s = session_down(h, s, from);
        size_t more = from < end && begins_at(h, s, from) ? 2 : 1;
        if (used + more > room)
            break;
        used += more;
        from--;
    }
    *tokens = used;
    return from;
}

size_t pr_history_tokens(int32_t *out, const pr_history *h, size_t from, size_t end, bool separated,
                         int32_t separator)
{
    assert(from <= end);
    size_t n = 0;
    if (!separated || h->sessions == NULL) {
        if (end > from)
            memcpy(out, h->items + from, (end - from) * sizeof *out);
        return end - from;
    }
    size_t s = session_down(h, h->session_count, from);
    for (size_t i = from; i < end; i++) {
        while (s < h->session_count && (size_t)(h->sessions[s + 1] - h->sessions[0]) <= i)
            s++;
        if (i > from && begins_at(h, s, i))
            out[n++] = separator;
        out[n++] = h->items[i];
    }
    return n;
}

/* ---- another data set's histories ---- */

/* Everything a match makes. */
typedef struct match {
    int32_t *source;    /* [users]: the user of `data`, -1 for none */
    int32_t *translate; /* [items of data]: our number, -1 for unknown */
    size_t users;
} match;

static parsrec_status match_items(match *m, const pr_dataset *data, const pr_intern *items,
                                  parsrec_pasts_report *report, parsrec_error *err)
{
    m->translate = pr_alloc(data->items, sizeof *m->translate);
    if (m->translate == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < data->items; i++) {
        uint32_t number;
        bool known = pr_intern_find(items, pr_name(&data->item_keys, i), &number);
        m->translate[i] = known ? (int32_t)number : -1;
        report->unknown_items += !known;
    }
    return PARSREC_OK;
}

static parsrec_status match_users(match *m, const pr_dataset *data, pr_intern *users,
                                  parsrec_pasts_report *report, parsrec_error *err)
{
    size_t known = users->count, most = known + data->users;
    m->source = pr_alloc(most, sizeof *m->source);
    if (m->source == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < most; u++)
        m->source[u] = -1;
    for (size_t u = 0; u < data->users; u++) {
        uint32_t number;
        PR_TRY(pr_intern_add(users, pr_name(&data->user_keys, u), &number, err));
        m->source[number] = (int32_t)u;
    }
    m->users = users->count;
    report->users = data->users;
    report->new_users = m->users - known;
    return PARSREC_OK;
}

/* Columns that are filled one after the other. */
typedef struct columns {
    int64_t *user_offsets, *session_offsets;
    int64_t *times; /* NULL: not known */
    int32_t *items;
    size_t sessions, actions;
} columns;

static void copy_user(columns *c, const match *m, const pr_dataset *data, int32_t user)
{
    for (int64_t s = data->user_offsets[user]; s < data->user_offsets[user + 1]; s++) {
        for (int64_t a = data->session_offsets[s]; a < data->session_offsets[s + 1]; a++) {
            int32_t item = m->translate[data->action_items[a]];
            if (item >= 0)
                c->items[c->actions++] = item;
        }
        if (c->times != NULL)
            c->times[c->sessions] = data->times[s];
        c->session_offsets[++c->sessions] = (int64_t)c->actions;
    }
}

static parsrec_status copy_histories(pr_histories *out, const match *m, const pr_dataset *data,
                                     parsrec_pasts_report *report, parsrec_error *err)
{
    size_t dated = data->time_kind == PARSREC_TIME_UNIX ? data->sessions : 0;
    size_t offsets = m->users + data->sessions + 2;
    columns c = {.user_offsets =
                     pr_alloc(offsets + dated + (data->actions + 1) / 2, sizeof(int64_t))};
    if (c.user_offsets == NULL)
        return pr_fail_memory(err);
    c.session_offsets = c.user_offsets + m->users + 1;
    c.times = dated > 0 ? c.user_offsets + offsets : NULL;
    c.items = (int32_t *)(void *)(c.user_offsets + offsets + dated);
    c.user_offsets[0] = c.session_offsets[0] = 0;
    for (size_t u = 0; u < m->users; u++) {
        if (m->source[u] >= 0)
            copy_user(&c, m, data, m->source[u]);
        c.user_offsets[u + 1] = (int64_t)c.sessions;
    }
    report->unknown_actions = data->actions - c.actions;
    *out = (pr_histories){.users = m->users,
                          .user_offsets = c.user_offsets,
                          .session_offsets = c.session_offsets,
                          .items = c.items,
                          .times = c.times,
                          .block = c.user_offsets,
                          .stamp = pr_history_stamp()};
    find_times(out);
    return PARSREC_OK;
}

parsrec_status pr_histories_match(pr_histories *out, const pr_dataset *data, pr_intern *users,
                                  const pr_intern *items, parsrec_pasts_report *report,
                                  parsrec_error *err)
{
    match m = {0};
    *report = (parsrec_pasts_report){0};
    parsrec_status status = match_items(&m, data, items, report, err);
    if (status == PARSREC_OK)
        status = match_users(&m, data, users, report, err);
    if (status == PARSREC_OK)
        status = copy_histories(out, &m, data, report, err);
    pr_free(m.source);
    pr_free(m.translate);
    return status;
}
