/* A model that was made ready answers as the plain network does: every part of the score, rows that wait,
 * baskets of any length, memory that fails. */
#include "support/testing.h"

#include "base/memory.h"
#include "math/topk.h"
#include "model/parsrec/parsrec_net.h"
#include "support/shaken.h"

enum { USERS = 7, ITEMS = 45, BASKET = 9, ROWS = 3 };

/* A model that mixes gets weights for it, as the end of training would set them. */
static void set_mix(pr_model *model)
{
    if (pr_params_find(&model->params, "mix.weights") == NULL)
        return;
    pr_real *mix = pr_model_reals(model, "mix.weights");
    pr_real *popular = pr_model_reals(model, "mix.popular");
    for (size_t i = 0; i < pr_param_size(pr_params_find(&model->params, "mix.weights")); i++)
        mix[i] = (pr_real)0.3 * (pr_real)((int)(i * 5 % 7) - 3);
    for (size_t v = 0; v < model->items; v++)
        popular[v] = (pr_real)(v % 11) / 4;
    if (pr_params_find(&model->params, "times.trend") == NULL)
        return;
    pr_real *trends = pr_model_reals(model, "times.trend");
    memcpy(pr_model_reals(model, "times.calendar"), (pr_real[]){10, 7}, 2 * sizeof(pr_real));
    for (size_t v = 0; v < model->items; v++)
        pr_model_reals(model, "times.interval")[v] = (pr_real)(3 + v % 20);
    for (size_t i = 0; i < PR_PERIODS * model->items; i++)
        trends[i] = (pr_real)(i * 7 % 13) / 8;
}

static pr_model *make_model(const char *const *settings, bool ready)
{
    parsrec_error err;
    pr_model *model;
    pr_config config = pr_config_default();
    for (; *settings != NULL; settings++)
        assert_ok(pr_config_assign(&config, *settings, &err));
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 3, &err));
    shake(model, 0.2);
    set_mix(model);
    if (ready)
        assert_ok(pr_model_make_ready(model, &err));
    return model;
}

