/* sknn, vsknn: sessions that share items with the open one vote for what they have (Ludewig and Jannach,
 * 2018). Of the sessions that hold an item of the open one the most recent are looked at, the most similar
 * of those vote. vsknn counts later items of the open session more, twice: in the similarity, and by how late
 * the last shared item is.
 *
 * The file holds all sessions, oldest first, and for each item its most recent sessions. These are enough:
 * a session among the m most recent ones that hold any of some items is also among the m most recent ones of
 * each of its items (VMIS-kNN; Kersbergen, Sprangers and Schelter, 2022). So an answer takes as long as the open
 * session's items times m, whatever the number of sessions. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/topk.h"
#include "model/counting/counting.h"
#include "model/history.h"

/* ---- what is stored ---- */

typedef struct stored {
    size_t sessions;
    uint32_t *start; /* [sessions + 1] */
    uint32_t *item;
    uint32_t *user;         /* [sessions]: whose it is */
    uint32_t *recent_start; /* [V + 1] */
    uint32_t *recent;       /* sessions of an item, newest first */
} stored;

static stored stored_of(const pr_model *model)
{
    return (stored){.sessions = pr_params_find(&model->params, "session.user")->rows,
                    .start = pr_model_u32(model, "session.start"),
                    .item = pr_model_u32(model, "session.item"),
                    .user = pr_model_u32(model, "session.user"),
                    .recent_start = pr_model_u32(model, "recent.start"),
                    .recent = pr_model_u32(model, "recent.session")};
}

static parsrec_status layout(pr_model *model, parsrec_error *err)
{
    pr_params *p = &model->params;
    PR_TRY(pr_params_add_words(p, "session.start", PR_ROWS_OPEN, 1, err));
    PR_TRY(pr_params_add_words(p, "session.item", PR_ROWS_OPEN, 1, err));
    PR_TRY(pr_params_add_words(p, "session.user", PR_ROWS_OPEN, 1, err));
    PR_TRY(pr_params_add_words(p, "recent.start", 1, model->items + 1, err));
    PR_TRY(pr_params_add_words(p, "recent.session", PR_ROWS_OPEN, 1, err));
    return pr_popularity_layout(model, err);
}

static parsrec_status set_sizes(pr_model *model, size_t sessions, size_t actions, size_t recent,
                                parsrec_error *err)
{
    pr_params *p = &model->params;
    if (sessions >= UINT32_MAX || actions >= UINT32_MAX)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the model '%s' holds at most 4,294,967,294 purchases; count fewer users "
                       "with --count-users",
                       model->kind->name);
    PR_TRY(pr_params_set_rows(p, "session.start", sessions + 1, err));
    PR_TRY(pr_params_set_rows(p, "session.item", actions, err));
    PR_TRY(pr_params_set_rows(p, "session.user", sessions, err));
    return pr_params_set_rows(p, "recent.session", recent, err);
}

static parsrec_status verify(const pr_model *model, parsrec_error *err)
{
    stored s = stored_of(model);
    size_t actions = pr_params_find(&model->params, "session.item")->rows;
    size_t recent = pr_params_find(&model->params, "recent.session")->rows;
    bool good = pr_params_find(&model->params, "session.start")->rows == s.sessions + 1 &&
                s.start[0] == 0 && s.start[s.sessions] == actions && s.recent_start[0] == 0 &&
                s.recent_start[model->items] == recent;
    for (size_t k = 0; k < s.sessions && good; k++)
        good = s.start[k] <= s.start[k + 1] && s.user[k] < model->users;
    for (size_t a = 0; a < actions && good; a++)
        good = s.item[a] < model->items;
    for (size_t i = 0; i < model->items && good; i++)
        good = s.recent_start[i] <= s.recent_start[i + 1] &&
               s.recent_start[i + 1] - s.recent_start[i] <= (uint32_t)model->config.knn_recent;
    for (size_t k = 0; k < recent && good; k++)
        good = s.recent[k] < s.sessions;
    return good ? PARSREC_OK
                : pr_fail(err, PARSREC_E_FORMAT, "the sessions do not fit the users and items");
}

/* Where the lists of most recent sessions begin, start[V + 1], unless NULL, from the number of sessions of
 * each item; returns their total length. */
