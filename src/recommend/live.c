/* The public calls on live histories: they check their arguments and pass on to data/histories.h,
 * whose lock lets threads share them. Then what is known of a user, and search by text, as JSON. */
#include <stdlib.h>

#include "base/dates.h"
#include "base/memory.h"
#include "data/histories.h"
#include "recommend/recommend.h"

/* The table whose rows add up to the model's history vector, which live histories then keep up to
 * date. Only a sum or mean over the whole history can be kept by adding: none if older items count
 * less or are left out. */
static pr_live_rows history_rows(const pr_model *model)
{
    const char *name = model->kind->history_table;
    const pr_config *config = &model->config;
    if (name == NULL || config->history == PR_HISTORY_DECAYED || config->history_length > 0)
        return (pr_live_rows){0};
    return (pr_live_rows){.table = pr_model_reals(model, name),
                          .width = pr_params_find(&model->params, name)->cols,
                          .mean = config->history == PR_HISTORY_MEAN};
}

parsrec_status parsrec_live_new(parsrec_live **out, const parsrec_model *model, parsrec_error *err)
{
    if (out == NULL || model == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_live_new needs out and a model");
    *out = NULL;
    parsrec_live *live = pr_alloc_zero(1, sizeof *live);
    if (live == NULL)
        return pr_fail_memory(err);
    live->model = model;
    pr_live_rows rows = history_rows(model->file.model);
    parsrec_status status = pr_live_new(&live->pasts, &model->pasts, &model->directory.users,
                                        model->file.data->items, &rows, err);
    if (status == PARSREC_OK)
        *out = live;
    else
        pr_free(live);
    return status;
}

void parsrec_live_free(parsrec_live *live)
{
    if (live == NULL)
        return;
    pr_live_free(live->pasts);
    pr_free(live);
}

/* ---- events ---- */

/* Checks the arguments of an event. The user need not be known. */
static parsrec_status check_event(const parsrec_live *live, const char *user, const int32_t *items,
                                  size_t count, const char *call, parsrec_error *err)
{
    if (live == NULL || user == NULL || (items == NULL && count > 0) || count > PARSREC_BASKET_MOST)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s needs live histories, a user and at most %d items", call,
                       PARSREC_BASKET_MOST);
    size_t at;
    if (user[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the user has no key; a guest's basket is not kept");
    if (!pr_utf8_valid(user, strlen(user), &at))
        return pr_fail(err, PARSREC_E_ARGUMENT, "the user's key is not valid UTF-8");
    size_t limit = live->model->file.data->items;
    for (size_t i = 0; i < count; i++)
        if (items[i] >= 0 && (size_t)items[i] >= limit)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "items[%zu] is %d, the model's numbers are below %zu", i, (int)items[i],
                           limit);
    return PARSREC_OK;
}

parsrec_status parsrec_live_add_at(parsrec_live *live, const char *user, const char *session,
                                   int64_t time, const int32_t *items, size_t count,
                                   parsrec_error *err)
{
    PR_TRY(check_event(live, user, items, count, "parsrec_live_add_at", err));
    if (time != PARSREC_UNDATED && !pr_time_fits(time))
        return pr_fail(err, PARSREC_E_ARGUMENT, "the time %lld is out of range", (long long)time);
    if (count == 0)
        return PARSREC_OK;
    return pr_live_add(live->pasts, pr_slice_of(user), session,
                       time != PARSREC_UNDATED ? time : PR_NO_TIME, items, count, err);
}

parsrec_status parsrec_live_add(parsrec_live *live, const char *user, const char *session,
                                const int32_t *items, size_t count, parsrec_error *err)
{
    return parsrec_live_add_at(live, user, session, PARSREC_UNDATED, items, count, err);
}

parsrec_status parsrec_live_cart(parsrec_live *live, const char *user, const char *session,
                                 const int32_t *items, size_t count, parsrec_error *err)
{
    PR_TRY(check_event(live, user, items, count, "parsrec_live_cart", err));
    if (count == 0)
        return PARSREC_OK;
    return pr_live_cart(live->pasts, pr_slice_of(user), session, items, count, err);
}

parsrec_status parsrec_live_forget(parsrec_live *live, const char *user, parsrec_error *err)
{
    if (live == NULL || user == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_forget needs live histories and a user");
    return pr_live_forget(live->pasts, pr_slice_of(user), err);
}

parsrec_status parsrec_live_forget_hash(parsrec_live *live,
                                        const uint8_t secret[PARSREC_HASH_BYTES],
                                        const uint8_t hash[PARSREC_HASH_BYTES], parsrec_error *err)
{
    if (live == NULL || secret == NULL || hash == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_forget_hash needs live histories, a secret and a hash");
    return pr_live_forget_hash(live->pasts, secret, hash, err);
}

bool parsrec_live_forgotten(const parsrec_live *live, const char *user)
{
    return live != NULL && user != NULL && pr_live_forgotten(live->pasts, pr_slice_of(user));
}

parsrec_status parsrec_live_find(const parsrec_live *live, const char *user, int32_t *number,
                                 parsrec_error *err)
{
    pr_excerpt hold;
    if (live == NULL || user == NULL || number == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_live_find needs live histories, a user and a place for the number");
    if (!pr_live_find(live->pasts, pr_slice_of(user), number))
        return pr_fail(err, PARSREC_E_NOT_FOUND,
                       "there is no user %s; use a key of the data or of an event, or ask for a "
                       "guest",
                       pr_show(&hold, pr_slice_of(user)));
    return PARSREC_OK;
}

/* ---- files ---- */

static parsrec_status check_note(const parsrec_live *live, const parsrec_live_note *note,
                                 const char *path, const char *call, parsrec_error *err)
{
    if (live == NULL || note == NULL || path == NULL || note->store[0] == '\0')
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s needs live histories, a note that names a store, and a path", call);
    if (note->base[0] == '\0' || pr_dataset_checksum(live->model->file.data)[0] == '\0')
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: the data have no checksum, so that nobody could tell whether the file "
                       "fits them; write them with parsrec import",
                       path);
    return PARSREC_OK;
}

parsrec_status parsrec_live_save(const parsrec_live *live, parsrec_live_note *note,
                                 const char *path, parsrec_error *err)
{
    PR_TRY(check_note(live, note, path, "parsrec_live_save", err));
    return pr_live_file_save(live->pasts, note, pr_dataset_checksum(live->model->file.data), path,
                             err);
}

parsrec_status parsrec_live_load(parsrec_live *live, parsrec_live_note *note, const char *path,
                                 parsrec_error *err)
{
    pr_container *file;
    PR_TRY(check_note(live, note, path, "parsrec_live_load", err));
    PR_TRY(pr_sealed_open(&file, path, err));
    return pr_live_file_load(live->pasts, note, pr_dataset_checksum(live->model->file.data), file,
                             err);
}

/* ---- what is known, as JSON ---- */

/* Sets *out to the text of a value and frees the value; NULL stands for one that ran out of
 * memory. */
static parsrec_status hand_over(char **out, json_t *json, parsrec_error *err)
{
    char *text = json != NULL ? pr_json_text(json) : NULL;
    json_decref(json);
    *out = text;
    return text != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* A name, or null where it is empty. NULL when out of memory. */
static json_t *name_json(parsrec_name name)
{
    return name.size > 0 ? json_stringn_nocheck(name.bytes, name.size) : json_null();
}

static json_t *item_json(const parsrec_model *model, int32_t item)
{
    char path[1024];
    int32_t category = parsrec_model_item_category(model, item);
    return json_pack(
        "{s:o, s:o, s:o}", "item", name_json(parsrec_model_key(model, PARSREC_ITEM, item)), "name",
        name_json(parsrec_model_item_name(model, item)), "category",
        category >= 0
            ? pr_json_string(parsrec_model_category_path(model, category, path, sizeof path))
            : json_null());
}

/* ---- one user ---- */

/* By item, then the newest first. */
static int by_item(const void *a, const void *b)
{
    const parsrec_bought *x = a, *y = b;
    return x->item != y->item ? (x->item > y->item) - (x->item < y->item)
                              : (x->last > y->last) - (x->last < y->last);
}

/* Those in most baskets first, then those bought last, then by number. */
static int by_count(const void *a, const void *b)
{
    const parsrec_bought *x = a, *y = b;
    if (x->count != y->count)
        return (x->count < y->count) - (x->count > y->count);
    return x->last != y->last ? (x->last > y->last) - (x->last < y->last) : by_item(a, b);
}

/* The distinct items of a history, most frequent first. Free *list with pr_free, also on
 * failure. */
static parsrec_status count_bought(const pr_history *h, parsrec_bought **list, size_t *count,
                                   parsrec_error *err)
{
    size_t n = 0, different = 0;
    parsrec_bought *all = *list = pr_alloc(h->count, sizeof *all);
    if (all == NULL)
        return pr_fail_memory(err);
    for (size_t s = 0; s < h->session_count; s++)
        for (int64_t i = h->sessions[s]; i < h->sessions[s + 1]; i++)
            all[n++] = (parsrec_bought){h->items[i - h->sessions[0]], 1, h->session_count - 1 - s};
    qsort(all, n, sizeof *all, by_item);
    for (size_t i = 0; i < n; i++)
        if (different > 0 && all[different - 1].item == all[i].item)
            all[different - 1].count++;
        else
            all[different++] = all[i];
    qsort(all, different, sizeof *all, by_count);
    *count = different;
    return PARSREC_OK;
}

/* The user's number and a copy of the history, to be freed also when it fails. */
static parsrec_status read_history(const parsrec_live *live, const char *user, int32_t *number,
                                   pr_history_copy *copy, parsrec_error *err)
{
    PR_TRY(parsrec_live_find(live, user, number, err));
    return pr_live_history(live->pasts, *number, NULL, copy, err);
}

parsrec_status parsrec_live_bought(const parsrec_live *live, const char *user, parsrec_bought *out,
                                   size_t capacity, size_t *count, parsrec_error *err)
{
    int32_t number;
    pr_history_copy copy = {0};
    parsrec_bought *list = NULL;
    if (count == NULL || (out == NULL && capacity > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_live_bought needs room for the items");
    *count = 0;
    parsrec_status status = read_history(live, user, &number, &copy, err);
    if (status == PARSREC_OK)
        status = count_bought(&copy.history, &list, count, err);
    if (*count > capacity)
        *count = capacity;
    if (*count > 0)
        memcpy(out, list, *count * sizeof *list);
    pr_free(list);
    pr_history_copy_free(&copy);
    return status;
}

static json_t *bought_json(const parsrec_model *model, const pr_history *h)
{
    json_t *array = json_array();
    parsrec_bought *list;
    size_t different = 0;
    int bad = count_bought(h, &list, &different, NULL) != PARSREC_OK;
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
                name_json(parsrec_model_key(model, PARSREC_ITEM, h->items[i - h->sessions[0]])));
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
    parsrec_status status = read_history(live, user, &number, &copy, err);
    if (status == PARSREC_OK) {
        bool known = copy.own_row && pr_has_own_row(live->model, number);
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

/* Where a name contains the text: nowhere, inside, or at its start. */
typedef enum fit { FIT_NONE, FIT_INSIDE, FIT_BEGINNING } fit;

static fit fit_of(pr_slice text, pr_slice name)
{
    size_t at = pr_text_find_alike(name, text);
    return at == 0 ? FIT_BEGINNING : at == SIZE_MAX ? FIT_NONE : FIT_INSIDE;
}

/* Names that begin with the text come before names that have it inside. Two lists, so that one pass
 * is enough. */
typedef struct search {
    const parsrec_model *model;
    pr_slice text;
    size_t limit;           /* of results */
    json_t *begins, *holds; /* each at most `limit` */
    int bad;                /* not 0: out of memory */
} search;

/* Whether nothing that follows can change the result. */
static bool enough(const search *s)
{
    return json_array_size(s->begins) >= s->limit || s->bad != 0;
}

/* Takes ownership of `found`. */
static void add_found(search *s, fit how, json_t *found)
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
        add_found(s, how,
                  json_pack("{s:o, s:I}", "user", json_stringn_nocheck(key.bytes, key.size),
                            "baskets", (json_int_t)sessions));
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
            add_found(s, how, item_json(model, (int32_t)i));
    }
}

/* Frees the lists. */
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
                       "parsrec_live_search_json needs out, live histories, PARSREC_USER or "
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
