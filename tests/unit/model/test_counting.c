/* model: kinds that count, against a shop small enough to be counted by hand. */
#include "support/toy_run.h"

#include "base/memory.h"
#include "model/counting/counting.h"

enum { ITEMS = 6 };

/* Anna: {0 1} {0 2} {0 1} {3}, so that {0 1} validates and {3} tests; Bert, who is not evaluated: {4}
 * {4 1}; Cora has no session. Item 5 is never bought. */
static const int64_t user_offsets[] = {0, 4, 6, 6}, session_offsets[] = {0, 2, 4, 6, 7, 8, 10};
static const int32_t actions[] = {0, 1, 0, 2, 0, 1, 3, 4, 4, 1};
static const pr_dataset shop = {.users = 3,
                                .sessions = 6,
                                .items = ITEMS,
                                .actions = 10,
                                .user_offsets = user_offsets,
                                .session_offsets = session_offsets,
                                .action_items = actions,
                                .source = ""};

static pr_model *counted(const char *kind, const char *setting, const pr_scope *scope)
{
    parsrec_error err;
    pr_model *model;
    pr_config config = pr_config_default();
    if (setting != NULL)
        assert_ok(pr_config_assign(&config, setting, &err));
    assert_ok(pr_count_model(&model, kind, &config, &shop, scope, NULL, NULL, &err));
    return model;
}

/* The past of Anna up to, not including, her session s. */
static pr_start anna_before(size_t s)
{
    return (pr_start){.user = 0,
                      .history = {.items = actions,
                                  .count = (size_t)session_offsets[s],
                                  .sessions = session_offsets,
                                  .session_count = s}};
}

static void assert_scores(pr_scorer *session, size_t row, const double expected[ITEMS])
{
    static const int32_t all[ITEMS] = {0, 1, 2, 3, 4, 5};
    pr_real every[3 * ITEMS], some[ITEMS];
    pr_scorer_score_all(session, every);
    pr_scorer_score(session, row, all, ITEMS, some);
    for (int i = 0; i < ITEMS; i++) {
        assert_true(every[row * ITEMS + (size_t)i] == some[i]);
        if (isinf(expected[i]))
            assert_true((double)some[i] == expected[i]);
        else
            assert_close((double)some[i], expected[i], 1e-6);
    }
}

static void assert_popularity(const pr_scope *scope, const double expected[ITEMS])
{
    parsrec_error err;
    pr_scorer *session;
    pr_model *model = counted("pop", NULL, scope);
    assert_ok(pr_scorer_new(&session, model, 2, 4, &err));
    pr_start starts[2] = {anna_before(2), {.user = PR_ANYONE}};
    pr_scorer_start(session, starts, 2);
    assert_scores(session, 0, expected);
    assert_scores(session, 1, expected);
    pr_scorer_free(session);
    pr_model_free(model);
}

static void scopes_end_where_the_future_begins(void **state)
{
    (void)state;
    static const double train[] = {2, 2, 1, 0, 2, 0}, history[] = {3, 3, 1, 0, 2, 0};
    static const double all[] = {3, 3, 1, 1, 2, 0}, bert[] = {0, 1, 0, 0, 2, 0};
    static const bool only_bert[] = {false, true, false};
    pr_scope scope = pr_scope_before(PR_VALID, 1);
    assert_popularity(&scope, train);
    scope = pr_scope_before(PR_TEST, 1);
    assert_popularity(&scope, history);
    scope = (pr_scope){.held = 0};
    assert_popularity(&scope, all);
    scope.users = only_bert;
    assert_popularity(&scope, bert);
}

/* Published tables may count otherwise. */
static void settings_widen_and_narrow_the_scope(void **state)
{
    (void)state;
    static const double train[] = {2, 2, 1, 0, 2, 0}, all[] = {3, 3, 1, 1, 2, 0};
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *narrow = counted("pop", "count=train", &scope);
    pr_model *wide = counted("pop", "count=all", &scope);
    for (int i = 0; i < ITEMS; i++) {
        assert_close((double)pr_model_reals(narrow, "popularity")[i], train[i], 0);
        assert_close((double)pr_model_reals(wide, "popularity")[i], all[i], 0);
    }
    pr_model_free(narrow);
    pr_model_free(wide);
}

