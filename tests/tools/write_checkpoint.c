/* write_checkpoint CKPT MODEL: a checkpoint in the second epoch and a finished model of the shop
 * that fuzz_checkpoint knows; checkpoint_seeds.py makes seeds of them. */
#include <stdio.h>

#include "toy_shop.h"

#include "train/model_file.h"
#include "train/train.h"

static int stop_at_third(void *context, const parsrec_progress *progress)
{
    (void)progress;
    return ++*(int *)context == 3;
}

int main(int argc, char **argv)
{
    toy_shop shop =
        toy_make((toy_sizes){.users = 2, .items = 3, .least = 3, .spread = 1, .sizes = 2});
    parsrec_error err = {0};
    pr_pool *pool = NULL;
    pr_train_result result;
    int calls = 0;
    parsrec_hooks hooks = {.context = &calls, .on_progress = stop_at_third};
    pr_config config = pr_config_default();
    config.dim_user = config.dim_item = 1;
    config.epochs = 2;
    config.batch = 2;
    pr_train_plan plan = {.kind = "parsrec", .config = config, .checkpoint_seconds = 1e9};
    if (argc != 3 || pr_pool_new(&pool, 1, &err) != PARSREC_OK)
        return 2;
    plan.checkpoint = argv[1];
    parsrec_status status = pr_train(&result, &shop.data, &plan, pool, NULL, &hooks, &err);
    plan.checkpoint = NULL;
    if (status == PARSREC_E_STOPPED)
        status = pr_train(&result, &shop.data, &plan, pool, NULL, NULL, &err);
    if (status == PARSREC_OK)
        status = pr_model_save(result.model, &shop.data, argv[2], &err);
    if (status != PARSREC_OK)
        fprintf(stderr, "%s\n", err.message);
    pr_train_result_free(&result);
    pr_pool_free(pool);
    toy_free(&shop);
    return status != PARSREC_OK;
}
