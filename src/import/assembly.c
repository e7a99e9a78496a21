/* From gathered actions to the columns of a data set. */
#include "import/assembly.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "import/times.h"

void pr_assembly_free(pr_assembly *b)
{
    for (int i = 0; i < PR_COLUMN_FILES; i++) {
        pr_file_unmap(&b->views[i]);
        pr_scratch_close(&b->files[i]);
    }
    if (!b->stored) {
        pr_free(b->session_offsets);
        pr_free(b->action_items);
        pr_free(b->times);
    }
    pr_free(b->user_offsets);
    pr_free(b->user_from);
    pr_free(b->item_from);
    pr_free(b->session_from);
    *b = (pr_assembly){0};
}

/* ---- the order of sessions ---- */

/* Whether the sessions are in their final order: by user, then by time. */
static bool sessions_in_order(const pr_gather *g)
{
    for (size_t s = 1; s < g->sessions; s++) {
        if (g->session_user[s] < g->session_user[s - 1])
            return false;
        if (g->session_user[s] == g->session_user[s - 1] &&
            g->session_time[s] < g->session_time[s - 1])
            return false;
    }
    return true;
}

typedef struct dated {
    int64_t time;
    uint32_t session;
} dated;

static int by_time(const void *left, const void *right)
{
    const dated *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->session < b->session ? -1 : a->session > b->session;
}

