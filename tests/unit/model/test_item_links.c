/* model: kinds in which items or sessions vote, against a shop small enough to be worked out by hand. */
#include "support/toy_run.h"

#include "base/memory.h"
#include "model/counting/counting.h"
#include "model/counting/linear_items.h"

enum { ITEMS = 6 };

/* Anna: {0 1} {0 2}; Bert: {0 1 3}; Cora: {4}; Dora has no session. Item 5 is never bought. */
static const int64_t user_offsets[] = {0, 2, 3, 4, 4}, session_offsets[] = {0, 2, 4, 7, 8};
static const int64_t times[] = {10, 20, 30, 40};
static const int32_t actions[] = {0, 1, 0, 2, 0, 1, 3, 4};
static const pr_dataset shop = {.users = 4,
                                .sessions = 4,
                                .items = ITEMS,
                                .actions = 8,
                                .user_offsets = user_offsets,
                                .session_offsets = session_offsets,
                                .times = times,
                                .action_items = actions,
                                .source = ""};
static const pr_scope all = {.last = 1};
static const pr_start anna = {
    .user = 0,
    .history = {.items = actions, .count = 4, .sessions = session_offsets, .session_count = 2}};
static const pr_start guest = {.user = PR_ANYONE};

static pr_model *counted(const char *kind, const char *settings[])
{
    parsrec_error err;
    pr_model *model;
    pr_config config;
    assert_ok(pr_model_defaults(&config, kind, &err));
    assert_ok(pr_config_assign(&config, "ties=first", &err));
    for (size_t i = 0; settings[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    assert_ok(pr_count_model(&model, kind, &config, &shop, &all, NULL, NULL, &err));
    assert_ok(pr_model_verify(model, "model", &err));
    return model;
}

static void assert_scores(pr_scorer *scorer, const double expected[ITEMS])
{
    static const int32_t every[ITEMS] = {0, 1, 2, 3, 4, 5};
    pr_real scores[ITEMS], some[ITEMS];
    pr_scorer_score_all(scorer, scores);
    pr_scorer_score(scorer, 0, every, ITEMS, some);
    for (int i = 0; i < ITEMS; i++) {
        assert_close((double)scores[i], expected[i], 1e-5);
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

static void placed(pr_scorer *scorer, int32_t item)
{
    pr_scorer_place(scorer, &item);
}

/* Sessions with 0: three, with 1: two, with 2, 3 and 4: one each; never bought before: by popularity. */
static void rules_have_confidence_lift_and_support(void **state)
{
    (void)state;
    pr_model *model = counted("rules", (const char *[]){NULL});
    pr_scorer *scorer = open_basket(model, &guest);
    assert_scores(scorer, (double[]){-1. / 4, -1. / 3, -1. / 2, -1. / 2, -1. / 2, -1});
    placed(scorer, 1);
    assert_scores(scorer, (double[]){1, -1. / 3, -1. / 2, 1. / 2, -1. / 2, -1});
    placed(scorer, 0);
    assert_scores(scorer, (double[]){1, 2. / 3, 1. / 3, 1. / 2 + 1. / 3, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
    model = counted("rules", (const char *[]){"rules.by=lift", "rules.from=last", NULL});
    scorer = open_basket(model, &guest);
    placed(scorer, 1);
    placed(scorer, 0);
    assert_scores(scorer, (double[]){-1. / 4, 4. / 3, 4. / 3, 4. / 3, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
    model = counted("rules", (const char *[]){"rules.by=support", "rules.support=2", NULL});
    scorer = open_basket(model, &guest);
    placed(scorer, 0);
    assert_scores(scorer, (double[]){-1. / 4, .5, -1. / 2, -1. / 2, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* Anna's sequence is 0 1 0 2, Bert's 0 1 3. */
static void later_items_count_by_distance(void **state)
{
    (void)state;
    pr_model *model = counted("seqrules", (const char *[]){"rules.fade=1", NULL});
    pr_scorer *scorer = open_basket(model, &anna); /* her last item, 2, was followed by nothing */
    assert_scores(scorer, (double[]){-1. / 4, -1. / 3, -1. / 2, -1. / 2, -1. / 2, -1});
    placed(scorer, 3);
    placed(scorer, 0);
    assert_scores(scorer, (double[]){-1. / 4, 2, 1. / 3 + 1, 1. / 2, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* Both sides: 0 is beside 1 three times, two places from 0 (left out) and from 3, and one and three from 2. */
static void items_on_both_sides_count_alike(void **state)
{
    (void)state;
    pr_model *model =
        counted("seqrules", (const char *[]){"rules.side=both", "rules.fade=1", NULL});
    pr_scorer *scorer = open_basket(model, &guest);
    placed(scorer, 0);
    assert_scores(scorer, (double[]){-1. / 4, 3, 1. / 3 + 1, 1. / 2, -1. / 2, -1});
    placed(scorer, 2);
    assert_scores(scorer, (double[]){1. / 3 + 1, 1. / 2, -1. / 2, -1. / 2, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
    model = counted("seqrules", (const char *[]){"rules.side=both", "rules.steps=1", NULL});
    scorer = open_basket(model, &guest);
    placed(scorer, 3);
    assert_scores(scorer, (double[]){-1. / 4, 1, -1. / 2, -1. / 2, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* Users with 0 and 1: Anna and Bert; with 2: Anna; with 3: Bert. */
static void items_of_the_same_users_are_similar(void **state)
{
    (void)state;
    pr_model *model = counted("itemknn", (const char *[]){"itemknn.shrink=0", NULL});
    pr_scorer *scorer = open_basket(model, &guest);
    placed(scorer, 0);
    double half = 1 / sqrt(2);
    assert_scores(scorer, (double[]){-1. / 4, 1, half, half, -1. / 2, -1});
    placed(scorer, 1);
    assert_scores(scorer, (double[]){1, 1, 2 * half, 2 * half, -1. / 2, -1});
    pr_scorer_free(scorer);
    scorer = open_basket(model, &anna); /* 0, 1 and 2 vote, each once */
    assert_scores(scorer, (double[]){1 + half, 1 + half, 2 * half, 2 * half, -1. / 2, -1});
    placed(scorer, 1); /* bought again: it has voted already */
    assert_scores(scorer, (double[]){1 + half, 1 + half, 2 * half, 2 * half, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* Item 0 was bought three times, 1 twice; both are in every session with 3. */
static void popularity_settles_ties_and_nothing_else(void **state)
{
    (void)state;
    pr_model *model = counted("rules", (const char *[]){"ties=popular", NULL});
    pr_scorer *scorer = open_basket(model, &guest);
    pr_real scores[ITEMS];
    placed(scorer, 3);
    pr_scorer_score_all(scorer, scores);
    assert_true(scores[0] > scores[1]);
    assert_true((double)scores[0] < (double)scores[1] * 20001 / 20000);
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* B minimises |X − XB|² + λ|B|² with a zero diagonal: at the minimum (XᵀX + λI) B − XᵀX is diagonal. */
static void regression_is_at_its_minimum(void **state)
{
    (void)state;
    static const double x[3][ITEMS] = {{1, 1, 1}, {1, 1, 0, 1}, {0, 0, 0, 0, 1}};
    pr_model *model = counted("ease", (const char *[]){"ease.lambda=0.5", NULL});
    double b[ITEMS][ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        pr_real scores[ITEMS];
        pr_scorer *scorer = open_basket(model, &guest);
        placed(scorer, i);
        pr_scorer_score_all(scorer, scores);
        for (int j = 0; j < ITEMS; j++)
            b[i][j] = (double)scores[j];
        pr_scorer_free(scorer);
    }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            double off = .5 * b[i][j];
            for (int k = 0; k < 5; k++)
                for (int u = 0; u < 3; u++)
                    off += x[u][i] * x[u][k] * b[k][j];
            for (int u = 0; u < 3; u++)
                off -= x[u][i] * x[u][j];
            if (i != j)
                assert_close(off, 0, 1e-5);
            else
                assert_close(b[i][i], 0, 1e-5);
        }
    pr_model_free(model);
}

/* More than two blocks, with a rest; the threads change nothing. */
static void a_matrix_times_its_inverse_is_one(void **state)
{
    (void)state;
    enum { N = 150 };
    parsrec_error err;
    pr_pool *pool;
    pr_real *a = pr_alloc_aligned(N * N, sizeof *a), *inverse = pr_alloc_aligned(N * N, sizeof *a);
    pr_real *again = pr_alloc_aligned(N * N, sizeof *a);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            a[i * N + j] = (pr_real)((i * j % 7 + 1) * (i == j ? 200 : 1)) / 8;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++)
            a[i * N + j] = a[j * N + i];
    memcpy(inverse, a, N * N * sizeof *a);
    memcpy(again, a, N * N * sizeof *a);
    assert_ok(pr_invert(inverse, N, NULL, NULL, &err));
    assert_ok(pr_pool_new(&pool, 3, &err));
    assert_ok(pr_invert(again, N, pool, NULL, &err));
    pr_pool_free(pool);
    assert_memory_equal(inverse, again, N * N * sizeof *a);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;
            for (size_t k = 0; k < N; k++)
                sum += (double)a[i * N + k] * (double)inverse[k * N + j];
            assert_close(sum, i == j ? 1 : 0, 1e-4);
        }
    a[0] = -1;
    assert_int_equal(pr_invert(a, N, NULL, NULL, &err), PARSREC_E_CONFIG);
    pr_free_aligned(a);
    pr_free_aligned(inverse);
    pr_free_aligned(again);
}

static void similar_sessions_vote(void **state)
{
    (void)state;
    pr_model *model = counted("sknn", (const char *[]){"knn.idf=0", NULL});
    pr_scorer *scorer = open_basket(model, &guest);
    placed(scorer, 1);
    double two = 1 / sqrt(2), three = 1 / sqrt(3);
    assert_scores(scorer, (double[]){two + three, two + three, -1. / 2, three, -1. / 2, -1});
    placed(scorer, 0);
    assert_scores(
        scorer, (double[]){3 * two + 2 * three, 2 * two + 2 * three, two, 2 * three, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* Of the basket {1 0} item 1 counts 1/4 and item 0 counts 1; all sessions share item 0, the newest. */
static void later_items_weigh_more(void **state)
{
    (void)state;
    pr_model *model = counted("vsknn", (const char *[]){"knn.idf=0", NULL});
    pr_scorer *scorer = open_basket(model, &guest);
    placed(scorer, 1);
    placed(scorer, 0);
    assert_scores(scorer, (double[]){3.5, 2.5, 1, 1.25, -1. / 2, -1});
    placed(scorer,
           2); /* now weights 1/9, 4/9, 1; sessions {0 1}: 5/9 / 2, {0 2}: 13/9, {0 1 3}: 5/9 / 2 */
    assert_scores(scorer, (double[]){18. / 9, 5. / 9, 13. / 9, 5. / 18, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* The newest session with item 0 is Bert's; with an index of one session per item only that one votes. */
static void only_recent_sessions_are_asked(void **state)
{
    (void)state;
    pr_model *model = counted("vsknn", (const char *[]){"knn.idf=0", "knn.recent=1", NULL});
    pr_scorer *scorer = open_basket(model, &guest);
    placed(scorer, 0);
    assert_scores(scorer, (double[]){1, 1, -1. / 2, 1, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(model);
}

/* Without Bert the model is as if he had never been there: older sessions move up in the index. */
static void a_forgotten_user_does_not_vote(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model *model = counted("vsknn", (const char *[]){"knn.idf=0", "knn.recent=1", NULL}), *fewer;
    const bool gone[] = {false, true, false, false};
    pr_shop before = {.users = 4, .items = ITEMS}, after = {.users = 3, .items = ITEMS};
    assert_ok(pr_model_without(&fewer, model, gone, &before, &after, &err));
    assert_ok(pr_model_verify(fewer, "model", &err));
    pr_scorer *scorer = open_basket(fewer, &guest);
    placed(scorer, 0);
    assert_scores(scorer, (double[]){1, -1. / 3, 1, -1. / 2, -1. / 2, -1});
    pr_scorer_free(scorer);
    pr_model_free(fewer);
    pr_model_free(model);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const kinds[] = {"rules", "seqrules", "itemknn", "ease", "vsknn"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        parsrec_status status = PARSREC_E_MEMORY;
        for (size_t n = 0; status != PARSREC_OK; n++) {
            parsrec_error err;
            pr_config config;
            pr_model *model = NULL;
            assert_ok(pr_model_defaults(&config, kinds[k], &err));
            assert_true(n < 200);
            pr_memory_fail_after(n);
            status = pr_count_model(&model, kinds[k], &config, &shop, &all, NULL, NULL, &err);
            pr_memory_fail_after(SIZE_MAX);
            assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
            pr_model_free(model);
        }
    }
}

/* A list that is longer than the settings say would not fit into a scorer's memory. */
static void numbers_of_a_file_are_checked(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model *model = counted("vsknn", (const char *[]){NULL});
    uint32_t *recent = pr_model_u32(model, "recent.session"), was = recent[0];
    recent[0] = 4;
    assert_int_equal(pr_model_verify(model, "model", &err), PARSREC_E_FORMAT);
    recent[0] = was;
    model->config.knn_recent = 1;
    assert_int_equal(pr_model_verify(model, "model", &err), PARSREC_E_FORMAT);
    pr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_have_confidence_lift_and_support),
        cmocka_unit_test(later_items_count_by_distance),
        cmocka_unit_test(items_on_both_sides_count_alike),
        cmocka_unit_test(items_of_the_same_users_are_similar),
        cmocka_unit_test(popularity_settles_ties_and_nothing_else),
        cmocka_unit_test(regression_is_at_its_minimum),
        cmocka_unit_test(a_matrix_times_its_inverse_is_one),
        cmocka_unit_test(similar_sessions_vote),
        cmocka_unit_test(later_items_weigh_more),
        cmocka_unit_test(only_recent_sessions_are_asked),
        cmocka_unit_test(a_forgotten_user_does_not_vote),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(numbers_of_a_file_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
