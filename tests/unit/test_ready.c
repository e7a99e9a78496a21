/* A model that was made ready answers as the plain network does: every part of the score, rows that wait,
 * baskets of any length, memory that fails. */
#include "testing.h"

#include "base/memory.h"
#include "model/parsrec_net.h"
#include "shaken.h"

enum { USERS = 7, ITEMS = 45, BASKET = 9, ROWS = 3 };

static pr_model *make_model(const char *const *settings, bool ready)
{
    parsrec_error err;
    pr_model *model;
    pr_config config = pr_config_default();
    for (; *settings != NULL; settings++)
        assert_ok(pr_config_assign(&config, *settings, &err));
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 3, &err));
    shake(model, 0.2);
    if (ready)
        assert_ok(pr_model_make_ready(model, &err));
    return model;
}

/* What can be asked of a session after each item that was placed. */
static void assert_same_state(pr_session *a, pr_session *b)
{
    static pr_real scores[2][ROWS * ITEMS], some[2][4], weights[2][BASKET];
    const int32_t items[] = {44, 0, 7, 7};
    pr_session_score_all(a, scores[0]);
    pr_session_score_all(b, scores[1]);
    for (size_t i = 0; i < a->active * ITEMS; i++)
        assert_close((double)scores[0][i], (double)scores[1][i], 2e-5);
    for (size_t r = 0; r < a->active; r++) {
        const pr_real *o[2], *hidden[2];
        pr_session_score(a, r, items, 4, some[0]);
        pr_session_score(b, r, items, 4, some[1]);
        for (size_t i = 0; i < 4; i++) {
            assert_close((double)some[0][i], (double)some[1][i], 2e-5);
            assert_close((double)some[0][i], (double)scores[0][r * ITEMS + (size_t)items[i]], 2e-5);
        }
        size_t n = pr_session_attention(a, r, weights[0]);
        assert_int_equal(n, pr_session_attention(b, r, weights[1]));
        for (size_t i = 0; i < n; i++)
            assert_close((double)weights[0][i], (double)weights[1][i], 1e-5);
        pr_arnn_peek(a, r, &o[0], &hidden[0]);
        pr_arnn_peek(b, r, &o[1], &hidden[1]);
        for (size_t i = 0; i < (size_t)a->model->config.dim_item; i++)
            assert_close((double)hidden[0][i], (double)hidden[1][i], 1e-5);
    }
}

/* Twice over the same memory; the second time nobody asks between items. Row 1 places every other one. */
static void assert_same_answers(const pr_model *quick, const pr_model *plain)
{
    static const int32_t past[] = {3, 9, 3, 20, 44, 1};
    static const int64_t sessions[] = {0, 2, 6};
    parsrec_error err;
    pr_session *a, *b;
    const pr_start starts[ROWS] = {
        {.user = 2, .history = {past, 6, sessions, 2}}, {.user = PR_ANYONE}, {.user = 6}};
    assert_ok(pr_session_new(&a, quick, ROWS, BASKET, &err));
    assert_ok(pr_session_new(&b, plain, ROWS, BASKET, &err));
    for (int round = 0; round < 2; round++) {
        pr_session_start(a, starts, ROWS);
        pr_session_start(b, starts, ROWS);
        for (int32_t i = 0; i < BASKET; i++) {
            const int32_t items[ROWS] = {i * 5, i % 2 == 0 ? 40 - i : -1, (i * 7 + 3) % ITEMS};
            if (round == 0)
                assert_same_state(a, b);
            pr_session_place(a, items);
            pr_session_place(b, items);
        }
        assert_same_state(a, b);
    }
    pr_session_free(a);
    pr_session_free(b);
}

static void answers_are_the_plain_network_s(void **state)
{
    (void)state;
    static const char *const variants[][8] = {
        {"dim.user=16", "dim.item=32", "heads=2", NULL},
        {"dim.user=5", "dim.item=7", "heads=3", "bias=on", NULL},
        {"dim.user=9", "dim.item=6", "heads=1", "pull=on", "past=on", NULL},
        {"dim.user=8", "dim.item=8", "heads=4", "recall=on", "neighbours=3", "bias=on", NULL},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        pr_model *quick = make_model(variants[i], true), *plain = make_model(variants[i], false);
        assert_non_null(quick->ready);
        assert_same_answers(quick, plain);
        pr_model_free(quick);
        pr_model_free(plain);
    }
}

/* Where the network is another one, it stays as it is. */
static void other_networks_are_left_alone(void **state)
{
    (void)state;
    static const char *const variants[][5] = {
        {"dim.user=4", "dim.item=4", "layers=2", NULL},
        {"dim.user=4", "dim.item=4", "ffn=pre", NULL},
        {"dim.user=4", "dim.item=4", "layer_norm=off", NULL},
        {"dim.user=4", "dim.item=4", "cell=gru", NULL},
        {"dim.user=4", "dim.item=4", "cell=lstm", NULL},
        {"dim.user=4", "dim.item=4", "layer_norm.query=off", NULL},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        pr_model *model = make_model(variants[i], true);
        assert_null(model->ready);
        assert_same_answers(model, model);
        pr_model_free(model);
    }
}

static void out_of_memory_is_a_status(void **state)
{
    (void)state;
    static const char *const settings[] = {"dim.user=4", "dim.item=4", NULL};
    parsrec_error err;
    size_t failures = 0;
    pr_model *model = make_model(settings, false);
    for (bool whole = false; !whole; failures += !whole) {
        pr_memory_fail_after(failures);
        parsrec_status status = pr_model_make_ready(model, &err);
        pr_memory_fail_after(SIZE_MAX);
        whole = status == PARSREC_OK;
        assert_int_equal(status, whole ? PARSREC_OK : PARSREC_E_MEMORY);
        assert_int_equal(model->ready != NULL, whole);
    }
    assert_true(failures > 1);
    pr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_plain_network_s),
        cmocka_unit_test(other_networks_are_left_alone),
        cmocka_unit_test(out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
