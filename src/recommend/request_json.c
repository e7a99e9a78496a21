/* Requests as JSON text, one or a batch. The table below lists the fields of a request once:
 * parsing, the message about unknown fields and the lists in the scratch all follow it. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "base/json.h"
#include "base/memory.h"
#include "recommend/recommend.h"

/* A request being read. Texts live as long as the parsed JSON or the scratch. */
typedef struct reading {
    parsrec_scratch *own;
    parsrec_request request;
    int64_t time;            /* request.time points here where the field is given */
    parsrec_numbers history; /* request.history points here where the field is given */
    bool explain;
    bool strict;       /* an item that the model does not know is a mistake */
    bool accepts_seen; /* the caller checks which events have been seen */
} reading;

typedef struct field {
    const char *key;
    parsrec_status (*read)(reading *in, const struct field *f, json_t *value, parsrec_error *err);
    size_t offset;       /* in struct reading; for lists, sizes and flags */
    parsrec_thing thing; /* what a list has: items or categories */
    bool whitelist;      /* only what is listed may be recommended; it must not become empty */
} field;

static parsrec_status read_user(reading *, const field *, json_t *, parsrec_error *);
static parsrec_status read_list(reading *, const field *, json_t *, parsrec_error *);
static parsrec_status read_size(reading *, const field *, json_t *, parsrec_error *);
static parsrec_status read_features(reading *, const field *, json_t *, parsrec_error *);
static parsrec_status read_flag(reading *, const field *, json_t *, parsrec_error *);
static parsrec_status read_session(reading *, const field *, json_t *, parsrec_error *);
static parsrec_status read_seen(reading *, const field *, json_t *, parsrec_error *);
static parsrec_status read_time(reading *, const field *, json_t *, parsrec_error *);

/* In this order the message about an unknown field names them. */
enum {
    USER,
    BASKET,
    K,
    EXCLUDE,
    ONLY,
    CATEGORIES,
    EXCLUDE_CATEGORIES,
    MAX_PER_CATEGORY,
    HISTORY,
    FEATURES,
    EXPLAIN,
    STRICT,
    SESSION,
    SEEN,
    TIME,
    FIELDS
};
static_assert((int)FIELDS == (int)PR_REQUEST_FIELDS, "the scratch has a list for every field");

#define LIST(member, of) .read = read_list, .offset = offsetof(reading, member), .thing = (of)
#define SIZE(member)     .read = read_size, .offset = offsetof(reading, member)
#define FLAG(member)     .read = read_flag, .offset = offsetof(reading, member)
static const field fields[FIELDS] = {
    [USER] = {"user", .read = read_user},
    [BASKET] = {"basket", LIST(request.basket, PARSREC_ITEM)},
    [K] = {"k", SIZE(request.k)},
    [EXCLUDE] = {"exclude", LIST(request.exclude, PARSREC_ITEM)},
    [ONLY] = {"only", LIST(request.only, PARSREC_ITEM), .whitelist = true},
    [CATEGORIES] = {"categories", LIST(request.categories, PARSREC_CATEGORY)},
    [EXCLUDE_CATEGORIES] = {"exclude_categories",
                            LIST(request.exclude_categories, PARSREC_CATEGORY)},
    [MAX_PER_CATEGORY] = {"max_per_category", SIZE(request.max_per_category)},
    [HISTORY] = {"history", LIST(history, PARSREC_ITEM)},
    [FEATURES] = {"features", .read = read_features},
    [EXPLAIN] = {"explain", FLAG(explain)},
    [STRICT] = {"strict", FLAG(strict)},
    [SESSION] = {"session", .read = read_session},
    [SEEN] = {"seen", .read = read_seen},
    [TIME] = {"time", .read = read_time},
};

/* The member of *in that the field sets. */
static void *member(reading *in, const field *f)
{
    return (char *)in + f->offset;
}

/* ---- the fields ---- */

/* A key as text, in `hold` if it was sent as a number: keys that look like numbers often are. NULL
 * if it is neither text nor a whole number. */
