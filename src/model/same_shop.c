/* Fits a data set to a model: the same users and items are the same numbers afterwards. */
#include <string.h>

#include "base/hooks.h"
#include "model/loaded.h"

/* Columns that the model reads must be there. Their values are matched by name. */
static parsrec_status check_columns(const pr_model_file *file, const pr_dataset *data,
                                    parsrec_error *err)
{
    const pr_feature_inputs *inputs = &file->model->inputs;
    for (size_t i = 0; i < inputs->count; i++) {
        const pr_feature_input *t = &inputs->list[i];
        const pr_feature_column *wanted = &file->data->features[t->of][t->column];
        bool found = false;
        for (size_t c = 0; c < data->feature_count[t->of]; c++) {
            const pr_feature_column *f = &data->features[t->of][c];
            found |= strcmp(f->name, wanted->name) == 0 && (f->number != NULL) == t->number;
        }
        pr_excerpt hold;
        if (!found)
            return pr_fail(err, PARSREC_E_INPUT,
                           "the model reads the %s feature %s, which the data set lacks or has as "
                           "another kind of column; import the data with that feature",
                           t->of == PR_OF_USER ? "user" : "session",
                           pr_show(&hold, pr_slice_of(wanted->name)));
    }
    return PARSREC_OK;
}

parsrec_status pr_fit_data(pr_fitted *out, const pr_model_file *file, const pr_dataset *data,
                           bool counted_again, const parsrec_hooks *hooks, parsrec_error *err)
{
    char sentence[512];
    pr_match_facts facts;
    *out = (pr_fitted){0};
    PR_TRY(check_columns(file, data, err));
    PR_TRY(pr_dataset_match(&out->match, &facts, data, file->data, err));
    out->data = facts.same ? data : &out->match.data;
    if (counted_again) {
        out->match.data.known_as = NULL;
        facts.unknown_users = 0;
    }
    pr_match_sentence(&facts, data, sentence, sizeof sentence);
    if (sentence[0] != '\0')
        pr_say(hooks, PARSREC_LOG_WARNING, "%s", sentence);
    return PARSREC_OK;
}

void pr_fitted_free(pr_fitted *fitted)
{
    pr_pruned_free(&fitted->match);
    fitted->data = NULL;
}
