/* Live pasts for the public: arguments are checked here, the pasts themselves are data/live_histories.h. */
#include "base/memory.h"
#include "recommend/answering.h"

/* The rows that a history vector is made of, where it is a sum or a mean of all. */
static pr_live_rows history_rows(const pr_model *model)
{
    const char *name = model->kind->history_table;
    const pr_config *config = &model->config;
    if (name == NULL || config->history == PR_HISTORY_DECAYED || config->history_length > 0)
        return (pr_live_rows){0};
    return (pr_live_rows){.table = pr_model_reals(model, name),
                          .width = pr_params_find(&model->params, name)->cols,
                          .mean = config->history == PR_HISTORY_MEAN};
}

parsrec_status parsrec_live_new(parsrec_live **out, const parsrec_model *model, parsrec_error *err)
{
    if (out == NULL || model == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_live_new needs out and a model");
    *out = NULL;
    parsrec_live *live = pr_alloc_zero(1, sizeof *live);
    if (live == NULL)
        return pr_fail_memory(err);
    live->model = model;
    pr_live_rows rows = history_rows(model->file.model);
    parsrec_status status = pr_live_new(&live->pasts, &model->pasts, &model->directory.users,
                                        model->file.data->items, &rows, err);
    if (status == PARSREC_OK)
        *out = live;
    else
        pr_free(live);
    return status;
}

void parsrec_live_free(parsrec_live *live)
{
    if (live == NULL)
        return;
    pr_live_free(live->pasts);
    pr_free(live);
}

/* ---- what happens ---- */

static parsrec_status check_user(const char *user, parsrec_error *err)
{
    size_t at;
    if (user[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the user has no key; a guest's basket is not kept");
    if (!pr_utf8_valid(user, strlen(user), &at))
        return pr_fail(err, PARSREC_E_ARGUMENT, "the user's key is not valid UTF-8");
    return PARSREC_OK;
}

/* Everything but the user's being there. */
static parsrec_status check_items(const parsrec_live *live, const char *user, const int32_t *items,
                                  size_t count, const char *call, parsrec_error *err)
{
    if (live == NULL || user == NULL || (items == NULL && count > 0) || count > PARSREC_BASKET_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s needs live pasts, a user and at most %d items",
                       call, PARSREC_BASKET_MOST);
    PR_TRY(check_user(user, err));
    size_t limit = live->model->file.data->items;
    for (size_t i = 0; i < count; i++)
        if (items[i] >= 0 && (size_t)items[i] >= limit)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "items[%zu] is %d, the model's numbers are below %zu", i, (int)items[i],
                           limit);
    return PARSREC_OK;
}

parsrec_status parsrec_live_add(parsrec_live *live, const char *user, const char *session,
                                const int32_t *items, size_t count, parsrec_error *err)
{
    PR_TRY(check_items(live, user, items, count, "parsrec_live_add", err));
    if (count == 0)
        return PARSREC_OK;
    return pr_live_add(live->pasts, pr_slice_of(user), session, items, count, err);
}

parsrec_status parsrec_live_cart(parsrec_live *live, const char *user, const char *session,
                                 const int32_t *items, size_t count, parsrec_error *err)
{
    PR_TRY(check_items(live, user, items, count, "parsrec_live_cart", err));
    if (count == 0)
        return PARSREC_OK;
    return pr_live_cart(live->pasts, pr_slice_of(user), session, items, count, err);
}

parsrec_status parsrec_live_forget(parsrec_live *live, const char *user, parsrec_error *err)
{
    if (live == NULL || user == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_live_forget needs live pasts and a user");
    return pr_live_forget(live->pasts, pr_slice_of(user), err);
}

parsrec_status parsrec_live_forget_hash(parsrec_live *live,
                                        const uint8_t secret[PARSREC_HASH_BYTES],
                                        const uint8_t hash[PARSREC_HASH_BYTES], parsrec_error *err)
{
    if (live == NULL || secret == NULL || hash == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_forget_hash needs live pasts, a secret and a hash");
    return pr_live_forget_hash(live->pasts, secret, hash, err);
}

bool parsrec_live_forgotten(const parsrec_live *live, const char *user)
{
    return live != NULL && user != NULL && pr_live_forgotten(live->pasts, pr_slice_of(user));
}

parsrec_status parsrec_live_find(const parsrec_live *live, const char *user, int32_t *number,
                                 parsrec_error *err)
{
    pr_excerpt hold;
    if (live == NULL || user == NULL || number == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_find needs live pasts, a user and a place for the number");
    if (!pr_live_find(live->pasts, pr_slice_of(user), number))
        return pr_fail(err, PARSREC_E_NOT_FOUND,
                       "there is no user %s; use a key of the data or of an event, or ask for a "
                       "guest",
                       pr_show(&hold, pr_slice_of(user)));
    return PARSREC_OK;
}

/* ---- what is recommended ---- */

parsrec_status parsrec_live_recommend(const parsrec_live *live, parsrec_scratch *own,
                                      const parsrec_request *request, parsrec_hit *hits,
                                      size_t capacity, parsrec_answer *answer, parsrec_error *err)
{
    if (live == NULL || own == NULL || request == NULL || answer == NULL ||
        (hits == NULL && capacity > 0) || own->model != live->model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_recommend needs live pasts, a scratch made for their model, a "
                       "request and room for the answer");
    own->live = live;
    return pr_answer_request(own, request, hits, capacity, answer, err);
}

parsrec_status parsrec_live_recommend_why(const parsrec_live *live, parsrec_scratch *own,
                                          const parsrec_request *request, const parsrec_hit *hits,
                                          size_t count, parsrec_why *whys, parsrec_error *err)
{
    if (live == NULL || own == NULL || request == NULL || own->model != live->model ||
        (count > 0 && (hits == NULL || whys == NULL)))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_recommend_why needs live pasts, a scratch made for their "
                       "model, a request, hits and room for their reasons");
    own->live = live;
    return pr_answer_why(own, request, hits, count, whys, err);
}

parsrec_status parsrec_live_recommend_json(const parsrec_live *live, parsrec_scratch *own,
                                           const char *request, size_t size, size_t default_k,
                                           const char **answer, parsrec_error *err)
{
    if (live == NULL || own == NULL || request == NULL || answer == NULL ||
        own->model != live->model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_recommend_json needs live pasts, a scratch made for their "
                       "model, a request and a place for the answer");
    own->live = live;
    return pr_answer_json(own, request, size, default_k, answer, err);
}
