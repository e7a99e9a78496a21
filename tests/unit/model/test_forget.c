/* A data set without a user, column by column; a model file without one when memory runs out. */
#include "support/testing.h"

#include "base/memory.h"
#include "data/dataset_edit.h"
#include "model/model.h"
#include "model/model_file.h"
#include "support/sample_data.h"

static void assert_names(const pr_names *names, const char *const *expected, size_t count)
{
    assert_int_equal(names->count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(pr_slice_is(pr_name(names, i), expected[i]));
}

/* ann: milk bread | milk eggs | bread eggs tea; bob: (none); cy: milk | tea. Channels: shop web - web shop. */
static void all_columns_lose_the_user(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    pr_derived p;
    sample_make(&s);
    assert_ok(pr_dataset_without(&p, &s.data, (const bool[]){true, false, false}, &err));
    assert_int_equal(p.data.users, 2);
    assert_int_equal(p.data.sessions, 2);
    assert_int_equal(p.data.actions, 2);
    assert_names(&p.data.user_keys, (const char *const[]){"bob", "cy"}, 2);
    assert_int_equal(p.data.user_offsets[1], 0);
    assert_int_equal(p.data.user_offsets[2], 2);
    assert_int_equal(p.data.action_items[0], 0);
    assert_int_equal(p.data.action_items[1], 3);
    assert_int_equal(p.data.times[0], 0);
    assert_int_equal(p.data.times[1], 1800000000);
    const pr_feature_column *age = &p.data.features[PR_OF_USER][0];
    assert_true(isnan(age->number[0]) && age->number[1] == 60);
    const pr_feature_column *channel = &p.data.features[PR_OF_SESSION][0];
    assert_int_equal(channel->code[0], 1);
    assert_int_equal(channel->code[1], 0);
    assert_ok(pr_dataset_check(&p.data, "pruned", &err));
    pr_derived_free(&p);
}

/* With cy goes the only session from the shop but ann's first; without ann and her shop, one value is left
 * for whoever came by web. */
static void values_that_nobody_has_go_too(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    pr_derived p;
    sample_make(&s);
    s.channel[0] = 1; /* ann: web web -; cy: web shop */
    assert_ok(pr_dataset_without(&p, &s.data, (const bool[]){false, false, true}, &err));
    const pr_feature_column *channel = &p.data.features[PR_OF_SESSION][0];
    assert_names(&channel->values, (const char *const[]){"web"}, 1);
    assert_int_equal(channel->code[0], 0);
    assert_int_equal(channel->code[1], 0);
    assert_int_equal(channel->code[2], -1);
    assert_ok(pr_dataset_check(&p.data, "pruned", &err));
    pr_derived_free(&p);
}

/* Words that nobody is left with lose their row; the others keep theirs, under new numbers. */
static void rows_of_words_go_too(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    pr_derived p;
    pr_model *whole, *less;
    pr_config config = pr_config_default();
    config.dim_user = config.dim_item = 4;
    config.features_user = config.features_session = 1;
    sample_make(&s);
    s.channel[0] = 1; /* ann: web web -; cy: web shop, the only one from there */
    const bool gone[] = {false, false, true};
    pr_shop before = pr_shop_of(&s.data);
    assert_ok(pr_model_new_bare(&whole, "parsrec", &config, &before, &err));
    assert_ok(pr_model_alloc_weights(whole, &err));
    for (size_t i = 0; i < whole->params.size; i++)
        whole->weights[i] = (pr_real)i;
    assert_ok(pr_dataset_without(&p, &s.data, gone, &err));
    pr_shop after = pr_shop_of(&p.data);
    assert_ok(pr_model_without(&less, whole, gone, &before, &after, &err));
    const pr_param *from = pr_params_find(&whole->params, PR_WORD_TABLE);
    const pr_param *to = pr_params_find(&less->params, PR_WORD_TABLE);
    assert_int_equal(from->rows, 3); /* unknown, shop, web */
    assert_int_equal(to->rows, 2);   /* unknown, web */
    size_t row = to->cols * sizeof(pr_real);
    assert_memory_equal(less->weights + to->at, whole->weights + from->at, row);
    assert_memory_equal(less->weights + to->at + to->cols,
                        whole->weights + from->at + 2 * from->cols, row);
    assert_memory_equal(pr_model_reals(less, "feature.in_w"), pr_model_reals(whole, "feature.in_w"),
                        16 * 2 * sizeof(pr_real));
    pr_model_free(less);
    pr_model_free(whole);
    pr_derived_free(&p);
}

static void out_of_memory_is_a_status(void **state)
{
    (void)state;
    static const char *const users[] = {"ann"};
    char folder[] = "/tmp/parsrec-forget-XXXXXX", from[64], to[64];
    parsrec_error err;
    sample s;
    pr_model *model;
    pr_config config = pr_config_default();
    config.dim_user = config.dim_item = 4;
    assert_non_null(mkdtemp(folder));
    snprintf(from, sizeof from, "%s/from.model", folder);
    snprintf(to, sizeof to, "%s/to.model", folder);
    sample_make(&s);
    assert_ok(pr_model_new(&model, "parsrec", &config, SAMPLE_USERS, SAMPLE_ITEMS, 1, &err));
    assert_ok(pr_model_save(model, &s.data, from, &err));
    pr_model_free(model);
    size_t failures = 0;
    for (bool whole = false; !whole; failures += !whole) {
        pr_memory_fail_after(failures);
        parsrec_status status = parsrec_model_forget(from, to, users, 1, &err);
        pr_memory_fail_after(SIZE_MAX);
        whole = status == PARSREC_OK;
        if (!whole)
            assert_int_equal(status, PARSREC_E_MEMORY);
        assert_int_equal(access(to, F_OK) == 0, whole);
    }
    assert_true(failures > 20);
    assert_fails(parsrec_model_forget(from, to, users, 0, &err), PARSREC_E_ARGUMENT, "needs");
    unlink(from);
    unlink(to);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_columns_lose_the_user),
        cmocka_unit_test(values_that_nobody_has_go_too),
        cmocka_unit_test(rows_of_words_go_too),
        cmocka_unit_test(out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
