/* Any bytes as a container, then as the checkpoint of a run on a tiny shop, then as a model. */
#include <stddef.h>
#include <stdint.h>

#include "support/toy_shop.h"

#include "base/memory.h"
#include "model/model_file.h"
#include "train/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static toy_shop shop;
static pr_pool *pool;

static void need(bool condition)
{
    if (!condition)
        __builtin_trap();
}

static void begin(void)
{
    if (pool != NULL)
        return;
    shop = toy_make((toy_sizes){.users = 2, .items = 3, .least = 3, .spread = 1, .sizes = 2});
    need(pr_pool_new(&pool, 1, NULL) == PARSREC_OK);
}

/* Into a run, as resuming does. */
static parsrec_status read_numbers(const pr_checkpoint *from, pr_run_state *run, parsrec_error *err)
{
    pr_limits limits = {.rows = 4, .steps = 2, .basket = 2, .history = 8};
    pr_shop toys = pr_shop_of(&shop.data);
    PR_TRY(pr_model_new_bare(&run->model, from->kind, &from->config, &toys, err));
    PR_TRY(pr_checkpoint_fits(from, run->model, err));
    PR_TRY(pr_model_alloc_weights(run->model, err));
    PR_TRY(pr_trainer_new(&run->trainer, run->model, pool, &limits, from->at.seed, err));
    run->best = pr_alloc_aligned(run->model->params.size, sizeof *run->best);
    need(run->best != NULL);
    if (from->config.average != PR_AVERAGE_OFF) {
        run->average = pr_alloc_aligned(run->model->params.size, sizeof *run->average);
        need(run->average != NULL);
    }
    return pr_checkpoint_read(run, from, err);
}

static void use_checkpoint(pr_container *file)
{
    parsrec_error err = {0};
    pr_checkpoint from;
    pr_train_result result = {0};
    pr_run_state run = {.data = &shop.data, .result = &result};
    if (pr_checkpoint_from(&from, file, &shop.data, &err) != PARSREC_OK) {
        need(err.message[0] != '\0');
        return;
    }
    if (read_numbers(&from, &run, &err) == PARSREC_OK) {
        need(run.at.best_epoch <= result.epoch_count && pr_run_state_finite(&run));
        need(pr_checkpoint_save(&run, "/dev/null", &err) == PARSREC_OK);
    }
    pr_checkpoint_close(&from);
    pr_trainer_free(run.trainer);
    pr_free_aligned(run.best);
    pr_free_aligned(run.average);
    pr_model_free(run.model);
    pr_train_result_free(&result);
}

static void use_model(pr_container *file)
{
    parsrec_error err = {0};
    pr_model_file model;
    if (pr_model_from(&model, file, &err) != PARSREC_OK) {
        need(err.message[0] != '\0');
        return;
    }
    need(pr_model_save(model.model, model.data, "/dev/null", &err) == PARSREC_OK);
    pr_model_file_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parsrec_error err;
    pr_container *file;
    begin();
    if (pr_container_parse(&file, data, size, "fuzz", &err) != PARSREC_OK)
        return 0;
    use_checkpoint(file);
    if (pr_container_parse(&file, data, size, "fuzz", &err) == PARSREC_OK)
        use_model(file);
    return 0;
}
