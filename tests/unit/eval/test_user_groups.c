/* Groups of users by every kind of specification, on the small sample and on synthetic data. */
#include "eval/user_groups.h"

#include "base/memory.h"
#include "model/model.h"
#include "support/sample_data.h"
#include "support/testing.h"
#include "synth/truth.h"

static sample shop; /* ann 31.5 years, bob (no sessions), cy 60 */
static pr_user_groups groups;
static parsrec_error err;

static int begin(void **state)
{
    (void)state;
    sample_make(&shop);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pr_user_groups_free(&groups);
    return 0;
}

static parsrec_status make(const char *const *specs, size_t count)
{
    pr_group_source from = {.data = &shop.data, .last = 1};
    pr_user_groups_free(&groups);
    return pr_user_groups_init(&groups, &from, specs, count, &err);
}

static parsrec_status make_one(const char *spec)
{
    return make(&spec, 1);
}

/* Members as letters: ann, bob, cy. */
static void assert_group(size_t g, const char *name, const char *members)
{
    assert_true(g < groups.count);
    assert_string_equal(groups.list[g].name, name);
    assert_int_equal(groups.list[g].count, strlen(members));
    for (size_t i = 0; members[i] != '\0'; i++)
        assert_int_equal(groups.list[g].users[i], strchr("abc", members[i]) - "abc");
}

static void everybody_unless_asked(void **state)
{
    (void)state;
    assert_ok(make(NULL, 0));
    assert_int_equal(groups.count, 1);
    assert_group(0, "everybody", "abc");
    const char *both[] = {"user:cy", "everybody"};
    assert_ok(make(both, 2));
    assert_group(0, "user:cy", "c");
    assert_group(1, "everybody", "abc");
    assert_ptr_equal(pr_user_group_named(&groups, pr_slice_of("user:cy")), &groups.list[0]);
    assert_null(pr_user_group_named(&groups, pr_slice_of("user:c")));
}

static void one_user(void **state)
{
    (void)state;
    assert_fails(make_one("user:dan"), PARSREC_E_NOT_FOUND, "user 'dan' is not in the data set");
    const char *twice[] = {"user:cy", "user:cy"};
    assert_fails(make(twice, 2), PARSREC_E_ARGUMENT, "two groups are called 'user:cy'");
}

static void features(void **state)
{
    (void)state;
    assert_ok(make_one("age=31.5"));
    assert_group(0, "age=31.5", "a");
    assert_ok(make_one("age=30..60")); /* bob's is not known */
    assert_group(0, "age=30..60", "ac");
    assert_fails(make_one("age=61..90"), PARSREC_E_INPUT, "'age=61..90' has no users");
    assert_fails(make_one("age=old"), PARSREC_E_ARGUMENT, "'old' is not a number");
    assert_fails(make_one("age=1..x"), PARSREC_E_ARGUMENT, "such as 30..40");
    static const int32_t codes[] = {1, -1, 0};
    static const int64_t words[] = {0, 3, 6};
    shop.user_feature[0] = (pr_feature_column){.name = (char *)(uintptr_t) "town",
                                               .code = codes,
                                               .values = sample_names("romnyc", words, 2)};
    assert_ok(make_one("town=nyc"));
    assert_group(0, "town=nyc", "a");
    assert_fails(make_one("town=ber"), PARSREC_E_NOT_FOUND, "'town' has no value 'ber'");
}

static void files(void **state)
{
    (void)state;
    const char *path = "test_user_groups.csv";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("user\ncy\nann\n", file);
    fclose(file);
    assert_ok(make_one("vips=test_user_groups.csv"));
    assert_group(0, "vips", "ac");
    assert_fails(make_one("vips=no_such_file"), PARSREC_E_IO, "'vips' is not a user feature");
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("dan\n", file);
    fclose(file);
    assert_fails(make_one("vips=test_user_groups.csv"), PARSREC_E_INPUT,
                 "'dan' is not in the data");
    remove(path);
}

/* ann: milk bread | milk eggs | bread eggs tea; cy: milk | tea. The last two sessions of ann are
 * held back; cy has too few for that. DAIRY stands below FOOD. */
static void buyers(void **state)
{
    (void)state;
    assert_ok(make_one("buyers:FOOD"));
    assert_group(0, "buyers:FOOD", "ac");
    assert_ok(make_one("buyers:FOOD > DAIRY"));
    assert_group(0, "buyers:FOOD > DAIRY", "ac");
    assert_ok(make_one("buyers:DRINK"));
    assert_group(0, "buyers:DRINK", "c");
    assert_fails(make_one("buyers:SHOES"), PARSREC_E_NOT_FOUND, "SHOES");
    shop.items[8] = 0; /* now nobody buys tea in a training session */
    assert_fails(make_one("buyers:DRINK"), PARSREC_E_INPUT, "has no users");
}

