/* write_model FILE [KIND]: the sample data set with a model for fuzz seeds; its weights are drawn, or
 * counted where the kind counts. */
#include <stdio.h>

#include "model/counting/counting.h"
#include "model/model_file.h"
#include "support/sample_data.h"

static parsrec_status make_model(pr_model **out, const char *kind, const pr_dataset *data,
                                 parsrec_error *err)
{
    pr_config config;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    PR_TRY(pr_model_defaults(&config, kind, err));
    config.dim_user = config.dim_item = 4;
    config.length = 5;
    if (pr_model_kind_named(kind)->count != NULL)
        return pr_count_model(out, kind, &config, data, &scope, NULL, NULL, err);
    return pr_model_new(out, kind, &config, data->users, data->items, 1, err);
}

static parsrec_status write_model(const char *path, const char *kind, parsrec_error *err)
{
    sample s;
    pr_model *model;
    sample_make(&s);
    PR_TRY(make_model(&model, kind, &s.data, err));
    parsrec_status status = pr_model_save(model, &s.data, path, err);
    pr_model_free(model);
    return status;
}

int main(int argc, char **argv)
{
    parsrec_error err = {.message = "usage: write_model FILE [KIND]"};
    if (argc >= 2 && write_model(argv[1], argc > 2 ? argv[2] : "parsrec", &err) == PARSREC_OK)
        return 0;
    fprintf(stderr, "write_model: %s\n", err.message);
    return 1;
}
