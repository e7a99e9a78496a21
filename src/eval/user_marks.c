/* Marks by purchases and by feature columns. */
#include "eval/user_marks.h"

#include "base/memory.h"
#include "data/directory.h"
#include "data/split.h"

/* ---- buyers ---- */

static bool bought(const pr_dataset *d, size_t user, size_t last, const bool *wanted)
{
    int64_t first = d->session_offsets[d->user_offsets[user]];
    int64_t end = d->session_offsets[pr_split_train_end(d, user, last)];
    for (int64_t a = first; a < end; a++) {
        int32_t category = d->item_category[d->action_items[a]];
        if (category >= 0 && wanted[category])
            return true;
    }
    return false;
}

/* Parents stand before children, so one pass reaches everything below. */
static parsrec_status mark_buyers(bool *members, const pr_dataset *d, size_t last, int32_t category,
                                  parsrec_error *err)
{
    bool *wanted = pr_alloc_zero(d->categories, sizeof *wanted);
    if (wanted == NULL)
        return pr_fail_memory(err);
    wanted[category] = true;
    for (size_t c = (size_t)category + 1; c < d->categories; c++)
        wanted[c] = d->category_parent[c] >= 0 && wanted[d->category_parent[c]];
    for (size_t u = 0; u < d->users; u++)
        members[u] = bought(d, u, last, wanted);
    pr_free(wanted);
    return PARSREC_OK;
}

parsrec_status pr_mark_buyers(bool *members, const pr_dataset *data, size_t last, pr_slice category,
                              parsrec_error *err)
{
    pr_directory directory;
    int32_t number = -1;
    parsrec_status status = pr_directory_init(&directory, data, err);
    if (status == PARSREC_OK)
        status = pr_directory_category(&directory, category, &number, err);
    pr_directory_free(&directory);
    return status == PARSREC_OK ? mark_buyers(members, data, last, number, err) : status;
}

/* ---- features ---- */

const pr_feature_column *pr_user_feature_named(const pr_dataset *data, pr_slice name)
{
    for (size_t i = 0; i < data->feature_count[PR_OF_USER]; i++)
        if (pr_slice_is(name, data->features[PR_OF_USER][i].name))
            return &data->features[PR_OF_USER][i];
    return NULL;
}

/* "31" or "30..40", both ends included. */
static bool parse_range(pr_slice text, double *low, double *high)
{
    if (pr_parse_f64(text, low)) {
        *high = *low;
        return true;
    }
    for (size_t i = 1; i + 2 < text.size; i++)
        if (text.bytes[i] == '.' && text.bytes[i + 1] == '.')
            return pr_parse_f64((pr_slice){text.bytes, i}, low) &&
                   pr_parse_f64((pr_slice){text.bytes + i + 2, text.size - i - 2}, high);
    return false;
}

static parsrec_status mark_numbers(bool *members, const pr_dataset *data,
                                   const pr_feature_column *feature, pr_slice value,
                                   parsrec_error *err)
{
    double low, high;
    pr_excerpt hold;
    if (!parse_range(value, &low, &high))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "user feature '%s' is a number: %s is none, nor two as in 30..40",
                       feature->name, pr_show(&hold, value));
    for (size_t u = 0; u < data->users; u++)
        members[u] = (double)feature->number[u] >= low && (double)feature->number[u] <= high;
    return PARSREC_OK;
}

static parsrec_status mark_codes(bool *members, const pr_dataset *data,
                                 const pr_feature_column *feature, pr_slice value,
                                 parsrec_error *err)
{
    pr_excerpt hold;
    for (size_t code = 0; code < feature->values.count; code++) {
        if (!pr_slice_equal(pr_name(&feature->values, code), value))
            continue;
        for (size_t u = 0; u < data->users; u++)
            members[u] = feature->code[u] == (int32_t)code;
        return PARSREC_OK;
    }
    return pr_fail(err, PARSREC_E_NOT_FOUND, "user feature '%s' has no value %s", feature->name,
                   pr_show(&hold, value));
}

parsrec_status pr_mark_feature(bool *members, const pr_dataset *data,
                               const pr_feature_column *feature, pr_slice value, parsrec_error *err)
{
    return (feature->number != NULL ? mark_numbers : mark_codes)(members, data, feature, value,
                                                                 err);
}