static void what_is_no_group(void **state)
{
    (void)state;
    assert_fails(make_one("nonsense"), PARSREC_E_ARGUMENT, "'nonsense' is not one of everybody");
    assert_fails(make_one("=x"), PARSREC_E_ARGUMENT, "is not one of");
    assert_fails(make_one(""), PARSREC_E_ARGUMENT, "is not one of");
    assert_fails(make_one("truth"), PARSREC_E_NOT_FOUND, "no ground truth");
    assert_fails(make_one("cluster:0"), PARSREC_E_ARGUMENT, "1 to 1000");
    assert_fails(make_one("cluster:2"), PARSREC_E_UNSUPPORTED, "need a model");
}

/* ---- with a model ---- */

static parsrec_status by_model(void *context, int32_t *cluster, size_t clusters, parsrec_error *e)
{
    return pr_user_clusters(cluster, context, clusters, e);
}

static parsrec_status make_with(pr_model *model, const char *spec)
{
    pr_group_source from = {&shop.data, 1, by_model, model};
    pr_user_groups_free(&groups);
    return pr_user_groups_init(&groups, &from, &spec, 1, &err);
}

static void clusters(void **state)
{
    (void)state;
    pr_config config = pr_config_default();
    pr_model *model, *counts;
    config.dim_user = config.dim_item = 4;
    assert_ok(pr_model_new(&model, "parsrec", &config, SAMPLE_USERS, SAMPLE_ITEMS, 1, &err));
    pr_real *rows = pr_model_reals(model, "user_emb");
    for (size_t i = 0; i < 12; i++)
        rows[i] = i < 4 ? 0 : i < 8 ? 100 : 1; /* bob is far off, but has bought nothing */
    assert_ok(make_with(model, "cluster:1"));
    assert_group(0, "cluster 1", "ac");
    assert_ok(make_with(model, "cluster:2"));
    assert_group(0, "cluster 1", "a");
    assert_group(1, "cluster 2", "c");
    assert_fails(make_with(model, "cluster:3"), PARSREC_E_ARGUMENT, "3 clusters of 2 users");
    assert_ok(pr_model_new_bare(&counts, "pop", &config,
                                &(pr_shop){.users = SAMPLE_USERS, .items = SAMPLE_ITEMS}, &err));
    assert_fails(make_with(counts, "cluster:2"), PARSREC_E_UNSUPPORTED, "model pop learns nothing");
    pr_model_free(counts);
    pr_model_free(model);
}

static void true_groups(void **state)
{
    (void)state;
    const char *path = "test_user_groups.st", *spec = "truth";
    parsrec_synth_options options = parsrec_synth_default();
    options.users = 10;
    options.sessions = 3;
    assert_ok(parsrec_synth(path, &options, NULL, NULL, &err));
    pr_dataset *data;
    assert_ok(pr_dataset_load(&data, path, &err));
    pr_group_source from = {.data = data, .last = 1};
    pr_user_groups_free(&groups);
    assert_ok(pr_user_groups_init(&groups, &from, &spec, 1, &err));
    assert_int_equal(groups.count, 2);
    assert_string_equal(groups.list[0].name, "A");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(groups.list[0].users[i], i);
        assert_int_equal(groups.list[1].users[i], 5 + i);
    }
    pr_dataset_free(data);
    remove(path);
}

static void memory_fails(void **state)
{
    (void)state;
    const char *specs[] = {"age=30..60", "buyers:FOOD", "user:ann", "everybody"};
    parsrec_status status = PARSREC_E_MEMORY;
    size_t after = 0;
    for (; status != PARSREC_OK && after < 200; after++) {
        pr_memory_fail_after(after);
        status = make(specs, 4);
        pr_memory_fail_after(SIZE_MAX);
        assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
    }
    assert_int_equal(status, PARSREC_OK);
    assert_true(after > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everybody_unless_asked, begin, end),
        cmocka_unit_test_setup_teardown(one_user, begin, end),
        cmocka_unit_test_setup_teardown(features, begin, end),
        cmocka_unit_test_setup_teardown(files, begin, end),
        cmocka_unit_test_setup_teardown(buyers, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_group, begin, end),
        cmocka_unit_test_setup_teardown(clusters, begin, end),
        cmocka_unit_test_setup_teardown(true_groups, begin, end),
        cmocka_unit_test_setup_teardown(memory_fails, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
