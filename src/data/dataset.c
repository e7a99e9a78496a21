/* Loading a data set, where tensors become columns and nothing is copied; checking its invariants;
 * saving it. */
#include "data/dataset.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/xxh3.h"
#include "data/dataset_edit.h"
#include "data/shards.h"

enum {
    TIME_KINDS = 3,
    NAME_BYTES = 256, /* holds every tensor name of a data set */
};

/* ---- feature columns: user_feature.NAME holds numbers (F32) or codes (I32); the words of the codes
 * are in user_feature.NAME.values.bytes and .offsets ---- */

static const char *const value_parts[] = {".values.bytes", ".values.offsets"};

const char *pr_feature_prefix(pr_feature_of table)
{
    assert((unsigned)table < PR_FEATURE_TABLES);
    static const char *const prefixes[PR_FEATURE_TABLES] = {"user_feature.", "session_feature.",
                                                            "item_feature."};
    return prefixes[table];
}

size_t pr_feature_rows(const pr_dataset *data, pr_feature_of table)
{
    assert(table < PR_FEATURE_TABLES);
    assert((unsigned)table < PR_FEATURE_TABLES);
    const size_t rows[PR_FEATURE_TABLES] = {data->users, data->sessions, data->items};
    return rows[table];
}

pr_shop pr_shop_of(const pr_dataset *data)
{
    pr_shop shop = {data->users, data->items, data->categories, {NULL}, {0}};
    for (int table = 0; table < PR_FEATURE_TABLES; table++) {
        shop.features[table] = data->features[table];
        shop.feature_count[table] = data->feature_count[table];
    }
    return shop;
}

/* For the tensor of a column's values, named without the table or with it, the length of the column's name;
 * SIZE_MAX for other tensors. */
static size_t owner_length(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof value_parts / sizeof *value_parts; i++) {
        size_t ending = strlen(value_parts[i]);
        if (length >= ending && strcmp(name + length - ending, value_parts[i]) == 0)
            return length - ending;
    }
    return SIZE_MAX;
}

bool pr_feature_name_valid(const char *name)
{
    size_t length = strlen(name), at;
    if (length == 0 || length > PR_FEATURE_NAME_MAX || owner_length(name) != SIZE_MAX ||
        !pr_utf8_valid(name, length, &at))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
    return true;
}

static void free_features(pr_dataset *d)
{
    for (int table = 0; table < PR_FEATURE_TABLES; table++) {
        for (size_t i = 0; i < d->feature_count[table]; i++)
            pr_free(d->features[table][i].name);
        pr_free(d->features[table]);
    }
}

static parsrec_status read_feature(const pr_dataset *d, pr_feature_column *feature,
                                   const char *tensor, pr_feature_of table, parsrec_error *err)
{
    const char *name = tensor + strlen(pr_feature_prefix(table)),
               *path = pr_container_path(d->file);
    pr_excerpt hold;
    if (!pr_feature_name_valid(name))
        return pr_fail(err, PARSREC_E_FORMAT, "%s: tensor %s does not name a feature", path,
                       pr_show(&hold, pr_slice_of(tensor)));
    feature->name = pr_copy_string(name, strlen(name));
    if (feature->name == NULL)
        return pr_fail_memory(err);
    size_t rows = pr_feature_rows(d, table);
    if (pr_container_find(d->file, tensor)->dtype == PR_F32)
        return pr_column_need(d->file, tensor, PR_F32, &feature->number, rows, err);
    PR_TRY(pr_column_need(d->file, tensor, PR_I32, &feature->code, rows, err));
    char values[NAME_BYTES];
    snprintf(values, sizeof values, "%s.values", tensor);
    return pr_names_need(d->file, values, &feature->values, err);
}

/* Values without their column of codes mean that the file has lost a column: an error, not something
 * to ignore. */
