/* ablation: rows and their bases, rows of one's own, rows that data cannot have, and mistakes. */
#include "support/testing.h"

#include "base/memory.h"
#include "compare/compare.h"
#include "model/model.h"

static parsrec_status list_of(pr_model_list *list, parsrec_ablate_options o, parsrec_error *err)
{
    static const parsrec_data_stats plain = {.users = 10};
    return pr_ablation_list(list, &o, &plain, NULL, err);
}

static const pr_listed_model *entry_named(const pr_model_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].name, name) == 0)
            return &list->entries[i];
    fail_msg("there is no %s", name);
    return NULL;
}

/* Every setting of every row is one that a model of its kind takes. */
static void rows_can_be_trained(void **state)
{
    (void)state;
    static const parsrec_data_stats all = {
        .user_features = 1, .session_features = 1, .item_features = 1};
    parsrec_error err = {0};
    parsrec_ablate_options o = parsrec_ablate_default();
    pr_model_list list;
    assert_ok(pr_ablation_list(&list, &o, &all, NULL, &err));
    size_t rows = pr_ablation_group_count;
    for (size_t g = 0; g < pr_ablation_group_count; g++)
        rows += pr_ablation_groups[g].count;
    assert_int_equal(list.count, rows);
    for (size_t i = 0; i < list.count; i++) {
        const pr_listed_model *e = &list.entries[i];
        parsrec_train_options t = parsrec_train_default();
        char *text;
        t.model = e->kind;
        t.preset = e->preset;
        t.set = e->set;
        t.set_count = e->set_count;
        if (parsrec_config_text(&text, &t, &err) != PARSREC_OK)
            fail_msg("%s: %s", e->name, err.message);
        parsrec_text_free(text);
    }
    pr_model_list_free(&list);
}

static void two_bases(void **state)
{
    (void)state;
    parsrec_error err = {0};
    pr_model_list list;
    assert_ok(list_of(&list, parsrec_ablate_default(), &err));
    const pr_listed_model *paper = entry_named(&list, "paper"),
                          *ours = entry_named(&list, "default");
    assert_int_equal(paper->base, PR_NONE);
    assert_int_equal(ours->base, PR_NONE);
    assert_string_equal(paper->preset, "paper");
    assert_null(ours->preset);
    const pr_listed_model *row = entry_named(&list, "remove-ln");
    assert_ptr_equal(&list.entries[row->base], paper);
    assert_string_equal(row->preset, "paper");
    assert_string_equal(row->set[0], "layer_norm=off");
    row = entry_named(&list, "no-recall");
    assert_ptr_equal(&list.entries[row->base], ours);
    assert_int_equal(row->set_count, 2);
    pr_model_list_free(&list);
}

/* Features that are not there: settings that are about them go, and rows that are about nothing else. */
static void rows_that_data_cannot_have(void **state)
{
    (void)state;
    static const parsrec_data_stats some = {.user_features = 2, .categories = 3};
    parsrec_error err = {0};
    parsrec_ablate_options o = {.rows =
                                    "extra-features,user-features,session-features,item-features"};
    pr_model_list list;
    assert_ok(pr_ablation_list(&list, &o, &some, NULL, &err));
    assert_int_equal(list.count, 4);
    const pr_listed_model *extra = entry_named(&list, "extra-features");
    assert_int_equal(extra->set_count, 2);
    assert_string_equal(extra->set[0], "features.user=on");
    assert_string_equal(extra->set[1], "features.item=on"); /* of categories */
    entry_named(&list, "user-features");
    pr_model_list_free(&list);
}

