/* What is known of users and items at the moment, as JSON: one user's past, and search by text. */
#include <ctype.h>
#include <stdlib.h>

#include "base/memory.h"
#include "recommend/answering.h"

/* Takes the value over, which may be NULL. */
static parsrec_status hand_over(char **out, json_t *json, parsrec_error *err)
{
    char *text = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    *out = text;
    return text != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static json_t *item_json(const parsrec_model *model, int32_t item)
{
    return json_pack("{s:o, s:o, s:o}", "item",
                     pr_name_json(parsrec_model_key(model, PARSREC_ITEM, item)), "name",
                     pr_name_json(parsrec_model_item_name(model, item)), "category",
                     pr_category_json(model, item));
}

/* ---- one user ---- */

typedef struct bought {
    int32_t item;
    size_t count, last; /* baskets; baskets ago */
} bought;

/* One for each action at first, then one for each item: those in most baskets first. */
static int by_item(const void *a, const void *b)
{
    const bought *x = a, *y = b;
    return x->item != y->item ? (x->item > y->item) - (x->item < y->item)
                              : (x->last > y->last) - (x->last < y->last);
}

static int by_count(const void *a, const void *b)
{
    const bought *x = a, *y = b;
    if (x->count != y->count)
        return (x->count < y->count) - (x->count > y->count);
    return x->last != y->last ? (x->last > y->last) - (x->last < y->last) : by_item(a, b);
}

static size_t count_items(bought *list, const pr_history *h)
{
    size_t n = 0, different = 0;
    for (size_t s = 0; s < h->session_count; s++)
        for (int64_t i = h->sessions[s]; i < h->sessions[s + 1]; i++)
            list[n++] = (bought){h->items[i - h->sessions[0]], 1, h->session_count - 1 - s};
    qsort(list, n, sizeof *list, by_item);
    for (size_t i = 0; i < n; i++)
        if (different > 0 && list[different - 1].item == list[i].item)
            list[different - 1].count++;
        else
            list[different++] = list[i];
    qsort(list, different, sizeof *list, by_count);
    return different;
}

static json_t *bought_json(const parsrec_model *model, const pr_history *h)
{
    json_t *array = json_array();
    bought *list = pr_alloc(h->count, sizeof *list);
    int bad = list == NULL;
    size_t different = bad ? 0 : count_items(list, h);
    for (size_t i = 0; i < different; i++) {
        json_t *item = item_json(model, list[i].item);
        bad |= json_object_set_new(item, "count", json_integer((json_int_t)list[i].count));
        bad |= json_object_set_new(item, "last", json_integer((json_int_t)list[i].last));
        bad |= json_array_append_new(array, item);
    }
    pr_free(list);
    if (bad != 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}

static json_t *recent_json(const parsrec_model *model, const pr_history *h, size_t most)
{
    json_t *array = json_array();
    int bad = 0;
    for (size_t s = h->session_count, n = 0; s-- > 0 && n < most; n++) {
        json_t *basket = json_array();
        for (int64_t i = h->sessions[s]; i < h->sessions[s + 1]; i++)
            bad |= json_array_append_new(
                basket,
                pr_name_json(parsrec_model_key(model, PARSREC_ITEM, h->items[i - h->sessions[0]])));
        bad |= json_array_append_new(array, basket);
    }
    if (bad != 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}

parsrec_status parsrec_live_user_json(char **out, const parsrec_live *live, const char *user,
                                      size_t recent, parsrec_error *err)
{
    int32_t number;
    pr_history_copy copy = {0};
    if (out == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_live_user_json needs out");
    *out = NULL;
    PR_TRY(parsrec_live_find(live, user, &number, err));
    parsrec_status status = pr_live_past(live->pasts, number, NULL, &copy, err);
    if (status == PARSREC_OK) {
        const pr_dataset *data = live->model->file.data;
        bool known = copy.own_row && (size_t)number < data->users &&
                     data->user_offsets[number] < data->user_offsets[number + 1];
        status = hand_over(out,
                           json_pack("{s:s, s:b, s:I, s:o, s:o}", "user", user, "known", known,
                                     "baskets", (json_int_t)copy.history.session_count, "items",
                                     bought_json(live->model, &copy.history), "recent",
                                     recent_json(live->model, &copy.history, recent)),
                           err);
    }
    pr_history_copy_free(&copy);
    return status;
}

/* ---- search ---- */

/* What a text is to a name: nothing, somewhere in it, or its beginning. */
typedef enum fit { FIT_NONE, FIT_INSIDE, FIT_BEGINNING } fit;

static bool same_letters(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i]))
            return false;
    return true;
}

static fit fit_of(pr_slice text, pr_slice name)
{
    for (size_t at = 0; at + text.size <= name.size; at++)
        if (same_letters(name.bytes + at, text.bytes, text.size))
            return at == 0 ? FIT_BEGINNING : FIT_INSIDE;
    return FIT_NONE;
}

/* Two lists, so that one pass is enough: what begins with the text, and what holds it. */
typedef struct search {
    const parsrec_model *model;
    pr_slice text;
    size_t limit;
    json_t *begins, *holds;
    int bad;
} search;

static bool enough(const search *s)
{
    return json_array_size(s->begins) >= s->limit || s->bad != 0;
}

/* Takes `found` over. */
static void note(search *s, fit how, json_t *found)
{
    json_t *list = how == FIT_BEGINNING ? s->begins : s->holds;
    s->bad |= json_array_append_new(list, found);
}

static bool wanted(const search *s, fit how)
{
    return how == FIT_BEGINNING || (how == FIT_INSIDE && json_array_size(s->holds) < s->limit);
}

static bool visit_user(void *context, int32_t user, pr_slice key, size_t sessions)
{
    (void)user;
    search *s = context;
    fit how = fit_of(s->text, key);
    if (wanted(s, how))
        note(s, how,
             json_pack("{s:o, s:I}", "user", json_stringn_nocheck(key.bytes, key.size), "baskets",
                       (json_int_t)sessions));
    return !enough(s);
}

static void search_items(search *s)
{
    const parsrec_model *model = s->model;
    for (size_t i = 0; i < model->file.data->items && !enough(s); i++) {
        parsrec_name key = parsrec_model_key(model, PARSREC_ITEM, (int32_t)i);
        parsrec_name name = parsrec_model_item_name(model, (int32_t)i);
        fit by_key = fit_of(s->text, (pr_slice){key.bytes, key.size});
        fit by_name = fit_of(s->text, (pr_slice){name.bytes, name.size});
        fit how = by_key > by_name ? by_key : by_name;
        if (wanted(s, how))
            note(s, how, item_json(model, (int32_t)i));
    }
}

static json_t *found_json(search *s, const char *key)
{
    for (size_t i = 0; i < json_array_size(s->holds) && !enough(s); i++)
        s->bad |= json_array_append(s->begins, json_array_get(s->holds, i));
    json_t *json = s->bad == 0 ? json_pack("{s:O}", key, s->begins) : NULL;
    json_decref(s->begins);
    json_decref(s->holds);
    return json;
}

parsrec_status parsrec_live_search_json(char **out, const parsrec_live *live, parsrec_thing thing,
                                        const char *text, size_t limit, parsrec_error *err)
{
    if (out == NULL || live == NULL || text == NULL ||
        (thing != PARSREC_USER && thing != PARSREC_ITEM))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_search_json needs out, live pasts, PARSREC_USER or "
                       "PARSREC_ITEM, and a text");
    *out = NULL;
    search s = {.model = live->model,
                .text = pr_slice_of(text),
                .limit = limit,
                .begins = json_array(),
                .holds = json_array()};
    s.bad = s.begins == NULL || s.holds == NULL;
    if (thing == PARSREC_ITEM)
        search_items(&s);
    else if (!enough(&s))
        pr_live_each(live->pasts, visit_user, &s);
    return hand_over(out, found_json(&s, thing == PARSREC_ITEM ? "items" : "users"), err);
}
