/* Chooses the classes, names them and sorts the catalogue by them. */
#include "explain/axis.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/directory.h"

/* A class before it is chosen: an item or a category by its number. */
typedef struct candidate {
    int32_t number;
    int32_t branch; /* category for the order of items; top of the tree for categories */
    uint64_t actions;
    bool chosen;
} candidate;

typedef struct choosing {
    const pr_dataset *data;
    const pr_axis_options *options;
    int32_t *of_item; /* [items]: number of its class, -1 for none */
    candidate *list;  /* [count] by number */
    size_t count;
    pr_region region; /* holds both */
} choosing;

/* ---- which class an item belongs to ---- */

/* The categories from the top of the tree to this one, then -1; returns how many. */
static size_t path_of(int32_t path[PR_CATEGORY_LEVELS], const pr_dataset *d, int32_t category)
{
    size_t depth = 0;
    for (int32_t c = category; c >= 0 && depth < PR_CATEGORY_LEVELS; c = d->category_parent[c])
        depth++;
    for (size_t l = depth; l < PR_CATEGORY_LEVELS; l++)
        path[l] = -1;
    for (size_t l = depth; l > 0; category = d->category_parent[category])
        path[--l] = category;
    return depth;
}

/* The ancestor at a level, or the category itself where the tree is not as deep there. */
static int32_t at_level(const pr_dataset *d, int32_t category, size_t level)
{
    int32_t path[PR_CATEGORY_LEVELS];
    size_t depth = path_of(path, d, category);
    return level == 0 || level >= depth ? category : path[level - 1];
}

static parsrec_status list_candidates(choosing *c, parsrec_error *err)
{
    const pr_dataset *d = c->data;
    c->count = c->options->items ? d->items : d->categories;
    c->of_item = pr_region_take(&c->region, d->items, sizeof *c->of_item);
    c->list = pr_region_take(&c->region, c->count, sizeof *c->list);
    PR_TRY(pr_region_check(&c->region, err));
    for (size_t n = 0; n < c->count; n++) {
        int32_t number = (int32_t)n;
        c->list[n] = (candidate){.number = number, .branch = -1};
        if (!c->options->items)
            c->list[n].branch = at_level(d, number, 1);
        else if (d->categories > 0)
            c->list[n].branch = d->item_category[n];
    }
    for (size_t i = 0; i < d->items; i++) {
        int32_t category = c->options->items ? -1 : d->item_category[i];
        c->of_item[i] = c->options->items ? (int32_t)i
                        : category < 0    ? -1
                                          : at_level(d, category, c->options->level);
    }
    for (size_t a = 0; a < d->actions; a++)
        if (c->of_item[d->action_items[a]] >= 0)
            c->list[c->of_item[d->action_items[a]]].actions++;
    return PARSREC_OK;
}

/* ---- which classes are shown ---- */

static int by_actions(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->actions != y->actions)
        return x->actions > y->actions ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static int by_place(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->chosen != y->chosen)
        return x->chosen ? -1 : 1;
    if (x->branch != y->branch)
        return x->branch < y->branch ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static parsrec_status choose_listed(choosing *c, parsrec_error *err)
{
    pr_directory directory;
    parsrec_status status = pr_directory_init(&directory, c->data, err);
    for (size_t i = 0; i < c->options->list_count && status == PARSREC_OK; i++) {
        int32_t number = -1;
        pr_slice word = pr_slice_of(c->options->list[i]);
        status = c->options->items ? pr_directory_item(&directory, word, &number, err)
                                   : pr_directory_category(&directory, word, &number, err);
        if (status == PARSREC_OK)
            c->list[number].chosen = true;
    }
    pr_directory_free(&directory);
    /* A category that was named covers everything below it, up to another that was named. */
    for (size_t i = 0; status == PARSREC_OK && !c->options->items && i < c->data->items; i++) {
        int32_t at = c->data->item_category[i];
        while (at >= 0 && !c->list[at].chosen)
            at = c->data->category_parent[at];
        c->of_item[i] = at;
    }
    return status;
}