/* Sorts one user's sessions by time; equal times keep the order of the input. */
static parsrec_status sort_user(uint32_t *order, size_t count, const int64_t *times,
                                parsrec_error *err)
{
    bool ascending = true;
    for (size_t i = 1; i < count && ascending; i++)
        ascending = times[order[i - 1]] <= times[order[i]];
    if (ascending)
        return PARSREC_OK;
    dated *list = pr_alloc(count, sizeof *list);
    if (list == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        list[i] = (dated){times[order[i]], order[i]};
    qsort(list, count, sizeof *list, by_time);
    for (size_t i = 0; i < count; i++)
        order[i] = list[i].session;
    pr_free(list);
    return PARSREC_OK;
}

/* Fills b->session_from: sessions by user, then by time. */
static parsrec_status order_sessions(pr_assembly *b, const pr_gather *g, parsrec_error *err)
{
    b->session_from = pr_alloc(g->sessions, sizeof *b->session_from);
    int64_t *next = pr_alloc(b->users, sizeof *next);
    if (b->session_from == NULL || next == NULL) {
        pr_free(next);
        return pr_fail_memory(err);
    }
    memcpy(next, b->user_offsets, b->users * sizeof *next);
    for (size_t s = 0; s < g->sessions; s++)
        b->session_from[next[g->session_user[s]]++] = (uint32_t)s;
    pr_free(next);
    for (size_t u = 0; u < b->users; u++) {
        size_t first = (size_t)b->user_offsets[u];
        PR_TRY(sort_user(b->session_from + first, (size_t)b->user_offsets[u + 1] - first,
                         g->session_time, err));
    }
    return PARSREC_OK;
}

/* ---- the actions of sessions ---- */

/* Each session is one run, and the runs are in the order of the sessions. */
static bool runs_in_order(const pr_gather *g)
{
    if (g->run_count != g->sessions)
        return false;
    for (size_t i = 0; i < g->run_count; i++)
        if (g->runs[i].session != i)
            return false;
    return true;
}

/* Copies the actions session by session. place_of[session] is its final number; NULL: the same. */
static parsrec_status move_actions(pr_assembly *b, const pr_gather *g, const uint32_t *place_of,
                                   parsrec_error *err)
{
    b->action_items = pr_alloc(g->actions, sizeof *b->action_items);
    if (b->action_items == NULL)
        return pr_fail_memory(err);
    /* Until they are moved, session_offsets[p + 1] says where the next action of place p goes. */
    for (size_t i = 0; i < g->run_count; i++) {
        size_t s = g->runs[i].session, p = place_of != NULL ? place_of[s] : s;
        if (p + 2 <= g->sessions)
            b->session_offsets[p + 2] += g->runs[i].count;
    }
    for (size_t p = 2; p <= g->sessions; p++)
        b->session_offsets[p] += b->session_offsets[p - 1];
    const int32_t *from = g->action_items;
    for (size_t i = 0; i < g->run_count; i++) {
        size_t s = g->runs[i].session, p = place_of != NULL ? place_of[s] : s;
        int64_t *next = &b->session_offsets[p + 1];
        memcpy(b->action_items + *next, from, g->runs[i].count * sizeof *from);
        *next += g->runs[i].count;
        from += g->runs[i].count;
    }
    return PARSREC_OK;
}

static parsrec_status move_sessions(pr_assembly *b, const pr_gather *g, parsrec_error *err)
{
    uint32_t *place_of = pr_alloc(g->sessions, sizeof *place_of);
    b->times = pr_alloc(g->sessions, sizeof *b->times);
    parsrec_status status;
    if (place_of == NULL || b->times == NULL) {
        status = pr_fail_memory(err);
    } else {
        for (size_t p = 0; p < g->sessions; p++) {
            place_of[b->session_from[p]] = (uint32_t)p;
            b->times[p] = g->session_time[b->session_from[p]];
        }
        status = move_actions(b, g, place_of, err);
    }
    pr_free(place_of);
    return status;
}

parsrec_status pr_assembly_make(pr_assembly *b, pr_gather *g, size_t users, size_t items,
                                parsrec_error *err)
{
    *b = (pr_assembly){
        .users = users, .items = items, .sessions = g->sessions, .actions = g->actions};
    b->user_offsets = pr_alloc_zero(b->users + 1, sizeof *b->user_offsets);
    if (b->user_offsets == NULL)
        return pr_fail_memory(err);
    for (size_t s = 0; s < g->sessions; s++)
        b->user_offsets[g->session_user[s] + 1]++;
    for (size_t u = 0; u < b->users; u++)
        b->user_offsets[u + 1] += b->user_offsets[u];
    b->session_offsets = pr_alloc_zero(b->sessions + 1, sizeof *b->session_offsets);
    if (b->session_offsets == NULL)
        return pr_fail_memory(err);
    if (!sessions_in_order(g)) {
        PR_TRY(order_sessions(b, g, err));
        PR_TRY(move_sessions(b, g, err));
    } else {
        if (runs_in_order(g)) {
            for (size_t i = 0; i < g->run_count; i++)
                b->session_offsets[i + 1] = b->session_offsets[i] + g->runs[i].count;
            b->action_items = g->action_items;
            g->action_items = NULL;
        } else {
            PR_TRY(move_actions(b, g, NULL, err));
        }
        b->times = g->session_time;
        g->session_time = NULL;
    }
    pr_free(g->action_items);
    pr_free(g->runs);
    pr_free(g->session_user);
    pr_free(g->session_time);
    g->action_items = NULL;
    g->runs = NULL;
    g->session_user = NULL;
    g->session_time = NULL;
    return PARSREC_OK;
}

/* ---- rules ---- */

void pr_assembly_join(pr_assembly *b, parsrec_session_rule rule, int64_t gap)
{
    assert(b->actions == b->sessions); /* one action per session */
    assert(b->times != NULL || b->sessions == 0);
    size_t kept = 0;
    for (size_t u = 0; u < b->users; u++) {
        size_t first = (size_t)b->user_offsets[u], end = (size_t)b->user_offsets[u + 1];
        b->user_offsets[u] = (int64_t)kept;
        int64_t before = 0;
        for (size_t s = first; s < end; s++) {
            int64_t time = b->times[s];
            bool joins =
                s > first && (rule == PARSREC_SESSION_GAP
                                  ? time - before <= gap
                                  : pr_time_period(time, rule) == pr_time_period(before, rule));
            if (!joins) {
                b->times[kept] = time;
                b->session_offsets[kept++] = b->session_offsets[s];
            }
            before = time;
        }
    }
    b->user_offsets[b->users] = (int64_t)kept;
    b->session_offsets[kept] = (int64_t)b->actions;
    b->sessions = kept;
    pr_free(b->session_from); /* a joined session comes from several */
    b->session_from = NULL;
}

parsrec_status pr_assembly_unique(pr_assembly *b, uint64_t *dropped, parsrec_error *err)
{
    /* seen[item] is the last session that had it, + 1: linear for any size of basket. */
    uint32_t *seen = pr_alloc_zero(b->items, sizeof *seen);
    if (seen == NULL)
        return pr_fail_memory(err);
    size_t kept = 0, at = 0;
    for (size_t s = 0; s < b->sessions; s++) {
        size_t end = (size_t)b->session_offsets[s + 1];
        for (; at < end; at++) {
            int32_t item = b->action_items[at];
            if (seen[item] != s + 1)
                b->action_items[kept++] = item;
            seen[item] = (uint32_t)(s + 1);
        }
        b->session_offsets[s + 1] = (int64_t)kept;
    }
    *dropped = b->actions - kept;
    b->actions = kept;
    pr_free(seen);
    return PARSREC_OK;
}

/* ---- dropping rare users and items ---- */

/* Users and items as nodes of one list: users first, item i is node users + i. */
typedef struct filter {
    pr_assembly *b;
    uint64_t least;
    uint64_t *count; /* [nodes]: actions left */
    bool *dropped;   /* [nodes] */
    uint32_t *queue; /* nodes to drop, each once; a round drops what the one before it queued */
    size_t queued;
    int64_t *item_offsets; /* [items + 1] into item_users */
    uint32_t *item_users;  /* [actions]: for each item, the users of its actions */
} filter;

static size_t first_action(const pr_assembly *b, size_t user)
{
    return (size_t)b->session_offsets[b->user_offsets[user]];
}

static parsrec_status make_filter(filter *f, pr_assembly *b, uint64_t least, parsrec_error *err)
{
    size_t nodes = b->users + b->items;
    *f = (filter){.b = b, .least = least};
    f->count = pr_alloc_zero(nodes, sizeof *f->count);
    f->dropped = pr_alloc_zero(nodes, sizeof *f->dropped);
    f->queue = pr_alloc(nodes, sizeof *f->queue);
    f->item_offsets = pr_alloc_zero(b->items + 1, sizeof *f->item_offsets);
    f->item_users = pr_alloc(b->actions, sizeof *f->item_users);
    if (f->count == NULL || f->dropped == NULL || f->queue == NULL || f->item_offsets == NULL ||
        f->item_users == NULL)
        return pr_fail_memory(err);
    return PARSREC_OK;
}

/* Counts the actions of every node and lists the users of each item. */
static void count_actions(filter *f)
{
    const pr_assembly *b = f->b;
    for (size_t a = 0; a < b->actions; a++)
        f->item_offsets[b->action_items[a] + 1]++;
    for (size_t i = 0; i < b->items; i++) {
        f->count[b->users + i] = (uint64_t)f->item_offsets[i + 1];
        f->item_offsets[i + 1] += f->item_offsets[i];
    }
    for (size_t u = 0; u < b->users; u++) {
        size_t end = first_action(b, u + 1);
        f->count[u] = end - first_action(b, u);
        for (size_t a = first_action(b, u); a < end; a++)
            f->item_users[f->item_offsets[b->action_items[a]]++] = (uint32_t)u;
    }
    for (size_t i = b->items; i > 0; i--) /* the offsets are at the ends now */
        f->item_offsets[i] = f->item_offsets[i - 1];
    f->item_offsets[0] = 0;
}

/* A node has one action less; it is queued when that leaves it with too few. */
static void lose_action(filter *f, size_t node)
{
    if (!f->dropped[node] && f->count[node]-- == f->least)
        f->queue[f->queued++] = (uint32_t)node;
}

static void drop_node(filter *f, size_t node)
{
    const pr_assembly *b = f->b;
    if (node < b->users) {
        for (size_t a = first_action(b, node); a < first_action(b, node + 1); a++)
            lose_action(f, b->users + (size_t)b->action_items[a]);
    } else {
        size_t item = node - b->users;
        for (int64_t a = f->item_offsets[item]; a < f->item_offsets[item + 1]; a++)
            lose_action(f, f->item_users[a]);
    }
}

/* Returns the number of rounds. */
static uint64_t drop_until_stable(filter *f)
{
    uint64_t rounds = 0;
    for (size_t n = 0; n < f->b->users + f->b->items; n++)
        if (f->count[n] < f->least)
            f->queue[f->queued++] = (uint32_t)n;
    for (size_t first = 0; first < f->queued; rounds++) {
        size_t end = f->queued;
        for (size_t i = first; i < end; i++)
            f->dropped[f->queue[i]] = true;
        for (; first < end; first++)
            drop_node(f, f->queue[first]);
    }
    return rounds;
}

/* from[new number] = old number of the nodes that stay; *kept says how many. */
static uint32_t *list_kept(const bool *dropped, size_t count, size_t *kept)
{
    uint32_t *from = pr_alloc(count, sizeof *from);
    *kept = 0;
    for (size_t i = 0; from != NULL && i < count; i++)
        if (!dropped[i])
            from[(*kept)++] = (uint32_t)i;
    return from;
}

/* Moves the remaining sessions and actions of one user to the front. *sessions and *actions are where
 * the next ones go. */
static void keep_user(pr_assembly *b, const filter *f, size_t user, const int32_t *new_item,
                      size_t *sessions, size_t *actions)
{
    for (int64_t s = b->user_offsets[user]; s < b->user_offsets[user + 1]; s++) {
        size_t before = *actions;
        int64_t first = b->session_offsets[s], end = b->session_offsets[s + 1];
        for (int64_t a = first; a < end; a++)
            if (!f->dropped[f->b->users + (size_t)b->action_items[a]])
                b->action_items[(*actions)++] = new_item[b->action_items[a]];
        if (*actions == before)
            continue;
        b->times[*sessions] = b->times[s];
        if (b->session_from != NULL)
            b->session_from[*sessions] = b->session_from[s];
        b->session_offsets[(*sessions)++] = (int64_t)before;
    }
}

/* Makes session_from explicit, because compact changes the numbers of sessions. */
static parsrec_status number_sessions(pr_assembly *b, parsrec_error *err)
{
    if (b->session_from != NULL)
        return PARSREC_OK;
    b->session_from = pr_alloc(b->sessions, sizeof *b->session_from);
    if (b->session_from == NULL)
        return pr_fail_memory(err);
    for (size_t s = 0; s < b->sessions; s++)
        b->session_from[s] = (uint32_t)s;
    return PARSREC_OK;
}

static parsrec_status compact(filter *f, parsrec_error *err)
{
    pr_assembly *b = f->b;
    size_t users, items, sessions = 0, actions = 0;
    PR_TRY(number_sessions(b, err));
    b->user_from = list_kept(f->dropped, b->users, &users);
    b->item_from = list_kept(f->dropped + b->users, b->items, &items);
    int32_t *new_item = pr_alloc(b->items, sizeof *new_item);
    if (b->user_from == NULL || b->item_from == NULL || new_item == NULL) {
        pr_free(new_item);
        return pr_fail_memory(err);
    }
    for (size_t i = 0; i < items; i++)
        new_item[b->item_from[i]] = (int32_t)i;
    for (size_t u = 0; u < users; u++) {
        size_t begin = sessions;
        keep_user(b, f, b->user_from[u], new_item, &sessions, &actions);
        b->user_offsets[u] = (int64_t)begin;
    }
    b->user_offsets[users] = (int64_t)sessions;
    b->session_offsets[sessions] = (int64_t)actions;
    b->users = users;
    b->items = items;
    b->sessions = sessions;
    b->actions = actions;
    pr_free(new_item);
    return PARSREC_OK;
}

parsrec_status pr_assembly_filter(pr_assembly *b, uint64_t least, parsrec_import_report *report,
                                  parsrec_error *err)
{
    filter f;
    pr_assembly before = *b;
    parsrec_status status;
    PR_TRY_GOTO(make_filter(&f, b, least, err));
    count_actions(&f);
    report->filter_rounds = drop_until_stable(&f);
    if (f.queued > 0)
        PR_TRY_GOTO(compact(&f, err));
    report->filtered_users = before.users - b->users;
    report->filtered_items = before.items - b->items;
    report->filtered_actions = before.actions - b->actions;
done:
    pr_free(f.count);
    pr_free(f.dropped);
    pr_free(f.queue);
    pr_free(f.item_offsets);
    pr_free(f.item_users);
    return status;
}
