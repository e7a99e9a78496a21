/* Bins from categories or items, lines by name, and scenarios from the words of the options. */
#include "whatif/shelf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/writer.h"

enum { NAME_BYTES = 300, OFFERED_MOST = 8 };

static parsrec_status add_line(pr_lines *lines, pr_line_kind kind, const char *name, size_t items,
                               parsrec_error *err)
{
    assert(lines->count < lines->capacity);
    pr_line *line = &lines->list[lines->count++];
    *line = (pr_line){.name = pr_region_string(lines->region, name, strlen(name)),
                      .kind = kind,
                      .items = pr_region_take(lines->region, items, sizeof *line->items)};
    return pr_region_check(lines->region, err);
}

/* ---- bins ---- */

/* A category's ancestor at depth `level`; itself if it is not as deep or the level is 0. */
static int32_t ancestor(const pr_dataset *data, int32_t category, size_t level)
{
    int32_t chain[PR_CATEGORY_LEVELS + 1];
    size_t depth = 0;
    for (int32_t c = category; c >= 0 && depth < PR_CATEGORY_LEVELS; c = data->category_parent[c])
        chain[depth++] = c;
    return level == 0 || depth <= level ? category : chain[depth - level];
}

/* The name of an item for people: its key and, if it has one, its name. */
static void item_name(char *text, size_t size, const pr_dataset *data, int32_t item)
{
    pr_slice key = pr_name(&data->item_keys, (size_t)item), name = {"", 0};
    if (data->item_names.count > 0)
        name = pr_name(&data->item_names, (size_t)item);
    snprintf(text, size, "%.*s%s%.*s", (int)key.size, key.bytes, name.size > 0 ? " " : "",
             (int)name.size, name.bytes);
}

/* The name of a bin. A category whose items also lie in categories below it has a bin of the others. */
static void bin_name(char name[NAME_BYTES], const pr_lines *lines, int32_t key, const bool *split)
{
    if (key < 0)
        snprintf(name, NAME_BYTES, "%s", PR_OTHER_ITEMS);
    else if (lines->by_item)
        item_name(name, NAME_BYTES, lines->data, key);
    else if (split[key]) {
        static const char others[] = " > " PR_OTHER_ITEMS;
        pr_category_path(lines->data, key, name, NAME_BYTES - sizeof others + 1);
        strcat(name, others);
    } else
        pr_category_path(lines->data, key, name, NAME_BYTES);
}

/* Makes a bin of all items with one key, in the order of keys. keys[items]: -1 to key_count - 1; -1
 * becomes the bin "other items", which comes first. */
static parsrec_status number_bins(pr_lines *lines, const int32_t *keys, size_t key_count,
                                  parsrec_error *err)
{
    const pr_dataset *data = lines->data;
    int32_t *bins = pr_alloc(key_count + 1, sizeof *bins);
    size_t *sizes = pr_alloc_zero(key_count + 1, sizeof *sizes);
    bool *split = pr_alloc_zero(data->categories + 1, sizeof *split);
    parsrec_status status =
        bins != NULL && sizes != NULL && split != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK && !lines->by_item)
        pr_categories_split(split, data, keys);
    for (size_t i = 0; i < data->items && status == PARSREC_OK; i++)
        sizes[keys[i] + 1]++;
    for (size_t k = 0; k <= key_count && status == PARSREC_OK; k++) {
        char name[NAME_BYTES];
        int32_t key = (int32_t)k - 1;
        if (sizes[k] == 0)
            continue;
        bin_name(name, lines, key, split);
        bins[k] = (int32_t)lines->count;
        if (key < 0)
            lines->other = lines->count;
        status = add_line(lines, PR_LINE_BIN, name, sizes[k], err);
    }
    for (size_t i = 0; i < data->items && status == PARSREC_OK; i++) {
        pr_line *bin = &lines->list[bins[keys[i] + 1]];
        lines->bin_of[i] = bins[keys[i] + 1];
        bin->items[bin->count++] = (int32_t)i;
    }
    pr_free(bins);
    pr_free(sizes);
    pr_free(split);
    return status;
}

