/* Feature columns: user_feature.NAME holds numbers (F32) or codes (I32); the words of the codes
 * stand in user_feature.NAME.values.bytes and .offsets. */
#include "data/dataset_features.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

const char *const pr_time_kind_names[PR_TIME_KINDS] = {"none", "ordinal", "unix"};

static const char *const value_parts[] = {".values.bytes", ".values.offsets"};

const char *pr_feature_prefix(pr_feature_of table)
{
    static const char *const prefixes[PR_FEATURE_TABLES] = {"user_feature.", "session_feature.",
                                                            "item_feature."};
    return prefixes[table];
}

size_t pr_feature_rows(const pr_dataset *data, pr_feature_of table)
{
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

/* The length of `name` without the ending that marks a table of values; 0 when it has none. */
static size_t owner_length(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof value_parts / sizeof *value_parts; i++) {
        size_t ending = strlen(value_parts[i]);
        if (length > ending && strcmp(name + length - ending, value_parts[i]) == 0)
            return length - ending;
    }
    return 0;
}

bool pr_feature_name_valid(const char *name)
{
    size_t length = strlen(name), at;
    if (length == 0 || length > PR_FEATURE_NAME_MAX || owner_length(name) > 0 ||
        !pr_utf8_valid(name, length, &at))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
    return true;
}

void pr_features_free(pr_dataset *d)
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
    char values[PR_PART_NAME_BYTES];
    snprintf(values, sizeof values, "%s.values", tensor);
    return pr_names_need(d->file, values, &feature->values, err);
}

/* Values that belong to no column of codes were lost from it: better said than passed over. */
static parsrec_status check_owner(const pr_dataset *d, const char *tensor, parsrec_error *err)
{
    char owner[PR_PART_NAME_BYTES];
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
        if (owner_length(name) > 0) {
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

parsrec_status pr_features_read(pr_dataset *d, parsrec_error *err)
{
    for (int table = 0; table < PR_FEATURE_TABLES; table++)
        PR_TRY(read_table(d, (pr_feature_of)table, err));
    return PARSREC_OK;
}
