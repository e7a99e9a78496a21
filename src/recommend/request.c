/* A request before it is scored: its numbers are checked, its filters become marks on items, its
 * features columns with one row. And the list of feature columns that a model reads. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "base/memory.h"
#include "recommend/recommend.h"

/* ---- checks ---- */

static parsrec_status check_list(const parsrec_numbers *numbers, size_t limit, const char *name,
                                 parsrec_error *err)
{
    if (numbers->count > 0 && numbers->list == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: %zu numbers, but no list", name,
                       numbers->count);
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->list[i] < 0 || (size_t)numbers->list[i] >= limit)
            return pr_fail(err, PARSREC_E_ARGUMENT,
                           "%s[%zu] is %d, the model's numbers are below %zu", name, i,
                           (int)numbers->list[i], limit);
    return PARSREC_OK;
}

static parsrec_status check_request(const parsrec_scratch *own, const parsrec_request *r,
                                    parsrec_error *err)
{
    const parsrec_model *model = own->model;
    if (r->live != NULL && r->live->model != model)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the live histories of the request were made for another model");
    size_t users = r->live != NULL ? pr_live_users(r->live->pasts) : model->pasts.users;
    size_t items = model->file.data->items;
    size_t categories = model->file.data->categories, most = own->recommender.scorer->capacity;
    if (r->user != PARSREC_GUEST && (r->user < 0 || (size_t)r->user >= users))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "user %d is neither PARSREC_GUEST nor below the model's %zu", (int)r->user,
                       users);
    if (r->k == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "k is 0; ask for at least one item");
    if (own->k_most > 0 && r->k > own->k_most)
        return pr_fail(err, PARSREC_E_LIMIT, "k is %zu, at most %zu are allowed here", r->k,
                       own->k_most);
    if (r->basket.count > most)
        return pr_fail(err, PARSREC_E_LIMIT,
                       "the basket has %zu items, at most %zu are allowed here; send the newest",
                       r->basket.count, most);
    if (r->time != NULL && !pr_time_fits(*r->time))
        return pr_fail(err, PARSREC_E_ARGUMENT, "the time %lld is out of range",
                       (long long)*r->time);
    if (r->feature_count > 0 && r->features == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%zu features, but no list", r->feature_count);
    for (size_t i = 0; i < r->feature_count; i++)
        if (r->features[i].name == NULL)
            return pr_fail(err, PARSREC_E_ARGUMENT, "features[%zu] has no name", i);
    PR_TRY(check_list(&r->basket, items, "basket", err));
    PR_TRY(check_list(&r->exclude, items, "exclude", err));
    PR_TRY(check_list(&r->only, items, "only", err));
    PR_TRY(check_list(&r->categories, categories, "categories", err));
    PR_TRY(check_list(&r->exclude_categories, categories, "exclude_categories", err));
    return r->history != NULL ? check_list(r->history, items, "history", err) : PARSREC_OK;
}

/* ---- filters ---- */

typedef enum side { INSIDE, OUTSIDE } side;

/* Bars the items inside or outside the listed categories and all below them. An empty list bars
 * nothing. Parents come before children, so one pass reaches every level. */
static void bar_categories(parsrec_scratch *own, side which, const parsrec_numbers *categories)
{
    const pr_dataset *data = own->model->file.data;
    uint8_t *listed = own->listed;
    if (categories->count == 0)
        return;
    assert(data->item_category != NULL); /* without categories check_list refuses the list */
    memset(listed, 0, data->categories);
    for (size_t i = 0; i < categories->count; i++)
        listed[categories->list[i]] = 1;
    for (size_t c = 0; c < data->categories; c++)
        if (data->category_parent[c] >= 0 && listed[data->category_parent[c]] != 0)
            listed[c] = 1;
    for (size_t i = 0; i < data->items; i++) {
        int32_t c = data->item_category[i];
        bool inside = c >= 0 && listed[c] != 0;
        if (inside == (which == INSIDE))
            own->recommender.barred[i] = PR_MASK_BARRED;
    }
}

parsrec_status pr_request_prepare(parsrec_scratch *own, const parsrec_request *r,
                                  parsrec_error *err)
{
    uint8_t *barred = own->recommender.barred;
    PR_TRY(check_request(own, r, err));
    memset(barred, r->only.count > 0 ? PR_MASK_BARRED : 0, own->model->file.data->items);
    for (size_t i = 0; i < r->only.count; i++)
        barred[r->only.list[i]] = 0;
    for (size_t i = 0; i < r->exclude.count; i++)
        barred[r->exclude.list[i]] = PR_MASK_BARRED;
    bar_categories(own, OUTSIDE, &r->categories);
    bar_categories(own, INSIDE, &r->exclude_categories);
    return PARSREC_OK;
}

/* ---- features ---- */

void pr_given_features_free(pr_given_features *given)
{
    for (int of = PR_OF_USER; of <= PR_OF_SESSION; of++) {
        pr_free(given->columns[of]);
        pr_free(given->numbers[of]);
        pr_free(given->codes[of]);
    }
    *given = (pr_given_features){0};
}