typedef struct seller {
    int64_t sales;
    int32_t item;
} seller;

static int best_first(const void *a, const void *b)
{
    const seller *x = a, *y = b;
    if (x->sales != y->sales)
        return x->sales > y->sales ? -1 : 1;
    return x->item < y->item ? -1 : 1;
}

/* All items, those sold most first; the caller frees them. NULL when out of memory. */
static seller *best_sellers(const pr_dataset *data)
{
    seller *sellers = pr_alloc(data->items, sizeof *sellers);
    if (sellers == NULL)
        return NULL;
    for (size_t i = 0; i < data->items; i++)
        sellers[i] = (seller){0, (int32_t)i};
    for (size_t a = 0; a < data->actions; a++)
        sellers[data->action_items[a]].sales++;
    qsort(sellers, data->items, sizeof *sellers, best_first);
    return sellers;
}

/* Without categories each of the items sold most is a bin of its own; all others have key -1. */
static parsrec_status item_keys(int32_t *keys, const pr_dataset *data, parsrec_error *err)
{
    seller *sellers = best_sellers(data);
    if (sellers == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < data->items; i++)
        keys[sellers[i].item] = i < PR_BINS_MOST ? sellers[i].item : -1;
    pr_free(sellers);
    return PARSREC_OK;
}

static parsrec_status make_bins(pr_lines *lines, size_t level, parsrec_error *err)
{
    const pr_dataset *data = lines->data;
    int32_t *keys = pr_alloc(data->items, sizeof *keys);
    if (keys == NULL)
        return pr_fail_memory(err);
    parsrec_status status = PARSREC_OK;
    if (lines->by_item)
        status = item_keys(keys, data, err);
    for (size_t i = 0; i < data->items && !lines->by_item; i++)
        keys[i] = data->item_category[i] < 0 ? -1 : ancestor(data, data->item_category[i], level);
    if (status == PARSREC_OK)
        status = number_bins(lines, keys, lines->by_item ? data->items : data->categories, err);
    lines->bins = lines->count;
    pr_free(keys);
    return status;
}

parsrec_status pr_lines_init(pr_lines *lines, pr_region *region, const pr_dataset *data,
                             const pr_directory *directory, size_t level, parsrec_error *err)
{
    *lines = (pr_lines){.data = data,
                        .directory = directory,
                        .region = region,
                        .by_item = data->categories == 0,
                        .other = SIZE_MAX};
    size_t bins = !lines->by_item              ? data->categories
                  : data->items < PR_BINS_MOST ? data->items
                                               : PR_BINS_MOST;
    lines->capacity = bins + 1 + PR_NAMED_MOST; /* one for "other items" */
    lines->list = pr_region_take(region, lines->capacity, sizeof *lines->list);
    lines->bin_of = pr_region_take(region, data->items, sizeof *lines->bin_of);
    lines->named = pr_region_take(region, data->items, sizeof *lines->named);
    PR_TRY(pr_region_check(region, err));
    return make_bins(lines, level, err);
}

/* ---- lines by name ---- */

/* The line that has exactly these items; lines->count if there is none. */
static size_t same_line(const pr_lines *lines, const int32_t *items, size_t count)
{
    size_t bin = (size_t)lines->bin_of[items[0]];
    const pr_line *b = &lines->list[bin];
    if (b->count == count && memcmp(b->items, items, count * sizeof *items) == 0)
        return bin;
    for (size_t i = lines->bins; i < lines->count; i++) {
        const pr_line *l = &lines->list[i];
        if (l->kind == PR_LINE_NAMED && l->count == count &&
            memcmp(l->items, items, count * sizeof *items) == 0)
            return i;
    }
    return lines->count;
}

