/* POST /v1/recommend, one request or a batch; and lookups: search for items and users, the history
 * of a user, the categories. */
#include <string.h>
#include <time.h>

#include "serve/routes.h"

/* ---- recommendation ---- */

/* Models count in days; within the same hour what was computed for a user serves again. */
enum {
    BATCH_MOST = 1000,
    BATCH_ITEMS_MOST = 100000,  /* a few bytes would ask for an answer of 300 MB, */
    BATCH_BYTES_MOST = 1 << 25, /* which reasons make as large with fewer items */
    ANSWER_KEPT = 1 << 20, /* a scratch with a longer one is freed; it was an unusual request */
    HOUR_SECONDS = 3600
};

/* The library asks whether the live histories have the events that a request wants to be seen. */
typedef struct sight {
    uint64_t seen, awaited;
} sight;

static parsrec_status check_seen(void *context, uint64_t number, parsrec_error *err)
{
    sight *s = context;
    if (number <= s->seen)
        return PARSREC_OK;
    s->awaited = number;
    return pr_fail(err, PARSREC_E_STOPPED, "event %llu is awaited", (unsigned long long)number);
}

void handle_recommend(app *a, const http_request *request, http_response *response)
{
    parsrec_error err = {0};
    parsrec_scratch *own;
    const char *answer;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    sight s = {.seen = atomic_load(&e->seen)};
    int64_t now = time(NULL) / HOUR_SECONDS * HOUR_SECONDS;
    parsrec_json_options options = {.live = e->live,
                                    .batch_most = BATCH_MOST,
                                    .batch_items_most = BATCH_ITEMS_MOST,
                                    .batch_bytes_most = BATCH_BYTES_MOST,
                                    .error_code = failure_code,
                                    .check_seen = check_seen,
                                    .context = &s,
                                    .now = &now};
    parsrec_status status = engine_borrow(e, &own, &err);
    if (status == PARSREC_OK) {
        status = parsrec_recommend_json(e->model, own, &options, request->body.bytes,
                                        request->body.size, &answer, &err);
        size_t size = status == PARSREC_OK ? strlen(answer) : 0;
        if (status == PARSREC_OK)
            answer_text(response, answer, size);
        if (size > ANSWER_KEPT)
            parsrec_scratch_free(own);
        else
            engine_give_back(e, own);
    }
    if (s.awaited > 0)
        response->awaits = s.awaited;
    else if (status != PARSREC_OK)
        answer_failure(response, &err);
    engine_drop(e);
}

/* ---- items, users, categories ---- */

enum { LIMIT_DEFAULT = 20, LIMIT_MOST = 1000, RECENT_BASKETS = 20 };

/* A whole number in a query field; the default if it is missing. False if it is not a number in the
 * range; the response then says so. */
static bool query_count(const http_request *request, const char *name, uint64_t low, uint64_t high,
                        uint64_t *value, http_response *response)
{
    const char *text = http_target_field(&request->target, name);
    uint64_t given = *value;
    if (text != NULL && (!pr_parse_u64(pr_slice_of(text), &given) || given < low || given > high)) {
        answer_error(response, 400, "bad_request", "%s must be a whole number from %llu to %llu.",
                     name, (unsigned long long)low, (unsigned long long)high);
        return false;
    }
    *value = given;
    return true;
}

engine *handler_engine(app *a, http_response *response)
{
    engine *e = engine_take(&a->engines);
    if (e == NULL) {
        answer_error(response, 503, "not_ready", "The model is being loaded; ask again soon.");
        response->retry_after = 1;
    }
    return e;
}

/* Answers with a text made by the library. */
static void finish(engine *e, parsrec_status status, char *text, const parsrec_error *err,
                   http_response *response)
{
    if (status == PARSREC_OK)
        answer_text(response, text, strlen(text));
    else
        answer_failure(response, err);
    parsrec_text_free(text);
    engine_drop(e);
}

static void search(app *a, const http_request *request, parsrec_thing thing,
                   http_response *response)
{
    uint64_t limit = LIMIT_DEFAULT;
    const char *text = http_target_field(&request->target, "q");
    parsrec_error err = {0};
    char *found = NULL;
    if (!query_count(request, "limit", 1, LIMIT_MOST, &limit, response))
        return;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    parsrec_status status = parsrec_live_search_json(&found, e->live, thing,
                                                     text != NULL ? text : "", (size_t)limit, &err);
    finish(e, status, found, &err, response);
}

void handle_items(app *a, const http_request *request, http_response *response)
{
    search(a, request, PARSREC_ITEM, response);
}

void handle_users(app *a, const http_request *request, http_response *response)
{
    search(a, request, PARSREC_USER, response);
}

void handle_user(app *a, const http_request *request, http_response *response)
{
    parsrec_error err = {0};
    char *text = NULL;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    parsrec_status status =
        parsrec_live_user_json(&text, e->live, request->target.segments[2], RECENT_BASKETS, &err);
    finish(e, status, text, &err, response);
}

/* ---- categories ---- */

void handle_categories(app *a, const http_request *request, http_response *response)
{
    char path[1024];
    (void)request;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    json_t *list = json_array();
    size_t count = parsrec_model_size(e->model, PARSREC_CATEGORY);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, pr_json_string(parsrec_model_category_path(e->model, (int32_t)i,
                                                                               path, sizeof path)));
    answer_json(response, 200, json_pack("{s:o}", "categories", list));
    engine_drop(e);
}
