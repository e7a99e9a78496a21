/* write_model FILE [KIND]: the sample data set with a model whose weights are drawn, for fuzz seeds. */
#include <stdio.h>

#include "sample_data.h"
#include "train/model_file.h"

static parsrec_status write_model(const char *path, const char *kind, parsrec_error *err)
{
    sample s;
    pr_model *model;
    pr_config config;
    sample_make(&s);
    PR_TRY(pr_model_defaults(&config, kind, err));
    config.dim_user = config.dim_item = 4;
    config.length = 5;
    PR_TRY(pr_model_new(&model, kind, &config, s.data.users, s.data.items, 1, err));
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
