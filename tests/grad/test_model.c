/* The whole of PARSRec against central differences, in double, for every kind of setting. */
#include "support/shaken.h"

#include "model/trainer.h"
#include "support/toy_features.h"

enum { USERS = 4, ITEMS = 9, ROWS = 5, LONGEST = 5 };

static const int32_t past[] = {0, 3, 3, 8, 2, 2, 5, 7, 1};
static const int64_t past_sessions[] = {10, 12, 15, 19}; /* three sessions of 2, 3 and 4 items */
static const int64_t past_times[] = {1000000, 1500000, 2600000};
static const int32_t bought[ROWS][LONGEST] = {
    {4, 1, 8, 0, 6}, {2, 7}, {5}, {3, 0, 8, 6, 1}, {7, 4, 2}};
static const size_t sizes[ROWS] = {5, 2, 1, 5, 3};
static const size_t pasts[ROWS] = {9, 0, 2, 5, 9}; /* the second row has no history */
static const size_t past_count[ROWS] = {3, 0, 1, 2, 3};

/* Four categories in two trees; item 5 has none. Items also share by two features. */
static const int32_t parents[] = {-1, 0, 1, -1}, categories[ITEMS] = {0, 1, 2, 2, 3, -1, 3, 1, 2};
static const float weights_of[ITEMS] = {1, 2, NAN, 4, 5, 1, 2, 3, 0};
static const int32_t colours_of[ITEMS] = {0, 1, 1, 0, -1, 1, 0, 0, 1};
static const pr_feature_column features_of[] = {{.number = weights_of}, {.code = colours_of}};
static const pr_shared_column shared_columns[] = {{&features_of[0], 4, 2, (pr_real)0.5},
                                                  {&features_of[1], 5, 0, 0}};
static const pr_category_tree tree = {.categories = 4,
                                      .parent = parents,
                                      .item_category = categories,
                                      .columns = shared_columns,
                                      .column_count = 2,
                                      .parts = 7};

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