static size_t recent_starts(uint32_t *start, const uint32_t *count, size_t items, size_t most)
{
    size_t at = 0;
    for (size_t i = 0; i < items; i++) {
        if (start != NULL)
            start[i] = (uint32_t)at;
        at += count[i] < most ? count[i] : most;
    }
    if (start != NULL)
        start[items] = (uint32_t)at;
    return at;
}

/* Fills the lists of most recent sessions. count[V] is scratch memory. */
static void fill_recent(const pr_model *model, uint32_t *count)
{
    stored s = stored_of(model);
    size_t most = (size_t)model->config.knn_recent;
    memset(count, 0, model->items * sizeof *count);
    for (size_t a = 0; a < s.start[s.sessions]; a++)
        count[s.item[a]]++;
    recent_starts(s.recent_start, count, model->items, most);
    memset(count, 0, model->items * sizeof *count);
    for (size_t k = s.sessions; k-- > 0;)
        for (uint32_t a = s.start[k]; a < s.start[k + 1]; a++) {
            uint32_t item = s.item[a];
            if (count[item] < most)
                s.recent[s.recent_start[item] + count[item]++] = (uint32_t)k;
        }
}

/* ---- counting ---- */

typedef struct dated {
    int64_t time;
    int64_t session;
    uint32_t user;
} dated;

static int older_first(const void *left, const void *right)
{
    const dated *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->session > b->session) - (a->session < b->session);
}

/* All sessions that count, oldest first, and how often each item occurs in them. Without times, the last
 * sessions of all users are equally recent. */
static size_t list_sessions(dated *out, const pr_counted *from, uint32_t *count)
{
    const pr_dataset *data = from->data;
    size_t n = 0;
    for (size_t u = 0; u < data->users; u++) {
        int64_t end = pr_counted_end(from, u);
        for (int64_t s = data->user_offsets[u]; s < end; s++) {
            out[n++] = (dated){data->times != NULL ? data->times[s] : s - end, s, (uint32_t)u};
            for (int64_t a = data->session_offsets[s]; a < data->session_offsets[s + 1]; a++)
                count[data->action_items[a]]++;
        }
    }
    qsort(out, n, sizeof *out, older_first);
    return n;
}

static void fill_sessions(const pr_model *model, const dated *sessions, const pr_dataset *data)
{
    stored s = stored_of(model);
    uint32_t a = 0;
    for (size_t k = 0; k < s.sessions; k++) {
        int64_t from = sessions[k].session;
        s.start[k] = a;
        s.user[k] = sessions[k].user;
        for (int64_t i = data->session_offsets[from]; i < data->session_offsets[from + 1]; i++)
            s.item[a++] = (uint32_t)data->action_items[i];
    }
    s.start[s.sessions] = a;
}

static parsrec_status count(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    size_t actions = 0, n;
    dated *sessions = pr_alloc(from->data->sessions, sizeof *sessions);
    uint32_t *counts = pr_alloc_zero(model->items, sizeof *counts);
    parsrec_status status;
    PR_TRY_GOTO(sessions != NULL && counts != NULL ? PARSREC_OK : pr_fail_memory(err));
    n = list_sessions(sessions, from, counts);
    for (size_t i = 0; i < model->items; i++)
        actions += counts[i];
    PR_TRY_GOTO(set_sizes(
        model, n, actions,
        recent_starts(NULL, counts, model->items, (size_t)model->config.knn_recent), err));
    PR_TRY_GOTO(pr_popularity_count(model, from, err)); /* allocates the weights */
    fill_sessions(model, sessions, from->data);
    fill_recent(model, counts);
done:
    pr_free(sessions);
    pr_free(counts);
    return status;
}

/* ---- without some users ---- */

static parsrec_status size_without(pr_model *model, const pr_model *from, const bool *gone,
                                   parsrec_error *err)
{
    stored old = stored_of(from);
    uint32_t *counts = pr_alloc_zero(from->items, sizeof *counts);
    size_t sessions = 0, actions = 0;
    if (counts == NULL)
        return pr_fail_memory(err);
    for (size_t k = 0; k < old.sessions; k++) {
        if (gone[old.user[k]])
            continue;
        sessions++;
        actions += old.start[k + 1] - old.start[k];
        for (uint32_t a = old.start[k]; a < old.start[k + 1]; a++)
            counts[old.item[a]]++;
    }
    size_t recent = recent_starts(NULL, counts, from->items, (size_t)from->config.knn_recent);
    pr_free(counts);
    return set_sizes(model, sessions, actions, recent, err);
}