static parsrec_status choose(pr_axis *axis, choosing *c, parsrec_error *err)
{
    for (size_t n = 0; n < c->count; n++)
        axis->there += c->list[n].actions > 0;
    if (c->options->list_count > 0) {
        PR_TRY(choose_listed(c, err));
    } else {
        qsort(c->list, c->count, sizeof *c->list, by_actions);
        for (size_t n = 0; n < c->count && n < c->options->top; n++)
            c->list[n].chosen = c->list[n].actions > 0;
    }
    qsort(c->list, c->count, sizeof *c->list, by_place);
    while (axis->count < c->count && c->list[axis->count].chosen)
        axis->count++;
    const char *what = axis->items ? "items" : "categories";
    if (axis->count < 2)
        return pr_fail(err, PARSREC_E_INPUT,
                       "relationships need at least two %s, and the map would show %zu", what,
                       axis->count);
    if (axis->count > PR_AXIS_MOST)
        return pr_fail(err, PARSREC_E_LIMIT, "a map shows at most %d %s, not %zu", PR_AXIS_MOST,
                       what, axis->count);
    return PARSREC_OK;
}

/* ---- names ---- */

static pr_slice plain_name(const pr_axis *axis, const pr_dataset *d, int32_t number)
{
    size_t n = (size_t)number;
    if (!axis->items)
        return pr_name(&d->category_names, n);
    bool named = d->item_names.count > 0 && pr_name(&d->item_names, n).size > 0;
    return pr_name(named ? &d->item_names : &d->item_keys, n);
}

/* Where two have the same name, a category is called by its path and an item by name and key. A category
 * whose items also lie in classes below it has a row of the others. */
static char *long_name(pr_axis *axis, const pr_dataset *d, int32_t number, bool shared, bool split)
{
    char text[1024];
    pr_slice name = plain_name(axis, d, number);
    const char *others = split ? " > " PR_OTHER_ITEMS : "";
    size_t room = sizeof text - strlen(others);
    if (!shared)
        snprintf(text, room, "%.*s", (int)name.size, name.bytes);
    else if (!axis->items)
        pr_category_path(d, number, text, room);
    else {
        pr_slice key = pr_name(&d->item_keys, (size_t)number);
        snprintf(text, room, "%.*s (%.*s)", (int)name.size, name.bytes, (int)key.size, key.bytes);
    }
    strcat(text, others);
    return pr_region_string(&axis->region, text, strlen(text));
}

static bool is_shared(const pr_axis *axis, const choosing *c, size_t at)
{
    pr_slice name = plain_name(axis, c->data, c->list[at].number);
    for (size_t i = 0; i < axis->count; i++)
        if (i != at && pr_slice_equal(plain_name(axis, c->data, c->list[i].number), name))
            return true;
    return false;
}

static parsrec_status name_classes(pr_axis *axis, choosing *c, parsrec_error *err)
{
    bool *split = pr_region_take(&c->region, c->count, sizeof *split);
    PR_TRY(pr_region_check(&c->region, err));
    if (!axis->items)
        pr_categories_split(split, c->data, c->of_item);
    axis->names = pr_region_take(&axis->region, axis->count, sizeof *axis->names);
    axis->block = pr_region_take(&axis->region, axis->count, sizeof *axis->block);
    PR_TRY(pr_region_check(&axis->region, err));
    for (size_t i = 0; i < axis->count; i++) {
        int32_t number = c->list[i].number;
        pr_slice name = plain_name(axis, c->data, number);
        bool changes = i > 0 && c->list[i].branch != c->list[i - 1].branch;
        axis->block[i] = i == 0 ? 0 : axis->block[i - 1] + changes;
        bool shared = is_shared(axis, c, i);
        axis->names[i] = shared || split[number]
                             ? long_name(axis, c->data, number, shared, split[number])
                             : pr_region_string(&axis->region, name.bytes, name.size);
        PR_TRY(pr_region_check(&axis->region, err));
        pr_text_clean(axis->names[i]);
    }
    return PARSREC_OK;
}

/* ---- where classes stand in the tree ---- */

