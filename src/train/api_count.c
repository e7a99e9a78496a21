/* Models that only count, for the public: made from a data set in memory. */
#include "base/memory.h"
#include "math/blas.h"
#include "model/counting/count_model.h"
#include "model/loaded.h"
#include "train/train_config.h"

static parsrec_status count(parsrec_model *model, const parsrec_data *data,
                            const parsrec_train_options *options, const parsrec_hooks *hooks,
                            parsrec_error *err)
{
    pr_config config;
    pr_pool *pool;
    PR_TRY(pr_train_config(&config, options, err));
    PR_TRY(pr_directory_init(&model->directory, data, err));
    model->pasts = pr_histories_of(data);
    PR_TRY(pr_model_count_popular(model, err));
    PR_TRY(pr_pool_new(&pool, options->threads, err));
    pr_scope scope = pr_scope_before(PR_TEST, (size_t)config.last);
    parsrec_status status =
        pr_count_model(&model->file.model, options->model, &config, data, &scope, pool, hooks, err);
    pr_pool_free(pool);
    return status;
}

bool parsrec_model_counts(const char *kind)
{
    const pr_model_kind *known = kind != NULL ? pr_model_kind_named(kind) : NULL;
    return known != NULL && known->count != NULL;
}

parsrec_status parsrec_model_count(parsrec_model **out, const parsrec_data *data,
                                   const parsrec_train_options *options, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    if (out == NULL || data == NULL || options == NULL || options->model == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "parsrec_model_count needs out, data and a kind");
    *out = NULL;
    parsrec_model *model = pr_alloc_zero(1, sizeof *model);
    if (model == NULL)
        return pr_fail_memory(err);
    pr_blas_load();
    model->borrows_data = true;
    model->file.data = (pr_dataset *)(uintptr_t)data; /* only read, and never freed */
    parsrec_status status = count(model, data, options, hooks, err);
    if (status == PARSREC_OK)
        *out = model;
    else
        parsrec_model_free(model);
    return status;
}
