/* The sequence models against central differences, in double. */
#include "support/numbers.h"

#include "math/attention.h"
#include "model/trainer.h"

enum { USERS = 4, ITEMS = 11, ROWS = 4, LONGEST = 7 };

/* Each row: history, then the items that are learnt from, one after the other. */
static const int32_t lived[ROWS][LONGEST + 2] = {
    {4, 1, 8, 0, 6, 2, 9, 1, 3}, {2, 7, 5, 5}, {5}, {3, 0, 8, 10, 1}};
static const size_t before[ROWS] = {2, 0, 0, 0};
static const size_t sizes[ROWS] = {7, 4, 1, 5};
/* Where sessions begin and the last one ends. */
static const int64_t sessions[ROWS][5] = {{0, 2, 5, 8, 9}, {0, 1, 2, 4}, {0, 1}, {0, 3, 5}};
static const size_t session_counts[ROWS] = {4, 3, 1, 2};
/* When they were; the third row has no dates. */
static const int64_t times[ROWS][4] = {{100, 130, 135, 190}, {7, 7, 8}, {0}, {50, 90}};

typedef struct model_case {
    pr_model *model;
    pr_pool *pool;
    pr_trainer *trainer;
    pr_basket baskets[ROWS];
    pr_batch batch;
} model_case;

static double model_loss(void *context)
{
    model_case *c = context;
    parsrec_error err;
    pr_batch_result result;
    assert_ok(pr_trainer_gradient(c->trainer, &c->batch, &result, &err));
    return result.loss;
}