static const char *word_of(const json_t *value, char *hold, size_t size)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (!json_is_integer(value))
        return NULL;
    snprintf(hold, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return hold;
}

/* A key as the request has it, text or a whole number. */
static void write_key(pr_writer *w, const json_t *key)
{
    if (json_is_string(key))
        pr_write_quoted(w, json_string_value(key), json_string_length(key));
    else
        pr_write(w, "%" JSON_INTEGER_FORMAT, json_integer_value(key));
}

/* A shop's catalogue changes while a model stays: an item that the model does not know, or a name that several
 * items have, is left out, and listed in the answer as often as it occurs, unless the request is strict. A category that
 * does not exist, or a list `only` of which nothing is left, is always a mistake, because an empty
 * filter lets everything pass. */
static parsrec_status read_list(reading *in, const field *f, json_t *array, parsrec_error *err)
{
    parsrec_scratch *own = in->own;
    pr_number_list *out = &own->lists[f - fields];
    const json_t *left_out = NULL;
    /* The sentence about an unknown item suggests others, for which the whole catalogue is searched. Nobody
     * reads it where the item is left out. */
    bool lenient = f->thing == PARSREC_ITEM && !in->strict;
    parsrec_error inner = {0};
    char hold[32];
    if (!json_is_array(array))
        return pr_fail(err, PARSREC_E_INPUT, "%s must be a list, such as [\"A\", \"B\"]", f->key);
    out->given = true;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        const char *word = word_of(value, hold, sizeof hold);
        if (word == NULL)
            return pr_fail(err, PARSREC_E_INPUT, "%s[%zu] is neither text nor a whole number",
                           f->key, i);
        PR_TRY(pr_grow(&out->list, &out->capacity, out->count + 1, sizeof *out->list, err));
        parsrec_status status = parsrec_model_find(own->model, f->thing, word,
                                                   &out->list[out->count], lenient ? NULL : &inner);
        if (status == PARSREC_OK) {
            out->count++;
        } else if (status == PARSREC_E_NOT_FOUND && lenient) {
            left_out = value;
            pr_answer_leave_out(own, word, json_is_integer(value) ? word : NULL);
        } else {
            return pr_fail(err, status, "%s: %s", f->key, inner.message);
        }
    }
    if (f->whitelist && out->count == 0 && left_out != NULL) {
        int32_t none;
        parsrec_status status = parsrec_model_find(
            own->model, f->thing, word_of(left_out, hold, sizeof hold), &none, &inner);
        assert(status != PARSREC_OK); /* as before */
        return pr_fail(err, status, "%s: %s", f->key, inner.message);
    }
    return PARSREC_OK;
}

/* An unknown user is served as a guest. */
static parsrec_status read_user(reading *in, const field *f, json_t *value, parsrec_error *err)
{
    char hold[32];
    parsrec_request *r = &in->request;
    const char *word = word_of(value, hold, sizeof hold);
    if (word == NULL && !json_is_null(value))
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s must be text, or null for a guest; leave it out for a guest too",
                       f->key);
    if (word == NULL)
        return PARSREC_OK;
    write_key(&in->own->user, value);
    bool known = r->live != NULL ? pr_live_find(r->live->pasts, pr_slice_of(word), &r->user)
                                 : parsrec_model_find(in->own->model, PARSREC_USER, word, &r->user,
                                                      NULL) == PARSREC_OK;
    if (!known)
        r->user = PARSREC_GUEST;
    return PARSREC_OK;
}

static parsrec_status read_size(reading *in, const field *f, json_t *value, parsrec_error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > INT_MAX)
        return pr_fail(err, PARSREC_E_INPUT, "%s must be a whole number from 1 to %d", f->key,
                       INT_MAX);
    *(size_t *)member(in, f) = (size_t)json_integer_value(value);
    return PARSREC_OK;
}

static parsrec_status read_flag(reading *in, const field *f, json_t *value, parsrec_error *err)
{
    if (!json_is_boolean(value))
        return pr_fail(err, PARSREC_E_INPUT, "%s must be true or false", f->key);
    *(bool *)member(in, f) = json_is_true(value);
    return PARSREC_OK;
}

