/* Finding users, items and categories by what people call them. */
#include "data/directory.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"

enum {
    PATH_BYTES = 4096,    /* of a category; a longer path is found by its beginning */
    SUGGEST_MOST = 20000, /* names looked at for "did you mean": a wrong word stays cheap */
    SHARED_MOST = 4,      /* keys listed of items that share a name */
};

/* ---- words that several things may share ---- */

static void words_free(pr_words *words)
{
    pr_intern_free(&words->table);
    pr_free(words->numbers);
    *words = (pr_words){0};
}

/* The newest of several things with one name is first_of(the word's number). */
static int32_t first_of(int32_t number)
{
    return number <= PR_SEVERAL ? PR_SEVERAL - number : number;
}

/* *before: who had the word last, or -1. */
static parsrec_status words_add(pr_words *words, pr_slice word, int32_t number, int32_t *before,
                                parsrec_error *err)
{
    uint32_t at;
    size_t count = words->table.count;
    *before = -1;
    if (word.size == 0)
        return PARSREC_OK;
    PR_TRY(pr_grow(&words->numbers, &words->capacity, count + 1, sizeof *words->numbers, err));
    PR_TRY(pr_intern_add(&words->table, word, &at, err));
    if (at < count)
        *before = first_of(words->numbers[at]);
    words->numbers[at] = at == count ? number : PR_SEVERAL - number;
    return PARSREC_OK;
}

/* A key that is known only without the blanks at its ends is meant without them. */
static bool find_key(const pr_intern *table, pr_slice key, uint32_t *number)
{
    pr_slice own = pr_key_trim(key);
    return pr_intern_find(table, key, number) ||
           (own.size < key.size && pr_intern_find(table, own, number));
}

/* -1 for an unknown word; PR_SEVERAL or less for one that several things share. */
static int32_t words_find(const pr_words *words, pr_slice word)
{
    uint32_t at;
    return find_key(&words->table, word, &at) ? words->numbers[at] : -1;
}

/* ---- making it ---- */

static parsrec_status add_categories(pr_directory *d, parsrec_error *err)
{
    int32_t unused;
    char *path = pr_alloc(PATH_BYTES, 1);
    if (path == NULL)
        return pr_fail_memory(err);
    parsrec_status status = PARSREC_OK;
    for (size_t c = 0; c < d->data->categories && status == PARSREC_OK; c++) {
        pr_category_path(d->data, (int32_t)c, path, PATH_BYTES);
        status = words_add(&d->category_paths, pr_slice_of(path), (int32_t)c, &unused, err);
        if (status == PARSREC_OK)
            status = words_add(&d->category_names, pr_name(&d->data->category_names, c), (int32_t)c,
                               &unused, err);
    }
    pr_free(path);
    return status;
}

/* From the last to the first, so that the chain of those that share a name is in their order. */
static parsrec_status add_item_names(pr_directory *d, parsrec_error *err)
{
    const pr_names *names = &d->data->item_names;
    d->next_named = pr_alloc(names->count, sizeof *d->next_named);
    if (d->next_named == NULL)
        return pr_fail_memory(err);
    for (size_t i = names->count; i-- > 0;)
        PR_TRY(words_add(&d->item_names, pr_name(names, i), (int32_t)i, &d->next_named[i], err));
    return PARSREC_OK;
}

parsrec_status pr_directory_init(pr_directory *directory, const pr_dataset *data,
                                 parsrec_error *err)
{
    *directory = (pr_directory){.data = data};
    parsrec_status status;
    PR_TRY_GOTO(pr_intern_load(&directory->users, &data->user_keys, err));
    PR_TRY_GOTO(pr_intern_load(&directory->items, &data->item_keys, err));
    PR_TRY_GOTO(add_item_names(directory, err));
    PR_TRY_GOTO(add_categories(directory, err));
done:
    if (status != PARSREC_OK)
        pr_directory_free(directory);
    return status;
}

void pr_directory_free(pr_directory *directory)
{
    pr_intern_free(&directory->users);
    pr_intern_free(&directory->items);
    words_free(&directory->item_names);
    pr_free(directory->next_named);
    words_free(&directory->category_paths);
    words_free(&directory->category_names);
    *directory = (pr_directory){0};
}

/* ---- asking ---- */

static _Atomic uint64_t searches;

uint64_t pr_directory_searches(void)
{
    return atomic_load(&searches);
}

static void offer_names(pr_suggest *near, const pr_names *names)
{
    atomic_fetch_add(&searches, 1);
    for (size_t i = 0; i < names->count && i < SUGGEST_MOST; i++)
        pr_suggest_offer(near, pr_name(names, i));
}