/* Sets *line to the line of these items, which is made if it does not exist. */
static parsrec_status name_line(pr_lines *lines, const char *name, const int32_t *items,
                                size_t count, size_t *line, parsrec_error *err)
{
    *line = same_line(lines, items, count);
    if (*line < lines->count)
        return PARSREC_OK;
    if (lines->count - lines->bins >= PR_NAMED_MOST)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "more than %d items and categories are named; ask for fewer at a time",
                       PR_NAMED_MOST);
    uint64_t bit = (uint64_t)1 << (lines->count - lines->bins);
    PR_TRY(add_line(lines, PR_LINE_NAMED, name, count, err));
    pr_line *made = &lines->list[*line];
    memcpy(made->items, items, count * sizeof *items);
    made->count = count;
    for (size_t i = 0; i < count; i++)
        lines->named[items[i]] |= bit;
    return PARSREC_OK;
}

/* The line of a category: its items and those of all categories below it. */
static parsrec_status find_category(pr_lines *lines, pr_slice word, size_t *line,
                                    parsrec_error *err)
{
    const pr_dataset *data = lines->data;
    char name[NAME_BYTES];
    int32_t category;
    size_t count = 0;
    if (data->categories == 0)
        return pr_fail(err, PARSREC_E_NOT_FOUND,
                       "these data have no categories; name an item, as item=KEY");
    PR_TRY(pr_directory_category(lines->directory, word, &category, err));
    int32_t *items = pr_alloc(data->items, sizeof *items);
    if (items == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < data->items; i++)
        for (int32_t c = data->item_category[i]; c >= 0; c = data->category_parent[c])
            if (c == category) {
                items[count++] = (int32_t)i;
                break;
            }
    pr_category_path(data, category, name, sizeof name);
    parsrec_status status =
        count > 0 ? name_line(lines, name, items, count, line, err)
                  : pr_fail(err, PARSREC_E_NOT_FOUND, "the category %s has no items", name);
    pr_free(items);
    return status;
}

/* The line of an item, which is made if it does not exist. */
static parsrec_status item_line(pr_lines *lines, int32_t item, size_t *line, parsrec_error *err)
{
    char name[NAME_BYTES];
    item_name(name, sizeof name, lines->data, item);
    return name_line(lines, name, &item, 1, line, err);
}

static parsrec_status find_item(pr_lines *lines, pr_slice word, size_t *line, parsrec_error *err)
{
    int32_t item;
    PR_TRY(pr_directory_item(lines->directory, word, &item, err));
    return item_line(lines, item, line, err);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

parsrec_status pr_lines_find(pr_lines *lines, const char *word, size_t *line, parsrec_error *err)
{
    if (begins(word, "category="))
        return find_category(lines, pr_slice_of(word + 9), line, err);
    if (begins(word, "item="))
        return find_item(lines, pr_slice_of(word + 5), line, err);
    pr_slice name = pr_slice_of(word);
    parsrec_error unused;
    parsrec_status status = find_category(lines, name, line, &unused);
    if (status == PARSREC_E_NOT_FOUND)
        status = find_item(lines, name, line, &unused);
    if (status == PARSREC_OK)
        return PARSREC_OK;
    /* Once more for the sentence, which suggests names of the kind that these data have. */
    return lines->data->categories > 0 ? find_category(lines, name, line, err)
                                       : find_item(lines, name, line, err);
}

parsrec_status pr_lines_add(pr_lines *lines, const char *word, size_t *line, parsrec_error *err)
{
    pr_excerpt hold;
    const char *like = strstr(word, ":like=");
    int32_t like_item, known;
    if (!begins(word, "item=") || like == NULL || like == word + 5)
        return pr_fail(err, PARSREC_E_ARGUMENT, "a new item is written item=NAME:like=ITEM, not %s",
                       pr_show(&hold, pr_slice_of(word)));
    pr_slice name = {word + 5, (size_t)(like - word - 5)};
    if (pr_directory_item(lines->directory, name, &known, NULL) == PARSREC_OK)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the item %s is in the catalogue already",
                       pr_show(&hold, name));
    PR_TRY(pr_directory_item(lines->directory, pr_slice_of(like + 6), &like_item, err));
    if (lines->count - lines->bins >= PR_NAMED_MOST)
        return pr_fail(err, PARSREC_E_LIMIT, "more than %d items and categories are named",
                       PR_NAMED_MOST);
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)name.size, name.bytes);
    *line = lines->count;
    PR_TRY(add_line(lines, PR_LINE_NEW, text, 1, err));
    lines->list[*line].items[0] = like_item;
    lines->list[*line].count = 1;
    return PARSREC_OK;
}

