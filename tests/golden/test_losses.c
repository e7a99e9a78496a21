/* Ten training losses in a row against a PyTorch run: ten_losses.json, made by ten_losses.py. The
 * whole path takes part: forward, backward, clipping, Adam for maps and for embedding rows. */
#include "support/numbers.h"

#include "base/json.h"
#include "model/trainer.h"

enum { MOST_ROWS = 8, MOST_ITEMS = 8 };

typedef struct rows {
    int32_t history[MOST_ROWS][MOST_ITEMS], items[MOST_ROWS][MOST_ITEMS];
    pr_basket baskets[MOST_ROWS];
    size_t count;
} rows;

static size_t load_ids(int32_t *out, const json_t *array)
{
    assert_true(json_array_size(array) <= MOST_ITEMS);
    for (size_t i = 0; i < json_array_size(array); i++)
        out[i] = (int32_t)json_integer_value(json_array_get(array, i));
    return json_array_size(array);
}

static void load_rows(rows *r, const json_t *batch)
{
    int32_t users[MOST_ITEMS];
    r->count = load_ids(users, json_object_get(batch, "users"));
    for (size_t i = 0; i < r->count; i++) {
        const json_t *history = json_array_get(json_object_get(batch, "history"), i);
        const json_t *items = json_array_get(json_object_get(batch, "baskets"), i);
        r->baskets[i] = (pr_basket){
            .user = users[i], .history = {.items = r->history[i]}, .items = r->items[i]};
        r->baskets[i].history.count = load_ids(r->history[i], history);
        r->baskets[i].size = load_ids(r->items[i], items);
    }
}

/* The formula of first weights in ten_losses.py. */
static void fill_weights(pr_model *model, const json_t *names)
{
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *name = json_string_value(json_array_get(names, k));
        const pr_param *p = pr_params_find(&model->params, name);
        assert_non_null(p);
        double more = strstr(name, "gain") != NULL ? 1 : 0;
        for (size_t i = 0; i < pr_param_size(p); i++)
            model->weights[p->at + i] =
                (pr_real)(more + 0.3 * sin(0.37 * (double)(i + 1) + 1.3 * (double)(k + 1)));
    }
    assert_int_equal(json_array_size(names), model->params.count);
}

static double real_of(const json_t *json, const char *key)
{
    assert_true(json_is_number(json_object_get(json, key)));
    return json_number_value(json_object_get(json, key));
}

static pr_config config_of(const json_t *json)
{
    pr_config c = pr_config_default();
    c.dim_user = c.dim_item = (int)real_of(json, "dim");
    c.heads = (int)real_of(json, "heads");
    c.rate = real_of(json, "rate");
    c.clip = real_of(json, "clip");
    c.dropout_user = c.dropout_history = c.dropout_keys = c.anyone = 0;
    c.dropout_output = PR_DROP_NONE;
    return c;
}

static void ten_losses_match(void **state)
{
    const json_t *json = *state;
    parsrec_error err;
    pr_model *model;
    pr_pool *pool;
    pr_trainer *trainer;
    rows batches[2];
    pr_config config = config_of(json);
    pr_limits limits = {MOST_ROWS, MOST_ITEMS, MOST_ITEMS, MOST_ITEMS, 0};
    assert_ok(pr_model_new(&model, "parsrec", &config, (size_t)real_of(json, "users"),
                           (size_t)real_of(json, "items"), 1, &err));
    assert_ok(pr_pool_new(&pool, 1, &err));
    assert_ok(pr_trainer_new(&trainer, model, pool, &limits, 1, &err));
    fill_weights(model, json_object_get(json, "params"));
    for (size_t i = 0; i < 2; i++)
        load_rows(&batches[i], json_array_get(json_object_get(json, "batches"), i));
    for (uint32_t i = 0; i < 10; i++) {
        const rows *r = &batches[i % 2];
        pr_batch batch = {.baskets = r->baskets, .rows = r->count, .number = i, .in_order = true};
        pr_batch_result result;
        assert_ok(pr_trainer_learn(trainer, &batch, &result, &err));
        double tolerance = sizeof(pr_real) == sizeof(double) ? 1e-10 : 1e-4;
        double loss = json_number_value(json_array_get(json_object_get(json, "losses"), i));
        double norm = json_number_value(json_array_get(json_object_get(json, "norms"), i));
        assert_close(result.loss, loss, tolerance);
        assert_close(result.norm, norm, 10 * tolerance);
    }
    pr_trainer_free(trainer);
    pr_pool_free(pool);
    pr_model_free(model);
}

int main(void)
{
    const char *source = getenv("PARSREC_SOURCE");
    char path[4096];
    parsrec_error err;
    json_t *json;
    snprintf(path, sizeof path, "%s/tests/golden/ten_losses.json", source ? source : ".");
    if (pr_json_load(&json, path, &err) != PARSREC_OK) {
        printf("%s\n", err.message);
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(ten_losses_match, json)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(json);
    return failed;
}