/* The name is copied, because the digits of a number are local to this function. */
static parsrec_status read_session(reading *in, const field *f, json_t *value, parsrec_error *err)
{
    char hold[32];
    parsrec_scratch *own = in->own;
    const char *word = word_of(value, hold, sizeof hold);
    if (in->request.live == NULL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s has a meaning only where baskets are followed as they grow: with "
                       "parsrec serve; leave it out",
                       f->key);
    if (word == NULL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s must be text, the name under which the basket is sent as events",
                       f->key);
    pr_slice name = pr_key_trim(pr_slice_of(word)); /* as for events */
    PR_TRY(pr_grow(&own->session, &own->session_capacity, name.size + 1, 1, err));
    memcpy(own->session, name.bytes, name.size);
    own->session[name.size] = '\0';
    in->request.session = own->session;
    return PARSREC_OK;
}

/* Only checks the value: wait_for_seen has passed its number on. */
static parsrec_status read_seen(reading *in, const field *f, json_t *value, parsrec_error *err)
{
    if (!in->accepts_seen)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s has a meaning only where events are followed: with parsrec serve; leave "
                       "it out",
                       f->key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s must be a whole number, as in the answer to an event", f->key);
    return PARSREC_OK;
}

static parsrec_status read_time(reading *in, const field *f, json_t *value, parsrec_error *err)
{
    if (json_is_null(value))
        return PARSREC_OK;
    if (!pr_json_date(value, &in->time))
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s must be seconds or milliseconds since 1970, or a text such as "
                       "2010-03-02T13:08:00Z",
                       f->key);
    in->request.time = &in->time;
    return PARSREC_OK;
}

static parsrec_status read_features(reading *in, const field *f, json_t *object, parsrec_error *err)
{
    parsrec_scratch *own = in->own;
    if (!json_is_object(object))
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s must be an object, such as {\"weather\": \"rain\", \"hour\": 9}",
                       f->key);
    PR_TRY(pr_grow(&own->features, &own->feature_capacity, json_object_size(object),
                   sizeof *own->features, err));
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        const json_t *value = json_object_iter_value(at);
        parsrec_feature *feature = &own->features[in->request.feature_count];
        *feature = (parsrec_feature){.name = json_object_iter_key(at), .number = (double)NAN};
        if (json_is_string(value))
            feature->word = json_string_value(value);
        else if (json_is_number(value))
            feature->number = json_number_value(value);
        else if (!json_is_null(value))
            return pr_fail(err, PARSREC_E_INPUT, "%s: a value is text, a number or null", f->key);
        in->request.feature_count++;
    }
    in->request.features = own->features;
    return PARSREC_OK;
}

/* ---- one request ---- */

static parsrec_status fail_unknown_field(const char *key, parsrec_error *err)
{
    char known[320];
    size_t used = 0;
    pr_excerpt hold;
    for (size_t i = 0; i < FIELDS; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 fields[i].key);
    assert(used < sizeof known);
    return pr_fail(err, PARSREC_E_INPUT, "there is no field %s; a request has: %s",
                   pr_show(&hold, pr_slice_of(key)), known);
}

