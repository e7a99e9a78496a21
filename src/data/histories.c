/* Pasts out of another data set than the numbers come from. */
#include "data/histories.h"

#include "base/memory.h"

pr_histories pr_histories_of(const pr_dataset *data)
{
    return (pr_histories){data->users, data->user_offsets, data->session_offsets,
                          data->action_items, NULL};
}

void pr_histories_free(pr_histories *pasts)
{
    pr_free(pasts->block);
    *pasts = (pr_histories){0};
}

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
        c->session_offsets[++c->sessions] = (int64_t)c->actions;
    }
}

static parsrec_status copy_pasts(pr_histories *out, const match *m, const pr_dataset *data,
                                 parsrec_pasts_report *report, parsrec_error *err)
{
    size_t offsets = m->users + data->sessions + 2;
    columns c = {.user_offsets = pr_alloc(offsets + (data->actions + 1) / 2, sizeof(int64_t))};
    if (c.user_offsets == NULL)
        return pr_fail_memory(err);
    c.session_offsets = c.user_offsets + m->users + 1;
    c.items = (int32_t *)(void *)(c.user_offsets + offsets);
    c.user_offsets[0] = c.session_offsets[0] = 0;
    for (size_t u = 0; u < m->users; u++) {
        if (m->source[u] >= 0)
            copy_user(&c, m, data, m->source[u]);
        c.user_offsets[u + 1] = (int64_t)c.sessions;
    }
    report->unknown_actions = data->actions - c.actions;
    *out = (pr_histories){m->users, c.user_offsets, c.session_offsets, c.items, c.user_offsets};
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
        status = copy_pasts(out, &m, data, report, err);
    pr_free(m.source);
    pr_free(m.translate);
    return status;
}
