/* Before a request is answered: numbers within their limits, filters as marks on items. */
#include <string.h>

#include "recommend/answering.h"

/* ---- checks ---- */

static parsrec_status check_list(const parsrec_numbers *numbers, size_t limit, const char *name,
                                 parsrec_error *err)
{
    if (numbers->count > 0 && numbers->list == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: %zu numbers, but no list", name,
                       numbers->count);
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->list[i] < 0 || (size_t)numbers->list[i] >= limit)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "%s[%zu] is %d, the model's numbers are below %zu", name, i,
                           (int)numbers->list[i], limit);
    return PARSREC_OK;
}

static parsrec_status check_request(const parsrec_scratch *own, const parsrec_request *r,
                                    parsrec_error *err)
{
    const parsrec_model *model = own->model;
    size_t users = own->live != NULL ? pr_live_users(own->live->pasts) : model->pasts.users;
    size_t items = model->file.data->items;
    size_t categories = model->file.data->categories, most = own->recommender.session->capacity;
    if (r->user != PARSREC_GUEST && (r->user < 0 || (size_t)r->user >= users))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "user %d is neither PARSREC_GUEST nor below the model's %zu", (int)r->user,
                       users);
    if (r->k == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "k is 0; ask for at least one item");
    if (own->k_most > 0 && r->k > own->k_most)
        return pr_fail(err, PARSREC_E_LIMIT, "k is %zu, at most %zu are allowed here", r->k,
                       own->k_most);
    if (r->basket.count > most)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "the basket has %zu items, at most %zu are allowed here; send the newest",
                       r->basket.count, most);
    if (r->feature_count > 0 && r->features == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%zu features, but no list", r->feature_count);
    PR_TRY(check_list(&r->basket, items, "basket", err));
    PR_TRY(check_list(&r->exclude, items, "exclude", err));
    PR_TRY(check_list(&r->only, items, "only", err));
    PR_TRY(check_list(&r->categories, categories, "categories", err));
    PR_TRY(check_list(&r->exclude_categories, categories, "exclude_categories", err));
    return r->history != NULL ? check_list(r->history, items, "history", err) : PARSREC_OK;
}

/* ---- filters ---- */

/* Marks categories and all below them; parents stand before children. */
static void mark_categories(uint8_t *marks, const pr_dataset *data, const parsrec_numbers *listed)
{
    memset(marks, 0, data->categories);
    for (size_t i = 0; i < listed->count; i++)
        marks[listed->list[i]] = 1;
    for (size_t c = 0; c < data->categories; c++)
        if (data->category_parent[c] >= 0 && marks[data->category_parent[c]] != 0)
            marks[c] = 1;
}

/* Bars the items inside the marked categories, or those outside. */
static void bar_categories(parsrec_scratch *own, const parsrec_numbers *listed, bool inside)
{
    const pr_dataset *data = own->model->file.data;
    if (listed->count == 0)
        return;
    mark_categories(own->marks, data, listed);
    for (size_t i = 0; i < data->items; i++) {
        int32_t c = data->item_category[i];
        if ((c >= 0 && own->marks[c] != 0) == inside)
            own->recommender.barred[i] = PR_MASK_BARRED;
    }
}

static void bar_items(parsrec_scratch *own, const parsrec_request *r)
{
    uint8_t *barred = own->recommender.barred;
    pr_recommender_clear(&own->recommender);
    if (r->only.count > 0) {
        memset(barred, PR_MASK_BARRED, own->model->file.data->items);
        for (size_t i = 0; i < r->only.count; i++)
            barred[r->only.list[i]] = 0;
    }
    for (size_t i = 0; i < r->exclude.count; i++)
        barred[r->exclude.list[i]] = PR_MASK_BARRED;
    bar_categories(own, &r->categories, false);
    bar_categories(own, &r->exclude_categories, true);
}

parsrec_status pr_request_prepare(parsrec_scratch *own, const parsrec_request *request,
                                  parsrec_error *err)
{
    PR_TRY(check_request(own, request, err));
    bar_items(own, request);
    return PARSREC_OK;
}