static void open_model(model_case *c, const char *const *settings)
{
    parsrec_error err;
    pr_config config = pr_config_default();
    const char *small[] = {"dim.user=3", "dim.item=5", "layer_norm.eps=1e-3", "anyone=0.3", NULL};
    for (size_t i = 0; small[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, small[i], &err));
    for (size_t i = 0; settings[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    pr_shop shop = {TOY_SHOP(USERS, ITEMS)};
    assert_ok(pr_model_new_bare(&c->model, "parsrec", &config, &shop, &err));
    if (config.kin)
        assert_ok(pr_model_set_tree(c->model, &tree, &err));
    assert_ok(pr_model_alloc_weights(c->model, &err));
    pr_params_fill(&c->model->params, c->model->weights, PR_INIT_NORMAL, 3);
    shake(c->model, 0.4);
    assert_ok(pr_pool_new(&c->pool, 1, &err));
    pr_limits limits = {ROWS, LONGEST, LONGEST, 9, 0};
    assert_ok(pr_trainer_new(&c->trainer, c->model, c->pool, &limits, 5, &err));
    for (size_t r = 0; r < ROWS; r++)
        c->baskets[r] = (pr_basket){
            .user = (int32_t)(r % USERS),
            .history = {past, pasts[r], past_sessions, past_count[r], past_times, 3000000},
            .items = bought[r],
            .size = sizes[r],
            .features = toy_features(r % USERS, r)};
    c->batch = (pr_batch){.baskets = c->baskets, .rows = ROWS, .number = 11, .in_order = true};
}

static void close_model(model_case *c)
{
    pr_trainer_free(c->trainer);
    pr_pool_free(c->pool);
    pr_model_free(c->model);
}

static void assert_model_gradient(const char *const *settings)
{
    model_case c;
    open_model(&c, settings);
    model_loss(&c);
    pr_real *g = zeros(c.model->params.size);
    pr_trainer_copy_gradient(c.trainer, g);
    for (size_t i = 0; i < c.model->params.count; i++) {
        const pr_param *p = &c.model->params.list[i];
        char what[100];
        if (p->counted)
            continue;
        snprintf(what, sizeof what, "%s under %s", p->name, settings[0] ? settings[0] : "defaults");
        assert_gradient(model_loss, &c, c.model->weights + p->at, g + p->at, pr_param_size(p), 1e-6,
                        what);
    }
    free(g);
    close_model(&c);
}

static void every_setting_has_true_gradients(void **state)
{
    (void)state;
    static const char *const variants[][4] = {
        {NULL},
        {"dropout.output=none", "dropout.user=0", "dropout.keys=0", "dropout.history=0"},
        {"dropout.output=batch", "heads=1"},
        {"heads=4", "history=sum"},
        {"history=decayed", "history.decay=0.5"},
        {"history=decayed", "history.length=4"},
        {"layer_norm=off"},
        {"layer_norm.query=off"},
        {"layer_norm=off", "layer_norm.query=off"},
        {"layers=2", "stack=query"},
        {"layers=3", "stack=query", "layer_norm.query=off"},
        {"layers=2", "stack=paper"},
        {"layers=3", "stack=paper", "layer_norm.query=off"},
        {"ffn=pre"},
        {"ffn=post"},
        {"ffn=post", "layers=2"},
        {"steps=3"},
        {"steps=1"},
        {"dim.user=7", "dim.item=9"},
        {"bias=on", "unique=on"},
        {"pull=on"},
        {"order=stored"},
        {"order=stored", "recall=on", "pull=on", "past=on"},
        {"order=stored", "pull=on", "pull.fade=0.7"},
        {"order=stored", "pull=on", "pull.fade=0", "steps=3"},
        {"pull=on", "steps=2", "ffn=post"},
        {"past=on", "history=sum"},
        {"recall=on", "recall.decay=0.5"},
        {"recall=on", "pull=on", "past=on", "bias=on"},
        {"recall=on", "recall.time=on"},
        {"recall=on", "recall.time=on", "neighbours=2", "bias=on"},
        {"targets.soft=1"},
        {"targets.soft=0.5", "unique=on", "bias=on"},
        {"targets.soft=0.5", "recall=on", "pull=on", "past=on"},
        {"user.shrink=2"},
        {"cell=gru"},
        {"cell=gru", "ffn=post", "layers=2"},
        {"cell=gru", "steps=1"},
        {"cell=gru", "recall=on", "pull=on", "past=on"},
        {"cell=lstm"},
        {"cell=lstm", "ffn=pre", "stack=paper", "layers=2"},
        {"cell=lstm", "steps=2", "dim.user=7", "dim.item=9"},
        {"cell=lstm", "recall=on", "pull=on", "past=on"},
        {"loss=sampled", "negatives=4"},
        {"loss=sampled", "negatives=7", "dropout.output=none", "unique=on"},
        {"loss=sampled", "negatives=5", "dropout.output=batch", "dim.item=17"},
        {"loss=sampled", "negatives=6", "recall=on", "bias=on"},
        {"loss=sampled", "negatives=6", "neighbours=2", "recall=on"},
        {"loss=sampled", "negatives=6", "recall=on", "recall.time=on"},
        {"loss=sampled", "negatives=6", "targets.soft=0.5", "recall=on"},
        {"loss=sampled", "negatives=6", "order=stored", "pull=on"},
        {"loss=sampled", "negatives=6", "order=stored", "unique=on"},
        {"loss=sampled", "negatives=6", "steps=3", "unique=on"},
        {"loss=sampled", "negatives=6", "kin=on", "pull=on"}, /* here the weights have own rows */
        {"loss=sampled", "negatives=6", "kin=on", "order=stored"},
        {"loss=bpr", "negatives=6", "kin=on", "bias=on"},
        {"loss=bpr", "negatives=6", "recall=on", "recall.time=on"},
        {"loss=bpr", "negatives=4"},
        {"loss=bpr", "negatives=9", "pull=on", "past=on"},
        {"loss=bpr", "negatives=6", "recall=on", "bias=on"},
        {"loss=bpr", "negatives=6", "neighbours=2", "recall=on"},
        {"neighbours=2", "recall=on"},
        {"neighbours=1", "recall=on", "bias=on", "unique=on"},
        {"pairs=5"},
        {"pairs=3", "recall=on", "targets.soft=0.5", "unique=on"},
        {"pairs=4", "loss=sampled", "negatives=6", "recall=on"},
        {"pairs=5", "loss=bpr", "negatives=6", "bias=on"},
        {"features.user=on", "features.width=3"},
        {"features.session=on", "past=on", "history=sum"},
        {"features.user=on", "features.session=on", "ffn=post", "pull=on"},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *settings[5] = {variants[i][0], variants[i][1], variants[i][2], variants[i][3]};
        assert_model_gradient(settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_setting_has_true_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