/* What can be asked of a session after each item that was placed. */
static void assert_same_state(pr_scorer *a, pr_scorer *b)
{
    static pr_real scores[2][ROWS * ITEMS], some[2][4], weights[2][BASKET];
    const int32_t items[] = {44, 0, 7, 7};
    pr_scorer_score_all(a, scores[0]);
    pr_scorer_score_all(b, scores[1]);
    for (size_t i = 0; i < a->active * ITEMS; i++)
        assert_close((double)scores[0][i], (double)scores[1][i], 2e-5);
    for (size_t r = 0; r < a->active; r++) {
        const pr_real *o[2], *hidden[2];
        pr_scorer_score(a, r, items, 4, some[0]);
        pr_scorer_score(b, r, items, 4, some[1]);
        for (size_t i = 0; i < 4; i++) {
            assert_close((double)some[0][i], (double)some[1][i], 2e-5);
            assert_close((double)some[0][i], (double)scores[0][r * ITEMS + (size_t)items[i]], 2e-5);
        }
        size_t n = pr_scorer_attention(a, r, weights[0]);
        assert_int_equal(n, pr_scorer_attention(b, r, weights[1]));
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
    static const int64_t sessions[] = {0, 2, 6}, times[] = {12 * 86400, 19 * 86400};
    parsrec_error err;
    pr_scorer *a, *b;
    const pr_start starts[ROWS] = {
        {.user = 2, .history = {past, 6, sessions, 2, times, 30 * 86400}},
        {.user = PR_ANYONE},
        {.user = 6, .history = {past, 2, sessions, 1, times, PR_NO_TIME}}};
    assert_ok(pr_scorer_new(&a, quick, ROWS, BASKET, &err));
    assert_ok(pr_scorer_new(&b, plain, ROWS, BASKET, &err));
    for (int round = 0; round < 2; round++) {
        pr_scorer_start(a, starts, ROWS);
        pr_scorer_start(b, starts, ROWS);
        for (int32_t i = 0; i < BASKET; i++) {
            const int32_t items[ROWS] = {i * 5, i % 2 == 0 ? 40 - i : -1, (i * 7 + 3) % ITEMS};
            if (round == 0)
                assert_same_state(a, b);
            pr_scorer_place(a, items);
            pr_scorer_place(b, items);
        }
        assert_same_state(a, b);
    }
    pr_scorer_free(a);
    pr_scorer_free(b);
}

static void answers_are_the_plain_network_s(void **state)
{
    (void)state;
    static const char *const variants[][9] = {
        {"dim.user=16", "dim.item=32", "heads=2", NULL},
        {"dim.user=5", "dim.item=7", "heads=3", "bias=on", NULL},
        {"dim.user=9", "dim.item=6", "heads=1", "pull=on", "past=on", "order=stored", NULL},
        {"dim.user=9", "dim.item=6", "heads=1", "pull=on", "pull.fade=0.6", "order=stored", NULL},
        {"dim.user=8", "dim.item=8", "heads=4", "recall=on", "neighbours=3", "bias=on", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "pull=on", "mix=on",
         "user.shrink=3", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "recall.time=on", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "mix=on",
         "recall.time=on", NULL},
        {"dim.user=8", "dim.item=8", "pairs=7", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "mix=on", "lifts=3",
         "pairs=64", NULL},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        pr_model *quick = make_model(variants[i], true), *plain = make_model(variants[i], false);
        assert_non_null(quick->ready);
        assert_same_answers(quick, plain);
        pr_model_free(quick);
        pr_model_free(plain);
    }
}

/* ---- one row ---- */

static pr_start start_of(uint32_t n)
{
    static const int32_t past[] = {3, 17, 3, 44, 0, 8};
    static const int64_t sessions[] = {0, 4, 6}, times[] = {5 * 86400, 30 * 86400};
    pr_start start = {.user = (int32_t)(n % USERS), .alike = n % 3 == 0 ? 0 : 1 + n % USERS};
    if (n % USERS > 2)
        start.history = (pr_history){past, 6, sessions, 2, times, (40 + n) * 86400};
    return start;
}

/* Baskets that go on, turn round, and come back; some of them share a place where they are kept. */
static int32_t item_of(uint32_t n, uint32_t i)
{
    return (int32_t)((n / 5 % 4 * 7 + i * (1 + n % 2) + (i > 2 ? n % 3 : 0)) % ITEMS);
}

/* What was kept is what would be worked out again. */
static void kept_baskets_change_nothing(void **state)
{
    (void)state;
    static const char *const settings[] = {"dim.user=16",  "dim.item=32",   "pull=on", "bias=on",
                                           "order=stored", "pull.fade=0.6", NULL};
    parsrec_error err;
    pr_scorer *kept, *fresh;
    static pr_real scores[2][ITEMS];
    pr_model *model = make_model(settings, true);
    assert_ok(pr_scorer_new(&kept, model, 1, 20, &err));
    assert_ok(pr_scorer_new(&fresh, model, 1, 20, &err));
    for (uint32_t n = 0; n < 400; n++) {
        pr_start start = start_of(n), unknown = start;
        unknown.alike = 0;
        pr_scorer_start(kept, &start, 1);
        pr_scorer_start(fresh, &unknown, 1);
        for (uint32_t i = 0; i < n % 14; i++) {
            int32_t item = item_of(n, i);
            pr_scorer_place(kept, &item);
            pr_scorer_place(fresh, &item);
        }
        pr_scorer_score_all(kept, scores[0]);
        pr_scorer_score_all(fresh, scores[1]);
        assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    }
    pr_scorer_free(kept);
    pr_scorer_free(fresh);
    pr_model_free(model);
}

/* The short cut finds what ranking all of them finds, bit for bit. */
static void the_best_are_the_best(void **state)
{
    (void)state;
    enum { MANY = 700 };
    static const char *const variants[][9] = {
        {"dim.user=16", "dim.item=24", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "pull=on", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "pull=on", "mix=on",
         "user.shrink=3", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "mix=on",
         "recall.time=on", NULL},
        {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "mix=on", "pairs=20",
         "lifts=5", NULL},
    };
    static uint8_t barred[MANY];
    static int32_t best[MANY], expected[MANY];
    static pr_real scores[MANY], all[MANY];
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        parsrec_error err;
        pr_scorer *session;
        pr_config config = pr_config_default();
        for (const char *const *line = variants[v]; *line != NULL; line++)
            assert_ok(pr_config_assign(&config, *line, &err));
        pr_model *model;
        assert_ok(pr_model_new(&model, "parsrec", &config, USERS, MANY, 3, &err));
        shake(model, 0.2);
        set_mix(model);
        assert_ok(pr_model_make_ready(model, &err));
        assert_ok(pr_scorer_new(&session, model, 1, 20, &err));
        for (uint32_t n = 0; n < 200; n++) {
            pr_start start = start_of(n);
            size_t k = 1 + n % 40;
            pr_scorer_start(session, &start, 1);
            for (uint32_t i = 0; i < n % 4; i++) {
                int32_t item = item_of(n, i);
                pr_scorer_place(session, &item);
            }
            for (size_t i = 0; i < MANY; i++)
                barred[i] = (uint8_t)((i + n) % (2 + n % 5) == 0);
            size_t count = pr_scorer_best(session, barred, k, best, scores);
            pr_scorer_score_all(session, all);
            pr_topk_bar(all, barred, UINT8_MAX, MANY);
            assert_int_equal(count, pr_topk_plain(expected, all, MANY, k));
            assert_memory_equal(best, expected, count * sizeof *best);
            for (size_t i = 0; i < count; i++)
                assert_true(scores[best[i]] == all[best[i]]);
        }
        pr_scorer_free(session);
        pr_model_free(model);
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
        cmocka_unit_test(kept_baskets_change_nothing),
        cmocka_unit_test(the_best_are_the_best),
        cmocka_unit_test(other_networks_are_left_alone),
        cmocka_unit_test(out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