/* Users are numbered anew, and the lists of recent sessions made again: older sessions move up. */
static parsrec_status fill_without(pr_model *model, const pr_model *from, const bool *gone,
                                   parsrec_error *err)
{
    stored old = stored_of(from), new = stored_of(model);
    uint32_t *number = pr_alloc(from->users, sizeof *number), left = 0, k = 0, a = 0;
    uint32_t *counts = pr_alloc(model->items, sizeof *counts);
    parsrec_status status;
    PR_TRY_GOTO(number != NULL && counts != NULL ? PARSREC_OK : pr_fail_memory(err));
    for (size_t u = 0; u < from->users; u++) {
        number[u] = left;
        left += !gone[u];
    }
    for (size_t s = 0; s < old.sessions; s++) {
        if (gone[old.user[s]])
            continue;
        new.user[k] = number[old.user[s]];
        new.start[k++] = a;
        for (uint32_t i = old.start[s]; i < old.start[s + 1]; i++)
            new.item[a++] = old.item[i];
    }
    new.start[k] = a;
    fill_recent(model, counts);
done:
    pr_free(number);
    pr_free(counts);
    return status;
}

/* ---- open sessions ---- */

/* A session that shares items with the open one. */
typedef struct neighbour {
    uint32_t session;
    uint32_t step; /* of the newest shared item, from 1 at the end of the open session */
    pr_real like;  /* similarity */
} neighbour;

typedef struct state {
    stored s;
    pr_votes votes;
    pr_real *idf;     /* [V]: factor of each item's votes */
    uint32_t *slots;  /* [sessions]: 1 + its place in `found`; zero between calls */
    neighbour *found; /* [items looked at · recent] */
    pr_real *like;    /* [recent] */
    int32_t *best;    /* [knn.sessions] */
} state;

enum { ITEMS_MOST = 64 }; /* of an open session that are looked at, the newest */

static size_t most_found(const pr_model *model, size_t sessions)
{
    size_t found = ITEMS_MOST * (size_t)model->config.knn_recent;
    return found < sessions ? found : sessions;
}

static void take(void *own, pr_arena *arena, const pr_model *model, size_t rows, size_t capacity)
{
    state *s = own;
    size_t V = model->items, sessions = pr_params_find(&model->params, "session.user")->rows;
    size_t recent = (size_t)model->config.knn_recent;
    *s = (state){0};
    pr_votes_take(&s->votes, arena, model, rows, capacity);
    s->idf = pr_arena_take(arena, V, sizeof *s->idf);
    s->slots = pr_arena_take_zero(arena, sessions, sizeof *s->slots);
    s->found = pr_arena_take(arena, most_found(model, sessions), sizeof *s->found);
    s->like = pr_arena_take(arena, recent, sizeof *s->like);
    s->best = pr_arena_take(arena, recent, sizeof *s->best);
    if (pr_arena_counts(arena))
        return;
    s->s = stored_of(model);
    const pr_real *popularity = pr_popularity(model);
    for (size_t i = 0; i < V; i++) {
        double share = (double)s->s.sessions / fmax((double)popularity[i], 1);
        s->idf[i] = (pr_real)(1 + model->config.knn_idf * log(fmax(share, 1)));
    }
}

/* ---- neighbours ---- */

/* found[] becomes the sessions that hold one of the items, with their similarities; newest item first. */
static size_t find_sessions(state *s, const pr_model *model, const int32_t *items, size_t n)
{
    bool weighted = model->kind == &pr_vsknn;
    size_t found = 0, first = n > ITEMS_MOST ? n - ITEMS_MOST : 0;
    for (size_t i = n; i-- > first;) {
        double late = (double)(i + 1) / (double)n;
        pr_real weight = weighted ? (pr_real)pow(late, model->config.knn_late) : 1;
        for (uint32_t e = s->s.recent_start[items[i]]; e < s->s.recent_start[items[i] + 1]; e++) {
            uint32_t session = s->s.recent[e];
            if (s->slots[session] == 0) {
                s->found[found] = (neighbour){session, (uint32_t)(n - i), 0};
                s->slots[session] = (uint32_t)++found;
            }
            s->found[s->slots[session] - 1].like += weight;
        }
    }
    for (size_t k = 0; k < found; k++)
        s->slots[s->found[k].session] = 0;
    return found;
}

