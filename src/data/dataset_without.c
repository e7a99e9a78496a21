/* Every column copied row by row, without the rows that go. */
#include "data/dataset_without.h"

#include <string.h>

#include "base/memory.h"

void pr_pruned_free(pr_pruned *pruned)
{
    for (size_t i = 0; i < pruned->count; i++)
        pr_free(pruned->blocks[i]);
    pr_free(pruned->blocks);
    *pruned = (pr_pruned){0};
}

void *pr_pruned_keep(pr_pruned *p, size_t count, size_t size)
{
    if (pr_grow(&p->blocks, &p->capacity, p->count + 1, sizeof *p->blocks, NULL) != PARSREC_OK)
        return NULL;
    void *block = pr_alloc_zero(count, size);
    if (block != NULL)
        p->blocks[p->count++] = block;
    return block;
}

/* ---- users and their sessions ---- */

static parsrec_status copy_keys(pr_pruned *p, const pr_dataset *from, const bool *gone,
                                parsrec_error *err)
{
    const pr_names *keys = &from->user_keys;
    char *bytes = pr_pruned_keep(p, (size_t)keys->offsets[keys->count], 1);
    int64_t *offsets = pr_pruned_keep(p, from->users + 1, sizeof *offsets);
    if (bytes == NULL || offsets == NULL)
        return pr_fail_memory(err);
    size_t users = 0;
    for (size_t u = 0; u < from->users; u++) {
        if (gone[u])
            continue;
        pr_slice key = pr_name(keys, u);
        memcpy(bytes + offsets[users], key.bytes, key.size);
        offsets[users + 1] = offsets[users] + (int64_t)key.size;
        users++;
    }
    p->data.users = users;
    p->data.user_keys = (pr_names){bytes, offsets, users};
    return PARSREC_OK;
}

typedef struct columns {
    int64_t *user_offsets, *session_offsets, *times;
    int32_t *items;
    size_t users, sessions, actions;
} columns;

static void copy_sessions(columns *c, const pr_dataset *from, size_t user)
{
    for (int64_t s = from->user_offsets[user]; s < from->user_offsets[user + 1]; s++) {
        for (int64_t a = from->session_offsets[s]; a < from->session_offsets[s + 1]; a++)
            c->items[c->actions++] = from->action_items[a];
        if (from->times != NULL)
            c->times[c->sessions] = from->times[s];
        c->session_offsets[++c->sessions] = (int64_t)c->actions;
    }
    c->user_offsets[++c->users] = (int64_t)c->sessions;
}

static parsrec_status copy_actions(pr_pruned *p, const pr_dataset *from, const bool *gone,
                                   parsrec_error *err)
{
    columns c = {.user_offsets = pr_pruned_keep(p, from->users + 1, sizeof *c.user_offsets),
                 .session_offsets =
                     pr_pruned_keep(p, from->sessions + 1, sizeof *c.session_offsets),
                 .times = pr_pruned_keep(p, from->sessions, sizeof *c.times),
                 .items = pr_pruned_keep(p, from->actions, sizeof *c.items)};
    if (c.user_offsets == NULL || c.session_offsets == NULL || c.times == NULL || c.items == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < from->users; u++)
        if (!gone[u])
            copy_sessions(&c, from, u);
    p->data.sessions = c.sessions;
    p->data.actions = c.actions;
    p->data.user_offsets = c.user_offsets;
    p->data.session_offsets = c.session_offsets;
    p->data.times = from->times != NULL ? c.times : NULL;
    p->data.action_items = c.items;
    return PARSREC_OK;
}

/* ---- features ---- */

static parsrec_status copy_numbers(pr_pruned *p, pr_feature_column *f, const bool *gone,
                                   size_t rows, parsrec_error *err)
{
    float *number = pr_pruned_keep(p, rows, sizeof *number);
    size_t n = 0;
    if (number == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < rows; i++)
        if (!gone[i])
            number[n++] = f->number[i];
    f->number = number;
    return PARSREC_OK;
}

/* The values that are left keep their order and get new codes. */
static parsrec_status copy_codes(pr_pruned *p, pr_feature_column *f, const bool *gone, size_t rows,
                                 parsrec_error *err)
{
    size_t values = f->values.count, left = 0, n = 0;
    int32_t *code = pr_pruned_keep(p, rows, sizeof *code),
            *renamed = pr_pruned_keep(p, values, sizeof *renamed);
    int64_t *offsets = pr_pruned_keep(p, values + 1, sizeof *offsets);
    char *bytes = pr_pruned_keep(p, (size_t)f->values.offsets[values], 1);
    if (code == NULL || renamed == NULL || offsets == NULL || bytes == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < rows; i++)
        if (!gone[i] && f->code[i] >= 0)
            renamed[f->code[i]] = 1;
    for (size_t v = 0; v < values; v++) {
        pr_slice value = pr_name(&f->values, v);
        if (renamed[v] == 0)
            continue;
        memcpy(bytes + offsets[left], value.bytes, value.size);
        offsets[left + 1] = offsets[left] + (int64_t)value.size;
        renamed[v] = (int32_t)left++;
    }
    for (size_t i = 0; i < rows; i++)
        if (!gone[i])
            code[n++] = f->code[i] >= 0 ? renamed[f->code[i]] : -1;
    f->code = code;
    f->values = (pr_names){bytes, offsets, left};
    return PARSREC_OK;
}

static parsrec_status copy_features(pr_pruned *p, const pr_dataset *from, pr_feature_of table,
                                    const bool *gone, size_t rows, parsrec_error *err)
{
    size_t count = from->feature_count[table];
    pr_feature_column *features = pr_pruned_keep(p, count, sizeof *features);
    if (features == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        features[i] = from->features[table][i];
        PR_TRY(features[i].number != NULL ? copy_numbers(p, &features[i], gone, rows, err)
                                          : copy_codes(p, &features[i], gone, rows, err));
    }
    p->data.features[table] = features;
    return PARSREC_OK;
}

static parsrec_status copy_session_features(pr_pruned *p, const pr_dataset *from, const bool *gone,
                                            parsrec_error *err)
{
    bool *gone_sessions = pr_pruned_keep(p, from->sessions, sizeof *gone_sessions);
    if (gone_sessions == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < from->users; u++)
        for (int64_t s = from->user_offsets[u]; s < from->user_offsets[u + 1]; s++)
            gone_sessions[s] = gone[u];
    return copy_features(p, from, PR_OF_SESSION, gone_sessions, from->sessions, err);
}

parsrec_status pr_dataset_without(pr_pruned *out, const pr_dataset *from, const bool *gone,
                                  parsrec_error *err)
{
    *out = (pr_pruned){.data = *from};
    out->data.file = NULL;
    parsrec_status status = copy_keys(out, from, gone, err);
    if (status == PARSREC_OK)
        status = copy_actions(out, from, gone, err);
    if (status == PARSREC_OK)
        status = copy_features(out, from, PR_OF_USER, gone, from->users, err);
    if (status == PARSREC_OK)
        status = copy_session_features(out, from, gone, err);
    if (status != PARSREC_OK)
        pr_pruned_free(out);
    return status;
}
