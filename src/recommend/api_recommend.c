/* Recommendation for the public: who asks, from what source the answer comes, and the answer. */
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "math/topk.h"
#include "recommend/answering.h"

enum { DEFAULT_BASKET = 256 };

parsrec_request parsrec_request_default(void)
{
    return (parsrec_request){.user = PARSREC_GUEST, .k = 10};
}

const char *parsrec_source_name(parsrec_source source)
{
    switch (source) {
    case PARSREC_SOURCE_MODEL:
        return "model";
    case PARSREC_SOURCE_ANYONE:
        return "anyone";
    case PARSREC_SOURCE_POPULAR:
        return "popular";
    }
    return "";
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
    own->shown = pr_alloc(model->file.data->categories, sizeof *own->shown);
    parsrec_status status =
        own->marks == NULL || own->shown == NULL ? pr_fail_memory(err) : PARSREC_OK;
    if (status == PARSREC_OK)
        status = pr_recommender_init(&own->recommender, model->file.model,
                                     basket_most > 0 ? basket_most : DEFAULT_BASKET, err);
    if (status == PARSREC_OK)
        *out = own;
    else
        parsrec_scratch_free(own);
    return status;
}

void parsrec_scratch_limit(parsrec_scratch *scratch, size_t k_most)
{
    if (scratch != NULL)
        scratch->k_most = k_most;
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
    pr_writer_free(&scratch->text);
    pr_free(scratch->session);
    pr_free(scratch->unknown);
    pr_free(scratch->marks);
    pr_free(scratch->shown);
    pr_history_copy_free(&scratch->past);
    pr_given_free(&scratch->given);
    pr_free(scratch->features);
    pr_free(scratch);
}

/* ---- who asks ---- */

/* A user without a session was never trained on: that row holds what it began with. */
static bool has_own_row(const parsrec_model *model, int32_t user)
{
    const pr_dataset *data = model->file.data;
    return user >= 0 && (size_t)user < data->users &&
           data->user_offsets[user] < data->user_offsets[user + 1];
}

static parsrec_source source_of(const parsrec_model *model, const parsrec_request *r,
                                const pr_start *start)
{
    bool nothing = start->user == PR_ANYONE && start->history.count == 0 && r->basket.count == 0;
    if (nothing || model->file.model->kind->popular)
        return PARSREC_SOURCE_POPULAR;
    return start->user == PR_ANYONE ? PARSREC_SOURCE_ANYONE : PARSREC_SOURCE_MODEL;
}

/* A user's number, whether there is a row, and the state of the past say all. */
static uint64_t alike(int32_t user, bool own_row, uint64_t stamp)
{
    uint64_t who[2] = {(uint64_t)(uint32_t)user << 1 | own_row, stamp};
    return XXH3_64bits(who, sizeof who) | 1;
}

parsrec_status pr_request_start(parsrec_scratch *own, const parsrec_request *r, pr_start *start,
                                parsrec_source *source, parsrec_error *err)
{
    const parsrec_model *model = own->model;
    bool own_row = has_own_row(model, r->user);
    uint64_t stamp = 1;
    *start = (pr_start){.user = PR_ANYONE};
    if (own->live != NULL && r->user != PARSREC_GUEST) {
        PR_TRY(pr_live_past(own->live->pasts, r->user, r->session, &own->past, err));
        start->history = own->past.history;
        start->vector = own->past.has_vector ? own->past.vector : NULL;
        own_row = own_row && own->past.own_row;
        stamp = own->past.stamp;
    } else if (r->user != PARSREC_GUEST) {
        start->history = pr_user_history(&model->pasts, r->user);
    }
    if (own_row)
        start->user = r->user;
    bool forgotten = own->live != NULL && !own->past.own_row;
    if (r->user >= 0 && (size_t)r->user < model->file.data->users && !forgotten)
        start->features = pr_features_of_user(model->file.data, (size_t)r->user);
    bool usual = r->history == NULL && r->feature_count == 0;
    start->alike = usual ? alike(r->user, own_row, stamp) : 0;
    if (r->history != NULL) {
        start->history = (pr_history){.items = r->history->list, .count = r->history->count};
        start->vector = NULL;
    }
    *source = source_of(model, r, start);
    return pr_request_about(own, r, &start->features, err);
}

/* ---- the answer ---- */

/* What is bought most, of the items that are not barred. */
static size_t rank_popular(const parsrec_model *model, pr_recommender *r, size_t k)
{
    size_t items = model->file.data->items;
    for (size_t i = 0; i < items; i++)
        r->scores[i] = r->barred[i] != 0 ? -(pr_real)INFINITY : model->popularity[i];
    return pr_topk(r->best, r->scores, items, k < items ? k : items);
}

/* Of the best `found`, those that the limit lets through; stops at `wanted`. */
static size_t thin_out(parsrec_scratch *own, size_t found, size_t wanted, size_t limit)
{
    const pr_dataset *data = own->model->file.data;
    int32_t *best = own->recommender.best;
    size_t kept = 0;
    memset(own->shown, 0, data->categories * sizeof *own->shown);
    for (size_t i = 0; i < found && kept < wanted; i++) {
        int32_t c = data->item_category != NULL ? data->item_category[best[i]] : -1;
        if (c < 0 || own->shown[c]++ < limit)
            best[kept++] = best[i];
    }
    return kept;
}

/* At most `limit` of one category. How many of the best that takes shows as we go. */
static size_t spread(parsrec_scratch *own, bool popular, size_t found, size_t wanted, size_t limit)
{
    pr_recommender *r = &own->recommender;
    size_t items = own->model->file.data->items, asked = wanted, kept;
    while ((kept = thin_out(own, found, wanted, limit)) < wanted && found == asked &&
           asked < items) {
        asked = asked > items / 4 ? items : 4 * asked;
        found = popular ? rank_popular(own->model, r, asked) : pr_recommend_more(r, asked);
    }
    return kept;
}

parsrec_status pr_answer_request(parsrec_scratch *own, const parsrec_request *request,
                                 parsrec_hit *hits, size_t capacity, parsrec_answer *answer,
                                 parsrec_error *err)
{
    pr_start start;
    pr_recommender *r = &own->recommender;
    PR_TRY(pr_request_prepare(own, request, err));
    PR_TRY(pr_request_start(own, request, &start, &answer->source, err));
    size_t wanted = request->k < capacity ? request->k : capacity;
    bool popular = pr_counts_answer(own->model, answer->source);
    if (popular)
        answer->count = rank_popular(own->model, r, wanted);
    else
        answer->count =
            pr_recommend(r, &start, request->basket.list, request->basket.count, wanted);
    if (request->max_per_category > 0)
        answer->count = spread(own, popular, answer->count, wanted, request->max_per_category);
    for (size_t i = 0; i < answer->count; i++)
        hits[i] = (parsrec_hit){r->best[i], (float)r->scores[r->best[i]]};
    return PARSREC_OK;
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
    own->live = NULL;
    return pr_answer_request(own, request, hits, capacity, answer, err);
}