static parsrec_status allocate_given(pr_given_features *given, const pr_dataset *data,
                                     parsrec_error *err)
{
    for (int of = PR_OF_USER; of <= PR_OF_SESSION; of++) {
        size_t n = data->feature_count[of];
        given->columns[of] = pr_alloc(n, sizeof *given->columns[of]);
        given->numbers[of] = pr_alloc(n, sizeof *given->numbers[of]);
        given->codes[of] = pr_alloc(n, sizeof *given->codes[of]);
        if (given->columns[of] == NULL || given->numbers[of] == NULL || given->codes[of] == NULL) {
            pr_given_features_free(given);
            return pr_fail_memory(err);
        }
    }
    given->allocated = true;
    return PARSREC_OK;
}

/* Sets the columns to a copy of `row`, or to unknown values if that is zeroed. */
static void copy_row(pr_given_features *given, const pr_dataset *data, pr_feature_of of,
                     const pr_feature_row *row)
{
    for (size_t i = 0; i < data->feature_count[of]; i++) {
        pr_feature_column *f = &given->columns[of][i];
        *f = data->features[of][i];
        if (f->number != NULL) {
            given->numbers[of][i] = row->count > 0 ? f->number[row->row] : NAN;
            f->number = &given->numbers[of][i];
        } else {
            given->codes[of][i] = row->count > 0 ? f->code[row->row] : -1;
            f->code = &given->codes[of][i];
        }
    }
}

/* The code of a word; -1, unknown, for a word that the data set does not have. */
static int32_t code_of(const pr_names *values, const char *word)
{
    for (size_t i = 0; i < values->count; i++)
        if (pr_slice_is(pr_name(values, i), word))
            return (int32_t)i;
    return -1;
}

/* The nearest finite float; NaN stays. */
static float narrow(double x)
{
    if (isnan(x))
        return NAN;
    return (float)fmin(fmax(x, -(double)FLT_MAX), (double)FLT_MAX);
}

static parsrec_status set_value(pr_given_features *given, pr_feature_of of, size_t i,
                                const parsrec_feature *value, parsrec_error *err)
{
    pr_excerpt hold;
    char digits[32];
    const pr_feature_column *f = &given->columns[of][i];
    bool unknown = value->word == NULL && isnan(value->number);
    if (f->number != NULL && value->word != NULL)
        return pr_fail(err, PARSREC_E_INPUT, "features: %s must be a number, or null",
                       pr_show(&hold, pr_slice_of(f->name)));
    if (f->number != NULL) {
        given->numbers[of][i] = narrow(value->number);
        return PARSREC_OK;
    }
    snprintf(digits, sizeof digits, "%.15g", value->number); /* categories may look like numbers */
    given->codes[of][i] =
        unknown ? -1 : code_of(&f->values, value->word != NULL ? value->word : digits);
    return PARSREC_OK;
}

/* Sets the column of users, of sessions or of both that has the feature's name. */
static parsrec_status set_feature(pr_given_features *given, const pr_dataset *data,
                                  const parsrec_feature *value, parsrec_error *err)
{
    bool found = false;
    for (int of = PR_OF_USER; of <= PR_OF_SESSION; of++)
        for (size_t i = 0; i < data->feature_count[of]; i++)
            if (strcmp(data->features[of][i].name, value->name) == 0) {
                PR_TRY(set_value(given, (pr_feature_of)of, i, value, err));
                found = true;
            }
    pr_excerpt hold;
    if (found)
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_INPUT,
                   "features: the model's data have no %s of users or sessions",
                   pr_show(&hold, pr_slice_of(value->name)));
}

parsrec_status pr_request_features(parsrec_scratch *own, const parsrec_request *r,
                                   pr_known_features *known, parsrec_error *err)
{
    const pr_dataset *data = own->model->file.data;
    pr_given_features *given = &own->given;
    if (r->feature_count == 0)
        return PARSREC_OK;
    if (!given->allocated)
        PR_TRY(allocate_given(given, data, err));
    copy_row(given, data, PR_OF_USER, &known->user);
    copy_row(given, data, PR_OF_SESSION, &known->session);
    for (size_t i = 0; i < r->feature_count; i++)
        PR_TRY(set_feature(given, data, &r->features[i], err));
    known->user = (pr_feature_row){given->columns[PR_OF_USER], data->feature_count[PR_OF_USER], 0};
    known->session =
        (pr_feature_row){given->columns[PR_OF_SESSION], data->feature_count[PR_OF_SESSION], 0};
    return PARSREC_OK;
}

/* ---- the feature columns that a model reads: first of users and sessions, then of items ---- */

static const char *const tables[PR_FEATURE_TABLES] = {"user", "session", "item"};

bool parsrec_model_column(const parsrec_model *model, size_t i, parsrec_column *column)
{
    const pr_model_file *file = &model->file;
    const pr_feature_inputs *inputs = &file->model->inputs;
    size_t items = file->model->kind->reads_features && file->model->config.features_item
                       ? file->data->feature_count[PR_OF_ITEM]
                       : 0;
    if (i >= inputs->count + items)
        return false;
    pr_feature_of of = i < inputs->count ? inputs->list[i].of : PR_OF_ITEM;
    size_t at = i < inputs->count ? inputs->list[i].column : i - inputs->count;
    const pr_feature_column *f = &file->data->features[of][at];
    *column = (parsrec_column){tables[of], f->name, f->number != NULL};
    return true;
}