static parsrec_status read_request(reading *in, json_t *json, parsrec_error *err)
{
    parsrec_scratch *own = in->own;
    parsrec_request *r = &in->request;
    if (!json_is_object(json))
        return pr_fail(err, PARSREC_E_INPUT,
                       "a request is an object, such as {\"user\": \"U\", \"basket\": [\"A\"]}");
    for (size_t i = 0; i < FIELDS; i++) {
        own->lists[i].count = 0;
        own->lists[i].given = false;
    }
    pr_answer_restart(own);
    json_t *strict = json_object_get(json, fields[STRICT].key); /* before the lists it is about */
    if (strict != NULL)
        PR_TRY(read_flag(in, &fields[STRICT], strict, err));
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (i < FIELDS && strcmp(key, fields[i].key) != 0)
            i++;
        if (i == FIELDS)
            return fail_unknown_field(key, err);
        PR_TRY(fields[i].read(in, &fields[i], json_object_iter_value(at), err));
    }
    if (r->session != NULL && own->user.size == 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "session is the name of a user's basket and says nothing without user; name "
                       "the user, or leave it out for a guest");
    /* A session without a basket means its open basket, as far as events have reported it. */
    pr_number_list *basket = &own->lists[BASKET];
    if (r->session != NULL && r->user != PARSREC_GUEST && !basket->given)
        PR_TRY(pr_live_session(r->live->pasts, r->user, r->session,
                               own->recommender.scorer->capacity, &basket->list, &basket->capacity,
                               &basket->count, err));
    /* Lists move as they grow, so the request points to them only now. */
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].read == read_list)
            *(parsrec_numbers *)member(in, &fields[i]) =
                (parsrec_numbers){own->lists[i].list, own->lists[i].count};
    if (own->lists[HISTORY].given)
        r->history = &in->history;
    return own->user.failed || own->unknown.failed || own->ambiguous.failed ? pr_fail_memory(err)
                                                                            : PARSREC_OK;
}

/* Whether options.now can be the time of a request. Not if it is further from the last date than
 * the data are long: no model of them has seen such a gap. */
static bool can_use_now(const pr_histories *pasts, const int64_t *now)
{
    return now != NULL && pasts->last_time != PR_NO_TIME &&
           *now - pasts->last_time <= pasts->last_time - pasts->first_time;
}

/* Appends the answer to own->text; nothing if it fails, except when out of memory. */
static parsrec_status answer_one(parsrec_scratch *own, const parsrec_json_options *options,
                                 json_t *json, parsrec_error *err)
{
    reading in = {.own = own,
                  .request = parsrec_request_default(),
                  .accepts_seen = options->check_seen != NULL};
    parsrec_request *r = &in.request;
    parsrec_answer answer;
    r->k = options->k > 0 ? options->k : r->k;
    r->live = options->live;
    PR_TRY(read_request(&in, json, err));
    bool now = r->time == NULL && can_use_now(&own->model->pasts, options->now);
    if (now)
        r->time = options->now;
    size_t items = own->model->file.data->items, most = r->k < items ? r->k : items;
    PR_TRY(pr_grow(&own->hits, &own->hit_capacity, most, sizeof *own->hits, err));
    if (in.explain) {
        PR_TRY(pr_grow(&own->whys, &own->why_capacity, most, sizeof *own->whys, err));
        PR_TRY(pr_recommend_explained(own, r, own->hits, most, own->whys, &answer, err));
    } else {
        PR_TRY(parsrec_recommend(own->model, own, r, own->hits, most, &answer, err));
    }
    if (now)
        answer.when = PARSREC_WHEN_NOW;
    pr_answer_write(own, r, &answer, own->hits, in.explain ? own->whys : NULL);
    return own->text.failed ? pr_fail_memory(err) : PARSREC_OK;
}

/* ---- batches ---- */

static void write_error(pr_writer *w, const char *code, const char *message)
{
    size_t size = strlen(message), cut;
    if (!pr_utf8_valid(message, size, &cut))
        size = cut; /* a long message may end within a character */
    pr_write(w, "{\"error\":{\"code\":");
    pr_write_quoted(w, code, strlen(code));
    pr_write(w, ",\"message\":");
    pr_write_quoted(w, message, size);
    pr_write(w, "}}");
}

/* How many items the requests ask for together, where the catalogue has as many. */
static size_t items_asked(const parsrec_scratch *own, const parsrec_json_options *options,
                          const json_t *requests)
{
    size_t items = own->model->file.data->items, sum = 0;
    for (size_t i = 0; i < json_array_size(requests); i++) {
        size_t k = options->k > 0 ? options->k : parsrec_request_default().k;
        json_int_t given =
            json_integer_value(json_object_get(json_array_get(requests, i), fields[K].key));
        if (given > 0)
            k = (size_t)given;
        sum += k < items ? k : items;
    }
    return sum;
}

