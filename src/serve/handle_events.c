/* POST /v1/events: baskets that grow or are finished; and DELETE /v1/users/{id}. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "serve/event_flow.h"
#include "serve/handlers.h"

enum { EVENTS_MOST = 1000, WORD_MOST = 256, HOLD_BYTES = 32 };

/* A body that was read: events point into it and into these blocks. */
typedef struct batch {
    store_event *events;
    const char **items;       /* of all events, one after the other */
    char **owned;             /* keys in the place of names; NULL: as it was sent */
    char (*held)[HOLD_BYTES]; /* texts of numbers: an item each, and user and session */
    size_t item_count, held_count;
    json_t *unknown;
} batch;

/* ---- reading ---- */

/* Keys that look like numbers often come as such. */
static parsrec_status read_word(batch *b, const char **out, const char *key, const json_t *value,
                                parsrec_error *err)
{
    const char *word = json_string_value(value);
    if (json_is_integer(value)) {
        char *hold = b->held[b->held_count++];
        snprintf(hold, HOLD_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        word = hold;
    }
    if (word == NULL || word[0] == '\0' || strlen(word) > WORD_MOST)
        return pr_fail(err, PARSREC_E_INPUT, "%s must be a text of 1 to %d bytes.", key, WORD_MOST);
    *out = word;
    return PARSREC_OK;
}

static parsrec_status read_items(batch *b, store_event *event, const json_t *value, size_t most,
                                 parsrec_error *err)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count == 0)
        return pr_fail(err, PARSREC_E_INPUT, "items must be a list of at least one item.");
    if (count > most)
        return pr_fail(err, PARSREC_E_LIMIT, "items has %zu, at most %zu are allowed.", count,
                       most);
    event->items = b->items + b->item_count;
    event->count = count;
    for (size_t i = 0; i < count; i++)
        PR_TRY(read_word(b, &b->items[b->item_count++], "an item", json_array_get(value, i), err));
    return PARSREC_OK;
}

static parsrec_status check_fields(json_t *json, parsrec_error *err)
{
    static const char *const known[] = {"user", "session", "items", "time"};
    pr_excerpt hold;
    if (!json_is_object(json))
        return pr_fail(err, PARSREC_E_INPUT,
                       "an event is an object, such as {\"user\": \"U\", \"items\": [\"A\"]}.");
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at)) {
        size_t i = 0;
        while (i < 4 && strcmp(known[i], json_object_iter_key(at)) != 0)
            i++;
        if (i == 4)
            return pr_fail(err, PARSREC_E_INPUT,
                           "there is no field %s; an event has user, session, items and time.",
                           pr_show(&hold, pr_slice_of(json_object_iter_key(at))));
    }
    return PARSREC_OK;
}

static parsrec_status read_event(batch *b, store_event *event, json_t *json, size_t most,
                                 parsrec_error *err)
{
    *event = (store_event){.time = STORE_NO_TIME};
    PR_TRY(check_fields(json, err));
    const json_t *session = json_object_get(json, "session"), *when = json_object_get(json, "time");
    PR_TRY(read_word(b, &event->user, "user", json_object_get(json, "user"), err));
    if (session != NULL && !json_is_null(session))
        PR_TRY(read_word(b, &event->session, "session", session, err));
    if (when != NULL && !json_is_integer(when))
        return pr_fail(err, PARSREC_E_INPUT, "time must be whole seconds since 1970.");
    if (when != NULL)
        event->time = json_integer_value(when);
    return read_items(b, event, json_object_get(json, "items"), most, err);
}

/* ---- the model's names ---- */

static int add_once(json_t *list, const char *word)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), word) == 0)
            return 0;
    return json_array_append_new(list, json_string(word));
}

