/* POST /v1/events: purchases, open baskets and views; and DELETE /v1/users/{id}. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/dates.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/xxh3.h"
#include "serve/event_flow.h"
#include "serve/routes.h"

enum { EVENTS_MOST = 1000, WORD_MOST = 256, HOLD_BYTES = 32 };
#define QUANTITY_MOST 1e9
/* Clocks differ, and some send local time as UTC; what lies further ahead would stay the newest purchase
 * for ever. */
#define AHEAD_MOST (24 * 60 * 60)

/* A parsed body. Events point into it and into these blocks. */
typedef struct batch {
    store_event *events;
    const char **items;                  /* of all events, concatenated */
    double *quantities;                  /* likewise */
    char (*ids)[WORD_MOST + HOLD_BYTES]; /* for events without their own; NULL: no key was sent */
    char **owned;                        /* the key that replaces a name; NULL: as sent */
    char (*held)[HOLD_BYTES]; /* texts of numbers: one per item, and user, session and id */
    size_t item_count, held_count;
    pr_intern unknown_words; /* a body may have 100,000 */
    json_t *unknown, *ambiguous;
} batch;

/* ---- reading ---- */

/* Keys that look like numbers are often sent as numbers. Blanks around them are left out, as import leaves them
 * out: what is bought now and what is trained on later has one key. */
static parsrec_status read_word(batch *b, const char **out, const char *key, json_t *value,
                                parsrec_error *err)
{
    const char *word = json_string_value(value);
    pr_slice own = pr_key_trim(pr_slice_of(word != NULL ? word : ""));
    if (word != NULL && own.size < strlen(word)) {
        if (json_string_setn_nocheck(value, own.bytes, own.size) != 0)
            return pr_fail_memory(err);
        word = json_string_value(value);
    }
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

static parsrec_status read_quantity(double *out, const json_t *value, parsrec_error *err)
{
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out > 0 && *out <= QUANTITY_MOST))
        return pr_fail(err, PARSREC_E_INPUT, "quantity must be a number above 0, at most %.0f.",
                       QUANTITY_MOST);
    return PARSREC_OK;
}

/* "A", or {"item": "A", "quantity": 2}. */
static parsrec_status read_item(batch *b, json_t *value, double usual, parsrec_error *err)
{
    json_t *key = value;
    double *quantity = &b->quantities[b->item_count];
    *quantity = usual;
    if (json_is_object(value)) {
        const json_t *given = json_object_get(value, "quantity");
        key = json_object_get(value, "item");
        if (key == NULL || json_object_size(value) != 1 + (size_t)(given != NULL))
            return pr_fail(err, PARSREC_E_INPUT,
                           "an item is a key, or an object of item and quantity.");
        if (given != NULL)
            PR_TRY(read_quantity(quantity, given, err));
    }
    return read_word(b, &b->items[b->item_count++], "an item", key, err);
}

static parsrec_status read_items(batch *b, store_event *event, json_t *json, size_t most,
                                 parsrec_error *err)
{
    const json_t *value = json_object_get(json, "items"),
                 *quantity = json_object_get(json, "quantity");
    size_t count = json_array_size(value);
    double usual = 1;
    if (!json_is_array(value) || count == 0)
        return pr_fail(err, PARSREC_E_INPUT, "items must be a list of at least one item.");
    if (count > most)
        return pr_fail(err, PARSREC_E_LIMIT, "items has %zu, at most %zu are allowed.", count,
                       most);
    if (quantity != NULL)
        PR_TRY(read_quantity(&usual, quantity, err));
    event->items = b->items + b->item_count;
    event->quantities = b->quantities + b->item_count;
    event->count = count;
    for (size_t i = 0; i < count; i++)
        PR_TRY(read_item(b, json_array_get(value, i), usual, err));
    return PARSREC_OK;
}

