/* model: kinds that count, against a shop small enough to be counted by hand. */
#include "testing.h"

#include "train/count_model.h"

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
                      .history = {actions, (size_t)session_offsets[s], session_offsets, s}};
}

static void assert_scores(pr_session *session, size_t row, const double expected[ITEMS])
{
    static const int32_t all[ITEMS] = {0, 1, 2, 3, 4, 5};
    pr_real every[3 * ITEMS], some[ITEMS];
    pr_session_score_all(session, every);
    pr_session_score(session, row, all, ITEMS, some);
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
    pr_session *session;
    pr_model *model = counted("pop", NULL, scope);
    assert_ok(pr_session_new(&session, model, 2, 4, &err));
    pr_start starts[2] = {anna_before(2), {.user = PR_ANYONE}};
    pr_session_start(session, starts, 2);
    assert_scores(session, 0, expected);
    assert_scores(session, 1, expected);
    pr_session_free(session);
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

static void own_purchases_come_first(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1); /* popularity 3 3 1 0 2 0 */
    pr_model *model = counted("personal", NULL, &scope);
    pr_session *session;
    assert_ok(pr_session_new(&session, model, 3, 4, &err));
    pr_start starts[3] = {anna_before(3), {.user = PR_ANYONE}, anna_before(1)};
    pr_session_start(session, starts, 3);
    static const double anna[] = {3, 2, 1, -1, -1.0 / 3, -1};
    static const double guest[] = {-0.25, -0.25, -0.5, -1, -1.0 / 3, -1};
    static const double early[] = {1, 1, -0.5, -1, -1.0 / 3, -1};
    assert_scores(session, 0, anna);
    assert_scores(session, 1, guest);
    assert_scores(session, 2, early);
    static const int32_t basket[] = {0, 4, -1};
    pr_session_place(session, basket);
    assert_scores(session, 0, anna); /* what is in the basket changes nothing */
    pr_session_free(session);
    pr_model_free(model);
}

/* Counts 1, 1, 2, 1: items 2, 3, 0, 1 in order of purchase. */
static void order_of(const char *kind, const char *setting, pr_real scores[ITEMS])
{
    static const int32_t past[] = {2, 3, 0, 0, 1};
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model = counted(kind, setting, &scope);
    pr_session *session;
    assert_ok(pr_session_new(&session, model, 1, 4, &err));
    pr_start start = {.user = 0, .history = {past, 5, NULL, 0}};
    pr_session_start(session, &start, 1);
    pr_session_score_all(session, scores);
    pr_session_free(session);
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
    pr_session *session;
    pr_real s[ITEMS];
    static const int32_t past[] = {3, 2};
    assert_ok(pr_session_new(&session, model, 1, 4, &err));
    pr_start start = {.user = 0, .history = {past, 2, NULL, 0}};
    pr_session_start(session, &start, 1);
    pr_session_score_all(session, s);
    assert_true(s[2] == s[3] && s[2] == 1);
    pr_session_free(session);
    pr_model_free(model);
}

static void old_sessions_fade(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model = counted("recent", "history.decay=0.5", &scope);
    pr_session *session;
    assert_ok(pr_session_new(&session, model, 1, 4, &err));
    pr_start start = anna_before(3); /* {0 1} {0 2} {0 1}: 0.25, 0.5, 1; together 3.5 */
    pr_session_start(session, &start, 1);
    static const double expected[] = {1.75 / 3.5, 1.25 / 3.5, 0.5 / 3.5, -1, -1.0 / 3, -1};
    assert_scores(session, 0, expected);
    pr_session_free(session);
    pr_model_free(model);
}

static void chance_is_drawn_once_a_basket(void **state)
{
    (void)state;
    parsrec_error err;
    pr_scope scope = pr_scope_before(PR_TEST, 1);
    pr_model *model = counted("random", NULL, &scope);
    pr_session *session;
    pr_real before[3 * ITEMS], after[3 * ITEMS];
    assert_ok(pr_session_new(&session, model, 3, 4, &err));
    pr_start starts[3] = {anna_before(3), anna_before(2), {.user = PR_ANYONE}};
    pr_session_start(session, starts, 3);
    pr_session_score_all(session, before);
    static const int32_t basket[] = {0, 4, -1};
    pr_session_place(session, basket);
    pr_session_score_all(session, after);
    assert_memory_equal(before, after, sizeof before);
    double mean = 0;
    for (int i = 0; i < 3 * ITEMS; i++) {
        mean += (double)before[i] / (3 * ITEMS);
        for (int j = 0; j < i; j++)
            assert_true(before[i] != before[j]);
    }
    assert_close(mean, 0.5, 0.2); /* 0.068 is one standard deviation */
    pr_session_free(session);
    pr_model_free(model);
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
        cmocka_unit_test(own_purchases_come_first),
        cmocka_unit_test(ties_are_settled_exactly),
        cmocka_unit_test(equal_items_stay_equal),
        cmocka_unit_test(old_sessions_fade),
        cmocka_unit_test(chance_is_drawn_once_a_basket),
        cmocka_unit_test(learners_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
