/* What a data set holds, by name and by how often it was bought: the public names of users, items
 * and categories, and lists of them. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "data/dataset.h"

/* ---- the path of a category ---- */

/* Appends what fits of `part`, cut between characters; returns the new length. */
static size_t append(char *buffer, size_t used, size_t size, pr_slice part)
{
    size_t n = pr_utf8_cut(part.bytes, part.size, size - 1 - used);
    memcpy(buffer + used, part.bytes, n);
    buffer[used + n] = '\0';
    return used + n;
}

char *pr_category_path(const pr_dataset *data, int32_t category, char *buffer, size_t size)
{
    assert(size > 0 && category < (int32_t)data->categories);
    int32_t chain[PR_CATEGORY_LEVELS];
    size_t levels = 0, used = 0;
    for (int32_t c = category; c >= 0 && levels < PR_CATEGORY_LEVELS; c = data->category_parent[c])
        chain[levels++] = c;
    buffer[0] = '\0';
    while (levels-- > 0) {
        used = append(buffer, used, size, pr_name(&data->category_names, (size_t)chain[levels]));
        if (levels > 0)
            used = append(buffer, used, size, pr_slice_of(" > "));
    }
    return buffer;
}

void pr_categories_split(bool *split, const pr_dataset *data, const int32_t *class)
{
    memset(split, 0, data->categories * sizeof *split);
    for (size_t i = 0; i < data->items; i++) {
        int32_t c = class[i] < 0 ? -1 : data->category_parent[class[i]];
        for (; c >= 0 && !split[c]; c = data->category_parent[c]) /* those above are split too */
            split[c] = true;
    }
}

enum { PATH_BYTES = 4096 };

/* ---- names ---- */

static size_t size_of(const parsrec_data *data, parsrec_thing thing)
{
    switch (thing) {
    case PARSREC_USER:
        return data->users;
    case PARSREC_ITEM:
        return data->items;
    case PARSREC_CATEGORY:
        return data->categories;
    }
    return 0;
}

static bool within(const parsrec_data *data, parsrec_thing thing, int32_t number)
{
    return number >= 0 && (size_t)number < size_of(data, thing);
}

static parsrec_name public_name(const pr_names *names, int32_t number)
{
    pr_slice s = pr_name(names, (size_t)number);
    return (parsrec_name){s.bytes, s.size};
}

parsrec_name parsrec_data_key(const parsrec_data *data, parsrec_thing thing, int32_t number)
{
    if (!within(data, thing, number))
        return (parsrec_name){"", 0};
    return public_name(thing == PARSREC_USER   ? &data->user_keys
                       : thing == PARSREC_ITEM ? &data->item_keys
                                               : &data->category_names,
                       number);
}

parsrec_name parsrec_data_item_name(const parsrec_data *data, int32_t item)
{
    if (item < 0 || (size_t)item >= data->item_names.count)
        return (parsrec_name){"", 0};
    return public_name(&data->item_names, item);
}

int32_t parsrec_data_item_category(const parsrec_data *data, int32_t item)
{
    return data->item_category != NULL && within(data, PARSREC_ITEM, item)
               ? data->item_category[item]
               : -1;
}

char *parsrec_data_category_path(const parsrec_data *data, int32_t category, char *buffer,
                                 size_t size)
{
    if (size == 0)
        return buffer;
    if (within(data, PARSREC_CATEGORY, category))
        return pr_category_path(data, category, buffer, size);
    buffer[0] = '\0';
    return buffer;
}

/* ---- counts ---- */

/* Marks of the last session and user that were counted for a row, each plus 1. */
typedef struct mark {
    uint64_t session, user;
} mark;

static void count(parsrec_listed *row, mark *last, size_t session, size_t user)
{
    row->actions++;
    row->sessions += last->session != session + 1;
    row->users += last->user != user + 1;
    *last = (mark){session + 1, user + 1};
}

/* One walk over the actions; a category is counted with all above it. */
static void count_bought(const parsrec_data *d, parsrec_thing thing, parsrec_listed *rows,
                         mark *last)
{
    for (size_t u = 0; u < d->users; u++)
        for (int64_t s = d->user_offsets[u]; s < d->user_offsets[u + 1]; s++)
            for (int64_t a = d->session_offsets[s]; a < d->session_offsets[s + 1]; a++) {
                int32_t item = d->action_items[a];
                if (thing == PARSREC_ITEM) {
                    count(&rows[item], &last[item], (size_t)s, u);
                    continue;
                }
                for (int32_t c = d->item_category[item]; c >= 0; c = d->category_parent[c])
                    count(&rows[c], &last[c], (size_t)s, u);
            }
}

static void count_users(const parsrec_data *d, parsrec_listed *rows)
{
    for (size_t u = 0; u < d->users; u++) {
        int64_t from = d->user_offsets[u], to = d->user_offsets[u + 1];
        rows[u].users = 1;
        rows[u].sessions = (uint64_t)(to - from);
        rows[u].actions = (uint64_t)(d->session_offsets[to] - d->session_offsets[from]);
    }
}

/* ---- lists ---- */

static bool contains(pr_slice text, pr_slice part)
{
    return pr_text_find_alike(text, part) != SIZE_MAX;
}

static pr_slice slice_of(parsrec_name name)
{
    return (pr_slice){name.bytes, name.size};
}

static bool is_wanted(const parsrec_data *d, parsrec_thing thing, int32_t number, pr_slice text,
                      char *path)
{
    if (contains(slice_of(parsrec_data_key(d, thing, number)), text))
        return true;
    if (thing == PARSREC_ITEM)
        return contains(slice_of(parsrec_data_item_name(d, number)), text);
    return thing == PARSREC_CATEGORY &&
           contains(pr_slice_of(pr_category_path(d, number, path, PATH_BYTES)), text);
}

static int by_sessions(const void *a, const void *b)
{
    const parsrec_listed *x = a, *y = b;
    if (x->sessions != y->sessions)
        return x->sessions < y->sessions ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

parsrec_status parsrec_data_list(parsrec_listed **rows, size_t *count, const parsrec_data *data,
                                 parsrec_thing thing, const char *text, parsrec_error *err)
{
    if (rows == NULL || count == NULL || data == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_data_list needs data, rows and a count");
    size_t n = size_of(data, thing), kept = 0;
    *rows = NULL;
    *count = 0;
    parsrec_listed *list = pr_alloc_zero(n, sizeof *list);
    mark *last = pr_alloc_zero(thing == PARSREC_USER ? 0 : n, sizeof *last);
    char *path = pr_alloc(PATH_BYTES, 1);
    if (list == NULL || last == NULL || path == NULL) {
        pr_free(list);
        pr_free(last);
        pr_free(path);
        return pr_fail_memory(err);
    }
    if (thing == PARSREC_USER)
        count_users(data, list);
    else if (n > 0)
        count_bought(data, thing, list, last);
    for (size_t i = 0; i < n; i++)
        if (text == NULL || is_wanted(data, thing, (int32_t)i, pr_slice_of(text), path)) {
            list[kept] = list[i];
            list[kept++].number = (int32_t)i;
        }
    pr_free(last);
    pr_free(path);
    qsort(list, kept, sizeof *list, by_sessions);
    *rows = list;
    *count = kept;
    return PARSREC_OK;
}

void parsrec_list_free(parsrec_listed *rows)
{
    pr_free(rows);
}