static parsrec_status read_event(batch *b, store_event *event, json_t *json, size_t most,
                                 parsrec_error *err)
{
    static const char *const known[] = {"user", "session",  "items", "time",
                                        "type", "quantity", "id",    NULL};
    pr_excerpt hold;
    *event = (store_event){.type = STORE_BUY, .time = time(NULL)};
    if (!json_is_object(json))
        return pr_fail(err, PARSREC_E_INPUT,
                       "an event is an object, such as {\"user\": \"U\", \"items\": [\"A\"]}.");
    const char *unknown = unknown_field(json, known);
    if (unknown != NULL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "there is no field %s; an event has user, session, items, time, type, "
                       "quantity and id.",
                       pr_show(&hold, pr_slice_of(unknown)));
    json_t *session = json_object_get(json, "session"), *id = json_object_get(json, "id");
    const json_t *when = json_object_get(json, "time"), *type = json_object_get(json, "type");
    PR_TRY(read_word(b, &event->user, "user", json_object_get(json, "user"), err));
    if (session != NULL && !json_is_null(session))
        PR_TRY(read_word(b, &event->session, "session", session, err));
    if (id != NULL && !json_is_null(id))
        PR_TRY(read_word(b, &event->id, "id", id, err));
    if (when != NULL && !json_is_null(when) && !pr_json_date(when, &event->time))
        return pr_fail(err, PARSREC_E_INPUT,
                       "time must be seconds or milliseconds since 1970, or a text such as "
                       "2010-03-02T13:08:00Z.");
    if (event->time < 0)
        return pr_fail(err, PARSREC_E_INPUT, "time is before 1970; send when the event happened.");
    if (event->time > time(NULL) + AHEAD_MOST)
        return pr_fail(err, PARSREC_E_INPUT,
                       "time is more than a day ahead of the server's clock; send when the event "
                       "happened, in UTC.");
    const char *name = json_string_value(type);
    if (type != NULL && (name == NULL || !store_type_of(name, &event->type)))
        return pr_fail(err, PARSREC_E_INPUT, "type must be \"buy\", \"cart\" or \"view\".");
    return read_items(b, event, json, most, err);
}

/* The id of an event that has none, in a body with an idempotency key: that key, what the event says, and how many of
 * the same came before it in `same`. A body that was sent again in part, or another one under that key by mistake,
 * loses nothing. */
static parsrec_status name_event(char *id, size_t room, const char *key, const json_t *json,
                                 pr_intern *words, unsigned *same, parsrec_error *err)
{
    char hash[17];
    uint32_t number;
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    if (text == NULL)
        return pr_fail_memory(err);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)XXH3_64bits(text, strlen(text)));
    free(text);
    PR_TRY(pr_intern_add(words, pr_slice_of(hash), &number, err));
    snprintf(id, room, "body %s %s %u", key, hash, same[number]++);
    return PARSREC_OK;
}

static parsrec_status name_events(batch *b, const json_t *list, const char *key, parsrec_error *err)
{
    if (key == NULL)
        return PARSREC_OK;
    if (key[0] == '\0' || strlen(key) > WORD_MOST)
        return pr_fail(err, PARSREC_E_INPUT, "Idempotency-Key must be a text of 1 to %d bytes.",
                       WORD_MOST);
    size_t count = json_array_size(list);
    b->ids = pr_alloc(count, sizeof *b->ids);
    unsigned *same = pr_alloc_zero(count, sizeof *same);
    pr_intern words = {0};
    parsrec_status status = b->ids != NULL && same != NULL ? PARSREC_OK : pr_fail_memory(err);
    for (size_t i = 0; i < count && status == PARSREC_OK; i++)
        if (b->events[i].id == NULL) {
            status = name_event(b->ids[i], sizeof *b->ids, key, json_array_get(list, i), &words,
                                same, err);
            b->events[i].id = b->ids[i];
        }
    pr_intern_free(&words);
    pr_free(same);
    return status;
}

/* ---- the model's names ---- */

