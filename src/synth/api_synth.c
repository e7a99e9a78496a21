/* Public face of the generator. */
#include <string.h>

#include "synth/synth.h"

parsrec_synth_options parsrec_synth_default(void)
{
    return (parsrec_synth_options){
        .users = 1024, .sessions = 100, .categories = 20, .products = 100, .seed = 1};
}

parsrec_status parsrec_synth(const char *out_path, const parsrec_synth_options *options,
                             parsrec_synth_report *report, const parsrec_hooks *hooks,
                             parsrec_error *err)
{
    parsrec_synth_options defaults = parsrec_synth_default();
    parsrec_synth_report unseen;
    if (options == NULL)
        options = &defaults;
    if (out_path == NULL && options->csv_path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "nothing to write: name a data-set file, a CSV file or both");
    if (out_path != NULL && options->csv_path != NULL && strcmp(out_path, options->csv_path) == 0)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "%s: the data set and the CSV cannot go to the same file", out_path);
    return pr_synth(out_path, options, report != NULL ? report : &unseen, hooks, err);
}
