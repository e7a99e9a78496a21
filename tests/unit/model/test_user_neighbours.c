/* model: kinds that ask similar users, against a shop small enough to be worked out by hand. */
#include "support/toy_run.h"

#include "base/memory.h"
#include "model/counting/counting.h"
#include "model/counting/pasts.h"

enum { ITEMS = 6 };

/* Anna: {0 1} {0 2}; Bert: {0 1 3}; Cora: {4}; Dora has no session. Item 5 is never bought. */
static const int64_t user_offsets[] = {0, 2, 3, 4, 4}, session_offsets[] = {0, 2, 4, 7, 8};
static const int32_t actions[] = {0, 1, 0, 2, 0, 1, 3, 4};
static const pr_dataset shop = {.users = 4,
                                .sessions = 4,
                                .items = ITEMS,
                                .actions = 8,
                                .user_offsets = user_offsets,
                                .session_offsets = session_offsets,
                                .action_items = actions,
                                .source = ""};
static const pr_scope all = {.last = 1};
static const pr_start anna = {
    .user = 0,
    .history = {.items = actions, .count = 4, .sessions = session_offsets, .session_count = 2}};

static pr_model *counted(const char *kind, const char *settings[])
{
    parsrec_error err;
    pr_model *model;
    pr_config config;
    assert_ok(pr_model_defaults(&config, kind, &err));
    for (size_t i = 0; settings[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    assert_ok(pr_count_model(&model, kind, &config, &shop, &all, NULL, NULL, &err));
    return model;
}

static void assert_scores(pr_scorer *scorer, const double expected[ITEMS])
{
    static const int32_t every[ITEMS] = {0, 1, 2, 3, 4, 5};
    pr_real scores[ITEMS], some[ITEMS];
    pr_scorer_score_all(scorer, scores);
    pr_scorer_score(scorer, 0, every, ITEMS, some);
    for (int i = 0; i < ITEMS; i++) {
        assert_close((double)scores[i], expected[i], 1e-6);
        assert_true(scores[i] == some[i]);
    }
}

static pr_scorer *open_basket(const pr_model *model, const pr_start *start)
{
    parsrec_error err;
    pr_scorer *scorer;
    assert_ok(pr_scorer_new(&scorer, model, 1, 4, &err));
    pr_scorer_start(scorer, start, 1);
    return scorer;
}

static void decayed_counts_of_the_nearest_user(void **state)
{
    (void)state;
    pr_model *model = counted("tifuknn", (const char *[]){"knn.users=1", NULL});
    pr_scorer *scorer = open_basket(model, &anna);
    /* Anna's vector is (.815, .315, .5): .9 · .7 / 2 for her first session, 1 / 2 for the second. Bert is
     * nearer than Cora. */
    assert_scores(scorer, (double[]){.8705, .5205, .35, .3, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

static void shares_of_everybody_by_similarity(void **state)
{
    (void)state;
    pr_model *model = counted("upcf", (const char *[]){"upcf.locality=1", NULL});
    pr_scorer *scorer = open_basket(model, &anna);
    double like = 1.5 / (pow(1.5, .25) * pow(3, .75)); /* to Bert; Cora shares nothing */
    assert_scores(scorer, (double[]){1 + like, .5 + like, .5, like, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

static void items_near_the_placed_one(void **state)
{
    (void)state;
    pr_model *model = counted("pernir", (const char *[]){"pernir.past=0.5", "knn.users=1", NULL});
    pr_scorer *scorer = open_basket(model, &anna);
    /* Nothing placed: half of .3 · (1.5, .5, 1) and of .7 · (1, 1, 0, 1). */
    assert_scores(scorer, (double[]){.575, .425, .15, .35, -1. / 2, -1});
    pr_scorer_place(scorer, (int32_t[]){1});
    /* In Anna's first session item 0 is next to item 1, in Bert's 0 and 3 are. */
    assert_scores(scorer, (double[]){1, .425, .15, .7, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* Nobody is a neighbour of herself, but a guest with the same past is. */
static void the_asking_user_is_left_out(void **state)
{
    (void)state;
    pr_model *model = counted("tifuknn", (const char *[]){"knn.users=1", NULL});
    pr_start guest = anna;
    guest.user = PR_ANYONE;
    pr_scorer *scorer = open_basket(model, &guest);
    assert_scores(scorer, (double[]){.815, .315, .5, -1. / 2, -1. / 2, -1});
    pr_start newcomer = {.user = PR_ANYONE};
    pr_scorer_start(scorer, &newcomer, 1);
    /* Nobody is similar to one without a past: popularity decides. */
    assert_scores(scorer, (double[]){-1. / 4, -1. / 3, -1. / 2, -1. / 2, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

static void a_forgotten_user_leaves_nothing(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model *model = counted("pernir", (const char *[]){NULL}), *fewer;
    const bool gone[] = {true, false, false, false};
    pr_shop before = {.users = 4, .items = ITEMS}, after = {.users = 3, .items = ITEMS};
    assert_ok(pr_model_without(&fewer, model, gone, &before, &after, &err));
    assert_ok(pr_pasts_verify(fewer, &err));
    pr_pasts pasts = pr_pasts_of(fewer);
    assert_int_equal(pasts.sessions, 2);
    assert_int_equal(pasts.actions, 4);
    assert_memory_equal(pasts.item, actions + 4, 4 * sizeof *actions);
    pr_past bert = pr_past_of_user(&pasts, 0), dora = pr_past_of_user(&pasts, 2);
    assert_int_equal(bert.count, 3);
    assert_int_equal(dora.count, 0);
    pr_model_free(fewer);
    pr_model_free(model);
}

static void numbers_of_a_file_are_checked(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model *model = counted("tifuknn", (const char *[]){NULL});
    assert_ok(pr_pasts_verify(model, &err));
    const struct {
        const char *name;
        size_t at;
        uint32_t value;
    } damages[] = {{"past.user", 0, 1},
                   {"past.user", 1, 9},
                   {"past.user", 4, 3},
                   {"past.session", 0, 1},
                   {"past.session", 2, UINT32_MAX},
                   {"past.session", 4, 7},
                   {"past.item", 3, ITEMS}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        uint32_t *word = pr_model_u32(model, damages[i].name) + damages[i].at, kept = *word;
        *word = damages[i].value;
        assert_fails(pr_pasts_verify(model, &err), PARSREC_E_FORMAT, "do not fit");
        *word = kept;
    }
    pr_model_free(model);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    parsrec_error err;
    pr_config config;
    assert_ok(pr_model_defaults(&config, "pernir", &err));
    parsrec_status status = PARSREC_E_MEMORY;
    for (size_t n = 0; status != PARSREC_OK; n++) {
        pr_model *model = NULL;
        pr_scorer *scorer = NULL;
        assert_true(n < 100);
        pr_memory_fail_after(n);
        status = pr_count_model(&model, "pernir", &config, &shop, &all, NULL, NULL, &err);
        if (status == PARSREC_OK)
            status = pr_scorer_new(&scorer, model, 2, 4, &err);
        pr_memory_fail_after(SIZE_MAX);
        assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
        pr_scorer_free(scorer);
        pr_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decayed_counts_of_the_nearest_user),
        cmocka_unit_test(shares_of_everybody_by_similarity),
        cmocka_unit_test(items_near_the_placed_one),
        cmocka_unit_test(the_asking_user_is_left_out),
        cmocka_unit_test(a_forgotten_user_leaves_nothing),
        cmocka_unit_test(numbers_of_a_file_are_checked),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
