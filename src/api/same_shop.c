/* Whether a data set is the one a model was trained on, as far as numbers of users and items go, and the
 * columns that the model reads. */
#include <string.h>

#include "api/loaded.h"

static bool same_names(const pr_names *a, const pr_names *b)
{
    return a->count == b->count && a->offsets[a->count] == b->offsets[b->count] &&
           memcmp(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets) == 0 &&
           memcmp(a->bytes, b->bytes, (size_t)a->offsets[a->count]) == 0;
}

static bool same_column(const pr_dataset *inside, const pr_dataset *data, const pr_trait *t)
{
    if (data->feature_count[t->of] <= t->column)
        return false;
    const pr_feature *a = &inside->features[t->of][t->column];
    const pr_feature *b = &data->features[t->of][t->column];
    return strcmp(a->name, b->name) == 0 && (a->number == NULL) == (b->number == NULL) &&
           (t->number || same_names(&a->values, &b->values));
}

static parsrec_status same_columns(const pr_model_file *file, const pr_dataset *data,
                                   parsrec_error *err)
{
    const pr_traits *traits = &file->model->traits;
    for (size_t i = 0; i < traits->count; i++) {
        const pr_trait *t = &traits->list[i];
        pr_excerpt hold;
        if (!same_column(file->data, data, t))
            return pr_fail(
                err, PARSREC_E_INPUT,
                "the model reads the %s feature %s, which the data set lacks or has "
                "with other values; use the data set of its training",
                t->of == PR_OF_USER ? "user" : "session",
                pr_show(&hold, pr_slice_of(file->data->features[t->of][t->column].name)));
    }
    return PARSREC_OK;
}

parsrec_status pr_same_shop(const pr_model_file *file, const pr_dataset *data, parsrec_error *err)
{
    const pr_dataset *inside = file->data;
    if (same_names(&inside->user_keys, &data->user_keys) &&
        same_names(&inside->item_keys, &data->item_keys))
        return same_columns(file, data, err);
    return pr_fail(err, PARSREC_E_INPUT,
                   "the data set has other users or items than the model was trained on (%zu and "
                   "%zu, the model %zu and %zu); use the data set of its training",
                   data->users, data->items, inside->users, inside->items);
}
