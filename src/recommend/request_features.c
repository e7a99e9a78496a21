/* What a request says of its session and user, as columns of one row: before what the model knows. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "recommend/answering.h"

void pr_given_free(pr_given *given)
{
    for (int of = PR_OF_USER; of <= PR_OF_SESSION; of++) {
        pr_free(given->columns[of]);
        pr_free(given->numbers[of]);
        pr_free(given->codes[of]);
    }
    *given = (pr_given){0};
}

static parsrec_status take(pr_given *given, const pr_dataset *data, parsrec_error *err)
{
    for (int of = PR_OF_USER; of <= PR_OF_SESSION; of++) {
        size_t n = data->feature_count[of];
        given->columns[of] = pr_alloc(n, sizeof *given->columns[of]);
        given->numbers[of] = pr_alloc(n, sizeof *given->numbers[of]);
        given->codes[of] = pr_alloc(n, sizeof *given->codes[of]);
        if (given->columns[of] == NULL || given->numbers[of] == NULL || given->codes[of] == NULL) {
            pr_given_free(given);
            return pr_fail_memory(err);
        }
    }
    given->taken = true;
    return PARSREC_OK;
}

/* The columns with one row: that of `facts`, or one of which nothing is known. */
static void copy_row(pr_given *given, const pr_dataset *data, pr_feature_of of,
                     const pr_feature_row *facts)
{
    for (size_t i = 0; i < data->feature_count[of]; i++) {
        pr_feature_column *f = &given->columns[of][i];
        *f = data->features[of][i];
        if (f->number != NULL) {
            given->numbers[of][i] = facts->count > 0 ? f->number[facts->row] : NAN;
            f->number = &given->numbers[of][i];
        } else {
            given->codes[of][i] = facts->count > 0 ? f->code[facts->row] : -1;
            f->code = &given->codes[of][i];
        }
    }
}

/* An unknown word is as good as none. */
static int32_t code_of(const pr_names *values, const char *word)
{
    for (size_t i = 0; i < values->count; i++)
        if (pr_slice_is(pr_name(values, i), word))
            return (int32_t)i;
    return -1;
}

/* As near as a float can be. */
static float narrow(double x)
{
    if (isnan(x))
        return NAN;
    return (float)fmin(fmax(x, -(double)FLT_MAX), (double)FLT_MAX);
}

static parsrec_status set_value(pr_given *given, pr_feature_of of, size_t i,
                                const parsrec_feature *value, parsrec_error *err)
{
    pr_excerpt hold;
    char digits[32];
    const pr_feature_column *f = &given->columns[of][i];
    if (f->number != NULL && value->word != NULL)
        return pr_fail(err, PARSREC_E_INPUT, "features: %s must be a number, or null",
                       pr_show(&hold, pr_slice_of(f->name)));
    if (f->number != NULL) {
        given->numbers[of][i] = narrow(value->number);
        return PARSREC_OK;
    }
    snprintf(digits, sizeof digits, "%.15g", value->number); /* words that look like numbers */
    given->codes[of][i] = code_of(&f->values, value->word != NULL ? value->word : digits);
    return PARSREC_OK;
}

static parsrec_status set_named(pr_given *given, const pr_dataset *data,
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

parsrec_status pr_request_about(parsrec_scratch *own, const parsrec_request *r,
                                pr_known_features *about, parsrec_error *err)
{
    const pr_dataset *data = own->model->file.data;
    pr_given *given = &own->given;
    if (r->feature_count == 0)
        return PARSREC_OK;
    if (!given->taken)
        PR_TRY(take(given, data, err));
    copy_row(given, data, PR_OF_USER, &about->user);
    copy_row(given, data, PR_OF_SESSION, &about->session);
    for (size_t i = 0; i < r->feature_count; i++)
        PR_TRY(set_named(given, data, &r->features[i], err));
    about->user = (pr_feature_row){given->columns[PR_OF_USER], data->feature_count[PR_OF_USER], 0};
    about->session =
        (pr_feature_row){given->columns[PR_OF_SESSION], data->feature_count[PR_OF_SESSION], 0};
    return PARSREC_OK;
}

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
