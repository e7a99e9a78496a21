/* Trains a small model for a few batches and prints a checksum of its weights. */
#include <inttypes.h>
#include <stdio.h>

#include "model/trainer.h"

enum { ROWS = 40, SIZE = 5, PAST = 30, USERS = 20, ITEMS = 700 };

static int32_t items[ROWS][SIZE], past[ROWS][PAST];
static pr_basket baskets[ROWS];

static void fill(void)
{
    pr_rng rng = pr_rng_make(8, 8);
    for (uint32_t r = 0; r < ROWS; r++) {
        pr_stream draw = pr_stream_at(&rng, r, 0, 0);
        for (uint32_t i = 0; i < SIZE; i++)
            items[r][i] = (int32_t)(pr_stream_below(&draw, ITEMS / SIZE) * SIZE + i);
        for (uint32_t i = 0; i < PAST; i++)
            past[r][i] = (int32_t)pr_stream_below(&draw, ITEMS);
        baskets[r] = (pr_basket){(int32_t)(r % USERS), {past[r], PAST, NULL, 0}, items[r], SIZE};
    }
}

static parsrec_status train(pr_model *model, pr_pool *pool, parsrec_error *err)
{
    pr_limits limits = {ROWS, SIZE, SIZE, PAST};
    pr_trainer *trainer;
    PR_TRY(pr_trainer_new(&trainer, model, pool, &limits, 1, err));
    parsrec_status status = PARSREC_OK;
    for (uint32_t i = 0; i < 5 && status == PARSREC_OK; i++) {
        pr_batch batch = {.baskets = baskets, .rows = ROWS - i, .number = i};
        pr_batch_result result;
        status = pr_trainer_learn(trainer, &batch, &result, err);
    }
    pr_trainer_free(trainer);
    return status;
}

static uint64_t checksum(const pr_model *model)
{
    const unsigned char *bytes = (const unsigned char *)model->weights;
    uint64_t sum = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = 0; i < model->params.size * sizeof *model->weights; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001B3);
    return sum;
}

int main(void)
{
    parsrec_error err;
    pr_model *model = NULL;
    pr_pool *pool = NULL;
    pr_config config = pr_config_default();
    config.dim_user = 36, config.dim_item = 44; /* no multiples of a vector */
    fill();
    parsrec_status status = pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err);
    if (status == PARSREC_OK)
        status = pr_pool_new(&pool, 1, &err);
    if (status == PARSREC_OK)
        status = train(model, pool, &err);
    if (status == PARSREC_OK)
        printf("%016" PRIx64 "\n", checksum(model));
    else
        fprintf(stderr, "%s\n", err.message);
    pr_pool_free(pool);
    pr_model_free(model);
    return status == PARSREC_OK ? 0 : 1;
}