static bool is_item(const pr_lines *lines, size_t line)
{
    return !lines->by_item && lines->list[line].kind == PR_LINE_NAMED &&
           lines->list[line].count == 1;
}

/* Whoever takes an item off the shelf asks first which other items of its category gain: those sold most
 * get lines, as far as there is room. */
static parsrec_status offer_others(pr_lines *lines, const size_t *drop, size_t count,
                                   parsrec_error *err)
{
    bool any = false;
    for (size_t d = 0; d < count; d++)
        any |= is_item(lines, drop[d]);
    if (!any)
        return PARSREC_OK;
    seller *sellers = best_sellers(lines->data);
    parsrec_status status = sellers != NULL ? PARSREC_OK : pr_fail_memory(err);
    for (size_t d = 0; d < count && status == PARSREC_OK; d++) {
        size_t offered = 0;
        for (size_t i = 0; i < lines->data->items && is_item(lines, drop[d]) &&
                           offered < OFFERED_MOST && lines->count - lines->bins < PR_NAMED_MOST;
             i++) {
            int32_t left = lines->list[drop[d]].items[0], item = sellers[i].item;
            size_t line;
            if (item == left || lines->bin_of[item] != lines->bin_of[left])
                continue;
            status = item_line(lines, item, &line, err);
            if (status != PARSREC_OK)
                break;
            lines->list[line].offered = true;
            offered++;
        }
    }
    pr_free(sellers);
    return status;
}

static parsrec_status find_all(size_t **out, pr_lines *lines, const char *const *words,
                               size_t count, parsrec_error *err)
{
    *out = pr_region_take(lines->region, count, sizeof **out);
    PR_TRY(pr_region_check(lines->region, err));
    for (size_t i = 0; i < count; i++)
        PR_TRY(pr_lines_find(lines, words[i], &(*out)[i], err));
    return PARSREC_OK;
}

/* ---- one scenario ---- */

static void write_names(pr_writer *text, const pr_lines *lines, const char *before,
                        const size_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pr_write(text, "%s%s", i > 0 ? ", " : before, lines->list[list[i]].name);
}

/* What was written, in the region; NULL when out of memory. Ends the writer. */
static char *keep_text(pr_region *region, pr_writer *text)
{
    char *kept = text->failed ? NULL : pr_region_string(region, text->text, text->size);
    pr_writer_free(text);
    *text = (pr_writer){0};
    return kept;
}

/* What a scenario changes: lines by their numbers. */
typedef struct change {
    const size_t *drop, *only, *add;
    size_t drop_count, only_count, add_count;
} change;

