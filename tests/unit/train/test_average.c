/* The average of late weights: its numbers by hand, and that validation and the model file have it. */
#include "support/toy_run.h"

#include "base/memory.h"
#include "train/average.h"

static void eight_times_per_epoch(void **state)
{
    (void)state;
    uint64_t added = 0;
    for (uint64_t batch = 1; batch <= 21; batch++)
        added += pr_average_count(2, batch, 21) > pr_average_count(2, batch - 1, 21);
    assert_int_equal(added, 8);
    assert_int_equal(pr_average_count(2, 0, 21), 16);
    assert_int_equal(pr_average_count(1, 21, 21), pr_average_count(2, 0, 21));
    assert_int_equal(pr_average_count(3, 1, 5), 16); /* after each batch if there are fewer */
}

/* Shares of 9/9, 9/10 and 9/11: 1, then 1.9, then 2.8. */
static void later_weights_count_more(void **state)
{
    (void)state;
    parsrec_error err;
    pr_pool *pool;
    pr_model *model;
    pr_config config;
    assert_ok(pr_pool_new(&pool, 2, &err));
    assert_ok(pr_model_defaults(&config, "parsrec", &err));
    assert_ok(pr_config_assign(&config, "order=any", &err));
    assert_ok(pr_model_new(&model, "parsrec", &config, 3, 5, 1, &err));
    const pr_param *learnt = pr_params_find(&model->params, "user_emb");
    const pr_param *counted = pr_params_find(&model->params, "near.to");
    assert_true(counted->counted && !learnt->counted);
    pr_real *average = pr_alloc_aligned(model->params.size, sizeof *average);
    assert_non_null(average);
    memcpy(average, model->weights, model->params.size * sizeof *average);
    static const double expected[] = {1, 1.9, 2.8};
    for (uint64_t n = 1; n <= 3; n++) {
        for (size_t i = 0; i < pr_param_size(learnt); i++)
            model->weights[learnt->at + i] = (pr_real)n;
        pr_average_add(average, model, n, pool);
        for (size_t i = 0; i < pr_param_size(learnt); i++)
            assert_true(fabs((double)average[learnt->at + i] - expected[n - 1]) < 1e-5);
        assert_memory_equal(average + counted->at, model->weights + counted->at,
                            pr_param_size(counted) * sizeof *average);
    }
    pr_free_aligned(average);
    pr_model_free(model);
    pr_pool_free(pool);
}

/* One epoch of one batch has a single addend: its average is the weights. Two batches differ. */
static void the_model_has_the_average(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop =
        toy_make((toy_sizes){.users = 12, .items = 9, .least = 4, .spread = 2, .sizes = 1});
    for (int batch = 256; batch >= 16; batch /= 16) {
        pr_train_result kept[2];
        for (int average = 0; average < 2; average++) {
            pr_train_plan plan = toy_plan(&toy_kinds[0], 4, batch, 1);
            plan.config.average = average;
            assert_ok(toy_train(&shop.data, &plan, 1, NULL, &kept[average], &err));
        }
        const pr_param *p = pr_params_find(&kept[0].model->params, "item_emb");
        double most = 0;
        for (size_t i = p->at; i < p->at + pr_param_size(p); i++)
            most = fmax(
                most, fabs((double)kept[0].model->weights[i] - (double)kept[1].model->weights[i]));
        assert_true(batch == 256 ? most < 1e-6 : most > 1e-5);
        pr_train_result_free(&kept[0]);
        pr_train_result_free(&kept[1]);
    }
    toy_free(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_times_per_epoch),
        cmocka_unit_test(later_weights_count_more),
        cmocka_unit_test(the_model_has_the_average),
    };
    return cmocka_run_group_tests(tests, toy_open_folder, toy_remove_folder);
}
