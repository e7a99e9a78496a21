/* From a kind, its settings and a data set to a model, in one pass. */
#include "train/count_model.h"

parsrec_status pr_count_model(pr_model **out, const char *kind, const pr_config *config,
                              const pr_dataset *data, const pr_scope *scope, pr_pool *pool,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_model *model;
    *out = NULL;
    PR_TRY(pr_model_outline(&model, kind, config, data->users, data->items, err));
    pr_counted from = {.data = data, .scope = *scope, .pool = pool, .hooks = hooks};
    parsrec_status status =
        model->kind->count != NULL
            ? model->kind->count(model, &from, err)
            : pr_fail(err, PARSREC_E_ARGUMENT, "the model '%s' does not count, it learns", kind);
    if (status == PARSREC_OK)
        *out = model;
    else
        pr_model_free(model);
    return status;
}