static void chosen_rows(void **state)
{
    (void)state;
    parsrec_error err = {0};
    pr_model_list list;
    assert_ok(list_of(&list, (parsrec_ablate_options){.preset = "parts"}, &err));
    assert_string_equal(list.entries[0].name, "default");
    size_t parts = list.count;
    pr_model_list_free(&list);
    assert_ok(list_of(&list, (parsrec_ablate_options){.rows = "no-kin,heads-4"}, &err));
    assert_int_equal(list.count, 4);
    assert_string_equal(list.entries[0].name, "paper");
    assert_string_equal(list.entries[1].name, "heads-4");
    assert_int_equal(list.entries[3].base, 2);
    pr_model_list_free(&list);
    const char *const own[] = {"wide:dim.item=96", "slow:rate=0.0003:clip=5"};
    assert_ok(list_of(&list, (parsrec_ablate_options){.row = own, .row_count = 2}, &err));
    assert_int_equal(list.count, 3); /* nobody asked for others */
    assert_string_equal(list.entries[2].name, "slow");
    assert_string_equal(list.entries[2].set[1], "clip=5");
    pr_model_list_free(&list);
    assert_ok(list_of(&list, (parsrec_ablate_options){.preset = "all", .row = own, .row_count = 2},
                      &err));
    assert_true(list.count > parts + 2);
    assert_string_equal(list.entries[entry_named(&list, "wide")->base].name, "default");
    pr_model_list_free(&list);
    assert_ok(list_of(
        &list,
        (parsrec_ablate_options){.preset = "paper", .rows = "heads-1", .row = own, .row_count = 1},
        &err));
    assert_int_equal(list.count, 3);
    assert_string_equal(entry_named(&list, "wide")->preset, "paper");
    pr_model_list_free(&list);
}

/* One base of one's own for all rows. */
static void another_base(void **state)
{
    (void)state;
    parsrec_error err = {0};
    pr_model_list list;
    assert_ok(list_of(
        &list,
        (parsrec_ablate_options){.base = "parsrec:dim.item=32:rate=0.01", .rows = "no-kin,heads-4"},
        &err));
    assert_int_equal(list.count, 3);
    assert_string_equal(list.entries[0].name, "base");
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(list.entries[i].base, 0);
        assert_int_equal(list.entries[i].set_count, 3);
        assert_string_equal(list.entries[i].set[0], "dim.item=32");
    }
    pr_model_list_free(&list);
}

static void mistakes(void **state)
{
    (void)state;
    static const char *const no_settings[] = {"wide"}, *const no_name[] = {":rate=1"},
                             *const comma[] = {"a:rate=1,b:rate=2"},
                             *const taken[] = {"no-kin:rate=1"};
    const struct {
        parsrec_ablate_options o;
        const char *says;
    } cases[] = {
        {{.preset = "papr"}, "there are: all, paper, parts"},
        {{.rows = "no-kin,no-kim"}, "there is no row 'no-kim'"},
        {{.rows = "no-kin", .preset = "paper"}, "these rows are not in the preset"},
        {{.row = no_settings, .row_count = 1}, "write --row NAME:key=value"},
        {{.row = no_name, .row_count = 1}, "write --row NAME:key=value"},
        {{.row = comma, .row_count = 1}, "write --row NAME:key=value"},
        {{.row = taken, .row_count = 1, .preset = "parts"}, "two models are called 'no-kin'"},
        {{.base = "@model.st"}, "--base is a kind of model"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parsrec_error err = {0};
        pr_model_list list;
        parsrec_status status = list_of(&list, cases[i].o, &err);
        pr_model_list_free(&list);
        if (status == PARSREC_OK || strstr(err.message, cases[i].says) == NULL)
            fail_msg("case %zu: %s", i, status == PARSREC_OK ? "taken" : err.message);
    }
}

static void no_memory(void **state)
{
    (void)state;
    parsrec_status status = PARSREC_E_MEMORY;
    for (size_t after = 0; status != PARSREC_OK; after++) {
        parsrec_error err = {0};
        pr_model_list list;
        pr_memory_fail_after(after);
        status = list_of(&list, parsrec_ablate_default(), &err);
        pr_memory_fail_after(SIZE_MAX);
        pr_model_list_free(&list);
        assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_can_be_trained),
        cmocka_unit_test(two_bases),
        cmocka_unit_test(rows_that_data_cannot_have),
        cmocka_unit_test(chosen_rows),
        cmocka_unit_test(another_base),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("ablation", tests, NULL, NULL);
}
