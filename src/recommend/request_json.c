/* Requests as JSON; their answers are written by answer_text.c. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "recommend/answering.h"

/* ---- reading ---- */

static const struct {
    const char *key;
    parsrec_thing thing;
} lists[PR_REQUEST_LISTS] = {
    {"basket", PARSREC_ITEM},         {"exclude", PARSREC_ITEM},
    {"only", PARSREC_ITEM},           {"history", PARSREC_ITEM},
    {"categories", PARSREC_CATEGORY}, {"exclude_categories", PARSREC_CATEGORY},
};
enum { BASKET, EXCLUDE, ONLY, HISTORY, CATEGORIES, EXCLUDE_CATEGORIES };

#define KNOWN_FIELDS                                                                     \
    "user, basket, k, exclude, only, categories, exclude_categories, max_per_category, " \
    "history, features, explain, strict, session"

/* Keys that look like numbers often come as such. NULL for what is neither. */
static const char *word_of(const json_t *value, char *hold, size_t size)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (!json_is_integer(value))
        return NULL;
    snprintf(hold, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return hold;
}

/* Notes an item that the model does not know, as often as it comes: to look for it among the others would
 * take long for a long list. */
static parsrec_status note_unknown(parsrec_scratch *own, const json_t *value, parsrec_error *err)
{
    PR_TRY(pr_grow(&own->unknown, &own->unknown_capacity, own->unknown_count + 1,
                   sizeof *own->unknown, err));
    own->unknown[own->unknown_count++] = value;
    return PARSREC_OK;
}

/* A shop's catalogue moves on while a model stays: an item that it does not know is left out, and named in the
 * answer, unless the request is strict. A category that does not exist, or a list `only` of which nothing is
 * left, is a mistake always: to leave out a filter would let everything through. */
static parsrec_status read_list(parsrec_scratch *own, size_t which, const json_t *array,
                                parsrec_error *err)
{
    pr_number_list *out = &own->lists[which];
    const char *key = lists[which].key;
    bool lenient = !own->strict && lists[which].thing == PARSREC_ITEM;
    parsrec_error inner = {0};
    if (!json_is_array(array))
        return pr_fail(err, PARSREC_E_INPUT, "%s must be a list, such as [\"A\", \"B\"]", key);
    for (size_t i = 0; i < json_array_size(array); i++) {
        char hold[32];
        const json_t *value = json_array_get(array, i);
        const char *word = word_of(value, hold, sizeof hold);
        if (word == NULL)
            return pr_fail(err, PARSREC_E_INPUT, "%s[%zu] is neither text nor a whole number", key,
                           i);
        PR_TRY(pr_grow(&out->list, &out->capacity, out->count + 1, sizeof *out->list, err));
        parsrec_status status = parsrec_model_find(own->model, lists[which].thing, word,
                                                   &out->list[out->count], &inner);
        if (status == PARSREC_OK)
            out->count++;
        else if (lenient && status == PARSREC_E_NOT_FOUND)
            PR_TRY(note_unknown(own, value, err));
        else
            return pr_fail(err, inner.status, "%s: %s", key, inner.message);
    }
    if (which == ONLY && out->count == 0 && json_array_size(array) > 0)
        return pr_fail(err, inner.status, "%s: %s", key, inner.message);
    return PARSREC_OK;
}

/* An unknown user is served as anyone. */
static parsrec_status read_user(parsrec_request *r, const parsrec_scratch *own, const json_t *value,
                                parsrec_error *err)
{
    char hold[32];
    const char *word = word_of(value, hold, sizeof hold);
    if (word == NULL && !json_is_null(value))
        return pr_fail(err, PARSREC_E_INPUT,
                       "user must be text, or null for a guest; leave it out for a guest too");
    bool known = word != NULL;
    if (known && own->live != NULL)
        known = pr_live_find(own->live->pasts, pr_slice_of(word), &r->user);
    else if (known)
        known = parsrec_model_find(own->model, PARSREC_USER, word, &r->user, NULL) == PARSREC_OK;
    if (!known)
        r->user = PARSREC_GUEST;
    return PARSREC_OK;
}

