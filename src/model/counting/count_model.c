/* From a kind, its settings and a data set to a model, in one pass. */
#include "model/counting/count_model.h"

#include "synth/truth.h"

/* Some published tables count less than they might, or what they should not. */
static pr_scope scope_of(const pr_scope *given, const pr_config *config)
{
    pr_scope scope = *given;
    if (config->count == PR_COUNT_TRAIN)
        scope.held = pr_scope_before(PR_VALID, given->last).held;
    else if (config->count == PR_COUNT_ALL)
        scope.held = 0;
    return scope;
}

static parsrec_status count(pr_model *model, const pr_dataset *data, const pr_scope *scope,
                            pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_truth truth;
    pr_counted from = {
        .data = data, .scope = scope_of(scope, &model->config), .pool = pool, .hooks = hooks};
    if (model->kind->count == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "the model '%s' does not count, it learns",
                       model->kind->name);
    if (model->kind->needs_truth) {
        PR_TRY(pr_truth_read(&truth, data, err));
        from.truth = &truth;
    }
    return model->kind->count(model, &from, err);
}

parsrec_status pr_count_model(pr_model **out, const char *kind, const pr_config *config,
                              const pr_dataset *data, const pr_scope *scope, pr_pool *pool,
                              const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_model *model;
    *out = NULL;
    pr_shop shop = pr_shop_of(data);
    PR_TRY(pr_model_new_bare(&model, kind, config, &shop, err));
    parsrec_status status = count(model, data, scope, pool, hooks, err);
    if (status == PARSREC_OK)
        *out = model;
    else
        pr_model_free(model);
    return status;
}
