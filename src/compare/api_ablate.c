/* Ablations for the public. */
#include "base/memory.h"
#include "compare/ablation.h"
#include "compare/compare.h"

parsrec_ablate_options parsrec_ablate_default(void)
{
    parsrec_ablate_options o = {.how = parsrec_compare_default()};
    o.how.jobs = 0;
    return o;
}

parsrec_status parsrec_ablate(parsrec_comparison **out, const char *data_path, const char *folder,
                              const parsrec_ablate_options *options, const parsrec_hooks *hooks,
                              parsrec_error *err)
{
    if (out == NULL || data_path == NULL || folder == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "parsrec_ablate needs out, data, folder and options");
    *out = NULL;
    if (options->how.models != NULL || options->how.preset != NULL ||
        options->how.eval.dump_path != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "the rows of an ablation come from its own options: models, preset and "
                       "dump_path of how must be NULL");
    parsrec_comparison *c = pr_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_ablate(c, data_path, folder, options, hooks, err);
    if (status == PARSREC_OK)
        *out = c;
    else
        parsrec_comparison_free(c);
    return status;
}
