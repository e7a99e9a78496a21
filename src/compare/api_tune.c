/* Searches for the public. */
#include "base/memory.h"
#include "compare/tune.h"
#include "compare/tuning.h"

parsrec_tune_options parsrec_tune_default(void)
{
    return (parsrec_tune_options){.trials = 16, .cut = 3, .seed = 1};
}

parsrec_status parsrec_tune(parsrec_tuning **out, const char *data_path, const char *folder,
                            const parsrec_tune_options *options, const parsrec_hooks *hooks,
                            parsrec_error *err)
{
    if (out == NULL || data_path == NULL || folder == NULL || options == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_tune needs out, data, folder and options");
    *out = NULL;
    parsrec_tuning *t = pr_alloc_zero(1, sizeof *t);
    if (t == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_tune(t, data_path, folder, options, hooks, err);
    if (status == PARSREC_OK)
        *out = t;
    else
        parsrec_tuning_free(t);
    return status;
}

void parsrec_tuning_free(parsrec_tuning *tuning)
{
    if (tuning == NULL)
        return;
    pr_tuning_clear(tuning);
    pr_free(tuning);
}
