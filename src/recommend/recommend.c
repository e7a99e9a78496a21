/* From a request to its hits: scratch, who asks, from what source the answer comes, ranking. */
#include "recommend/recommend.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/xxh3.h"
#include "math/topk.h"

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

const char *parsrec_when_name(parsrec_when when)
{
    static const char *const names[] = {"none", "request", "now", "data"};
    return (size_t)when < sizeof names / sizeof *names ? names[when] : "";
}

/* ---- scratch ---- */

parsrec_status pr_recommender_init(pr_recommender *r, const pr_model *model, size_t capacity,
                                   parsrec_error *err)
{
    *r = (pr_recommender){0};
    PR_TRY(pr_scorer_new(&r->scorer, model, 1, capacity, err));
    r->scores = pr_alloc_aligned(model->items, sizeof *r->scores);
    r->best = pr_alloc(model->items, sizeof *r->best);
    r->barred = pr_alloc_zero(model->items, sizeof *r->barred);
    if (r->scores != NULL && r->best != NULL && r->barred != NULL)
        return PARSREC_OK;
    pr_recommender_free(r);
    return pr_fail_memory(err);
}

void pr_recommender_free(pr_recommender *r)
{
    pr_scorer_free(r->scorer);
    pr_free_aligned(r->scores);
    pr_free(r->best);
    pr_free(r->barred);
    *r = (pr_recommender){0};
}

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
    own->listed = pr_alloc(model->file.data->categories, sizeof *own->listed);
    own->shown = pr_alloc(model->file.data->categories, sizeof *own->shown);
    parsrec_status status =
        own->listed == NULL || own->shown == NULL ? pr_fail_memory(err) : PARSREC_OK;
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
    for (size_t i = 0; i < PR_REQUEST_FIELDS; i++)
        pr_free(scratch->lists[i].list);
    pr_free(scratch->hits);
    pr_free(scratch->whys);
    pr_writer_free(&scratch->text);
    pr_writer_free(&scratch->user);
    pr_writer_free(&scratch->unknown);
    pr_writer_free(&scratch->ambiguous);
    pr_free(scratch->session);
    pr_free(scratch->listed);
    pr_free(scratch->shown);
    pr_history_copy_free(&scratch->past);
    pr_given_features_free(&scratch->given);
    pr_free(scratch->features);
    pr_free(scratch);
}

/* ---- who asks ---- */

bool pr_has_own_row(const parsrec_model *model, int32_t user)
{
    const pr_dataset *data = model->file.data;
    return user >= 0 && (size_t)user < data->users &&
           data->user_offsets[user] < data->user_offsets[user + 1];
}

/* Sets the time of the basket. Without one in the request it is the last date in the data or in the
 * user's history, whichever is later. Without dates in the data there is none. */
static void set_time(parsrec_answer *answer, pr_history *history, const pr_histories *all,
                     const int64_t *given)
{
    size_t n = history->session_count;
    int64_t newest = history->times != NULL && n > 0 ? history->times[n - 1] : PR_NO_TIME;
    answer->when = all->last_time == PR_NO_TIME ? PARSREC_WHEN_NONE
                   : given != NULL              ? PARSREC_WHEN_REQUEST
                                                : PARSREC_WHEN_DATA;
    history->now = answer->when == PARSREC_WHEN_NONE ? PR_NO_TIME
                   : given != NULL                   ? *given
                   : newest > all->last_time         ? newest
                                                     : all->last_time;
    answer->time = answer->when == PARSREC_WHEN_NONE ? PARSREC_UNDATED : history->now;
    if (answer->when == PARSREC_WHEN_REQUEST && history->now == PR_NO_TIME)
        history->now++; /* the first second of 1970 stands for an unknown time */
}