static void swap(neighbour *a, neighbour *b)
{
    neighbour was = *a;
    *a = *b;
    *b = was;
}

/* Moves the `most` newest sessions to the front, in any order (quickselect). */
static void select_newest(neighbour *list, size_t count, size_t most)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t at = low;
        swap(&list[low + (high - low) / 2], &list[high - 1]);
        for (size_t i = low; i + 1 < high; i++)
            if (list[i].session > list[high - 1].session)
                swap(&list[i], &list[at++]);
        swap(&list[at], &list[high - 1]); /* all before it are newer */
        if (at == most || at + 1 == most)
            return;
        if (at < most)
            low = at + 1;
        else
            high = at;
    }
}

static int newer_first(const void *left, const void *right)
{
    const neighbour *a = left, *b = right;
    return (a->session < b->session) - (a->session > b->session);
}

/* The most similar of the most recent sessions, into best[]; of equal ones the newer. Returns how many. */
static size_t choose(state *s, const pr_model *model, size_t found)
{
    size_t recent = (size_t)model->config.knn_recent, most = (size_t)model->config.knn_sessions;
    if (found > recent) {
        select_newest(s->found, found, recent);
        found = recent;
    }
    qsort(s->found, found, sizeof *s->found, newer_first);
    for (size_t k = 0; k < found; k++) {
        uint32_t session = s->found[k].session;
        double size = (double)(s->s.start[session + 1] - s->s.start[session]);
        if (model->kind == &pr_sknn) /* cosine; the open session's norm is the same for all */
            s->found[k].like /= (pr_real)sqrt(size);
        s->like[k] = s->found[k].like;
    }
    return pr_topk(s->best, s->like, found, most < found ? most : found);
}

/* The open session: what is placed or, before that, the last session of the past. */
static const int32_t *open_session(const state *s, size_t row, size_t *count)
{
    const pr_history *h = &s->votes.histories[row];
    *count = s->votes.placed_count[row];
    if (*count > 0)
        return s->votes.placed + row * s->votes.capacity;
    size_t first = pr_history_last_session(h, 0);
    *count = h->count - first;
    return *count > 0 ? h->items + first : NULL;
}

static void score_row(state *s, const pr_model *model, size_t row)
{
    pr_real *scores = pr_votes_begin(&s->votes, model, row);
    size_t n;
    const int32_t *items = open_session(s, row, &n);
    size_t chosen = choose(s, model, find_sessions(s, model, items, n));
    for (size_t k = 0; k < chosen; k++) {
        const neighbour *b = &s->found[s->best[k]];
        pr_real vote = model->kind == &pr_vsknn ? b->like / (pr_real)b->step : b->like;
        for (uint32_t a = s->s.start[b->session]; a < s->s.start[b->session + 1]; a++)
            scores[s->s.item[a]] += vote * s->idf[s->s.item[a]];
    }
    pr_votes_end(&s->votes, model, row);
}

static void start(pr_scorer *scorer, const pr_start *starts)
{
    state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++)
        pr_votes_start(&s->votes, r, &starts[r].history);
}

static void place(pr_scorer *scorer, const int32_t *items)
{
    state *s = scorer->own;
    for (size_t r = 0; r < scorer->active; r++)
        if (items[r] >= 0) {
            pr_votes_place(&s->votes, r, items[r]);
            s->votes.fresh[r] = false;
        }
}

static const pr_real *row_scores(pr_scorer *scorer, size_t row)
{
    assert(row < scorer->active);
    state *s = scorer->own;
    if (!s->votes.fresh[row])
        score_row(s, scorer->model, row);
    return s->votes.scores + row * scorer->model->items;
}

/* ---- the kinds ---- */

#define PR_SESSION_NEIGHBOURS                                                                 \
    .scores_are_shares = true, .layout = layout, .count = count, .verify = verify,            \
    .size_without = size_without, .fill_without = fill_without, .state_bytes = sizeof(state), \
    .take = take, .start = start, .place = place, .row_scores = row_scores

const pr_model_kind pr_sknn = {
    .name = "sknn",
    .summary = "what similar sessions have",
    PR_SESSION_NEIGHBOURS,
};

const pr_model_kind pr_vsknn = {
    .name = "vsknn",
    .summary = "the same, later items of the open session counting more",
    PR_SESSION_NEIGHBOURS,
};