static void own_purchases_come_first(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1); /* popularity 3 3 1 0 2 0 */
    pr_model *model = counted("personal", NULL, &scope);
    pr_scorer *session;
    assert_ok(pr_scorer_new(&session, model, 3, 4, &err));
    pr_start starts[3] = {anna_before(3), {.user = PR_ANYONE}, anna_before(1)};
    pr_scorer_start(session, starts, 3);
    static const double anna[] = {3, 2, 1, -1, -1.0 / 3, -1};
    static const double guest[] = {-0.25, -0.25, -0.5, -1, -1.0 / 3, -1};
    static const double early[] = {1, 1, -0.5, -1, -1.0 / 3, -1};
    assert_scores(session, 0, anna);
    assert_scores(session, 1, guest);
    assert_scores(session, 2, early);
    static const int32_t basket[] = {0, 4, -1};
    pr_scorer_place(session, basket);
    assert_scores(session, 0, anna); /* what is in the basket changes nothing */
    pr_scorer_free(session);
    pr_model_free(model);
}

/* Counts 1, 1, 2, 1: items 2, 3, 0, 1 in order of purchase. */
static void order_of(const char *kind, const char *setting, pr_real scores[ITEMS])
{
    static const int32_t past[] = {2, 3, 0, 0, 1};
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model = counted(kind, setting, &scope);
    pr_scorer *session;
    assert_ok(pr_scorer_new(&session, model, 1, 4, &err));
    pr_start start = {.user = 0, .history = {.items = past, .count = 5}};
    pr_scorer_start(session, &start, 1);
    pr_scorer_score_all(session, scores);
    pr_scorer_free(session);
    pr_model_free(model);
}

static void ties_are_settled_exactly(void **state)
{
    (void)state;
    pr_real s[ITEMS];
    order_of("personal", NULL, s); /* popularity 3 3 1 0 */
    assert_true(s[0] == 2 && s[0] > s[1] && s[1] > s[2] && s[2] > s[3] && s[3] == 1);
    assert_true(s[4] > s[5] && s[4] < 0);
    order_of("personal", "ties=first", s);
    assert_true(s[0] == 2 && s[0] > s[2] && s[2] > s[3] && s[3] > s[1] && s[1] == 1);
    order_of("personal", "fill=off", s);
    assert_true(s[3] == 1 && isinf(s[4]) && isinf(s[5]) && s[4] < 0);
    order_of("personal", "history.length=3", s); /* 0 0 1 */
    assert_true(s[0] == 2 && s[1] == 1 && s[2] < 0 && s[3] < 0);
}

static void equal_items_stay_equal(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = {.held = 0};
    pr_model *model = counted("personal", NULL, &scope); /* items 2 and 3: popularity 1 both */
    pr_scorer *session;
    pr_real s[ITEMS];
    static const int32_t past[] = {3, 2};
    assert_ok(pr_scorer_new(&session, model, 1, 4, &err));
    pr_start start = {.user = 0, .history = {.items = past, .count = 2}};
    pr_scorer_start(session, &start, 1);
    pr_scorer_score_all(session, s);
    assert_true(s[2] == s[3] && s[2] == 1);
    pr_scorer_free(session);
    pr_model_free(model);
}

/* Popularity 3 3 1 0 2 0: in the order of numbers where that is asked for. */
static void popularity_may_be_a_strict_order(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model = counted("pop", "ties=first", &scope);
    pr_scorer *session;
    pr_real s[ITEMS];
    assert_ok(pr_scorer_new(&session, model, 1, 4, &err));
    pr_start start = {.user = PR_ANYONE};
    pr_scorer_start(session, &start, 1);
    pr_scorer_score_all(session, s);
    assert_true(s[0] > s[1] && s[1] == 3 && s[1] > s[4] && s[4] > s[2] && s[2] > s[3]);
    assert_true(s[3] > s[5] && s[5] == 0);
    pr_scorer_free(session);
    pr_model_free(model);
}

static void old_sessions_fade(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model = counted("recent", "history.decay=0.5", &scope);
    pr_scorer *session;
    assert_ok(pr_scorer_new(&session, model, 1, 4, &err));
    pr_start start = anna_before(3); /* {0 1} {0 2} {0 1}: 0.25, 0.5, 1; together 3.5 */
    pr_scorer_start(session, &start, 1);
    static const double expected[] = {1.75 / 3.5, 1.25 / 3.5, 0.5 / 3.5, -1, -1.0 / 3, -1};
    assert_scores(session, 0, expected);
    pr_scorer_free(session);
    pr_model_free(model);
}