parsrec_status pr_request_start(parsrec_scratch *own, const parsrec_request *r, pr_start *start,
                                parsrec_answer *answer, parsrec_error *err)
{
    const parsrec_model *model = own->model;
    bool own_row = pr_has_own_row(model, r->user), forgotten = false;
    assert(r->user == PARSREC_GUEST || r->user >= 0); /* checked by pr_request_prepare */
    uint64_t stamp = model->pasts.stamp;
    *start = (pr_start){.user = PR_ANYONE};
    if (r->live != NULL && r->user != PARSREC_GUEST) {
        PR_TRY(pr_live_history(r->live->pasts, r->user, r->session, &own->past, err));
        start->history = own->past.history;
        start->vector = own->past.has_vector ? own->past.vector : NULL;
        forgotten = !own->past.own_row;
        own_row = own_row && !forgotten;
        stamp = own->past.stamp;
    } else if (r->user != PARSREC_GUEST) {
        start->history = pr_user_history(&model->pasts, r->user);
    }
    if (own_row)
        start->user = r->user;
    if (r->user >= 0 && (size_t)r->user < model->file.data->users && !forgotten)
        start->features = pr_features_of_user(model->file.data, (size_t)r->user);
    if (r->history != NULL) {
        start->history = (pr_history){.items = r->history->list, .count = r->history->count};
        start->vector = NULL;
    }
    set_time(answer, &start->history, &model->pasts, r->time);
    /* A name for the start, under which the model may reuse what it computed (pr_start.alike). The
     * user's number, whether the user has a row, the state of the history and the time determine
     * the start, unless the request brings a history or features of its own. A name is never 0. */
    if (r->history == NULL && r->feature_count == 0) {
        uint64_t who[3] = {(uint64_t)(uint32_t)r->user << 1 | own_row, stamp,
                           (uint64_t)answer->time};
        start->alike = XXH3_64bits(who, sizeof who) | 1;
    }
    bool nothing = start->user == PR_ANYONE && start->history.count == 0 && r->basket.count == 0;
    answer->source = nothing || model->file.model->kind->popular ? PARSREC_SOURCE_POPULAR
                     : start->user == PR_ANYONE                  ? PARSREC_SOURCE_ANYONE
                                                                 : PARSREC_SOURCE_MODEL;
    return pr_request_features(own, r, &start->features, err);
}

/* ---- ranking ---- */

/* The best k for the basket as it stands. */
static size_t rank_best(pr_recommender *r, size_t k)
{
    size_t items = r->scorer->model->items;
    return pr_scorer_best(r->scorer, r->barred, k < items ? k : items, r->best, r->scores);
}

size_t pr_recommend(pr_recommender *r, const pr_start *start, const int32_t *basket, size_t n,
                    size_t k)
{
    assert(n <= r->scorer->capacity);
    assert(n == 0 || (r->barred[basket[0]] & PR_MASK_PLACED) == 0);
    pr_scorer_start(r->scorer, start, 1);
    for (size_t i = 0; i < n; i++)
        if (pr_mark_placed(r->barred, basket[i]))
            pr_scorer_place(r->scorer, &basket[i]);
    return rank_best(r, k);
}

/* The best sellers among the items that are not barred. Best sellers answer for empty baskets only,
 * so there is nothing to place. */
static size_t rank_popular(const parsrec_model *model, pr_recommender *r, size_t k)
{
    size_t items = model->file.data->items;
    for (size_t i = 0; i < items; i++)
        r->scores[i] = r->barred[i] != 0 ? -(pr_real)INFINITY : model->popularity[i];
    return pr_topk(r->best, r->scores, items, k < items ? k : items);
}

/* Keeps, of the best `found` items, those within the limit per category, until there are `wanted`.
 * Items without a category have no limit. */
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

parsrec_status parsrec_recommend(const parsrec_model *model, parsrec_scratch *own,
                                 const parsrec_request *request, parsrec_hit *hits, size_t capacity,
                                 parsrec_answer *answer, parsrec_error *err)
{
    if (model == NULL || own == NULL || request == NULL || answer == NULL ||
        (hits == NULL && capacity > 0) || own->model != model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_recommend needs a model, a scratch made for it, a request and room "
                       "for the answer");
    pr_start start;
    pr_recommender *r = &own->recommender;
    PR_TRY(pr_request_prepare(own, request, err));
    PR_TRY(pr_request_start(own, request, &start, answer, err));
    size_t wanted = request->k < capacity ? request->k : capacity;
    bool popular = pr_counts_answer(model, answer->source);
    size_t found =
        popular ? rank_popular(model, r, wanted)
                : pr_recommend(r, &start, request->basket.list, request->basket.count, wanted);
    if (request->max_per_category > 0) {
        /* How many of the best items fill the answer is not known beforehand: ask for four times as
         * many until it is full or there are no more. */
        size_t items = model->file.data->items, asked = wanted, kept;
        while ((kept = thin_out(own, found, wanted, request->max_per_category)) < wanted &&
               found == asked && asked < items) {
            asked = asked > items / 4 ? items : 4 * asked;
            found = popular ? rank_popular(model, r, asked) : rank_best(r, asked);
        }
        found = kept;
    }
    answer->count = found;
    for (size_t i = 0; i < found; i++)
        hits[i] = (parsrec_hit){r->best[i], (float)r->scores[r->best[i]]};
    return PARSREC_OK;
}