static parsrec_status find_paths(pr_axis *axis, const choosing *c, parsrec_error *err)
{
    const pr_dataset *d = c->data;
    axis->categories = d->categories;
    axis->paths =
        pr_region_take(&axis->region, axis->count * PR_CATEGORY_LEVELS, sizeof *axis->paths);
    axis->category_names =
        pr_region_take(&axis->region, d->categories, sizeof *axis->category_names);
    PR_TRY(pr_region_check(&axis->region, err));
    for (size_t i = 0; i < axis->count; i++) {
        int32_t *path = axis->paths + i * PR_CATEGORY_LEVELS, number = c->list[i].number;
        bool none = d->categories == 0;
        path_of(path, d, none ? -1 : axis->items ? d->item_category[number] : number);
        for (size_t l = 0; l < PR_CATEGORY_LEVELS && path[l] >= 0; l++) {
            pr_slice name = pr_name(&d->category_names, (size_t)path[l]);
            char **place = &axis->category_names[path[l]];
            if (*place == NULL)
                *place = pr_region_string(&axis->region, name.bytes, name.size);
        }
    }
    return pr_region_check(&axis->region, err);
}

int pr_axis_common(const pr_axis *axis, size_t i, size_t j)
{
    assert(i < axis->count && j < axis->count);
    const int32_t *a = axis->paths + i * PR_CATEGORY_LEVELS;
    const int32_t *b = axis->paths + j * PR_CATEGORY_LEVELS;
    int level = -1;
    while (level + 1 < PR_CATEGORY_LEVELS && a[level + 1] >= 0 && a[level + 1] == b[level + 1])
        level++;
    return level;
}

/* ---- the catalogue by classes ---- */

static parsrec_status sort_items(pr_axis *axis, choosing *c, parsrec_error *err)
{
    size_t V = c->data->items;
    axis->class = pr_region_take(&axis->region, V, sizeof *axis->class);
    axis->order = pr_region_take(&axis->region, V, sizeof *axis->order);
    axis->offsets = pr_region_take(&axis->region, axis->count + 2, sizeof *axis->offsets);
    uint32_t *place = pr_region_take(&c->region, c->count, sizeof *place);
    PR_TRY(pr_region_check(&axis->region, err));
    PR_TRY(pr_region_check(&c->region, err));
    for (size_t n = 0; n < c->count; n++)
        place[c->list[n].number] = (uint32_t)(n < axis->count ? n : axis->count);
    for (size_t i = 0; i < V; i++) {
        axis->class[i] = c->of_item[i] < 0 ? (uint32_t)axis->count : place[c->of_item[i]];
        axis->offsets[axis->class[i] + 1]++;
    }
    for (size_t k = 0; k <= axis->count; k++)
        axis->offsets[k + 1] += axis->offsets[k];
    for (size_t i = 0; i < V; i++) /* moves each offset to the next class, put right below */
        axis->order[axis->offsets[axis->class[i]]++] = (uint32_t)i;
    for (size_t k = axis->count + 1; k > 0; k--)
        axis->offsets[k] = axis->offsets[k - 1];
    axis->offsets[0] = 0;
    return PARSREC_OK;
}

parsrec_status pr_axis_init(pr_axis *axis, const pr_dataset *data, const pr_axis_options *options,
                            parsrec_error *err)
{
    *axis = (pr_axis){.items = options->items, .item_count = data->items};
    choosing c = {.data = data, .options = options};
    parsrec_status status;
    if (!options->items && data->categories == 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "the data set has no categories; make a map of its items (--by item)");
    PR_TRY_GOTO(list_candidates(&c, err));
    PR_TRY_GOTO(choose(axis, &c, err));
    PR_TRY_GOTO(name_classes(axis, &c, err));
    PR_TRY_GOTO(find_paths(axis, &c, err));
    status = sort_items(axis, &c, err);
done:
    pr_region_free(&c.region);
    return status;
}

void pr_axis_free(pr_axis *axis)
{
    pr_region_free(&axis->region);
    *axis = (pr_axis){0};
}
