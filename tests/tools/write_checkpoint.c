/* write_checkpoint CKPT MODEL [KIND]: a checkpoint in the second epoch and a finished model of the
 * shop that fuzz_checkpoint knows; checkpoint_seeds.py makes seeds of them. */
#include <stdio.h>

#include "support/toy_shop.h"

#include "model/model_file.h"
#include "train/train.h"

static int stop_at_third(void *context, const parsrec_progress *progress)
{
    (void)progress;
    return ++*(int *)context == 3;
}

/* As small as can be. */
static parsrec_status plan_for(pr_train_plan *plan, const char *kind, parsrec_error *err)
{
    *plan = (pr_train_plan){.kind = kind, .checkpoint_seconds = 1e9};
    PR_TRY(pr_model_defaults(&plan->config, kind, err));
    plan->config.dim_user = plan->config.dim_item = 2;
    plan->config.layers = 1;
    plan->config.length = 3;
    plan->config.epochs = 2;
    plan->config.batch = 2;
    return PARSREC_OK;
}

static parsrec_status write_both(const char *checkpoint, const char *model, const char *kind,
                                 const pr_dataset *data, pr_pool *pool, parsrec_error *err)
{
    pr_train_plan plan;
    pr_train_result result;
    int calls = 0;
    parsrec_hooks hooks = {.context = &calls, .on_progress = stop_at_third};
    PR_TRY(plan_for(&plan, kind, err));
    plan.checkpoint = checkpoint;
    parsrec_status status = pr_train(&result, data, &plan, pool, NULL, &hooks, err);
    if (status != PARSREC_E_STOPPED)
        return pr_fail(err, PARSREC_E_INPUT, "the run ended before it could be stopped");
    plan.checkpoint = NULL;
    PR_TRY(pr_train(&result, data, &plan, pool, NULL, NULL, err));
    status = pr_model_save(result.model, data, model, err);
    pr_train_result_free(&result);
    return status;
}

int main(int argc, char **argv)
{
    toy_shop shop =
        toy_make((toy_sizes){.users = 2, .items = 3, .least = 3, .spread = 1, .sizes = 2});
    parsrec_error err = {0};
    pr_pool *pool = NULL;
    if (argc < 3 || pr_pool_new(&pool, 1, &err) != PARSREC_OK)
        return 2;
    parsrec_status status =
        write_both(argv[1], argv[2], argc > 3 ? argv[3] : "parsrec", &shop.data, pool, &err);
    if (status != PARSREC_OK)
        fprintf(stderr, "%s\n", err.message);
    pr_pool_free(pool);
    toy_free(&shop);
    return status != PARSREC_OK;
}
