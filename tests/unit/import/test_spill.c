/* Actions that go through files give the same baskets as actions in memory. */
#include "support/testing.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "import/spill.h"

enum { USERS = 700, ITEMS = 90, ACTIONS = 20000 };

static char folder[] = "/tmp/parsrec-spill-XXXXXX";
static char result[64];

/* Action i of a random shop: sessions of a user recur at any distance, some actions have none. */
static pr_action action_at(pr_stream *random, char key[16], bool keyed)
{
    uint32_t user = (uint32_t)(pr_stream_unit(random) * USERS);
    uint32_t item = (uint32_t)(pr_stream_unit(random) * pr_stream_unit(random) * ITEMS);
    uint32_t session = (uint32_t)(pr_stream_unit(random) * 9);
    int64_t time = (int64_t)(pr_stream_unit(random) * 1e6);
    int length = keyed && session > 0 ? snprintf(key, 16, "s%u", session) : 0;
    return (pr_action){user, item, time, {key, (size_t)length}};
}

static void in_memory(pr_assembly *b, const pr_spill_rules *rules, parsrec_import_report *report)
{
    parsrec_error err = {0};
    pr_gather g = {0};
    pr_rng rng = pr_rng_make(5, 1);
    pr_stream random = pr_stream_at(&rng, 0, 0, 0);
    for (int i = 0; i < ACTIONS; i++) {
        char key[16];
        pr_action a = action_at(&random, key, rules->session_rule == PARSREC_SESSION_COLUMN);
        assert_ok(pr_gather_add(&g, &a, &err));
    }
    pr_gather_seal(&g);
    assert_ok(pr_assembly_make(b, &g, USERS, ITEMS, &err));
    if (rules->session_rule != PARSREC_SESSION_COLUMN)
        pr_assembly_join(b, rules->session_rule, rules->session_gap);
    assert_ok(pr_assembly_unique(b, &report->repeats_dropped, &err));
    if (rules->min_actions > 1)
        assert_ok(pr_assembly_filter(b, rules->min_actions, report, &err));
    pr_gather_free(&g);
}

/* The first `gathered` actions are gathered in memory and then moved to the files. */
static parsrec_status in_files(pr_assembly *b, const pr_spill_rules *rules, int gathered,
                               parsrec_import_report *report, parsrec_error *err)
{
    pr_spill *spill = NULL;
    pr_gather g = {0};
    pr_rng rng = pr_rng_make(5, 1);
    pr_stream random = pr_stream_at(&rng, 0, 0, 0);
    parsrec_status status;
    *b = (pr_assembly){0};
    PR_TRY_GOTO(pr_spill_open(&spill, result, err));
    for (int i = 0; i < ACTIONS; i++) {
        char key[16];
        pr_action a = action_at(&random, key, rules->session_rule == PARSREC_SESSION_COLUMN);
        if (i == gathered)
            PR_TRY_GOTO(pr_spill_take(spill, &g, err));
        PR_TRY_GOTO(i < gathered ? pr_gather_add(&g, &a, err) : pr_spill_add(spill, &a, err));
    }
    PR_TRY_GOTO(pr_spill_assemble(spill, b, USERS, ITEMS, rules, report, NULL, err));
done:
    pr_gather_free(&g);
    pr_spill_free(spill);
    return status;
}

static void assert_same(const pr_assembly *a, const pr_assembly *b)
{
    assert_int_equal(a->users, b->users);
    assert_int_equal(a->items, b->items);
    assert_int_equal(a->sessions, b->sessions);
    assert_int_equal(a->actions, b->actions);
    assert_true(a->actions > 1000);
    assert_memory_equal(a->user_offsets, b->user_offsets, (a->users + 1) * sizeof(int64_t));
    assert_memory_equal(a->session_offsets, b->session_offsets,
                        (a->sessions + 1) * sizeof(int64_t));
    assert_memory_equal(a->times, b->times, a->sessions * sizeof(int64_t));
    assert_memory_equal(a->action_items, b->action_items, a->actions * sizeof(int32_t));
    assert_int_equal(a->user_from == NULL, b->user_from == NULL);
    if (a->user_from != NULL) {
        assert_memory_equal(a->user_from, b->user_from, a->users * sizeof(uint32_t));
        assert_memory_equal(a->item_from, b->item_from, a->items * sizeof(uint32_t));
    }
}

static const pr_spill_rules all_rules[] = {{PARSREC_SESSION_COLUMN, 0, 0, NULL},
                                           {PARSREC_SESSION_COLUMN, 0, 28, NULL},
                                           {PARSREC_SESSION_GAP, 20000, 0, NULL},
                                           {PARSREC_SESSION_DAY, 0, 27, NULL}};

static void files_give_the_baskets_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all_rules / sizeof *all_rules; i++) {
        pr_assembly memory, files;
        parsrec_import_report one = {0}, two = {0};
        in_memory(&memory, &all_rules[i], &one);
        for (int gathered = 0; gathered < ACTIONS; gathered += ACTIONS / 2 + 1) {
            parsrec_error err = {0};
            two = (parsrec_import_report){0};
            assert_ok(in_files(&files, &all_rules[i], gathered, &two, &err));
            assert_same(&memory, &files);
            assert_int_equal(one.repeats_dropped, two.repeats_dropped);
            assert_int_equal(one.filtered_users, two.filtered_users);
            assert_int_equal(one.filtered_items, two.filtered_items);
            assert_int_equal(one.filtered_actions, two.filtered_actions);
            pr_assembly_free(&files);
        }
        assert_true((all_rules[i].min_actions > 0) == (one.filtered_users > 0));
        pr_assembly_free(&memory);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t after = 0;; after += 1 + after / 8) {
        pr_assembly b;
        parsrec_import_report report = {0};
        parsrec_error err = {0};
        pr_memory_fail_after(after);
        parsrec_status status = in_files(&b, &all_rules[1], ACTIONS / 3, &report, &err);
        pr_memory_fail_after(SIZE_MAX);
        pr_assembly_free(&b);
        if (status == PARSREC_OK)
            break;
        assert_int_equal(status, PARSREC_E_MEMORY);
        failures++;
    }
    assert_true(failures > 20);
}

static void a_folder_that_is_missing_is_named(void **state)
{
    (void)state;
    pr_spill *spill;
    parsrec_error err = {0};
    assert_int_equal(pr_spill_open(&spill, "/nowhere/else/shop.data", &err), PARSREC_E_IO);
    assert_non_null(strstr(err.message, "/nowhere/else"));
    assert_null(spill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_give_the_baskets_of_memory),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_folder_that_is_missing_is_named),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(result, sizeof result, "%s/shop.data", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
