/* Recommendation for the public: a request is checked, its filters become marks, and the model ranks
 * what they leave. */
#include <string.h>

#include "api/loaded.h"
#include "base/memory.h"

enum { DEFAULT_BASKET = 256 };

parsrec_request parsrec_request_default(void)
{
    return (parsrec_request){.user = PARSREC_GUEST, .k = 10};
}

const char *parsrec_source_name(parsrec_source source)
{
    return source == PARSREC_SOURCE_MODEL ? "model" : "anyone";
}

/* ---- scratch ---- */

parsrec_status parsrec_scratch_new(parsrec_scratch **out, const parsrec_model *model,
                                   size_t basket_most, parsrec_error *err)
{
    if (out == NULL || model == NULL || basket_most > PARSREC_BASKET_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_scratch_new needs out, a model and a basket of at most %d items",
                       PARSREC_BASKET_MOST);
    *out = NULL;
    parsrec_scratch *own = pr_alloc_zero(1, sizeof *own);
    if (own == NULL)
        return pr_fail_memory(err);
    own->model = model;
    own->marks = pr_alloc(model->file.data->categories, sizeof *own->marks);
    parsrec_status status = own->marks == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK)
        status = pr_recommender_init(&own->recommender, model->file.model,
                                     basket_most > 0 ? basket_most : DEFAULT_BASKET, err);
    if (status == PARSREC_OK)
        *out = own;
    else
        parsrec_scratch_free(own);
    return status;
}

void parsrec_scratch_free(parsrec_scratch *scratch)
{
    if (scratch == NULL)
        return;
    pr_recommender_free(&scratch->recommender);
    pr_reasons_free(&scratch->reasons);
    for (size_t i = 0; i < PR_REQUEST_LISTS; i++)
        pr_free(scratch->lists[i].list);
    pr_free(scratch->hits);
    pr_free(scratch->whys);
    pr_free(scratch->text);
    pr_free(scratch->marks);
    pr_free(scratch);
}

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

static parsrec_status check_request(const parsrec_model *model, const parsrec_scratch *own,
                                    const parsrec_request *r, parsrec_error *err)
{
    size_t users = model->pasts.users, items = model->file.data->items;
    size_t categories = model->file.data->categories, most = own->recommender.session->capacity;
    if (r->user != PARSREC_GUEST && (r->user < 0 || (size_t)r->user >= users))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "user %d is neither PARSREC_GUEST nor below the model's %zu", (int)r->user,
                       users);
    if (r->k == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "k is 0; ask for at least one item");
    if (r->basket.count > most)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "the basket has %zu items, at most %zu are allowed here; send the newest",
                       r->basket.count, most);
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
            own->recommender.barred[i] = PR_BARRED;
    }
}

static void bar_items(parsrec_scratch *own, const parsrec_request *r)
{
    uint8_t *barred = own->recommender.barred;
    pr_recommender_clear(&own->recommender);
    if (r->only.count > 0) {
        memset(barred, PR_BARRED, own->model->file.data->items);
        for (size_t i = 0; i < r->only.count; i++)
            barred[r->only.list[i]] = 0;
    }
    for (size_t i = 0; i < r->exclude.count; i++)
        barred[r->exclude.list[i]] = PR_BARRED;
    bar_categories(own, &r->categories, false);
    bar_categories(own, &r->exclude_categories, true);
}

parsrec_status pr_request_prepare(parsrec_scratch *own, const parsrec_request *request,
                                  parsrec_error *err)
{
    PR_TRY(check_request(own->model, own, request, err));
    bar_items(own, request);
    return PARSREC_OK;
}

/* ---- the answer ---- */

/* A user without a session was never trained on: that row holds what it began with. */
static bool has_own_row(const parsrec_model *model, int32_t user)
{
    const pr_dataset *data = model->file.data;
    return user >= 0 && (size_t)user < data->users &&
           data->user_offsets[user] < data->user_offsets[user + 1];
}

pr_start pr_request_start(const parsrec_model *model, const parsrec_request *r)
{
    pr_start start = {.user = has_own_row(model, r->user) ? r->user : PR_ANYONE};
    if (r->history != NULL)
        start.history = (pr_history){.items = r->history->list, .count = r->history->count};
    else if (r->user != PARSREC_GUEST)
        start.history = pr_past(&model->pasts, r->user);
    return start;
}

parsrec_status parsrec_recommend(const parsrec_model *model, parsrec_scratch *own,
                                 const parsrec_request *request, parsrec_hit *hits, size_t capacity,
                                 parsrec_answer *answer, parsrec_error *err)
{
    if (model == NULL || own == NULL || request == NULL || answer == NULL ||
        (hits == NULL && capacity > 0) || own->model != model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_recommend needs a model, a scratch made for it, a request and room "
                       "for the answer");
    PR_TRY(pr_request_prepare(own, request, err));
    pr_start start = pr_request_start(model, request);
    size_t wanted = request->k < capacity ? request->k : capacity;
    const pr_recommender *r = &own->recommender;
    *answer = (parsrec_answer){
        .count = pr_recommend(&own->recommender, &start, request->basket.list,
                              request->basket.count, wanted),
        .source = start.user == PR_ANYONE ? PARSREC_SOURCE_ANYONE : PARSREC_SOURCE_MODEL,
    };
    for (size_t i = 0; i < answer->count; i++)
        hits[i] = (parsrec_hit){r->best[i], (float)r->scores[r->best[i]]};
    return PARSREC_OK;
}