parsrec_status pr_directory_user(const pr_directory *directory, pr_slice key, int32_t *user,
                                 parsrec_error *err)
{
    uint32_t number;
    pr_excerpt hold;
    if (!find_key(&directory->users, key, &number))
        return pr_fail(err, PARSREC_E_NOT_FOUND,
                       "there is no user %s; use a key of the data (parsrec list FILE users), or "
                       "ask for a guest",
                       pr_show(&hold, key));
    *user = (int32_t)number;
    return PARSREC_OK;
}

size_t pr_directory_named(const pr_directory *directory, pr_slice name, int32_t *items,
                          size_t capacity)
{
    size_t count = 0;
    for (int32_t i = first_of(words_find(&directory->item_names, name)); i >= 0 && count < capacity;
         i = directory->next_named[i])
        items[count++] = i;
    return count;
}

/* The sentence about a name that several items have, with the first of their keys. */
static parsrec_status fail_shared(const pr_directory *directory, pr_slice word, parsrec_error *err)
{
    int32_t items[SHARED_MOST + 1];
    char keys[SHARED_MOST * (sizeof(pr_excerpt) + 2)] = "";
    pr_excerpt hold;
    size_t found = pr_directory_named(directory, word, items, SHARED_MOST + 1);
    for (size_t i = 0, used = 0; i < found && i < SHARED_MOST; i++)
        used += (size_t)snprintf(
            keys + used, sizeof keys - used, "%s%s", i > 0 ? ", " : "",
            pr_show(&hold, pr_name(&directory->data->item_keys, (size_t)items[i])));
    return pr_fail(err, PARSREC_E_NOT_FOUND, "several items are named %s; use the item's key: %s%s",
                   pr_show(&hold, word), keys, found > SHARED_MOST ? ", ..." : "");
}

parsrec_status pr_directory_item(const pr_directory *directory, pr_slice word, int32_t *item,
                                 parsrec_error *err)
{
    uint32_t number;
    pr_excerpt hold;
    if (find_key(&directory->items, word, &number)) {
        *item = (int32_t)number;
        return PARSREC_OK;
    }
    *item = words_find(&directory->item_names, word);
    if (*item <= PR_SEVERAL)
        return fail_shared(directory, word, err);
    if (*item >= 0)
        return PARSREC_OK;
    pr_suggest near;
    pr_suggest_start(&near, word);
    if (err != NULL) {
        offer_names(&near, &directory->data->item_names);
        offer_names(&near, &directory->data->item_keys);
    }
    return pr_fail(err, PARSREC_E_NOT_FOUND,
                   near.count > 0 ? "there is no item %s in the catalogue%s"
                                  : "there is no item %s in the catalogue%s; use an item's key or "
                                    "its exact name",
                   pr_show(&hold, word), pr_suggest_sentence(&near));
}

/* Upper and lower case are alike; -1 for an unknown word. Looks at every name. */
static int32_t find_in_any_case(const pr_names *names, pr_slice word)
{
    int32_t found = -1;
    for (size_t i = 0; i < names->count; i++)
        if (pr_text_alike(pr_name(names, i), word))
            found = found == -1 ? (int32_t)i : PR_SEVERAL;
    return found;
}

parsrec_status pr_directory_category(const pr_directory *directory, pr_slice word,
                                     int32_t *category, parsrec_error *err)
{
    pr_excerpt hold;
    if (directory->data->categories == 0)
        return pr_fail(err, PARSREC_E_NOT_FOUND,
                       "there is no category %s: this catalogue has no categories; leave it out",
                       pr_show(&hold, word));
    *category = words_find(&directory->category_paths, word);
    if (*category < 0)
        *category = words_find(&directory->category_names, word);
    if (*category == -1)
        *category = find_in_any_case(&directory->data->category_names, word);
    if (*category <= PR_SEVERAL)
        return pr_fail(err, PARSREC_E_NOT_FOUND,
                       "several categories are named %s; use the path from the top, A > B",
                       pr_show(&hold, word));
    if (*category >= 0)
        return PARSREC_OK;
    pr_suggest near;
    pr_suggest_start(&near, word);
    if (err != NULL)
        offer_names(&near, &directory->data->category_names);
    return pr_fail(err, PARSREC_E_NOT_FOUND,
                   near.count > 0 ? "there is no category %s%s"
                                  : "there is no category %s%s; use a category's name or its path, "
                                    "A > B",
                   pr_show(&hold, word), pr_suggest_sentence(&near));
}