/* Lists a word the first time it comes, with the keys that it may mean where several items have the name. */
static parsrec_status add_unknown(batch *b, const parsrec_model *model, const char *word,
                                  parsrec_error *err)
{
    enum { KEYS_MOST = 8 };
    int32_t items[KEYS_MOST];
    uint32_t number;
    size_t before = b->unknown_words.count;
    PR_TRY(pr_intern_add(&b->unknown_words, pr_slice_of(word), &number, err));
    if (number < before)
        return PARSREC_OK;
    size_t count = parsrec_model_named(model, word, items, KEYS_MOST);
    if (count < 2)
        return json_array_append_new(b->unknown, json_string(word)) == 0 ? PARSREC_OK
                                                                         : pr_fail_memory(err);
    json_t *keys = json_array();
    for (size_t i = 0; i < count; i++) {
        parsrec_name key = parsrec_model_key(model, PARSREC_ITEM, items[i]);
        json_array_append_new(keys, json_stringn(key.bytes, key.size));
    }
    json_t *one = json_pack("{s:s, s:o}", "name", word, "keys", keys);
    return json_array_append_new(b->ambiguous, one) == 0 ? PARSREC_OK : pr_fail_memory(err);
}

/* Replaces a name by its key, which later models know too. An item that this model does not know is
 * stored and reported in the answer. */
static parsrec_status name_item(batch *b, size_t i, const parsrec_model *model, parsrec_error *err)
{
    int32_t item;
    if (parsrec_model_find(model, PARSREC_ITEM, b->items[i], &item, NULL) != PARSREC_OK)
        return add_unknown(b, model, b->items[i], err);
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

/* A single event counts as a list of one. Returns a new reference, or NULL with an error
 * message. */
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
    b->quantities = pr_alloc(items, sizeof *b->quantities);
    b->owned = pr_alloc_zero(items, sizeof *b->owned);
    b->held = pr_alloc(items + 3 * count, sizeof *b->held);
    b->unknown = json_array();
    b->ambiguous = json_array();
    return b->events != NULL && b->items != NULL && b->quantities != NULL && b->owned != NULL &&
                   b->held != NULL && b->unknown != NULL && b->ambiguous != NULL
               ? PARSREC_OK
               : pr_fail_memory(err);
}

static void batch_free(batch *b)
{
    for (size_t i = 0; b->owned != NULL && i < b->item_count; i++)
        pr_free(b->owned[i]);
    pr_free(b->events);
    pr_free(b->items);
    pr_free(b->quantities);
    pr_free(b->ids);
    pr_free(b->owned);
    pr_free(b->held);
    pr_intern_free(&b->unknown_words);
    json_decref(b->unknown);
    json_decref(b->ambiguous);
}

static parsrec_status store_list(batch *b, app *a, const json_t *list, const char *key,
                                 store_receipt *receipt, parsrec_error *err)
{
    size_t count = json_array_size(list), most = (size_t)a->options->basket_most;
    PR_TRY(batch_init(b, list, err));
    for (size_t i = 0; i < count; i++)
        PR_TRY(read_event(b, &b->events[i], json_array_get(list, i), most, err));
    PR_TRY(name_events(b, list, key, err));
    PR_TRY(name_items(b, a, err));
    return event_flow_append(a, b->events, count, receipt, err);
}

void handle_events(app *a, const http_request *request, http_response *response)
{
    batch b = {0};
    parsrec_error err = {0};
    json_t *body = read_body(request, response);
    if (body == NULL)
        return;
    json_t *list = event_list(body, &err);
    store_receipt r = {0};
    size_t count = json_array_size(list);
    if (list != NULL && store_list(&b, a, list, request->idempotency_key, &r, &err) == PARSREC_OK)
        answer_json(response, 200,
                    json_pack("{s:I, s:I, s:O, s:O, s:I}", "stored", (json_int_t)r.stored,
                              "duplicates", (json_int_t)(count - r.stored), "unknown_items",
                              b.unknown, "ambiguous_items", b.ambiguous, "seen",
                              (json_int_t)r.last));
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
    store_receipt r = {0};
    char user[WORD_MOST + 1];
    pr_slice key = pr_key_trim(pr_slice_of(request->target.segments[2]));
    snprintf(user, sizeof user, "%.*s", (int)key.size, key.bytes);
    if (key.size > WORD_MOST)
        answer_error(response, 400, "bad_request", "A user's key has at most %d bytes.", WORD_MOST);
    else if (event_flow_forget(a, user, &r, &err) == PARSREC_OK)
        answer_json(response, 200,
                    json_pack("{s:s, s:I}", "forgotten", user, "seen", (json_int_t)r.last));
    else
        answer_failure(response, &err);
}
