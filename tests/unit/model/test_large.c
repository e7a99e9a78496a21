/* Catalogues that are searched: the best items are those of scoring everything, bit for bit, with any
 * part of the score, with filters, for known and unknown users; scores are the plain network's. */
#include "support/testing.h"

#include "base/memory.h"
#include "base/rng.h"
#include "math/topk.h"
#include "model/parsrec/parsrec_scorer.h"
#include "support/shaken.h"

enum { USERS = 7, ITEMS = 16500, BASKET = 6, PAST = 40 };
#ifdef __SANITIZE_ADDRESS__ /* where a request takes many times as long */
enum { REQUESTS = 800 };
#else
enum { REQUESTS = 2500 };
#endif

static void set_mix(pr_model *model)
{
    if (pr_params_find(&model->params, "mix.weights") == NULL)
        return;
    size_t count = pr_param_size(pr_params_find(&model->params, "mix.weights"));
    for (size_t i = 0; i < count; i++)
        pr_model_reals(model, "mix.weights")[i] = (pr_real)0.3 * (pr_real)((int)(i * 5 % 7) - 3);
    pr_model_reals(model, "mix.weights")[PR_MIX_SCORE] = 1;
    for (size_t v = 0; v < model->items; v++)
        pr_model_reals(model, "mix.popular")[v] = (pr_real)(v % 11) / 4;
    if (pr_params_find(&model->params, "times.trend") == NULL)
        return;
    memcpy(pr_model_reals(model, "times.calendar"), (pr_real[]){10, 7}, 2 * sizeof(pr_real));
    for (size_t v = 0; v < model->items; v++)
        pr_model_reals(model, "times.interval")[v] = (pr_real)(3 + v % 20);
    for (size_t i = 0; i < PR_PERIODS * model->items; i++)
        pr_model_reals(model, "times.trend")[i] = (pr_real)(i * 7 % 13) / 8;
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

/* The first has all parts, the third makes its rows of items when they are placed. */
static const char *const variants[][12] = {
    {"dim.user=8", "dim.item=8", "recall=on", "neighbours=3", "bias=on", "pull=on", "mix=on",
     "recall.time=on", "pairs=20", NULL},
    {"dim.user=8", "dim.item=20", "heads=2", NULL},
    {"dim.user=112", "dim.item=16", "heads=4", "recall=on", "neighbours=3", "bias=on", "pull=on",
     NULL},
    {"dim.user=8", "dim.item=8", "recall=on", "bias=on", "past=on", NULL},
};

typedef struct request {
    int32_t past[PAST], basket[BASKET];
    int64_t sessions[3], times[2];
    pr_start start;
    size_t size, k;
} request;

static void draw_request(request *r, uint8_t *barred, uint32_t number)
{
    pr_rng rng = pr_rng_make(8, 21);
    pr_stream stream = pr_stream_at(&rng, number, 0, 0);
    size_t count = pr_stream_below(&stream, PAST + 1);
    uint32_t near = 1 + pr_stream_below(&stream, ITEMS); /* pasts of any width */
    for (size_t i = 0; i < PAST; i++)
        r->past[i] = (int32_t)pr_stream_below(&stream, near);
    memcpy(r->sessions, (int64_t[]){0, (int64_t)count / 2, (int64_t)count}, sizeof r->sessions);
    memcpy(r->times, (int64_t[]){12 * 86400, 19 * 86400}, sizeof r->times);
    r->start = (pr_start){.user = (int32_t)pr_stream_below(&stream, USERS + 1) - 1,
                          .history = {r->past, count, r->sessions, 2, r->times, 30 * 86400}};
    r->size = pr_stream_below(&stream, BASKET);
    r->k = 1 + pr_stream_below(&stream, 30);
    uint32_t filter = pr_stream_below(&stream, 6);
    for (size_t v = 0; v < ITEMS; v++)
        barred[v] = filter == 1   ? pr_stream_below(&stream, 2) == 0
                    : filter == 2 ? pr_stream_below(&stream, 200) > 0
                    : filter == 3 ? v > 5
                    : filter == 4 ? v % 20 != 3
                                  : 0;
    for (size_t i = 0; i < r->size; i++) {
        r->basket[i] = (int32_t)((pr_stream_below(&stream, near) + i) % ITEMS);
        barred[r->basket[i]] = 1;
    }
}

static void the_search_finds_what_scoring_everything_finds(void **state)
{
    (void)state;
    static uint8_t barred[ITEMS];
    static int32_t best[ITEMS], expected[ITEMS];
    static pr_real scores[ITEMS], all[ITEMS];
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        parsrec_error err;
        pr_scorer *scorer;
        pr_model *model = make_model(variants[v], true);
        const pr_arnn_ready *ready = model->ready;
        assert_true(ready->searches && (ready->items == NULL) == (v == 2));
        assert_ok(pr_scorer_new(&scorer, model, 1, BASKET, &err));
        size_t read = 0, answered = 0;
        for (uint32_t n = 0; n < REQUESTS; n++) {
            request r;
            size_t count;
            draw_request(&r, barred, n);
            pr_scorer_start(scorer, &r.start, 1);
            for (size_t i = 0; i < r.size; i++)
                pr_scorer_place(scorer, &r.basket[i]);
            answered += pr_arnn_best(scorer, barred, r.k, best, scores, &count);
            count = pr_scorer_best(scorer, barred, r.k, best, scores);
            read += ((pr_arnn_state *)scorer->own)->search.found;
            pr_scorer_score_all(scorer, all);
            pr_topk_bar(all, barred, UINT8_MAX, ITEMS);
            assert_int_equal(count, pr_topk(expected, all, ITEMS, r.k));
            assert_memory_equal(best, expected, count * sizeof *best);
            for (size_t i = 0; i < count; i++)
                assert_memory_equal(&scores[best[i]], &all[best[i]], sizeof *all);
        }
        assert_true(read < REQUESTS * (size_t)ITEMS / 8); /* few are scored in full */
        assert_true(answered >= REQUESTS * 9 / 10);
        pr_scorer_free(scorer);
        pr_model_free(model);
    }
}