static parsrec_status read_size(size_t *size, const char *key, const json_t *value,
                                parsrec_error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > INT_MAX)
        return pr_fail(err, PARSREC_E_INPUT, "%s must be a whole number from 1", key);
    *size = (size_t)json_integer_value(value);
    return PARSREC_OK;
}

/* Copied, because a number's digits are here for the moment only. */
static parsrec_status read_session(parsrec_request *r, parsrec_scratch *own, const json_t *value,
                                   parsrec_error *err)
{
    char hold[32];
    const char *word = word_of(value, hold, sizeof hold);
    if (own->live == NULL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "session has a meaning only where baskets are followed as they grow: with "
                       "parsrec serve; leave it out");
    if (word == NULL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "session must be text, the name under which the basket is sent as events");
    size_t size = strlen(word) + 1;
    PR_TRY(pr_grow(&own->session, &own->session_capacity, size, 1, err));
    r->session = memcpy(own->session, word, size);
    return PARSREC_OK;
}

/* Words and names live as long as the parsed request. */
static parsrec_status read_features(parsrec_request *r, parsrec_scratch *own, json_t *object,
                                    parsrec_error *err)
{
    if (!json_is_object(object))
        return pr_fail(err, PARSREC_E_INPUT,
                       "features must be an object, such as {\"weather\": \"rain\", \"hour\": 9}");
    PR_TRY(pr_grow(&own->features, &own->feature_capacity, json_object_size(object),
                   sizeof *own->features, err));
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        const json_t *value = json_object_iter_value(at);
        parsrec_feature *f = &own->features[r->feature_count];
        *f = (parsrec_feature){.name = json_object_iter_key(at), .number = (double)NAN};
        if (json_is_string(value))
            f->word = json_string_value(value);
        else if (json_is_number(value))
            f->number = json_number_value(value);
        else if (!json_is_null(value))
            return pr_fail(err, PARSREC_E_INPUT, "features: a value is text, a number or null");
        r->feature_count++;
    }
    r->features = own->features;
    return PARSREC_OK;
}

static parsrec_status read_flag(bool *flag, const char *key, const json_t *value,
                                parsrec_error *err)
{
    if (!json_is_boolean(value))
        return pr_fail(err, PARSREC_E_INPUT, "%s must be true or false", key);
    *flag = json_is_true(value);
    return PARSREC_OK;
}

static parsrec_status read_field(parsrec_request *r, parsrec_scratch *own, const char *key,
                                 json_t *value, parsrec_error *err)
{
    if (strcmp(key, "user") == 0)
        return read_user(r, own, value, err);
    if (strcmp(key, "k") == 0)
        return read_size(&r->k, key, value, err);
    if (strcmp(key, "max_per_category") == 0)
        return read_size(&r->max_per_category, key, value, err);
    if (strcmp(key, "session") == 0)
        return read_session(r, own, value, err);
    if (strcmp(key, "features") == 0)
        return read_features(r, own, value, err);
    if (strcmp(key, "explain") == 0)
        return read_flag(&own->explain, key, value, err);
    if (strcmp(key, "strict") == 0)
        return PARSREC_OK; /* read before all others */
    for (size_t i = 0; i < PR_REQUEST_LISTS; i++)
        if (strcmp(key, lists[i].key) == 0)
            return read_list(own, i, value, err);
    pr_excerpt hold;
    return pr_fail(err, PARSREC_E_INPUT, "there is no field %s; a request has: " KNOWN_FIELDS,
                   pr_show(&hold, pr_slice_of(key)));
}

static parsrec_status read_request(parsrec_request *r, parsrec_scratch *own, json_t *json,
                                   parsrec_error *err)
{
    if (!json_is_object(json))
        return pr_fail(err, PARSREC_E_INPUT,
                       "a request is an object, such as {\"user\": \"U\", \"basket\": [\"A\"]}");
    for (size_t i = 0; i < PR_REQUEST_LISTS; i++)
        own->lists[i].count = 0;
    own->explain = own->strict = false;
    own->unknown_count = 0;
    const json_t *strict = json_object_get(json, "strict");
    if (strict != NULL)
        PR_TRY(read_flag(&own->strict, "strict", strict, err));
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at))
        PR_TRY(read_field(r, own, json_object_iter_key(at), json_object_iter_value(at), err));
    return PARSREC_OK;
}

