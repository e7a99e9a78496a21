/* Public face of the import. */
#include "import/import.h"

parsrec_import_options parsrec_import_default(void)
{
    return (parsrec_import_options){0};
}

parsrec_status parsrec_import(const char *out_path, const char *const *inputs, size_t input_count,
                              const parsrec_import_options *options, parsrec_import_report *report,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    parsrec_import_options defaults = parsrec_import_default();
    parsrec_import_report unseen;
    if (out_path == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "name the file to write");
    if (options == NULL)
        options = &defaults;
    if ((inputs == NULL && input_count > 0) || (input_count == 0 && options->events == NULL))
        return pr_fail(err, PARSREC_E_ARGUMENT, "name at least one input");
    return pr_import(out_path, inputs, input_count, options, report != NULL ? report : &unseen,
                     hooks, err);
}