static parsrec_status check_owner(const pr_dataset *d, const char *tensor, parsrec_error *err)
{
    char owner[NAME_BYTES];
    snprintf(owner, sizeof owner, "%.*s", (int)owner_length(tensor), tensor);
    const pr_tensor *column = pr_container_find(d->file, owner);
    pr_excerpt hold;
    if (column != NULL && column->dtype == PR_I32)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_FORMAT, "%s: tensor %s belongs to no I32 column",
                   pr_container_path(d->file), pr_show(&hold, pr_slice_of(tensor)));
}

static parsrec_status read_table(pr_dataset *d, pr_feature_of table, parsrec_error *err)
{
    const char *prefix = pr_feature_prefix(table);
    size_t capacity = 0;
    for (size_t i = 0; i < pr_container_tensors(d->file); i++) {
        const char *name = pr_container_at(d->file, i)->name;
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        if (owner_length(name + strlen(prefix)) != SIZE_MAX) {
            PR_TRY(check_owner(d, name, err));
            continue;
        }
        size_t n = d->feature_count[table];
        PR_TRY(pr_grow(&d->features[table], &capacity, n + 1, sizeof **d->features, err));
        d->features[table][n] = (pr_feature_column){0};
        d->feature_count[table]++;
        PR_TRY(read_feature(d, &d->features[table][n], name, table, err));
    }
    return PARSREC_OK;
}

/* ---- loading ---- */

static const int64_t no_names[1] = {0};

static const char *const time_kind_names[TIME_KINDS] = {"none", "ordinal", "unix"};

parsrec_status pr_vector_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t *count, parsrec_error *err)
{
    const pr_tensor *tensor;
    PR_TRY(pr_container_need(file, name, dtype, 1, &tensor, err));
    memcpy((void *)(uintptr_t)column, &tensor->data, sizeof tensor->data);
    *count = (size_t)tensor->shape[0];
    return PARSREC_OK;
}

parsrec_status pr_column_need(const pr_container *file, const char *name, pr_dtype dtype,
                              const void *column, size_t count, parsrec_error *err)
{
    size_t found;
    PR_TRY(pr_vector_need(file, name, dtype, column, &found, err));
    if (found != count)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: tensor '%s' has %zu elements, expected %zu",
                       pr_container_path(file), name, found, count);
    return PARSREC_OK;
}

parsrec_status pr_names_need(const pr_container *file, const char *name, pr_names *names,
                             parsrec_error *err)
{
    char part[NAME_BYTES];
    size_t size, count;
    snprintf(part, sizeof part, "%s.offsets", name);
    PR_TRY(pr_vector_need(file, part, PR_I64, &names->offsets, &count, err));
    if (count == 0)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: tensor '%s' is empty; it begins with 0",
                       pr_container_path(file), part);
    names->count = count - 1;
    snprintf(part, sizeof part, "%s.bytes", name);
    PR_TRY(pr_vector_need(file, part, PR_U8, &names->bytes, &size, err));
    if (names->offsets[0] != 0 || names->offsets[names->count] < 0 ||
        (uint64_t)names->offsets[names->count] != size)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: %s.offsets do not run from 0 to the %zu bytes",
                       pr_container_path(file), name, size);
    return PARSREC_OK;
}

static bool has_names(const pr_container *file, const char *offsets)
{
    return pr_container_find(file, offsets) != NULL;
}

/* Offsets have one element more than there are rows. */
static parsrec_status read_offsets(const pr_container *file, const char *name,
                                   const int64_t **offsets, size_t *rows, parsrec_error *err)
{
    size_t count;
    PR_TRY(pr_vector_need(file, name, PR_I64, offsets, &count, err));
    if (count == 0)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: tensor '%s' is empty; it begins with 0",
                       pr_container_path(file), name);
    *rows = count - 1;
    return PARSREC_OK;
}