static void chance_is_drawn_once_a_basket(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model = counted("random", NULL, &scope);
    pr_scorer *session;
    pr_real before[3 * ITEMS], after[3 * ITEMS];
    assert_ok(pr_scorer_new(&session, model, 3, 4, &err));
    pr_start starts[3] = {anna_before(3), anna_before(2), {.user = PR_ANYONE}};
    pr_scorer_start(session, starts, 3);
    pr_scorer_score_all(session, before);
    static const int32_t basket[] = {0, 4, -1};
    pr_scorer_place(session, basket);
    pr_scorer_score_all(session, after);
    assert_memory_equal(before, after, sizeof before);
    double mean = 0;
    for (int i = 0; i < 3 * ITEMS; i++) {
        mean += (double)before[i] / (3 * ITEMS);
        for (int j = 0; j < i; j++)
            assert_true(before[i] != before[j]);
    }
    assert_close(mean, 0.5, 0.2); /* 0.068 is one standard deviation */
    pr_scorer_free(session);
    pr_model_free(model);
}

/* Before the test sessions: Anna {0 1} {0 2} {0 1}, Bert {4} {4 1}; 9 purchases, popularity 3 3 1 0 2 0.
 * Within a session 0 has 1 twice and 2 once; 1 has 0 twice and 4 once. After a session with 0 came {0 2}
 * and {0 1}; after one with 1 {0 2} and, to Bert's {4}, nothing. */
static double popular(double count)
{
    return count / 9;
}

static pr_scorer *markov_session(pr_model **model, const char *setting, size_t rows)
{
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_scorer *session;
    *model = counted("markov", setting, &scope);
    assert_ok(pr_scorer_new(&session, *model, rows, 4, &err));
    return session;
}

static void links_follow_items(void **state)
{
    (void)state;
    pr_model *model;
    pr_scorer *session = markov_session(&model, NULL, 3);
    pr_start starts[3] = {{.user = PR_ANYONE}, {.user = PR_ANYONE}, anna_before(2)};
    pr_scorer_start(session, starts, 3);
    double nothing[ITEMS], expected[ITEMS];
    static const double count[ITEMS] = {3, 3, 1, 0, 2, 0};
    for (int i = 0; i < ITEMS; i++)
        nothing[i] = popular(count[i]);
    assert_scores(session, 0, nothing);
    /* Anna's last session {0 2} has half a vote each. 0 was followed twice: (0.5 of 0 and of 2, 0.5 of
     * 0 and of 1; smooth 1 makes it thirds); 2 once, by {0 1}. */
    double rest = 0.5 * (1 - 2.0 / 3) + 0.5 * (1 - 1.0 / 2);
    for (int i = 0; i < ITEMS; i++)
        expected[i] = rest * nothing[i];
    expected[0] += 0.5 * (1.0 / 3) + 0.5 * (0.5 / 2);
    expected[1] += 0.5 * (0.5 / 3) + 0.5 * (0.5 / 2);
    expected[2] += 0.5 * (0.5 / 3);
    assert_scores(session, 2, expected);
    static const int32_t first[] = {0, -1, -1}, second[] = {4, -1, -1};
    pr_scorer_place(session, first);
    pr_scorer_place(session, second);
    /* 0: three sessions, smooth 1; 4: one session with 1, the other has nothing else. Two votes. */
    rest = (0.25 + 0.5) / 2;
    for (int i = 0; i < ITEMS; i++)
        expected[i] = rest * nothing[i];
    expected[1] += (2.0 / 4 + 1.0 / 2) / 2;
    expected[2] += (1.0 / 4) / 2;
    assert_scores(session, 0, expected);
    assert_scores(session, 1, nothing);
    pr_scorer_free(session);
    pr_model_free(model);
}

/* Of 0's two neighbours the one kept is 1; what 2 had goes to popularity. */
static void links_that_are_cut_go_to_popularity(void **state)
{
    (void)state;
    pr_model *model;
    pr_scorer *session = markov_session(&model, "markov.width=1", 1);
    pr_start start = {.user = PR_ANYONE};
    static const int32_t first[] = {0};
    static const double count[ITEMS] = {3, 3, 1, 0, 2, 0};
    double expected[ITEMS];
    pr_scorer_start(session, &start, 1);
    pr_scorer_place(session, first);
    for (int i = 0; i < ITEMS; i++)
        expected[i] = 0.5 * popular(count[i]) + (i == 1 ? 0.5 : 0);
    assert_scores(session, 0, expected);
    pr_scorer_free(session);
    pr_model_free(model);
}

