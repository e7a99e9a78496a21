/* Whether a data set is the one a model was trained on, as far as numbers of users and items go. */
#include <string.h>

#include "api/loaded.h"

static bool same_names(const pr_names *a, const pr_names *b)
{
    return a->count == b->count && a->offsets[a->count] == b->offsets[b->count] &&
           memcmp(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets) == 0 &&
           memcmp(a->bytes, b->bytes, (size_t)a->offsets[a->count]) == 0;
}

parsrec_status pr_same_shop(const pr_dataset *inside, const pr_dataset *data, parsrec_error *err)
{
    if (same_names(&inside->user_keys, &data->user_keys) &&
        same_names(&inside->item_keys, &data->item_keys))
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_INPUT,
                   "the data set has other users or items than the model was trained on (%zu and "
                   "%zu, the model %zu and %zu); use the data set of its training",
                   data->users, data->items, inside->users, inside->items);
}