static parsrec_status read_actions(pr_dataset *d, parsrec_error *err)
{
    PR_TRY(pr_names_need(d->file, "user_keys", &d->user_keys, err));
    PR_TRY(read_offsets(d->file, "user_offsets", &d->user_offsets, &d->users, err));
    PR_TRY(read_offsets(d->file, "session_offsets", &d->session_offsets, &d->sessions, err));
    PR_TRY(pr_vector_need(d->file, "items", PR_I32, &d->action_items, &d->actions, err));
    if (d->user_keys.count != d->users)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: user_keys name %zu users, user_offsets %zu",
                       pr_container_path(d->file), d->user_keys.count, d->users);
    return PARSREC_OK;
}

static parsrec_status read_times(pr_dataset *d, parsrec_error *err)
{
    if (d->time_kind != PARSREC_TIME_NONE)
        return pr_column_need(d->file, "times", PR_I64, &d->times, d->sessions, err);
    if (pr_container_find(d->file, "times") != NULL)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: has times, but its metadata 'time_kind' does not say ordinal or unix",
                       pr_container_path(d->file));
    return PARSREC_OK;
}

static parsrec_status read_catalogue(pr_dataset *d, parsrec_error *err)
{
    PR_TRY(pr_names_need(d->file, "item_keys", &d->item_keys, err));
    d->items = d->item_keys.count;
    d->item_names = (pr_names){"", no_names, 0};
    d->category_names = (pr_names){"", no_names, 0};
    if (has_names(d->file, "item_names.offsets")) {
        PR_TRY(pr_names_need(d->file, "item_names", &d->item_names, err));
        if (d->item_names.count != d->items)
            return pr_fail(err, PARSREC_E_FORMAT, "%s: item_names has %zu names for %zu items",
                           pr_container_path(d->file), d->item_names.count, d->items);
    }
    if (!has_names(d->file, "category_names.offsets") &&
        pr_container_find(d->file, "item_category") == NULL)
        return PARSREC_OK;
    PR_TRY(pr_names_need(d->file, "category_names", &d->category_names, err));
    d->categories = d->category_names.count;
    PR_TRY(pr_column_need(d->file, "category_parent", PR_I32, &d->category_parent, d->categories,
                          err));
    PR_TRY(pr_column_need(d->file, "item_category", PR_I32, &d->item_category, d->items, err));
    if (d->categories == 0)
        d->item_category = NULL;
    return PARSREC_OK;
}

static parsrec_status read_time_kind(pr_dataset *d, parsrec_error *err)
{
    const char *kind = pr_container_metadata(d->file, "time_kind");
    for (int i = 0; i < TIME_KINDS; i++)
        if (strcmp(kind != NULL ? kind : "none", time_kind_names[i]) == 0) {
            d->time_kind = (parsrec_time_kind)i;
            return PARSREC_OK;
        }
    return pr_fail(err, PARSREC_E_FORMAT, "%s: time_kind must be none, ordinal or unix",
                   pr_container_path(d->file));
}

parsrec_status pr_dataset_read(pr_dataset *d, pr_data_part part, parsrec_error *err)
{
    assert(d->file != NULL);
    const char *source = pr_container_metadata(d->file, "source");
    const char *ordered = pr_container_metadata(d->file, "ordered");
    d->source = source != NULL ? source : "";
    d->events = pr_container_metadata(d->file, "events");
    d->split = pr_container_metadata(d->file, "split");
    d->ordered = ordered != NULL && strcmp(ordered, "yes") == 0;
    PR_TRY(read_time_kind(d, err));
    if (part != PR_PART_USERS) {
        PR_TRY(read_catalogue(d, err));
        PR_TRY(read_table(d, PR_OF_ITEM, err));
    }
    if (part != PR_PART_CATALOGUE) {
        PR_TRY(read_actions(d, err));
        PR_TRY(read_times(d, err));
        PR_TRY(read_table(d, PR_OF_USER, err));
        PR_TRY(read_table(d, PR_OF_SESSION, err));
    }
    return PARSREC_OK;
}

