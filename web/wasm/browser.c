/* What the page calls (web/src/browser_model.js): one model at a time, questions and answers as text.
 *
 * The page writes a text or a file into memory that it took with browser_take, calls, and reads the
 * answer: browser_text() and browser_size(), valid until the next call. A call returns 0, or another
 * status with the library's sentence as the text. Every call frees the memory that was taken, except
 * that the bytes of an opened model stay with it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "parsrec.h"
#include "platform.h"

#define CALLED_BY_PAGE(name) __attribute__((export_name(#name)))

enum { BASKET_MOST = 200, ITEMS_MOST = 1000, RECENT = 5 };

static struct {
    void *bytes; /* of the file */
    parsrec_model *model;
    parsrec_scratch *scratch;
    parsrec_live *live;
} opened;

static char *taken; /* written by the page, terminated */
static size_t taken_size;
static char *own; /* the answer if it is not the scratch's */
static const char *answer;
static parsrec_error err;

CALLED_BY_PAGE(browser_take) void *browser_take(size_t size)
{
    free(taken);
    taken = malloc(size + 1);
    taken_size = taken != NULL ? size : 0;
    if (taken != NULL)
        taken[size] = '\0';
    return taken;
}

CALLED_BY_PAGE(browser_text) const char *browser_text(void)
{
    return answer;
}

CALLED_BY_PAGE(browser_size) size_t browser_size(void)
{
    return strlen(answer);
}

/* The text of a call that ended with this status. */
static int finish(parsrec_status status, const char *text)
{
    if (status == PARSREC_OK && text == NULL)
        status = pr_fail_memory(&err);
    answer = status == PARSREC_OK ? text : err.message;
    free(taken);
    taken = NULL;
    taken_size = 0;
    return (int)status;
}

/* The same for a text that is ours to free. */
static int finish_own(parsrec_status status, char *text)
{
    pr_free(own);
    own = text;
    return finish(status, text);
}

static int finish_json(parsrec_status status, json_t *json)
{
    char *text = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    return finish_own(status, text);
}

static parsrec_status need_model(void)
{
    return opened.live != NULL ? PARSREC_OK
                               : pr_fail(&err, PARSREC_E_ARGUMENT, "no model has been opened");
}

static void close_model(void)
{
    parsrec_live_free(opened.live);
    parsrec_scratch_free(opened.scratch);
    parsrec_model_free(opened.model);
    free(opened.bytes);
    memset(&opened, 0, sizeof opened);
}

/* The taken bytes are a model file, which replaces the one before:
 * {"kind","users","items","categories"}. A file that is refused leaves none. */
CALLED_BY_PAGE(browser_open) int browser_open(void)
{
    parsrec_model_facts facts;
    close_model();
    opened.bytes = taken;
    taken = NULL;
    browser_hand_over(opened.bytes, taken_size);
    parsrec_status status = parsrec_model_load(&opened.model, "this file", &err);
    if (status == PARSREC_OK)
        status = parsrec_scratch_new(&opened.scratch, opened.model, BASKET_MOST, &err);
    if (status == PARSREC_OK)
        status = parsrec_live_new(&opened.live, opened.model, &err);
    if (status != PARSREC_OK) {
        close_model();
        return finish(status, NULL);
    }
    parsrec_model_describe(opened.model, &facts);
    return finish_json(
        PARSREC_OK,
        json_pack("{s:s, s:I, s:I, s:I}", "kind", facts.kind, "users",
                  (json_int_t)parsrec_model_size(opened.model, PARSREC_USER), "items",
                  (json_int_t)parsrec_model_size(opened.model, PARSREC_ITEM), "categories",
                  (json_int_t)parsrec_model_size(opened.model, PARSREC_CATEGORY)));
}

/* The taken text is a request (docs/recommend.md). */
CALLED_BY_PAGE(browser_recommend) int browser_recommend(void)
{
    const char *text = NULL;
    parsrec_json_options options = {.live = opened.live};
    parsrec_status status = need_model();
    if (status == PARSREC_OK)
        status = parsrec_recommend_json(opened.model, opened.scratch, &options, taken, taken_size,
                                        &text, &err);
    return finish(status, text);
}

static int search(parsrec_thing thing, size_t limit)
{
    char *text = NULL;
    parsrec_status status = need_model();
    if (status == PARSREC_OK)
        status = parsrec_live_search_json(&text, opened.live, thing, taken, limit, &err);
    return finish_own(status, text);
}

/* The taken text is a part of a name or key. */
CALLED_BY_PAGE(browser_items) int browser_items(size_t limit)
{
    return search(PARSREC_ITEM, limit);
}

CALLED_BY_PAGE(browser_users) int browser_users(size_t limit)
{
    return search(PARSREC_USER, limit);
}

/* The taken text is a user's key. */
CALLED_BY_PAGE(browser_user) int browser_user(void)
{
    char *text = NULL;
    parsrec_status status = need_model();
    if (status == PARSREC_OK)
        status = parsrec_live_user_json(&text, opened.live, taken, RECENT, &err);
    return finish_own(status, text);
}

/* {"categories":[paths]} */
CALLED_BY_PAGE(browser_categories) int browser_categories(void)
{
    char path[1024];
    json_t *list = json_array();
    parsrec_status status = need_model();
    size_t count = status == PARSREC_OK ? parsrec_model_size(opened.model, PARSREC_CATEGORY) : 0;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, pr_json_string(parsrec_model_category_path(
                                        opened.model, (int32_t)i, path, sizeof path)));
    return finish_json(status, json_pack("{s:o}", "categories", list));
}

/* {"user", "items":[keys]}: a purchase, which counts from the next answer on. Items that the model
 * does not know are listed in the answer and otherwise ignored, as on a server. */
static parsrec_status buy(json_t *request, json_t *unknown)
{
    const char *user = json_string_value(json_object_get(request, "user"));
    const json_t *keys = json_object_get(request, "items");
    int32_t items[ITEMS_MOST];
    size_t count = 0;
    if (user == NULL || !json_is_array(keys) || json_array_size(keys) > ITEMS_MOST)
        return pr_fail(&err, PARSREC_E_INPUT, "a purchase is {\"user\", \"items\": [at most %d]}",
                       ITEMS_MOST);
    for (size_t i = 0; i < json_array_size(keys); i++) {
        json_t *key = json_array_get(keys, i);
        if (!json_is_string(key))
            return pr_fail(&err, PARSREC_E_INPUT, "items[%zu] is not a text", i);
        if (parsrec_model_find(opened.model, PARSREC_ITEM, json_string_value(key), &items[count],
                               NULL) == PARSREC_OK)
            count++;
        else
            json_array_append(unknown, key);
    }
    return parsrec_live_add(opened.live, user, NULL, items, count, &err);
}

CALLED_BY_PAGE(browser_buy) int browser_buy(void)
{
    json_t *request = NULL, *unknown = json_array();
    parsrec_status status = need_model();
    if (status == PARSREC_OK)
        status = pr_json_parse(&request, taken, taken_size, "purchase", &err);
    if (status == PARSREC_OK)
        status = buy(request, unknown);
    json_decref(request);
    return finish_json(status, json_pack("{s:o}", "unknown_items", unknown));
}