/* A session without a basket stands for that basket, as far as events have told of it. */
static parsrec_status read_open_basket(const parsrec_request *r, parsrec_scratch *own,
                                       const json_t *json, parsrec_error *err)
{
    pr_number_list *basket = &own->lists[BASKET];
    if (r->session == NULL || r->user == PARSREC_GUEST ||
        json_object_get(json, lists[BASKET].key) != NULL)
        return PARSREC_OK;
    assert(own->live != NULL);
    return pr_live_session(own->live->pasts, r->user, r->session,
                           own->recommender.session->capacity, &basket->list, &basket->capacity,
                           &basket->count, err);
}

/* The lists stay where they are and are looked at when all have been read: they grow meanwhile. */
static void attach_lists(parsrec_request *r, parsrec_numbers *history, const parsrec_scratch *own,
                         const json_t *json)
{
    parsrec_numbers *const places[PR_REQUEST_LISTS] = {
        &r->basket, &r->exclude, &r->only, history, &r->categories, &r->exclude_categories};
    for (size_t i = 0; i < PR_REQUEST_LISTS; i++)
        *places[i] = (parsrec_numbers){own->lists[i].list, own->lists[i].count};
    if (json_object_get(json, lists[HISTORY].key) != NULL)
        r->history = history;
}

/* ---- names as values ---- */

json_t *pr_name_json(parsrec_name name)
{
    return name.size > 0 ? json_stringn_nocheck(name.bytes, name.size) : json_null();
}

json_t *pr_category_json(const parsrec_model *model, int32_t item)
{
    char path[1024];
    int32_t category = parsrec_model_item_category(model, item);
    if (category < 0)
        return json_null();
    return pr_json_string(parsrec_model_category_path(model, category, path, sizeof path));
}

/* ---- the answer ---- */

static parsrec_status answer_parsed(parsrec_scratch *own, json_t *json, size_t default_k,
                                    parsrec_error *err)
{
    parsrec_request r = parsrec_request_default();
    parsrec_numbers history;
    parsrec_answer answer;
    r.k = default_k;
    PR_TRY(read_request(&r, own, json, err));
    PR_TRY(read_open_basket(&r, own, json, err));
    attach_lists(&r, &history, own, json);
    size_t items = own->model->file.data->items, most = r.k < items ? r.k : items;
    PR_TRY(pr_grow(&own->hits, &own->hit_capacity, most, sizeof *own->hits, err));
    if (own->explain) {
        PR_TRY(pr_grow(&own->whys, &own->why_capacity, most, sizeof *own->whys, err));
        PR_TRY(pr_answer_explained(own, &r, own->hits, most, own->whys, &answer, err));
    } else {
        PR_TRY(pr_answer_request(own, &r, own->hits, most, &answer, err));
    }
    return pr_answer_write(own, json_object_get(json, "user"), &r, &answer, err);
}

parsrec_status pr_answer_json(parsrec_scratch *own, const char *request, size_t size,
                              size_t default_k, const char **answer, parsrec_error *err)
{
    json_t *json;
    parsrec_error why = {0};
    *answer = NULL;
    parsrec_status status = pr_json_parse(&json, request, size, "request", &why);
    if (status == PARSREC_E_FORMAT)
        return pr_fail(err, PARSREC_E_INPUT, "%s", why.message);
    if (status != PARSREC_OK)
        return pr_fail(err, status, "%s", why.message);
    status = answer_parsed(own, json, default_k, err);
    json_decref(json);
    *answer = status == PARSREC_OK ? own->text.text : NULL;
    return status;
}

parsrec_status parsrec_recommend_json(const parsrec_model *model, parsrec_scratch *own,
                                      const char *request, size_t size, size_t default_k,
                                      const char **answer, parsrec_error *err)
{
    if (model == NULL || own == NULL || request == NULL || answer == NULL || own->model != model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_recommend_json needs a model, a scratch made for it, a request and "
                       "a place for the answer");
    own->live = NULL;
    return pr_answer_json(own, request, size, default_k, answer, err);
}