/* {"answers":[...]}: a request that fails does not affect the others. */
static parsrec_status answer_batch(parsrec_scratch *own, const parsrec_json_options *options,
                                   const json_t *requests, parsrec_error *err)
{
    pr_writer *w = &own->text;
    if (!json_is_array(requests) || json_array_size(requests) > options->batch_most)
        return pr_fail(err, PARSREC_E_INPUT, "requests must be a list of at most %zu",
                       options->batch_most);
    if (options->batch_items_most > 0 &&
        items_asked(own, options, requests) > options->batch_items_most)
        return pr_fail(
            err, PARSREC_E_LIMIT,
            "the requests ask for %zu items together, at most %zu are allowed; send them in "
            "several batches or with a smaller k",
            items_asked(own, options, requests), options->batch_items_most);
    pr_write(w, "{\"answers\":[");
    for (size_t i = 0; i < json_array_size(requests) && !w->failed; i++) {
        parsrec_error own_err = {0};
        if (i > 0)
            pr_write_bytes(w, ",", 1);
        parsrec_status status = answer_one(own, options, json_array_get(requests, i), &own_err);
        if (status != PARSREC_OK)
            write_error(w,
                        options->error_code != NULL ? options->error_code(status)
                                                    : parsrec_status_name(status),
                        own_err.message);
        if (options->batch_bytes_most > 0 && w->size > options->batch_bytes_most)
            return pr_fail(err, PARSREC_E_LIMIT,
                           "the answers to the first %zu requests have more than %zu bytes; send "
                           "fewer at a time",
                           i + 1, options->batch_bytes_most);
    }
    pr_write(w, "]}");
    return w->failed ? pr_fail_memory(err) : PARSREC_OK;
}

/* ---- events that must have been seen before a request is answered ---- */

static uint64_t seen_of(const json_t *request)
{
    json_int_t number = json_integer_value(json_object_get(request, fields[SEEN].key));
    return number > 0 ? (uint64_t)number : 0; /* 0 if it is missing or not a number */
}

/* Passes the largest number of a request or batch to options->check_seen, which may wait for that
 * event: one call per batch, so that it waits once. */
static parsrec_status wait_for_seen(const parsrec_json_options *options, const json_t *json,
                                    const json_t *requests, parsrec_error *err)
{
    if (options->check_seen == NULL)
        return PARSREC_OK;
    uint64_t most = seen_of(json);
    for (size_t i = 0; i < json_array_size(requests); i++) {
        uint64_t one = seen_of(json_array_get(requests, i));
        most = one > most ? one : most;
    }
    return most > 0 ? options->check_seen(options->context, most, err) : PARSREC_OK;
}

parsrec_status parsrec_recommend_json(const parsrec_model *model, parsrec_scratch *own,
                                      const parsrec_json_options *options, const char *request,
                                      size_t size, const char **answer, parsrec_error *err)
{
    const parsrec_json_options defaults = {0};
    json_t *json;
    parsrec_error why = {0};
    if (model == NULL || own == NULL || request == NULL || answer == NULL || own->model != model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_recommend_json needs a model, a scratch made for it, a request and "
                       "a place for the answer");
    *answer = NULL;
    if (options == NULL)
        options = &defaults;
    parsrec_status status = pr_json_parse(&json, request, size, "request", &why);
    if (status != PARSREC_OK)
        return pr_fail(err, status == PARSREC_E_FORMAT ? PARSREC_E_INPUT : status, "%s",
                       why.message);
    pr_writer_restart(&own->text);
    const json_t *requests = json_object_get(json, "requests");
    bool batch = requests != NULL && json_object_size(json) == 1 && options->batch_most > 0;
    status = wait_for_seen(options, json, requests, err);
    if (status == PARSREC_OK)
        status =
            batch ? answer_batch(own, options, requests, err) : answer_one(own, options, json, err);
    json_decref(json);
    *answer = status == PARSREC_OK ? own->text.text : NULL;
    return status;
}
