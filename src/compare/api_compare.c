/* Comparisons for the public. */
#include "base/memory.h"
#include "compare/compare.h"
#include "compare/comparison.h"

parsrec_compare_options parsrec_compare_default(void)
{
    return (parsrec_compare_options){
        .seed = 1, .seeds = 1, .jobs = 1, .eval = parsrec_eval_default()};
}

parsrec_status parsrec_compare(parsrec_comparison **out, const char *data_path, const char *folder,
                               const parsrec_compare_options *options, const parsrec_hooks *hooks,
                               parsrec_error *err)
{
    if (out == NULL || folder == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_compare needs out, folder and options");
    *out = NULL;
    if (options->eval.dump_path != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "scores are written by parsrec_eval, model by model, not by a comparison");
    parsrec_comparison *c = pr_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_compare(c, data_path, folder, options, hooks, err);
    if (status == PARSREC_OK)
        *out = c;
    else
        parsrec_comparison_free(c);
    return status;
}

void parsrec_comparison_free(parsrec_comparison *comparison)
{
    if (comparison == NULL)
        return;
    pr_comparison_clear(comparison);
    pr_free(comparison);
}

parsrec_status parsrec_comparison_text(char **out, const parsrec_comparison *comparison,
                                       parsrec_text_kind kind, parsrec_error *err)
{
    if (out == NULL || comparison == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_comparison_text needs out and comparison");
    pr_writer text = {0};
    *out = NULL;
    parsrec_status status = pr_comparison_write(&text, comparison, kind, err);
    if (status != PARSREC_OK) {
        pr_writer_free(&text);
        return status;
    }
    *out = pr_writer_take(&text);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}