static void open_model(model_case *c, const char *kind, const char *const *settings)
{
    parsrec_error err;
    pr_config config;
    assert_ok(pr_model_defaults(&config, kind, &err));
    const char *small[] = {"dim.item=6", "layer_norm.eps=1e-3", "length=6", "ffn.width=2", NULL};
    for (size_t i = 0; small[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, small[i], &err));
    for (size_t i = 0; settings[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    assert_ok(pr_model_new(&c->model, kind, &config, USERS, ITEMS, 3, &err));
    pr_real *more = numbers(c->model->params.size, 0.4, 77); /* larger, and biases not zero */
    for (size_t i = 0; i < c->model->params.size; i++)
        c->model->weights[i] += more[i];
    free(more);
    assert_ok(pr_pool_new(&c->pool, 1, &err));
    pr_limits limits = {ROWS, LONGEST, LONGEST, 9, 0};
    assert_ok(pr_trainer_new(&c->trainer, c->model, c->pool, &limits, 5, &err));
    for (size_t r = 0; r < ROWS; r++)
        c->baskets[r] = (pr_basket){.user = (int32_t)r,
                                    .history = {.items = lived[r],
                                                .count = before[r],
                                                .sessions = sessions[r],
                                                .session_count = session_counts[r],
                                                .times = r != 2 ? times[r] : NULL},
                                    .items = lived[r] + before[r],
                                    .size = sizes[r]};
    c->batch = (pr_batch){.baskets = c->baskets, .rows = ROWS, .number = 11};
}

static void assert_model_gradient(const char *kind, const char *const *settings)
{
    model_case c;
    open_model(&c, kind, settings);
    assert_true(model_loss(&c) > 0);
    pr_real *g = zeros(c.model->params.size);
    pr_trainer_copy_gradient(c.trainer, g);
    for (size_t i = 0; i < c.model->params.count; i++) {
        const pr_param *p = &c.model->params.list[i];
        char what[100];
        snprintf(what, sizeof what, "%s of %s, %s", p->name, kind,
                 settings[0] ? settings[0] : "defaults");
        assert_gradient(model_loss, &c, c.model->weights + p->at, g + p->at, pr_param_size(p), 1e-6,
                        what);
    }
    free(g);
    pr_trainer_free(c.trainer);
    pr_pool_free(c.pool);
    pr_model_free(c.model);
}

static void both_models_have_true_gradients(void **state)
{
    (void)state;
    static const char *const variants[][4] = {
        {NULL},
        {"dropout.hidden=0", "dropout.attention=0"},
        {"heads=3", "layers=1"},
        {"separator=off"},
        {"dropout.attention=0.5", "length=3"},
        {"ffn.width=1", "layers=3", "dim.item=5", "heads=1"},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *settings[6] = {variants[i][0], variants[i][1], variants[i][2], variants[i][3]};
        size_t n = 0;
        assert_model_gradient("sasrec", settings);
        assert_model_gradient("bert4rec", settings);
        while (settings[n] != NULL)
            n++;
        settings[n] = "loss=bce";
        assert_model_gradient("sasrec", settings);
    }
    static const char *const more[] = {"loss=bce", "negatives=3", NULL};
    assert_model_gradient("sasrec", more);
    static const char *const masks[] = {"mask=0.6", "mask.last=0.5", NULL};
    assert_model_gradient("bert4rec", masks);
}

static void attention_with_times_has_true_gradients(void **state)
{
    (void)state;
    static const char *const variants[][4] = {
        {"intervals=3"},
        {"dropout.hidden=0", "dropout.attention=0", "intervals=1"},
        {"heads=3", "layers=1", "intervals=9"},
        {"separator=off", "length=4"},
        {"loss=bce", "negatives=3"},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *settings[5] = {variants[i][0], variants[i][1], variants[i][2], variants[i][3]};
        assert_model_gradient("tisasrec", settings);
    }
}

static void the_recurrent_model_has_true_gradients(void **state)
{
    (void)state;
    static const char *const variants[][3] = {
        {"dropout.hidden=0"},
        {"dropout.hidden=0.3", "separator=off"},
        {"length=3", "dim.item=5"},
        {"loss=sampled", "negatives=7"},
        {"loss=bpr-max", "negatives=7", "score.decay=0.3"},
        {"loss=top1-max", "negatives=7", "dropout.hidden=0"},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *settings[4] = {variants[i][0], variants[i][1], variants[i][2]};
        assert_model_gradient("gru4rec", settings);
    }
}

static void models_of_windows_have_true_gradients(void **state)
{
    (void)state;
    static const char *const variants[][4] = {
        {"dropout.hidden=0", "lookback=3"},
        {"dropout.hidden=0.4", "lookback=2", "separator=on"},
        {"lookback=8", "anyone=0.5", "filters=3"},
        {"lookback=1", "length=4", "dim.item=5"},
        {"lookback=3", "loss=sampled", "negatives=7"},
        {"lookback=3", "loss=bpr-max", "negatives=7"},
    };
    static const char *const kinds[] = {"caser", "stamp", "narm", "dream"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
            const char *settings[5] = {variants[i][0], variants[i][1], variants[i][2],
                                       variants[i][3]};
            assert_model_gradient(kinds[k], settings);
        }
    static const char *const largest[] = {"lookback=8", "pool=max", NULL};
    static const char *const joined[] = {"lookback=6", "separator=off", NULL};
    assert_model_gradient("dream", largest);
    assert_model_gradient("dream", joined);
}

static void pairs_have_true_gradients(void **state)
{
    (void)state;
    static const char *const few[] = {"negatives=3", NULL};
    static const char *const anyone[] = {"anyone=0.5", "negatives=1", "steps=2", NULL};
    assert_model_gradient("bpr", few);
    assert_model_gradient("fpmc", few);
    assert_model_gradient("fpmc", anyone);
    static const char *const ranked[] = {"anyone=0.5", "negatives=2", "loss=bpr", "dim.item=2",
                                         NULL};
    assert_model_gradient("ncf", few);
    assert_model_gradient("ncf", ranked);
    assert_model_gradient("transrec", few);
    assert_model_gradient("transrec", anyone);
    static const char *const pools[] = {"max", "mean"};
    for (size_t i = 0; i < 8; i++) { /* all pools with both losses */
        char of_items[24], of_users[24];
        snprintf(of_items, sizeof of_items, "pool=%s", pools[i % 2]);
        snprintf(of_users, sizeof of_users, "pool.user=%s", pools[i / 2 % 2]);
        const char *settings[] = {of_items, of_users, i < 4 ? "loss=bce" : "loss=bpr",
                                  "negatives=3", NULL};
        assert_model_gradient("hrm", settings);
    }
}

/* Blocks of rows against the definition, where a sequence is longer than a block. */
static void fast_self_attention_is_the_plain_one(void **state)
{
    (void)state;
    for (size_t L = 1; L < 200; L += 33)
        for (int causal = 0; causal < 2; causal++) {
            pr_self_shape shape = {L, 2, 6, causal != 0};
            size_t cells = 2 * L * pr_self_stride(L);
            pr_real *qkv = numbers(L * 18, 1, 5), *y = zeros(L * 6), *plain = zeros(L * 6);
            pr_real *weight = zeros(cells), *other = zeros(cells), *work = zeros(cells);
            uint8_t *keep = malloc(cells / 8);
            assert_non_null(keep);
            for (size_t i = 0; i < cells / 8; i++)
                keep[i] = (uint8_t)(i * 37 + 11);
            pr_self_mask mask = {L % 2 ? keep : NULL, 1.25};
            pr_self_attention_forward(y, weight, work, qkv, &mask, &shape);
            pr_self_attention_forward_plain(plain, other, qkv, &mask, &shape);
            for (size_t i = 0; i < L * 6; i++)
                assert_true(fabs((double)(y[i] - plain[i])) < 1e-12);
            for (size_t i = 0; i < cells; i++)
                assert_true(fabs((double)(weight[i] - other[i])) < 1e-12);
            free(qkv), free(y), free(plain), free(weight), free(other), free(work), free(keep);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_models_have_true_gradients),
                                       cmocka_unit_test(attention_with_times_has_true_gradients),
                                       cmocka_unit_test(the_recurrent_model_has_true_gradients),
                                       cmocka_unit_test(models_of_windows_have_true_gradients),
                                       cmocka_unit_test(pairs_have_true_gradients),
                                       cmocka_unit_test(fast_self_attention_is_the_plain_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