static parsrec_status name_scenario(pr_scenario *s, const pr_lines *lines, const change *c,
                                    parsrec_error *err)
{
    pr_writer text = {0};
    write_names(&text, lines, "without ", c->drop, c->drop_count);
    write_names(&text, lines, text.size > 0 ? "; nothing but " : "nothing but ", c->only,
                c->only_count);
    write_names(&text, lines, text.size > 0 ? "; with the new " : "with the new ", c->add,
                c->add_count);
    s->name = keep_text(lines->region, &text);
    write_names(&text, lines, PR_LEAVES, c->drop, c->drop_count);
    if (c->only_count > 0)
        pr_write(&text, "%severything else", c->drop_count > 0 ? ", " : PR_LEAVES);
    else if (c->drop_count == 0)
        pr_write(&text, PR_LEAVES "nothing");
    s->leaving = keep_text(lines->region, &text);
    return s->name != NULL && s->leaving != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static void take_off(pr_scenario *s, const pr_lines *lines, const change *c)
{
    size_t items = lines->data->items;
    for (size_t i = 0; i < items; i++)
        s->off[i] = c->only_count > 0;
    for (size_t i = 0; i < c->only_count; i++)
        for (size_t k = 0; k < lines->list[c->only[i]].count; k++)
            s->off[lines->list[c->only[i]].items[k]] = false;
    for (size_t i = 0; i < c->drop_count; i++)
        for (size_t k = 0; k < lines->list[c->drop[i]].count; k++)
            s->off[lines->list[c->drop[i]].items[k]] = true;
    for (size_t i = 0; i < items; i++)
        s->off_count += s->off[i];
}

/* The state of every line, and the bins of which only a part is off. */
static void find_states(pr_scenario *s, const pr_lines *lines)
{
    for (size_t l = 0; l < lines->count; l++) {
        const pr_line *line = &lines->list[l];
        size_t off = pr_scenario_missing(s, line->items, line->count);
        if (line->kind == PR_LINE_NEW)
            off = 0;
        s->state[l] = off == 0 ? PR_SHELF_ALL : off < line->count ? PR_SHELF_PART : PR_SHELF_NONE;
    }
    for (size_t b = 0; b < lines->bins; b++) {
        if (s->state[b] != PR_SHELF_PART)
            continue;
        for (size_t k = 0; k < lines->list[b].count; k++)
            if (s->off[lines->list[b].items[k]]) {
                s->part_items[s->part_item_count] = lines->list[b].items[k];
                s->part_of[s->part_item_count++] = (uint32_t)s->parts;
            }
        s->part[s->parts++] = b;
    }
}

static parsrec_status make_scenario(pr_scenario *s, const pr_lines *lines, const change *c,
                                    parsrec_error *err)
{
    size_t items = lines->data->items;
    PR_TRY(name_scenario(s, lines, c, err));
    s->off = pr_region_take(lines->region, items, sizeof *s->off);
    s->state = pr_region_take(lines->region, lines->count, sizeof *s->state);
    s->part = pr_region_take(lines->region, lines->bins, sizeof *s->part);
    s->part_items = pr_region_take(lines->region, items, sizeof *s->part_items);
    s->part_of = pr_region_take(lines->region, items, sizeof *s->part_of);
    PR_TRY(pr_region_check(lines->region, err));
    take_off(s, lines, c);
    find_states(s, lines);
    for (size_t i = 0; i < c->add_count; i++)
        s->adds[s->add_count++] = c->add[i];
    if (s->off_count == items)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: nothing is left on the shelf; leave something to sell", s->name);
    return PARSREC_OK;
}

/* ---- all of them ---- */

parsrec_status pr_scenarios_init(pr_scenarios *out, pr_lines *lines,
                                 const parsrec_whatif_options *o, parsrec_error *err)
{
    size_t *drop, *only, add[PR_ADDS_MOST], count = o->each ? o->drop_count : 1;
    *out = (pr_scenarios){0};
    if (o->drop_count + o->only_count + o->add_count == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "nothing changes; pass --drop category=NAME, --only or --add");
    if (o->add_count > PR_ADDS_MOST)
        return pr_fail(err, PARSREC_E_LIMIT, "at most %d new items at a time", PR_ADDS_MOST);
    if (o->each && (o->only_count > 0 || o->add_count > 0))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "--each makes a scenario of each --drop; it goes without --only and --add");
    PR_TRY(find_all(&drop, lines, o->drop, o->drop_count, err));
    PR_TRY(find_all(&only, lines, o->only, o->only_count, err));
    for (size_t i = 0; i < o->add_count; i++)
        PR_TRY(pr_lines_add(lines, o->add[i], &add[i], err));
    if (o->watch_count == 0)
        PR_TRY(offer_others(lines, drop, o->drop_count, err));
    out->list = pr_region_take(lines->region, count, sizeof *out->list);
    PR_TRY(pr_region_check(lines->region, err));
    out->count = count;
    out->adds = o->add_count;
    for (size_t i = 0; i < count; i++) {
        change c = {.drop = o->each ? drop + i : drop,
                    .drop_count = o->each ? 1 : o->drop_count,
                    .only = only,
                    .only_count = o->only_count,
                    .add = add,
                    .add_count = o->add_count};
        PR_TRY(make_scenario(&out->list[i], lines, &c, err));
        if (out->list[i].parts > out->parts)
            out->parts = out->list[i].parts;
    }
    return PARSREC_OK;
}
