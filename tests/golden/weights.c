/* Trains a small model of every kind for a few batches and prints a checksum of its weights. */
#include <inttypes.h>
#include <stdio.h>

#include "model/trainer.h"

enum { ROWS = 40, SIZE = 5, PAST = 30, LIFE = 70, USERS = 20, ITEMS = 700 };

static int32_t items[ROWS][SIZE], life[ROWS][LIFE];
static pr_basket baskets[ROWS];

/* A basket after a past, or one long sequence: longer than the blocks of self-attention. */
static void fill(bool sequence)
{
    pr_rng rng = pr_rng_make(8, 8);
    for (uint32_t r = 0; r < ROWS; r++) {
        pr_stream draw = pr_stream_at(&rng, r, 0, 0);
        for (uint32_t i = 0; i < SIZE; i++)
            items[r][i] = (int32_t)(pr_stream_below(&draw, ITEMS / SIZE) * SIZE + i);
        for (uint32_t i = 0; i < LIFE; i++)
            life[r][i] = (int32_t)pr_stream_below(&draw, ITEMS);
        baskets[r] = (pr_basket){.user = (int32_t)(r % USERS),
                                 .history = {.items = life[r], .count = PAST},
                                 .items = items[r],
                                 .size = SIZE};
        if (sequence)
            baskets[r] =
                (pr_basket){.user = (int32_t)(r % USERS), .items = life[r], .size = LIFE - r % 9};
    }
}

static parsrec_status train(pr_model *model, pr_pool *pool, parsrec_error *err)
{
    pr_limits limits = {ROWS, LIFE, LIFE, LIFE, 0};
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

static parsrec_status print_one(const char *kind, const char *setting, pr_pool *pool,
                                parsrec_error *err)
{
    pr_model *model;
    pr_config config;
    PR_TRY(pr_model_defaults(&config, kind, err));
    PR_TRY(pr_config_assign(&config, setting, err));
    if (config.length == 0)
        config.length = 50;                     /* otherwise chosen when training begins */
    config.dim_user = 36, config.dim_item = 44; /* no multiples of a vector */
    PR_TRY(pr_model_new(&model, kind, &config, USERS, ITEMS, 1, err));
    fill(model->kind->sequence);
    parsrec_status status = train(model, pool, err);
    if (status == PARSREC_OK)
        printf("%s %s %016" PRIx64 "\n", kind, setting, checksum(model));
    pr_model_free(model);
    return status;
}

int main(void)
{
    static const char *const all[][2] = {
        {"parsrec", "loss=ce"},  {"parsrec", "loss=sampled"}, {"parsrec", "loss=bpr"},
        {"parsrec", "cell=gru"}, {"parsrec", "cell=lstm"},    {"sasrec", "loss=ce"},
        {"sasrec", "loss=bce"},  {"bert4rec", "loss=ce"},
    };
    parsrec_error err;
    pr_pool *pool = NULL;
    parsrec_status status = pr_pool_new(&pool, 1, &err);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == PARSREC_OK; i++)
        status = print_one(all[i][0], all[i][1], pool, &err);
    if (status != PARSREC_OK)
        fprintf(stderr, "%s\n", err.message);
    pr_pool_free(pool);
    return status == PARSREC_OK ? 0 : 1;
}
