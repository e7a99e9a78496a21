/* The sessions of all users as parameters. */
#include "model/counting/pasts.h"

#include <assert.h>

static size_t sessions_of(const pr_counted *from, size_t user)
{
    return (size_t)(pr_counted_end(from, user) - from->data->user_offsets[user]);
}

static size_t actions_of(const pr_counted *from, size_t user)
{
    const int64_t *ends = from->data->session_offsets;
    return (size_t)(ends[pr_counted_end(from, user)] - ends[from->data->user_offsets[user]]);
}

parsrec_status pr_pasts_layout(pr_model *model, parsrec_error *err)
{
    PR_TRY(pr_params_add_words(&model->params, "past.user", 1, model->users + 1, err));
    PR_TRY(pr_params_add_words(&model->params, "past.session", PR_ROWS_OPEN, 1, err));
    return pr_params_add_words(&model->params, "past.item", PR_ROWS_OPEN, 1, err);
}

static parsrec_status set_sizes(pr_model *model, size_t sessions, size_t actions,
                                parsrec_error *err)
{
    if (sessions >= UINT32_MAX || actions > UINT32_MAX)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the model '%s' holds at most 4,294,967,295 purchases; count fewer users "
                       "with --count-users",
                       model->kind->name);
    PR_TRY(pr_params_set_rows(&model->params, "past.session", sessions + 1, err));
    return pr_params_set_rows(&model->params, "past.item", actions, err);
}

parsrec_status pr_pasts_size(pr_model *model, const pr_counted *from, parsrec_error *err)
{
    size_t sessions = 0, actions = 0;
    for (size_t u = 0; u < model->users; u++) {
        sessions += sessions_of(from, u);
        actions += actions_of(from, u);
    }
    return set_sizes(model, sessions, actions, err);
}

void pr_pasts_fill(pr_model *model, const pr_counted *from)
{
    assert(from->data->users == model->users);
    const pr_dataset *data = from->data;
    uint32_t *user = pr_model_u32(model, "past.user");
    uint32_t *session = pr_model_u32(model, "past.session"),
             *item = pr_model_u32(model, "past.item");
    uint32_t s = 0, a = 0;
    for (size_t u = 0; u < model->users; u++) {
        user[u] = s;
        int64_t end = pr_counted_end(from, u);
        for (int64_t k = data->user_offsets[u]; k < end; k++) {
            session[s++] = a;
            for (int64_t i = data->session_offsets[k]; i < data->session_offsets[k + 1]; i++)
                item[a++] = (uint32_t)data->action_items[i];
        }
    }
    user[model->users] = s;
    session[s] = a;
}

parsrec_status pr_pasts_size_without(pr_model *model, const pr_model *from, const bool *gone,
                                     parsrec_error *err)
{
    pr_pasts old = pr_pasts_of(from);
    size_t sessions = 0, actions = 0;
    for (size_t u = 0; u < old.users; u++)
        if (!gone[u]) {
            sessions += old.user[u + 1] - old.user[u];
            actions += old.session[old.user[u + 1]] - old.session[old.user[u]];
        }
    return set_sizes(model, sessions, actions, err);
}

parsrec_status pr_pasts_fill_without(pr_model *model, const pr_model *from, const bool *gone,
                                     parsrec_error *err)
{
    (void)err;
    pr_pasts old = pr_pasts_of(from);
    uint32_t *user = pr_model_u32(model, "past.user");
    uint32_t *session = pr_model_u32(model, "past.session"),
             *item = pr_model_u32(model, "past.item");
    uint32_t n = 0, s = 0, a = 0;
    for (size_t u = 0; u < old.users; u++) {
        if (gone[u])
            continue;
        user[n++] = s;
        for (uint32_t k = old.user[u]; k < old.user[u + 1]; k++) {
            session[s++] = a;
            for (uint32_t i = old.session[k]; i < old.session[k + 1]; i++)
                item[a++] = (uint32_t)old.item[i];
        }
    }
    assert(n == model->users);
    user[n] = s;
    session[s] = a;
    return PARSREC_OK;
}

parsrec_status pr_pasts_verify(const pr_model *model, parsrec_error *err)
{
    size_t sessions = pr_params_find(&model->params, "past.session")->rows;
    size_t actions = pr_params_find(&model->params, "past.item")->rows;
    const uint32_t *user = pr_model_u32(model, "past.user");
    const uint32_t *session = pr_model_u32(model, "past.session"),
                   *item = pr_model_u32(model, "past.item");
    bool good = sessions > 0 && user[0] == 0 && user[model->users] == sessions - 1 &&
                session[0] == 0 && session[sessions - 1] == actions;
    for (size_t u = 0; u < model->users && good; u++)
        good = user[u] <= user[u + 1];
    for (size_t s = 0; s + 1 < sessions && good; s++)
        good = session[s] <= session[s + 1];
    for (size_t a = 0; a < actions && good; a++)
        good = item[a] < model->items;
    return good
               ? PARSREC_OK
               : pr_fail(err, PARSREC_E_FORMAT, "the past sessions do not fit the users and items");
}

pr_pasts pr_pasts_of(const pr_model *model)
{
    return (pr_pasts){.users = model->users,
                      .sessions = pr_params_find(&model->params, "past.session")->rows - 1,
                      .actions = pr_params_find(&model->params, "past.item")->rows,
                      .user = pr_model_u32(model, "past.user"),
                      .session = pr_model_u32(model, "past.session"),
                      .item = (const int32_t *)pr_model_u32(model, "past.item")};
}

pr_past pr_past_of_user(const pr_pasts *pasts, size_t user)
{
    assert(user < pasts->users);
    uint32_t first = pasts->user[user], end = pasts->user[user + 1];
    return (pr_past){.items = pasts->item + pasts->session[first],
                     .count = pasts->session[end] - pasts->session[first],
                     .sessions = end - first,
                     .narrow = pasts->session + first};
}

pr_past pr_past_of_history(const pr_history *history)
{
    return (pr_past){.items = history->items,
                     .count = history->count,
                     .sessions = history->sessions != NULL ? history->session_count
                                                           : (size_t)(history->count > 0),
                     .wide = history->sessions};
}
