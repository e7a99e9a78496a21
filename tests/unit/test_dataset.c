/* The data set: what is saved comes back, and each rule of its contents is kept. */
#include "testing.h"

#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "sample_data.h"

static char folder[] = "/tmp/parsrec-dataset-XXXXXX", path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/data.st", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails when something was left behind */
}

static void assert_names_equal(const pr_names *a, const pr_names *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->offsets, b->offsets, (a->count + 1) * sizeof *a->offsets);
    assert_memory_equal(a->bytes, b->bytes, (size_t)a->offsets[a->count]);
}

static const float groups[] = {0, 1, 2, 3, 4, 5};
static const pr_tensor truth = {"truth.group", PR_F32, 2, {2, 3}, groups};

static void everything_comes_back(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    assert_ok(pr_dataset_save(&s.data, &truth, 1, path, &err));
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path, &err));
    assert_int_equal(d->users, SAMPLE_USERS);
    assert_int_equal(d->sessions, SAMPLE_SESSIONS);
    assert_int_equal(d->items, SAMPLE_ITEMS);
    assert_int_equal(d->actions, SAMPLE_ACTIONS);
    assert_memory_equal(d->user_offsets, s.user_offsets, sizeof s.user_offsets);
    assert_memory_equal(d->session_offsets, s.session_offsets, sizeof s.session_offsets);
    assert_memory_equal(d->action_items, s.items, sizeof s.items);
    assert_memory_equal(d->times, s.times, sizeof s.times);
    assert_int_equal(d->time_kind, PARSREC_TIME_UNIX);
    assert_names_equal(&d->user_keys, &s.data.user_keys);
    assert_names_equal(&d->item_keys, &s.data.item_keys);
    assert_names_equal(&d->item_names, &s.data.item_names);
    assert_names_equal(&d->category_names, &s.data.category_names);
    assert_memory_equal(d->category_parent, s.parent, sizeof s.parent);
    assert_memory_equal(d->item_category, s.category, sizeof s.category);
    assert_int_equal(d->feature_count[PR_OF_ITEM], 1);
    assert_string_equal(d->features[PR_OF_ITEM][0].name, "price.EUR");
    assert_memory_equal(d->features[PR_OF_ITEM][0].number, s.price, sizeof s.price);
    assert_string_equal(d->features[PR_OF_USER][0].name, "age");
    assert_memory_equal(d->features[PR_OF_SESSION][0].code, s.channel, sizeof s.channel);
    assert_names_equal(&d->features[PR_OF_SESSION][0].values, &s.session_feature[0].values);
    assert_string_equal(d->source, s.data.source);
    assert_memory_equal(pr_container_find(d->file, "truth.group")->data, groups, sizeof groups);
    pr_dataset_free(d);
}

static void optional_parts_may_be_absent(void **state)
{
    (void)state;
    parsrec_error err;
    sample s;
    sample_make(&s);
    s.data.time_kind = PARSREC_TIME_NONE;
    s.data.times = NULL;
    s.data.item_names.count = 0;
    s.data.categories = 0;
    memset(s.data.feature_count, 0, sizeof s.data.feature_count);
    s.data.source = "";
    assert_ok(pr_dataset_save(&s.data, NULL, 0, path, &err));
    pr_dataset *d;
    assert_ok(pr_dataset_load(&d, path, &err));
    assert_null(d->times);
    assert_null(d->item_category);
    assert_int_equal(d->item_names.count, 0);
    assert_int_equal(d->categories, 0);
    assert_int_equal(d->feature_count[PR_OF_USER], 0);
    assert_string_equal(d->source, "");
    pr_dataset_free(d);
}

static void category_paths_read_from_the_top(void **state)
{
    (void)state;
    sample s;
    sample_make(&s);
    char text[32], small[8];
    assert_string_equal(pr_category_path(&s.data, 1, text, sizeof text), "FOOD > DAIRY");
    assert_string_equal(pr_category_path(&s.data, 2, text, sizeof text), "DRINK");
    assert_string_equal(pr_category_path(&s.data, -1, text, sizeof text), "");
    assert_string_equal(pr_category_path(&s.data, 1, small, sizeof small), "FOOD > ");
    assert_string_equal(pr_category_path(&s.data, 1, small, 1), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(optional_parts_may_be_absent),
        cmocka_unit_test(category_paths_read_from_the_top),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