/* A history without sessions is taken item by item: its last one is what came before. */
static void plain_sequences_have_a_last_item(void **state)
{
    (void)state;
    pr_model *model;
    pr_scorer *session = markov_session(&model, NULL, 2);
    static const int32_t past[] = {1, 0, 2};
    static const int64_t sessions[] = {0, 2, 3, 3}; /* and an empty one behind */
    pr_start starts[2] = {
        {.user = 0, .history = {.items = past, .count = 3}},
        {.user = 0,
         .history = {.items = past, .count = 3, .sessions = sessions, .session_count = 3}}};
    pr_real scores[2 * ITEMS];
    pr_scorer_start(session, starts, 2);
    pr_scorer_score_all(session, scores);
    assert_memory_equal(scores, scores + ITEMS, ITEMS * sizeof *scores);
    assert_close((double)scores[0], 0.5 * popular(3) + 0.25, 1e-6);
    pr_scorer_free(session);
    pr_model_free(model);
}

/* ---- files ---- */

static void links_fit_into_a_file(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop toy = toy_make((toy_sizes){20, 30, 3, 3, 4, 0});
    pr_config config = pr_config_default();
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model;
    pr_model_file file;
    assert_ok(pr_count_model(&model, "markov", &config, &toy.data, &scope, NULL, NULL, &err));
    assert_ok(pr_model_save(model, &toy.data, toy_path("model"), &err));
    assert_ok(pr_model_load(&file, toy_path("model"), &err));
    assert_int_equal(file.model->params.size, model->params.size);
    assert_memory_equal(file.model->weights, model->weights,
                        model->params.size * sizeof *model->weights);
    pr_model_file_free(&file);
    const struct {
        const char *name;
        size_t at;
        uint32_t value;
    } damages[] = {{"within.start", 0, 1},
                   {"within.start", 3, 1000000},
                   {"across.start", 30, 0},
                   {"within.item", 5, 30},
                   {"across.item", 0, UINT32_MAX}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        uint32_t *word = pr_model_u32(model, damages[i].name) + damages[i].at, before = *word;
        *word = damages[i].value;
        assert_ok(pr_model_save(model, &toy.data, toy_path("model"), &err));
        *word = before;
        assert_fails(pr_model_load(&file, toy_path("model"), &err), PARSREC_E_FORMAT,
                     "do not fit the items");
    }
    pr_model_free(model);
    toy_free(&toy);
}

/* Every allocation fails once; nothing is left behind. */
static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const kinds[] = {"random", "pop", "personal", "recent", "markov"};
    parsrec_error err;
    pr_config config = pr_config_default();
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        parsrec_status status = PARSREC_E_MEMORY;
        for (size_t n = 0; status != PARSREC_OK; n++) {
            pr_model *model;
            assert_true(n < 100);
            pr_memory_fail_after(n);
            status = pr_count_model(&model, kinds[k], &config, &shop, &scope, NULL, NULL, &err);
            pr_memory_fail_after(SIZE_MAX);
            assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
            pr_model_free(model);
        }
    }
}

static void learners_do_not_count(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model *model;
    pr_config config = pr_config_default();
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    assert_fails(pr_count_model(&model, "parsrec", &config, &shop, &scope, NULL, NULL, &err),
                 PARSREC_E_ARGUMENT, "does not count");
    assert_null(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_end_where_the_future_begins),
        cmocka_unit_test(settings_widen_and_narrow_the_scope),
        cmocka_unit_test(own_purchases_come_first),
        cmocka_unit_test(ties_are_settled_exactly),
        cmocka_unit_test(equal_items_stay_equal),
        cmocka_unit_test(popularity_may_be_a_strict_order),
        cmocka_unit_test(old_sessions_fade),
        cmocka_unit_test(chance_is_drawn_once_a_basket),
        cmocka_unit_test(links_follow_items),
        cmocka_unit_test(links_that_are_cut_go_to_popularity),
        cmocka_unit_test(plain_sequences_have_a_last_item),
        cmocka_unit_test(links_fit_into_a_file),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(learners_do_not_count),
    };
    return cmocka_run_group_tests(tests, toy_open_folder, toy_remove_folder);
}
