/* A data set into its file. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/dataset_features.h"

/* The tensors to write, with the names made for them. */
typedef struct listing {
    pr_tensor *tensors;
    char (*names)[PR_PART_NAME_BYTES];
    size_t count;
} listing;

__attribute__((format(printf, 5, 6))) static void list(listing *l, pr_dtype dtype, const void *data,
                                                       size_t count, const char *format, ...)
{
    static const uint64_t nothing = 0;
    char *name = l->names[l->count];
    va_list args;
    va_start(args, format);
    vsnprintf(name, PR_PART_NAME_BYTES, format, args);
    va_end(args);
    l->tensors[l->count++] =
        (pr_tensor){name, dtype, 1, {count}, data != NULL ? data : (const void *)&nothing};
}

static void list_names(listing *l, const pr_names *names, const char *name)
{
    list(l, PR_U8, names->bytes, (size_t)names->offsets[names->count], "%s.bytes", name);
    list(l, PR_I64, names->offsets, names->count + 1, "%s.offsets", name);
}

static void list_feature(listing *l, const pr_feature_column *f, const char *prefix, size_t rows)
{
    if (f->number != NULL) {
        list(l, PR_F32, f->number, rows, "%s%s", prefix, f->name);
        return;
    }
    char values[PR_PART_NAME_BYTES];
    list(l, PR_I32, f->code, rows, "%s%s", prefix, f->name);
    snprintf(values, sizeof values, "%s%s.values", prefix, f->name);
    list_names(l, &f->values, values);
}

static void list_all(listing *l, const pr_dataset *d)
{
    list(l, PR_I64, d->user_offsets, d->users + 1, "user_offsets");
    list(l, PR_I64, d->session_offsets, d->sessions + 1, "session_offsets");
    list(l, PR_I32, d->action_items, d->actions, "items");
    if (d->time_kind != PARSREC_TIME_NONE)
        list(l, PR_I64, d->times, d->sessions, "times");
    list_names(l, &d->user_keys, "user_keys");
    list_names(l, &d->item_keys, "item_keys");
    if (d->item_names.count > 0)
        list_names(l, &d->item_names, "item_names");
    if (d->categories > 0) {
        list_names(l, &d->category_names, "category_names");
        list(l, PR_I32, d->category_parent, d->categories, "category_parent");
        list(l, PR_I32, d->item_category, d->items, "item_category");
    }
    for (int table = 0; table < PR_FEATURE_TABLES; table++)
        for (size_t i = 0; i < d->feature_count[table]; i++)
            list_feature(l, &d->features[table][i], pr_feature_prefix((pr_feature_of)table),
                         pr_feature_rows(d, (pr_feature_of)table));
}

/* As many as list_all and the extras can give. */
static size_t most_tensors(const pr_dataset *d, size_t extra_count)
{
    size_t most = 14 + extra_count;
    for (int table = 0; table < PR_FEATURE_TABLES; table++)
        most += 3 * d->feature_count[table];
    return most;
}

enum { OWN_METADATA = 3 };

/* The metadata of the columns, then those of the enclosing file. Returns how many. */
static size_t gather_metadata(pr_metadata *out, const pr_dataset *d, const pr_enclosing *in)
{
    size_t count = 0;
    out[count++] = (pr_metadata){"time_kind", pr_time_kind_names[d->time_kind]};
    if (d->ordered)
        out[count++] = (pr_metadata){"ordered", "yes"};
    if (d->source != NULL && d->source[0] != '\0')
        out[count++] = (pr_metadata){"source", d->source};
    if (d->events != NULL)
        out[count++] = (pr_metadata){"events", d->events};
    for (size_t i = 0; i < in->metadata_count; i++)
        out[count++] = in->metadata[i];
    return count;
}

parsrec_status pr_dataset_enclose(const pr_dataset *data, const pr_enclosing *in, const char *path,
                                  parsrec_error *err)
{
    PR_TRY(pr_dataset_check(data, path, err));
    size_t most = most_tensors(data, in->tensor_count);
    listing l = {.tensors = pr_alloc(most, sizeof *l.tensors),
                 .names = pr_alloc(most, sizeof *l.names)};
    pr_metadata *metadata = pr_alloc(OWN_METADATA + in->metadata_count, sizeof *metadata);
    parsrec_status status;
    if (l.tensors == NULL || l.names == NULL || metadata == NULL) {
        status = pr_fail_memory(err);
    } else {
        list_all(&l, data);
        for (size_t i = 0; i < in->tensor_count; i++)
            l.tensors[l.count++] = in->tensors[i];
        size_t count = gather_metadata(metadata, data, in);
        status = pr_container_write(path, in->format, in->version, metadata, count, l.tensors,
                                    l.count, err);
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