/* Rows that leave things out, as explanations have them. */
static void scores_are_the_plain_network_s(void **state)
{
    (void)state;
    enum { ROWS = 3, SOME = 50 };
    static pr_real all[ROWS * ITEMS], few[SOME];
    static uint8_t barred[ITEMS];
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        parsrec_error err;
        pr_scorer *quick, *plain;
        pr_model *a = make_model(variants[v], true), *b = make_model(variants[v], false);
        assert_ok(pr_scorer_new(&quick, a, ROWS, BASKET, &err));
        assert_ok(pr_scorer_new(&plain, b, ROWS, BASKET, &err));
        for (uint32_t n = 0; n < 10; n++) {
            request r;
            int32_t some[SOME];
            draw_request(&r, barred, n);
            pr_start starts[ROWS] = {r.start, r.start, r.start};
            starts[2].history = (pr_history){0};
            pr_scorer_start(quick, starts, ROWS);
            pr_scorer_start(plain, starts, ROWS);
            for (size_t i = 0; i < r.size; i++) {
                int32_t placed[ROWS] = {r.basket[i], i == 1 ? -1 : r.basket[i], r.basket[i]};
                pr_scorer_place(quick, placed);
                pr_scorer_place(plain, placed);
            }
            for (size_t i = 0; i < SOME; i++)
                some[i] = i < PAST ? r.past[i] : (int32_t)(i * 300);
            pr_scorer_score_all(quick, all);
            for (size_t row = 0; row < ROWS; row++) {
                pr_scorer_score(quick, row, some, SOME, few);
                for (size_t i = 0; i < SOME; i++)
                    assert_true(few[i] == all[row * ITEMS + (size_t)some[i]]);
                pr_scorer_score(plain, row, some, SOME, few);
                for (size_t i = 0; i < SOME; i++)
                    assert_close((double)few[i], (double)all[row * ITEMS + (size_t)some[i]], 5e-5);
            }
        }
        pr_scorer_free(quick);
        pr_scorer_free(plain);
        pr_model_free(a);
        pr_model_free(b);
    }
}

/* From some size on a table without panels of its own is scored a panel at a time: each row as it is alone. */
static void tables_of_any_size_are_scored_alike(void **state)
{
    (void)state;
    enum { MANY = (1 << 18) + 7, ROWS = 3, SOME = 64 };
    parsrec_error err;
    pr_model *model;
    pr_scorer *rows, *one;
    pr_config config = pr_config_default();
    config.dim_user = config.dim_item = 4;
    config.bias = true;
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, MANY, 3, &err));
    shake(model, 0.2);
    assert_ok(pr_scorer_new(&rows, model, ROWS, BASKET, &err));
    assert_ok(pr_scorer_new(&one, model, 1, BASKET, &err));
    assert_non_null(((pr_arnn_state *)rows->own)->panel);
    pr_real *all = pr_alloc(ROWS * (size_t)MANY, sizeof *all), few[SOME];
    int32_t some[SOME];
    assert_non_null(all);
    for (int32_t i = 0; i < SOME; i++) /* the last items too */
        some[i] = i < SOME / 2 ? i * 7919 : MANY - SOME + i;
    pr_start starts[ROWS] = {{.user = 0}, {.user = 1}, {.user = PR_ANYONE}};
    int32_t placed[ROWS] = {5, MANY - 1, 77};
    pr_scorer_start(rows, starts, ROWS);
    pr_scorer_place(rows, placed);
    pr_scorer_score_all(rows, all);
    for (size_t r = 0; r < ROWS; r++) {
        pr_scorer_start(one, &starts[r], 1);
        pr_scorer_place(one, &placed[r]);
        pr_scorer_score(one, 0, some, SOME, few);
        for (size_t i = 0; i < SOME; i++)
            assert_close((double)all[r * MANY + (size_t)some[i]], (double)few[i], 1e-5);
    }
    pr_free(all);
    pr_scorer_free(rows);
    pr_scorer_free(one);
    pr_model_free(model);
}

static void out_of_memory_is_a_status(void **state)
{
    (void)state;
    parsrec_error err;
    size_t failures = 0;
    pr_model *model = make_model(variants[2], false);
    for (bool whole = false; !whole; failures += !whole) {
        pr_memory_fail_after(failures);
        parsrec_status status = pr_model_make_ready(model, &err);
        pr_memory_fail_after(SIZE_MAX);
        whole = status == PARSREC_OK;
        assert_int_equal(status, whole ? PARSREC_OK : PARSREC_E_MEMORY);
        assert_int_equal(model->ready != NULL, whole);
    }
    assert_true(failures > 5);
    pr_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_finds_what_scoring_everything_finds),
        cmocka_unit_test(scores_are_the_plain_network_s),
        cmocka_unit_test(tables_of_any_size_are_scored_alike),
        cmocka_unit_test(out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
