/* First who is who, then the columns in the new order. */
#include "data/dataset_match.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

typedef struct match {
    pr_pruned *out;
    const pr_dataset *data, *onto;
    int32_t *item;         /* [items of data]: number in onto, or -1 */
    int32_t *order;        /* [users]: the user of data who comes there */
    int32_t *known_as;     /* [users]: the number in onto, or PR_ANYONE */
    int64_t *from_session; /* [sessions that are left]: the session of data */
    pr_match_facts *facts;
} match;

/* ---- the same already ---- */

static bool same_names(const pr_names *a, const pr_names *b)
{
    return a->count == b->count &&
           (a->count == 0 ||
            (a->offsets[a->count] == b->offsets[b->count] &&
             memcmp(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets) == 0 &&
             memcmp(a->bytes, b->bytes, (size_t)a->offsets[a->count]) == 0));
}

static bool same_columns(const pr_dataset *data, const pr_dataset *onto, pr_feature_of of)
{
    if (data->feature_count[of] < onto->feature_count[of])
        return false;
    for (size_t i = 0; i < onto->feature_count[of]; i++) {
        const pr_feature_column *a = &data->features[of][i], *b = &onto->features[of][i];
        if (strcmp(a->name, b->name) != 0 || (a->number == NULL) != (b->number == NULL) ||
            !same_names(&a->values, &b->values))
            return false;
    }
    return true;
}

static bool same(const pr_dataset *data, const pr_dataset *onto)
{
    return same_names(&data->user_keys, &onto->user_keys) &&
           same_names(&data->item_keys, &onto->item_keys) && same_columns(data, onto, PR_OF_USER) &&
           same_columns(data, onto, PR_OF_SESSION);
}

/* ---- who is who ---- */

static parsrec_status match_items(match *m, parsrec_error *err)
{
    pr_intern known = {0};
    m->item = pr_pruned_keep(m->out, m->data->items, sizeof *m->item);
    parsrec_status status =
        m->item != NULL ? pr_intern_load(&known, &m->onto->item_keys, err) : pr_fail_memory(err);
    for (size_t i = 0; status == PARSREC_OK && i < m->data->items; i++) {
        uint32_t number;
        bool found = pr_intern_find(&known, pr_name(&m->data->item_keys, i), &number);
        m->item[i] = found ? (int32_t)number : -1;
        m->facts->unknown_items += !found;
    }
    pr_intern_free(&known);
    if (status == PARSREC_OK && m->facts->unknown_items == m->data->items)
        return pr_fail(
            err, PARSREC_E_INPUT,
            "none of the %zu items of the data set is in the model's catalogue; pass data "
            "of the shop that the model was trained on",
            m->data->items);
    return status;
}