parsrec_status pr_dataset_inside(pr_dataset **out, pr_container *file, parsrec_error *err)
{
    *out = NULL;
    pr_dataset *d = pr_alloc_zero(1, sizeof *d);
    if (d == NULL) {
        pr_container_free(file);
        return pr_fail_memory(err);
    }
    d->file = file;
    parsrec_status status = pr_dataset_read(d, PR_PART_ALL, err);
    if (status == PARSREC_OK)
        status = pr_dataset_check(d, pr_container_path(file), err);
    if (status == PARSREC_OK)
        *out = d;
    else
        pr_dataset_free(d);
    return status;
}

parsrec_status pr_dataset_from(pr_dataset **out, pr_container *file, parsrec_error *err)
{
    uint32_t version;
    *out = NULL;
    parsrec_status status =
        pr_container_expect(file, PR_DATA_FORMAT, PR_DATA_VERSION, &version, err);
    if (status == PARSREC_OK)
        return pr_dataset_inside(out, file, err);
    pr_container_free(file);
    return status;
}

parsrec_status pr_dataset_load(pr_dataset **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    pr_container *file;
    if (pr_shards_at(path))
        return pr_shards_load(out, path, err);
    PR_TRY(pr_container_open(&file, path, err));
    return pr_dataset_from(out, file, err);
}

void pr_dataset_free(pr_dataset *d)
{
    if (d == NULL)
        return;
    free_features(d->cut != NULL ? &d->cut->data : d);
    pr_container_free(d->file);
    pr_joined_free(d->joined);
    if (d->cut != NULL)
        pr_derived_free(d->cut);
    pr_free(d->cut);
    pr_free(d);
}

/* ---- public functions ---- */