/* A name becomes the key, which later models know too; what this model does not know is told, and kept. */
static parsrec_status name_item(batch *b, size_t i, const parsrec_model *model, parsrec_error *err)
{
    int32_t item;
    if (parsrec_model_find(model, PARSREC_ITEM, b->items[i], &item, NULL) != PARSREC_OK)
        return add_once(b->unknown, b->items[i]) == 0 ? PARSREC_OK : pr_fail_memory(err);
    parsrec_name key = parsrec_model_key(model, PARSREC_ITEM, item);
    if (pr_slice_is((pr_slice){key.bytes, key.size}, b->items[i]))
        return PARSREC_OK;
    b->owned[i] = pr_copy_string(key.bytes, key.size);
    b->items[i] = b->owned[i];
    return b->owned[i] != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status name_items(batch *b, app *a, parsrec_error *err)
{
    parsrec_status status = PARSREC_OK;
    engine *e = engine_take(&a->engines);
    for (size_t i = 0; e != NULL && i < b->item_count && status == PARSREC_OK; i++)
        status = name_item(b, i, e->model, err);
    engine_drop(e);
    return status;
}

/* ---- a whole body ---- */

/* One event stands for a list of one: the caller's reference, or NULL with a sentence. */
static json_t *event_list(json_t *body, parsrec_error *err)
{
    json_t *list = json_object_get(body, "events");
    if (list == NULL)
        return json_pack("[O]", body);
    if (json_is_array(list) && json_object_size(body) == 1 && json_array_size(list) > 0 &&
        json_array_size(list) <= EVENTS_MOST)
        return json_incref(list);
    pr_fail(err, PARSREC_E_INPUT, "events must be a list of 1 to %d, and nothing beside it.",
            EVENTS_MOST);
    return NULL;
}

static parsrec_status batch_init(batch *b, const json_t *list, parsrec_error *err)
{
    size_t count = json_array_size(list), items = 0;
    for (size_t i = 0; i < count; i++)
        items += json_array_size(json_object_get(json_array_get(list, i), "items"));
    b->events = pr_alloc(count, sizeof *b->events);
    b->items = pr_alloc(items, sizeof *b->items);
    b->owned = pr_alloc_zero(items, sizeof *b->owned);
    b->held = pr_alloc(items + 2 * count, sizeof *b->held);
    b->unknown = json_array();
    return b->events != NULL && b->items != NULL && b->owned != NULL && b->held != NULL &&
                   b->unknown != NULL
               ? PARSREC_OK
               : pr_fail_memory(err);
}

static void batch_free(batch *b)
{
    for (size_t i = 0; b->owned != NULL && i < b->item_count; i++)
        pr_free(b->owned[i]);
    pr_free(b->events);
    pr_free(b->items);
    pr_free(b->owned);
    pr_free(b->held);
    json_decref(b->unknown);
}

static parsrec_status store_list(batch *b, app *a, const json_t *list, parsrec_error *err)
{
    size_t count = json_array_size(list), most = (size_t)a->options->basket_most;
    PR_TRY(batch_init(b, list, err));
    for (size_t i = 0; i < count; i++)
        PR_TRY(read_event(b, &b->events[i], json_array_get(list, i), most, err));
    PR_TRY(name_items(b, a, err));
    return event_flow_append(a, b->events, count, err);
}

void handle_events(app *a, const http_request *request, http_response *response)
{
    batch b = {0};
    parsrec_error err = {0};
    json_t *body = read_body(request, response);
    if (body == NULL)
        return;
    json_t *list = event_list(body, &err);
    if (list != NULL && store_list(&b, a, list, &err) == PARSREC_OK)
        answer_json(response, 200,
                    json_pack("{s:I, s:O}", "stored", (json_int_t)json_array_size(list),
                              "unknown_items", b.unknown));
    else
        answer_failure(response, &err);
    batch_free(&b);
    json_decref(list);
    json_decref(body);
}

/* ---- forgetting ---- */

void handle_forget(app *a, const http_request *request, http_response *response)
{
    parsrec_error err = {0};
    const char *user = request->target.segments[2];
    if (strlen(user) > WORD_MOST)
        answer_error(response, 400, "bad_request", "A user's key has at most %d bytes.", WORD_MOST);
    else if (event_flow_forget(a, user, &err) == PARSREC_OK)
        answer_json(response, 200, json_pack("{s:s}", "forgotten", user));
    else
        answer_failure(response, &err);
}