static parsrec_status match_users(match *m, parsrec_error *err)
{
    size_t users = m->data->users, placed = 0;
    pr_intern here = {0};
    m->order = pr_pruned_keep(m->out, users, sizeof *m->order);
    m->known_as = pr_pruned_keep(m->out, users, sizeof *m->known_as);
    bool *taken = pr_pruned_keep(m->out, users, sizeof *taken);
    if (m->order == NULL || m->known_as == NULL || taken == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_intern_load(&here, &m->data->user_keys, err);
    for (size_t u = 0; status == PARSREC_OK && u < m->onto->users; u++) {
        uint32_t number;
        if (!pr_intern_find(&here, pr_name(&m->onto->user_keys, u), &number))
            continue;
        m->known_as[placed] = (int32_t)u;
        m->order[placed++] = (int32_t)number;
        taken[number] = true;
    }
    pr_intern_free(&here);
    m->facts->unknown_users = users - placed;
    for (size_t u = 0; status == PARSREC_OK && u < users; u++) {
        if (taken[u])
            continue;
        m->known_as[placed] = PR_ANYONE;
        m->order[placed++] = (int32_t)u;
    }
    return status;
}

/* ---- columns ---- */

static parsrec_status copy_keys(match *m, parsrec_error *err)
{
    const pr_names *keys = &m->data->user_keys;
    char *bytes = pr_pruned_keep(m->out, (size_t)keys->offsets[keys->count], 1);
    int64_t *offsets = pr_pruned_keep(m->out, keys->count + 1, sizeof *offsets);
    if (bytes == NULL || offsets == NULL)
        return pr_fail_memory(err);
    for (size_t u = 0; u < keys->count; u++) {
        pr_slice key = pr_name(keys, (size_t)m->order[u]);
        memcpy(bytes + offsets[u], key.bytes, key.size);
        offsets[u + 1] = offsets[u] + (int64_t)key.size;
    }
    m->out->data.user_keys = (pr_names){bytes, offsets, keys->count};
    return PARSREC_OK;
}

static parsrec_status copy_sessions(match *m, parsrec_error *err)
{
    const pr_dataset *from = m->data;
    pr_dataset *to = &m->out->data;
    int64_t *user_offsets = pr_pruned_keep(m->out, from->users + 1, sizeof *user_offsets);
    int64_t *session_offsets = pr_pruned_keep(m->out, from->sessions + 1, sizeof *session_offsets);
    int64_t *times = pr_pruned_keep(m->out, from->sessions, sizeof *times);
    int32_t *items = pr_pruned_keep(m->out, from->actions, sizeof *items);
    m->from_session = pr_pruned_keep(m->out, from->sessions, sizeof *m->from_session);
    if (user_offsets == NULL || session_offsets == NULL || times == NULL || items == NULL ||
        m->from_session == NULL)
        return pr_fail_memory(err);
    size_t sessions = 0, actions = 0;
    for (size_t u = 0; u < from->users; u++) {
        size_t user = (size_t)m->order[u];
        for (int64_t s = from->user_offsets[user]; s < from->user_offsets[user + 1]; s++) {
            size_t before = actions;
            for (int64_t a = from->session_offsets[s]; a < from->session_offsets[s + 1]; a++)
                if (m->item[from->action_items[a]] >= 0)
                    items[actions++] = m->item[from->action_items[a]];
            if (actions == before)
                continue;
            m->from_session[sessions] = s;
            times[sessions] = from->times != NULL ? from->times[s] : 0;
            session_offsets[++sessions] = (int64_t)actions;
        }
        user_offsets[u + 1] = (int64_t)sessions;
    }
    m->facts->lost_sessions = from->sessions - sessions;
    m->facts->unknown_actions = from->actions - actions;
    to->sessions = sessions;
    to->actions = actions;
    to->user_offsets = user_offsets;
    to->session_offsets = session_offsets;
    to->action_items = items;
    to->times = from->times != NULL ? times : NULL;
    return PARSREC_OK;
}

/* The row of data that a row of the result comes from. */
static size_t source_row(const match *m, pr_feature_of of, size_t row)
{
    return of == PR_OF_USER ? (size_t)m->order[row] : (size_t)m->from_session[row];
}

static size_t row_count(const match *m, pr_feature_of of)
{
    return of == PR_OF_USER ? m->data->users : m->out->data.sessions;
}

/* Fills a column from one of data, or with nothing known where `from` is NULL. Codes go through `code`
 * ([values], NULL: as they are). */
static parsrec_status fill_column(match *m, pr_feature_column *to, pr_feature_of of,
                                  const pr_feature_column *from, const int32_t *code,
                                  parsrec_error *err)
{
    size_t rows = row_count(m, of);
    float *numbers = pr_pruned_keep(m->out, rows, sizeof *numbers);
    int32_t *codes = pr_pruned_keep(m->out, rows, sizeof *codes);
    if (numbers == NULL || codes == NULL)
        return pr_fail_memory(err);
    bool number = to->number != NULL;
    for (size_t r = 0; r < rows; r++) {
        size_t row = source_row(m, of, r);
        int32_t was = from != NULL && !number ? from->code[row] : -1;
        numbers[r] = from != NULL && number ? from->number[row] : NAN;
        codes[r] = was >= 0 && code != NULL ? code[was] : was;
    }
    to->number = number ? numbers : NULL;
    to->code = number ? NULL : codes;
    return PARSREC_OK;
}

static const pr_feature_column *column_named(const pr_dataset *d, pr_feature_of of,
                                             const char *name)
{
    for (size_t i = 0; i < d->feature_count[of]; i++)
        if (strcmp(d->features[of][i].name, name) == 0)
            return &d->features[of][i];
    return NULL;
}

/* A column as the other has it, with the rows of data. */
static parsrec_status known_column(match *m, pr_feature_column *to, pr_feature_of of,
                                   parsrec_error *err)
{
    const pr_feature_column *from = column_named(m->data, of, to->name);
    pr_intern values = {0};
    if (from == NULL || (from->number == NULL) != (to->number == NULL))
        return fill_column(m, to, of, NULL, NULL, err);
    if (from->number != NULL)
        return fill_column(m, to, of, from, NULL, err);
    int32_t *code = pr_pruned_keep(m->out, from->values.count, sizeof *code);
    if (code == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_intern_load(&values, &to->values, err);
    for (size_t v = 0; status == PARSREC_OK && v < from->values.count; v++) {
        uint32_t number;
        bool found = pr_intern_find(&values, pr_name(&from->values, v), &number);
        code[v] = found ? (int32_t)number : -1;
    }
    pr_intern_free(&values);
    return status == PARSREC_OK ? fill_column(m, to, of, from, code, err) : status;
}

static parsrec_status copy_columns(match *m, pr_feature_of of, parsrec_error *err)
{
    size_t known = m->onto->feature_count[of], own = m->data->feature_count[of], count = known;
    pr_feature_column *columns = pr_pruned_keep(m->out, known + own, sizeof *columns);
    if (columns == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < known; i++) {
        columns[i] = m->onto->features[of][i];
        PR_TRY(known_column(m, &columns[i], of, err));
    }
    for (size_t i = 0; i < own; i++) {
        const pr_feature_column *from = &m->data->features[of][i];
        if (column_named(m->onto, of, from->name) != NULL)
            continue;
        columns[count] = *from;
        PR_TRY(fill_column(m, &columns[count++], of, from, NULL, err));
    }
    m->out->data.features[of] = columns;
    m->out->data.feature_count[of] = count;
    return PARSREC_OK;
}

/* ---- all of it ---- */

static parsrec_status match_all(match *m, parsrec_error *err)
{
    PR_TRY(match_items(m, err));
    PR_TRY(match_users(m, err));
    PR_TRY(copy_keys(m, err));
    PR_TRY(copy_sessions(m, err));
    PR_TRY(copy_columns(m, PR_OF_USER, err));
    return copy_columns(m, PR_OF_SESSION, err);
}

parsrec_status pr_dataset_match(pr_pruned *out, pr_match_facts *facts, const pr_dataset *data,
                                const pr_dataset *onto, parsrec_error *err)
{
    *facts = (pr_match_facts){.same = same(data, onto)};
    *out = (pr_pruned){.data = *data};
    if (facts->same)
        return PARSREC_OK;
    match m = {.out = out, .data = data, .onto = onto, .facts = facts};
    out->data = *onto; /* for its catalogue */
    out->data.users = data->users;
    out->data.time_kind = data->time_kind;
    out->data.source = data->source;
    out->data.events = data->events;
    out->data.file = NULL;
    out->data.checksum = pr_dataset_checksum(data);
    parsrec_status status = match_all(&m, err);
    out->data.known_as = m.known_as;
    out->data.known_users = onto->users;
    if (status != PARSREC_OK)
        pr_pruned_free(out);
    return status;
}

char *pr_match_sentence(const pr_match_facts *f, const pr_dataset *data, char *buffer, size_t size)
{
    char users[120] = "", items[200] = "";
    if (f->unknown_users > 0)
        snprintf(users, sizeof users,
                 "%zu of %zu users are new to the model and served as unknown users",
                 f->unknown_users, data->users);
    if (f->unknown_items > 0)
        snprintf(
            items, sizeof items,
            "%zu of %zu items (%zu of %zu actions) are not in its catalogue and are left out%s",
            f->unknown_items, data->items, f->unknown_actions, data->actions,
            f->lost_sessions > 0 ? ", with sessions that have no other item" : "");
    const char *between = users[0] != '\0' && items[0] != '\0' ? "; " : "";
    if (size > 0)
        buffer[0] = '\0';
    if (users[0] != '\0' || items[0] != '\0')
        snprintf(buffer, size, "the data set is not the one the model was trained on: %s%s%s",
                 users, between, items);
    return buffer;
}