parsrec_status parsrec_data_load(parsrec_data **out, const char *path, parsrec_error *err)
{
    if (out == NULL || path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_data_load needs out and path");
    return pr_dataset_load(out, path, err);
}

void parsrec_data_free(parsrec_data *data)
{
    pr_dataset_free(data);
}

parsrec_status parsrec_file_format(const char *path, char format[32], parsrec_error *err)
{
    if (path == NULL || format == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_file_format needs a path and room");
    pr_container *file;
    if (pr_shards_at(path)) {
        snprintf(format, 32, "%s", PR_DATA_FORMAT);
        return PARSREC_OK;
    }
    PR_TRY(pr_container_open(&file, path, err));
    const char *name = pr_container_metadata(file, "format");
    snprintf(format, 32, "%s", name != NULL ? name : "");
    pr_container_free(file);
    return PARSREC_OK;
}

/* ---- checking: every column is read once, so that no later code has to check ---- */

/* What is checked, and its name in messages. */
typedef struct check {
    const pr_dataset *data;
    const char *origin;
    parsrec_error *err;
} check;

#define REFUSE(c, format, ...) \
    pr_fail((c)->err, PARSREC_E_FORMAT, "%s: " format, (c)->origin, __VA_ARGS__)

/* Once elements up to `upto` of a column have been looked at: gives back the pages of a mapped column,
 * a window at a time. *done is how far that has come. Only for columns that pr_dataset.views names. */
static void give_back(const check *c, const void *column, size_t element, size_t upto, size_t *done)
{
    enum { WINDOW_BYTES = 1 << 24 };
    if (c->data->view_count == 0 || (upto - *done) * element < WINDOW_BYTES)
        return;
    pr_pages_release((const char *)column + *done * element, (upto - *done) * element);
    *done = upto;
}

/* Offsets go from 0 to `end`; each is at least `step` more than the one before. */
static parsrec_status check_offsets(const check *c, const char *name, const int64_t *offsets,
                                    size_t rows, size_t end, int64_t step)
{
    size_t done = 0;
    if (offsets[0] != 0)
        return REFUSE(c, "%s begins with %lld, not 0", name, (long long)offsets[0]);
    for (size_t i = 0; i < rows; i++) {
        if (offsets == c->data->session_offsets)
            give_back(c, offsets, sizeof *offsets, i, &done);
        if (offsets[i + 1] < offsets[i])
            return REFUSE(c, "%s decreases at %zu from %lld to %lld", name, i,
                          (long long)offsets[i], (long long)offsets[i + 1]);
        if (offsets[i + 1] - offsets[i] < step)
            return REFUSE(c, "%s: row %zu is empty", name, i);
    }
    if ((uint64_t)offsets[rows] != end)
        return REFUSE(c, "%s ends with %lld, expected %zu", name, (long long)offsets[rows], end);
    return PARSREC_OK;
}

/* Codes first to end - 1 are from `low`, which is 0 or -1, to count - 1. */
static parsrec_status check_codes(const check *c, const char *name, const int32_t *codes,
                                  size_t first, size_t end, int32_t low, size_t count)
{
    for (size_t i = first; i < end; i++)
        if (codes[i] < low || (codes[i] >= 0 && (size_t)codes[i] >= count))
            return REFUSE(c, "%s[%zu] is %d, allowed are %d to %lld", name, i, codes[i], low,
                          (long long)count - 1);
    return PARSREC_OK;
}

static parsrec_status check_names(const check *c, const char *table, const pr_names *names,
                                  bool may_be_empty)
{
    size_t size = (size_t)names->offsets[names->count], at;
    PR_TRY(check_offsets(c, table, names->offsets, names->count, size, may_be_empty ? 0 : 1));
    if (size > 0 && memchr(names->bytes, 0, size) != NULL)
        return REFUSE(c, "%s: a name holds a NUL byte", table);
    if (pr_utf8_valid(names->bytes, size, &at)) {
        /* Valid as a whole; a boundary inside a character would still break two names. */
        for (size_t i = 0; i < names->count; i++) {
            at = (size_t)names->offsets[i];
            if (at < size && !pr_utf8_begins(names->bytes[at]))
                return REFUSE(c, "%s: name %zu is not valid UTF-8", table, i);
        }
        return PARSREC_OK;
    }
    return REFUSE(c, "%s: byte %zu is not valid UTF-8", table, at);
}

/* Each name occurs once, or once per scope (siblings in the category tree). The hash set holds the
 * numbers only. Its hash is seeded, so that no file can be made whose names all collide; the result
 * does not depend on the seed. */
static parsrec_status check_unique(const check *c, const char *table, const pr_names *names,
                                   const int32_t *scope)
{
    size_t slots = 16;
    while (slots / 2 < names->count)
        slots *= 2;
    uint32_t *taken = pr_alloc_zero(slots, sizeof *taken); /* number + 1 */
    if (taken == NULL)
        return pr_fail_memory(c->err);
    parsrec_status status = PARSREC_OK;
    uint64_t seed = pr_name_seed();
    for (size_t i = 0; i < names->count && status == PARSREC_OK; i++) {
        pr_slice name = pr_name(names, i);
        uint64_t own = seed + (scope != NULL ? (uint64_t)(int64_t)scope[i] : 0);
        size_t at = XXH3_64bits_withSeed(name.bytes, name.size, own) & (slots - 1);
        for (; taken[at] != 0; at = (at + 1) & (slots - 1)) {
            size_t other = taken[at] - 1;
            if ((scope == NULL || scope[other] == scope[i]) &&
                pr_slice_equal(pr_name(names, other), name))
                break;
        }
        pr_excerpt hold;
        if (taken[at] != 0)
            status = REFUSE(c, "%s: %s occurs twice, as %u and %zu", table, pr_show(&hold, name),
                            taken[at] - 1, i);
        taken[at] = (uint32_t)i + 1;
    }
    pr_free(taken);
    return status;
}

static parsrec_status check_table(const check *c, const char *table, const pr_names *names,
                                  const int32_t *scope)
{
    if (names->count >= INT32_MAX)
        return REFUSE(c, "%s: %zu names are too many", table, names->count);
    PR_TRY(check_names(c, table, names, false));
    return check_unique(c, table, names, scope);
}

/* seen[item] is the last session + 1 that held the item. */
/* Items exist, and none occurs twice in a session. */
static parsrec_status check_baskets(const check *c)
{
    const pr_dataset *d = c->data;
    uint64_t *seen = pr_alloc_zero(d->items, sizeof *seen);
    if (seen == NULL)
        return pr_fail_memory(c->err);
    parsrec_status status = PARSREC_OK;
    size_t sessions_done = 0, items_done = 0;
    for (size_t s = 0; s < d->sessions && status == PARSREC_OK; s++) {
        int64_t first = d->session_offsets[s], end = d->session_offsets[s + 1];
        give_back(c, d->session_offsets, sizeof *d->session_offsets, s, &sessions_done);
        give_back(c, d->action_items, sizeof *d->action_items, (size_t)first, &items_done);
        status = check_codes(c, "items", d->action_items, (size_t)first, (size_t)end, 0, d->items);
        for (int64_t a = first; a < end && status == PARSREC_OK; a++) {
            int32_t item = d->action_items[a];
            pr_excerpt hold;
            if (seen[item] == s + 1)
                status = REFUSE(c, "item %s occurs twice in session %zu",
                                pr_show(&hold, pr_name(&d->item_keys, (size_t)item)), s);
            seen[item] = s + 1;
        }
    }
    pr_free(seen);
    return status;
}

static parsrec_status check_times(const check *c)
{
    const pr_dataset *d = c->data;
    size_t done = 0;
    for (size_t u = 0; d->times != NULL && u < d->users; u++) {
        give_back(c, d->times, sizeof *d->times, (size_t)d->user_offsets[u], &done);
        for (int64_t s = d->user_offsets[u]; s < d->user_offsets[u + 1]; s++) {
            pr_excerpt hold;
            if (!pr_time_fits(d->times[s]))
                return REFUSE(c, "the time of session %lld is %lld, which is out of range",
                              (long long)s, (long long)d->times[s]);
            if (s > d->user_offsets[u] && d->times[s] < d->times[s - 1])
                return REFUSE(c, "times of user %s fall at session %lld from %lld to %lld",
                              pr_show(&hold, pr_name(&d->user_keys, u)), (long long)s,
                              (long long)d->times[s - 1], (long long)d->times[s]);
        }
    }
    return PARSREC_OK;
}

static parsrec_status check_depth(const check *c)
{
    const pr_dataset *d = c->data;
    unsigned char *level = pr_alloc_zero(d->categories, 1);
    if (level == NULL)
        return pr_fail_memory(c->err);
    parsrec_status status = PARSREC_OK;
    for (size_t i = 0; i < d->categories && status == PARSREC_OK; i++) {
        int32_t parent = d->category_parent[i];
        if (parent >= 0)
            level[i] = (unsigned char)(level[parent] + 1);
        if (level[i] >= PR_CATEGORY_LEVELS)
            status = REFUSE(c, "the categories have more than %d levels", PR_CATEGORY_LEVELS);
    }
    pr_free(level);
    return status;
}

static parsrec_status check_catalogue(const check *c)
{
    const pr_dataset *d = c->data;
    if (d->item_names.count > 0)
        PR_TRY(check_names(c, "item_names", &d->item_names, true));
    if (d->categories == 0)
        return PARSREC_OK;
    for (size_t i = 0; i < d->categories; i++)
        if (d->category_parent[i] < -1 || d->category_parent[i] >= (int64_t)i)
            return REFUSE(c, "category_parent[%zu] is %d; a parent comes before its children", i,
                          d->category_parent[i]);
    PR_TRY(check_depth(c));
    PR_TRY(check_table(c, "category_names", &d->category_names, d->category_parent));
    return check_codes(c, "item_category", d->item_category, 0, d->items, -1, d->categories);
}

static parsrec_status check_feature(const check *c, const pr_feature_column *f, size_t rows)
{
    pr_excerpt hold;
    const char *name = pr_show(&hold, pr_slice_of(f->name));
    if (!pr_feature_name_valid(f->name))
        return REFUSE(c,
                      "%s cannot be the name of a feature; take 1 to %d bytes of plain text "
                      "that do not end in .values.bytes or .values.offsets",
                      name, PR_FEATURE_NAME_MAX);
    for (size_t i = 0; f->number != NULL && i < rows; i++)
        if (isinf(f->number[i]))
            return REFUSE(c, "feature %s is infinite in row %zu", name, i);
    if (f->code == NULL)
        return PARSREC_OK;
    PR_TRY(check_table(c, name, &f->values, NULL));
    return check_codes(c, name, f->code, 0, rows, -1, f->values.count);
}

parsrec_status pr_dataset_check(const pr_dataset *d, const char *origin, parsrec_error *err)
{
    const check c = {d, origin, err};
    PR_TRY(check_table(&c, "user_keys", &d->user_keys, NULL));
    PR_TRY(check_table(&c, "item_keys", &d->item_keys, NULL));
    PR_TRY(check_offsets(&c, "user_offsets", d->user_offsets, d->users, d->sessions, 0));
    PR_TRY(check_offsets(&c, "session_offsets", d->session_offsets, d->sessions, d->actions, 1));
    PR_TRY(check_baskets(&c));
    PR_TRY(check_times(&c));
    PR_TRY(check_catalogue(&c));
    for (int table = 0; table < PR_FEATURE_TABLES; table++)
        for (size_t i = 0; i < c.data->feature_count[table]; i++)
            PR_TRY(check_feature(&c, &c.data->features[table][i],
                                 pr_feature_rows(c.data, (pr_feature_of)table)));
    return PARSREC_OK;
}

/* ---- saving ---- */

/* The tensors to write, and their names. */
typedef struct tensor_list {
    pr_tensor *tensors;
    char (*names)[NAME_BYTES];
    size_t count;
} tensor_list;

__attribute__((format(printf, 5, 6))) static void add_tensor(tensor_list *l, pr_dtype dtype,
                                                             const void *data, size_t count,
                                                             const char *format, ...)
{
    static const uint64_t nothing = 0;
    char *name = l->names[l->count];
    va_list args;
    va_start(args, format);
    vsnprintf(name, NAME_BYTES, format, args);
    va_end(args);
    l->tensors[l->count++] =
        (pr_tensor){name, dtype, 1, {count}, data != NULL ? data : (const void *)&nothing};
}

static void add_names(tensor_list *l, const pr_names *names, const char *name)
{
    add_tensor(l, PR_U8, names->bytes, (size_t)names->offsets[names->count], "%s.bytes", name);
    add_tensor(l, PR_I64, names->offsets, names->count + 1, "%s.offsets", name);
}

static void add_feature(tensor_list *l, const pr_feature_column *f, const char *prefix, size_t rows)
{
    if (f->number != NULL) {
        add_tensor(l, PR_F32, f->number, rows, "%s%s", prefix, f->name);
        return;
    }
    char values[NAME_BYTES];
    add_tensor(l, PR_I32, f->code, rows, "%s%s", prefix, f->name);
    snprintf(values, sizeof values, "%s%s.values", prefix, f->name);
    add_names(l, &f->values, values);
}

static void add_table(tensor_list *l, const pr_dataset *d, pr_feature_of table)
{
    for (size_t i = 0; i < d->feature_count[table]; i++)
        add_feature(l, &d->features[table][i], pr_feature_prefix(table), pr_feature_rows(d, table));
}

static void add_users(tensor_list *l, const pr_dataset *d)
{
    add_tensor(l, PR_I64, d->user_offsets, d->users + 1, "user_offsets");
    add_tensor(l, PR_I64, d->session_offsets, d->sessions + 1, "session_offsets");
    add_tensor(l, PR_I32, d->action_items, d->actions, "items");
    if (d->time_kind != PARSREC_TIME_NONE) {
        add_tensor(l, PR_I64, d->times, d->sessions, "times");
    }
    add_names(l, &d->user_keys, "user_keys");
    add_table(l, d, PR_OF_USER);
    add_table(l, d, PR_OF_SESSION);
}

static void add_catalogue(tensor_list *l, const pr_dataset *d)
{
    add_names(l, &d->item_keys, "item_keys");
    if (d->item_names.count > 0)
        add_names(l, &d->item_names, "item_names");
    if (d->categories > 0) {
        add_names(l, &d->category_names, "category_names");
        add_tensor(l, PR_I32, d->category_parent, d->categories, "category_parent");
        add_tensor(l, PR_I32, d->item_category, d->items, "item_category");
    }
    add_table(l, d, PR_OF_ITEM);
}

/* An upper bound: these write at most 14 tensors and 3 per feature. */
static size_t most_tensors(const pr_dataset *d, size_t extra_count)
{
    size_t most = 14 + extra_count;
    for (int table = 0; table < PR_FEATURE_TABLES; table++)
        most += 3 * d->feature_count[table];
    return most;
}

enum { OWN_METADATA = 5 }; /* at most, see gather_metadata */

/* The metadata of the data set, then of the enclosing file. Returns their number. */
static size_t gather_metadata(pr_metadata *out, const pr_dataset *d, const pr_enclosing *in)
{
    size_t count = 0;
    bool texts = in->part != PR_PART_USERS; /* a shard's are in the dictionary */
    out[count++] = (pr_metadata){"time_kind", time_kind_names[d->time_kind]};
    if (texts && d->ordered)
        out[count++] = (pr_metadata){"ordered", "yes"};
    if (texts && d->source != NULL && d->source[0] != '\0')
        out[count++] = (pr_metadata){"source", d->source};
    if (texts && d->events != NULL)
        out[count++] = (pr_metadata){"events", d->events};
    if (texts && d->split != NULL)
        out[count++] = (pr_metadata){"split", d->split};
    for (size_t i = 0; i < in->metadata_count; i++)
        out[count++] = in->metadata[i];
    return count;
}

parsrec_status pr_dataset_enclose(const pr_dataset *data, const pr_enclosing *in, const char *path,
                                  parsrec_error *err)
{
    if (in->part == PR_PART_ALL)
        PR_TRY(pr_dataset_check(data, path, err));
    size_t most = most_tensors(data, in->tensor_count);
    tensor_list l = {.tensors = pr_alloc(most, sizeof *l.tensors),
                     .names = pr_alloc(most, sizeof *l.names)};
    pr_metadata *metadata = pr_alloc(OWN_METADATA + in->metadata_count, sizeof *metadata);
    parsrec_status status;
    if (l.tensors == NULL || l.names == NULL || metadata == NULL) {
        status = pr_fail_memory(err);
    } else {
        if (in->part != PR_PART_CATALOGUE)
            add_users(&l, data);
        if (in->part != PR_PART_USERS)
            add_catalogue(&l, data);
        for (size_t i = 0; i < in->tensor_count; i++)
            l.tensors[l.count++] = in->tensors[i];
        size_t count = gather_metadata(metadata, data, in);
        assert(count <= OWN_METADATA + in->metadata_count && l.count <= most);
        pr_apart apart = {data->views, data->view_count, in->source, in->source != NULL ? 1 : 0};
        status = pr_container_write_apart(path, in->format, in->version, metadata, count, l.tensors,
                                          l.count, &apart, err);
    }
    pr_free(l.tensors);
    pr_free(l.names);
    pr_free(metadata);
    return status;
}

parsrec_status pr_dataset_save(const pr_dataset *data, const pr_tensor *extra, size_t extra_count,
                               const char *path, parsrec_error *err)
{
    pr_enclosing in = {.format = PR_DATA_FORMAT,
                       .version = PR_DATA_VERSION,
                       .tensors = extra,
                       .tensor_count = extra_count};
    return pr_dataset_enclose(data, &in, path, err);
}
