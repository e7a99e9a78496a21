/* Users and items with few actions, dropped until none is left: what remains is the largest set in
 * which everybody has enough. Every action is looked at twice, however long the chain of those who
 * fall because others fell. */
#include <string.h>

#include "base/memory.h"
#include "import/assembly.h"

/* Users and items as nodes of one list: users first, item i is node users + i. */
typedef struct filter {
    pr_assembly *b;
    uint64_t least;
    uint64_t *count; /* [nodes]: actions left */
    bool *dropped;   /* [nodes] */
    uint32_t *queue; /* every node once, in rounds */
    size_t queued;
    int64_t *item_offsets; /* [items + 1] into item_users */
    uint32_t *item_users;  /* [actions]: who took part in the actions of an item */
} filter;

static void free_filter(filter *f)
{
    pr_free(f->count);
    pr_free(f->dropped);
    pr_free(f->queue);
    pr_free(f->item_offsets);
    pr_free(f->item_users);
}

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
    for (size_t i = b->items; i > 0; i--) /* the offsets stand at the ends now */
        f->item_offsets[i] = f->item_offsets[i - 1];
    f->item_offsets[0] = 0;
}

/* One action of a node is gone; the node falls when too few are left. */
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

/* Moves what stays of one user's sessions to the front; `place` counts sessions and actions. */
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
    free_filter(&f);
    return status;
}
