/* What-if answers for the public. */
#include <stdio.h>

#include "base/files.h"
#include "base/memory.h"
#include "model/loaded.h"
#include "whatif/whatif.h"

parsrec_whatif_options parsrec_whatif_default(void)
{
    return (parsrec_whatif_options){
        .rechoice = true, .resamples = 1000, .interval = 0.9, .truth_sets = 200, .seed = 1};
}

/* Models that answer together must know the same users and items. */
static parsrec_status same_shop(const parsrec_model *const *models, size_t count,
                                parsrec_error *err)
{
    const pr_dataset *first = models[0]->file.data;
    for (size_t i = 1; i < count; i++) {
        pr_match_facts facts;
        pr_derived unused;
        PR_TRY(pr_dataset_match(&unused, &facts, models[i]->file.data, first, err));
        pr_derived_free(&unused);
        if (!facts.same)
            return pr_fail(err, PARSREC_E_INPUT,
                           "model %zu was trained on other users or items than the first; models "
                           "that answer together are trained on one data set",
                           i + 1);
    }
    return PARSREC_OK;
}

static parsrec_status answer_with(pr_whatif_result *answer, const parsrec_model *const *models,
                                  size_t count, const parsrec_data *data,
                                  const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                                  parsrec_error *err)
{
    pr_fitted fitted = {0};
    const pr_model **inside = pr_alloc(count, sizeof *inside);
    if (inside == NULL)
        return pr_fail_memory(err);
    parsrec_status status = same_shop(models, count, err);
    for (size_t i = 0; i < count; i++)
        inside[i] = models[i]->file.model;
    if (status == PARSREC_OK)
        status = pr_fit_data(&fitted, &models[0]->file, data, false, hooks, err);
    if (status == PARSREC_OK)
        status = pr_whatif(answer, inside, count, fitted.data, options, hooks, err);
    pr_fitted_free(&fitted);
    pr_free(inside);
    return status;
}

parsrec_status parsrec_whatif(parsrec_whatif_answer **out, const parsrec_model *const *models,
                              size_t model_count, const parsrec_data *data,
                              const parsrec_whatif_options *options, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    if (out == NULL || models == NULL || model_count == 0 || data == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_whatif needs models, data and options");
    *out = NULL;
    pr_whatif_result *answer = pr_alloc_zero(1, sizeof *answer);
    if (answer == NULL)
        return pr_fail_memory(err);
    parsrec_status status = answer_with(answer, models, model_count, data, options, hooks, err);
    if (status == PARSREC_OK)
        *out = answer;
    else
        parsrec_whatif_free(answer);
    return status;
}

void parsrec_whatif_free(parsrec_whatif_answer *answer)
{
    if (answer == NULL)
        return;
    pr_whatif_clear(answer);
    pr_free(answer);
}

static parsrec_status write_text(pr_writer *text, const parsrec_whatif_answer *answer,
                                 parsrec_text_kind kind, parsrec_error *err)
{
    switch (kind) {
    case PARSREC_TEXT_PLAIN:
    case PARSREC_TEXT_TERMINAL:
        PR_TRY(pr_whatif_table(text, answer, err));
        break;
    case PARSREC_TEXT_CSV:
        pr_whatif_csv(text, answer);
        break;
    case PARSREC_TEXT_JSON:
    case PARSREC_TEXT_JSON_MODELS:
        PR_TRY(pr_whatif_json(text, answer, kind == PARSREC_TEXT_JSON_MODELS, err));
        break;
    case PARSREC_TEXT_HTML:
        PR_TRY(pr_whatif_html(text, answer, err));
        break;
    case PARSREC_TEXT_MARKDOWN:
        return pr_fail(err, PARSREC_E_ARGUMENT, "an answer is not written as Markdown");
    }
    return text->failed ? pr_fail_memory(err) : PARSREC_OK;
}

parsrec_status parsrec_whatif_text(char **out, const parsrec_whatif_answer *answer,
                                   parsrec_text_kind kind, parsrec_error *err)
{
    if (out == NULL || answer == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_whatif_text needs out and answer");
    pr_writer text = {0};
    *out = NULL;
    parsrec_status status = write_text(&text, answer, kind, err);
    if (status != PARSREC_OK) {
        pr_writer_free(&text);
        return status;
    }
    *out = pr_writer_take(&text);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* ---- files ---- */

static parsrec_status save_text(const parsrec_whatif_answer *answer, const char *folder,
                                const char *name, parsrec_text_kind kind, parsrec_error *err)
{
    char path[4200];
    pr_writer text = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    parsrec_status status = write_text(&text, answer, kind, err);
    if (status == PARSREC_OK)
        return pr_writer_save(&text, path, err);
    pr_writer_free(&text);
    return status;
}

static parsrec_status save_charts(const parsrec_whatif_answer *a, const char *folder,
                                  parsrec_error *err)
{
    char path[4200];
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t g = 0; g < a->cohort.group_count && a->asked[q]; g++) {
                snprintf(path, sizeof path, "%s/%s-%zu-%zu.svg", folder,
                         parsrec_question_name((parsrec_question)q), s + 1, g + 1);
                PR_TRY(pr_whatif_chart(NULL, path, a, s, q, g, err));
            }
    return PARSREC_OK;
}

parsrec_status parsrec_whatif_save(const parsrec_whatif_answer *answer, const char *folder,
                                   parsrec_error *err)
{
    if (answer == NULL || folder == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_whatif_save needs answer and folder");
    PR_TRY(pr_folder_make(folder, err));
    PR_TRY(save_text(answer, folder, "report.csv", PARSREC_TEXT_CSV, err));
    PR_TRY(save_text(answer, folder, "report.json", PARSREC_TEXT_JSON, err));
    PR_TRY(save_charts(answer, folder, err));
    return save_text(answer, folder, "report.html", PARSREC_TEXT_HTML, err);
}
