/* A data set out of its file: tensors become columns, nothing is copied. What the numbers say is
 * checked in dataset_check.c. */
#include "data/dataset.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/dataset_features.h"

static const int64_t no_names[1] = {0};

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
    char part[PR_PART_NAME_BYTES];
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

/* user_offsets and session_offsets: one more element than there are rows. */
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
    PR_TRY(pr_names_need(d->file, "item_keys", &d->item_keys, err));
    d->items = d->item_keys.count;
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
    const char *kind = pr_container_metadata(d->file, "time_kind");
    bool known = false;
    for (int i = 0; i < PR_TIME_KINDS; i++) {
        if (strcmp(kind != NULL ? kind : "none", pr_time_kind_names[i]) == 0) {
            d->time_kind = (parsrec_time_kind)i;
            known = true;
        }
    }
    if (!known)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: time_kind is none, ordinal or unix, the file has another word",
                       pr_container_path(d->file));
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

static parsrec_status read_dataset(pr_dataset *d, parsrec_error *err)
{
    PR_TRY(read_actions(d, err));
    PR_TRY(read_times(d, err));
    PR_TRY(read_catalogue(d, err));
    PR_TRY(pr_features_read(d, err));
    const char *source = pr_container_metadata(d->file, "source");
    d->source = source != NULL ? source : "";
    d->events = pr_container_metadata(d->file, "events");
    const char *ordered = pr_container_metadata(d->file, "ordered");
    d->ordered = ordered != NULL && strcmp(ordered, "yes") == 0;
    return pr_dataset_check(d, pr_container_path(d->file), err);
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
    parsrec_status status = read_dataset(d, err);
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
    PR_TRY(pr_container_open(&file, path, err));
    return pr_dataset_from(out, file, err);
}

void pr_dataset_free(pr_dataset *d)
{
    if (d == NULL)
        return;
    pr_features_free(d);
    pr_container_free(d->file);
    pr_free(d);
}

/* ---- public ---- */

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
    PR_TRY(pr_container_open(&file, path, err));
    const char *name = pr_container_metadata(file, "format");
    snprintf(format, 32, "%s", name != NULL ? name : "");
    pr_container_free(file);
    return PARSREC_OK;
}
