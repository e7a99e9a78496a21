/* The mix of a score with plain counts: it finds what counts say and a network does not, the same way
 * every time, and leaves models alone that have none. */
#include "support/testing.h"

#include <math.h>

#include "base/threads.h"
#include "model/count_features.h"
#include "model/parsrec/parsrec_net.h"
#include "support/shaken.h"

enum { USERS = 80, ITEMS = 70, PAST = 4 };

static int32_t pasts[USERS][PAST];
static const int64_t sessions[] = {0, 2, PAST};
static pr_basket baskets[USERS];
static pr_pool *pool;
static double worth[PR_MIX_STAGES];

static pr_model *make_model(const char *mix, const char *order)
{
    const char *settings[] = {"dim.user=6", "dim.item=6", "recall=on", "neighbours=3",
                              "bias=on",    mix,          order};
    parsrec_error err;
    pr_model *model;
    pr_config config = pr_config_default();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 3, &err));
    shake(model, 0.8);
    return model;
}

/* The sessions that are counted: one user's, all of the same item. */
enum { SOLD = 1000 };
static int32_t sold[SOLD];
static int64_t sold_sessions[SOLD + 1];
static const int64_t sold_users[] = {0, SOLD};
static const pr_dataset sales = {.users = 1,
                                 .items = ITEMS,
                                 .sessions = SOLD,
                                 .actions = SOLD,
                                 .user_offsets = sold_users,
                                 .session_offsets = sold_sessions,
                                 .action_items = sold};
static const pr_counted counted = {.data = &sales, .scope = {.last = 1}};

/* Everybody buys again two of the four items they had; one item of the catalogue is in every basket. */
static pr_mix_data repeaters(void)
{
    for (int64_t s = 0; s < SOLD; s++) {
        sold[s] = ITEMS - 1;
        sold_sessions[s + 1] = s + 1;
    }
    for (int32_t u = 0; u < USERS; u++) {
        for (int32_t i = 0; i < PAST; i++)
            pasts[u][i] = (u * 7 + i * 16) % (ITEMS - 1);
        static int32_t items[USERS][3];
        items[u][0] = pasts[u][u % 2];
        items[u][1] = ITEMS - 1;
        items[u][2] = pasts[u][2 + u % 2];
        baskets[u] = (pr_basket){
            .user = u,
            .history = {.items = pasts[u], .count = PAST, .sessions = sessions, .session_count = 2},
            .items = items[u],
            .size = 3};
    }
    return (pr_mix_data){.baskets = baskets,
                         .count = USERS,
                         .questions = PR_MIX_QUESTIONS,
                         .from = &counted,
                         .seed = 9,
                         .pool = pool};
}

/* How many of the best four items after the first `placed` ones the user had before, or everybody buys. */
static size_t counts_among_best(const pr_model *model, int32_t user, size_t placed)
{
    parsrec_error err;
    pr_scorer *scorer;
    static pr_real scores[ITEMS];
    size_t hits = 0;
    pr_start start = {.user = user, .history = baskets[user].history};
    assert_ok(pr_scorer_new(&scorer, model, 1, 4, &err));
    pr_scorer_start(scorer, &start, 1);
    for (size_t p = 0; p < placed; p++)
        pr_scorer_place(scorer, &baskets[user].items[p]);
    pr_scorer_score_all(scorer, scores);
    for (int32_t v = 0; v < ITEMS; v++) {
        size_t above = 0;
        bool expected = v == ITEMS - 1;
        for (size_t i = 0; i < ITEMS; i++)
            above += scores[i] > scores[v];
        for (size_t i = 0; i < PAST; i++)
            expected = expected || pasts[user][i] == v;
        hits += above < 4 && expected;
    }
    pr_scorer_free(scorer);
    return hits;
}

static void counts_are_found(void **state)
{
    (void)state;
    parsrec_error err;
    pr_mix_data data = repeaters();
    pr_model *model = make_model("mix=on", "order=any");
    size_t before = 0, after = 0;
    for (int32_t u = 0; u < USERS; u++)
        before += counts_among_best(model, u, (size_t)u % 2);
    assert_ok(model->kind->fit_mix(model, &data, worth, &err));
    for (int32_t u = 0; u < USERS; u++)
        after += counts_among_best(model, u, (size_t)u % 2);
    assert_true(before < 3 * USERS);
    assert_true(after > 4 * USERS * 95 / 100);
    assert_true(worth[PR_MIX_FIRST] < 0.2); /* weights that nothing was learnt by add little */
    pr_model_free(model);
}

/* A score that is the same for all items adds nothing. What was had was in one of two sessions, so that its
 * count, that it was had and the number of sessions go together; only the prior divides the weight among
 * them, so that each adds the same to what the prior's own weights give. */
static void counts_alone_are_drawn_to_the_prior_of_mix(void **state)
{
    (void)state;
    parsrec_error err;
    pr_mix_data data = repeaters();
    pr_model *model = make_model("mix=on", "order=any");
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *p = &model->params.list[i];
        for (size_t k = p->at; !p->counted && k < p->at + pr_param_size(p); k++)
            model->weights[k] = 0;
    }
    assert_ok(model->kind->fit_mix(model, &data, worth, &err));
    const pr_real *w = pr_model_reals(model, "mix.weights"), *own = w + PR_MIX_GATES;
    double had = (double)own[PR_REPEAT_HAD] - pr_count_prior[PR_COUNT_HAD];
    assert_true(w[PR_MIX_SCORE] == 0);
    assert_true(had > 0.1);
    assert_close(((double)own[PR_REPEAT_COUNT] - pr_count_prior[PR_COUNT_TIMES]) * log(2), had,
                 1e-3);
    assert_close(((double)own[PR_REPEAT_SESSIONS] - pr_count_prior[PR_COUNT_SESSIONS]) * log(3),
                 had, 1e-3);
    pr_model_free(model);
}

/* One item that nobody had, then two that the user had before. What comes next in a list was always had
 * before; of what remains of a basket in any order, two items in three. */
static void lists_ask_for_the_next_item(void **state)
{
    (void)state;
    parsrec_error err;
    pr_mix_data data = repeaters();
    static int32_t lists[USERS][3];
    static const pr_real had[] = {(pr_real)0.7, (pr_real)0.7, 1, (pr_real)1.1};
    double again[2];
    for (int32_t u = 0; u < USERS; u++) {
        int32_t list[] = {(u * 7 + 5) % (ITEMS - 1), pasts[u][u % 2], pasts[u][2 + u % 2]};
        memcpy(lists[u], list, sizeof list);
        baskets[u].items = lists[u];
    }
    for (int list = 0; list < 2; list++) {
        pr_model *model = make_model("mix=on", list ? "order=stored" : "order=any");
        assert_ok(model->kind->fit_mix(model, &data, worth, &err));
        const pr_real *later = pr_model_reals(model, "mix.weights") +
                               pr_params_find(&model->params, "mix.weights")->cols;
        again[list] = (double)pr_repeat_value(later + PR_MIX_GATES, had, PR_GATES_PLAIN);
        pr_model_free(model);
    }
    assert_true(again[1] > again[0] + 0.3);
}

static void the_same_every_time(void **state)
{
    (void)state;
    parsrec_error err;
    pr_mix_data data = repeaters();
    pr_model *a = make_model("mix=on", "order=any"), *b = make_model("mix=on", "order=any");
    assert_ok(a->kind->fit_mix(a, &data, worth, &err));
    assert_ok(b->kind->fit_mix(b, &data, worth, &err));
    assert_memory_equal(a->weights, b->weights, a->params.size * sizeof *a->weights);
    assert_ok(b->kind->fit_mix(b, &data, worth, &err)); /* a second time begins anew */
    assert_memory_equal(a->weights, b->weights, a->params.size * sizeof *a->weights);
    pr_model_free(a);
    pr_model_free(b);
}

static void little_data_and_other_models_stay(void **state)
{
    (void)state;
    parsrec_error err;
    pr_mix_data data = repeaters();
    pr_model *none = make_model("mix=off", "order=any"), *few = make_model("mix=on", "order=any");
    assert_null(pr_params_find(&none->params, "mix.weights"));
    assert_ok(none->kind->fit_mix(none, &data, worth, &err));
    data.count = 20;
    assert_ok(few->kind->fit_mix(few, &data, worth, &err));
    const pr_param *weights = pr_params_find(&few->params, "mix.weights");
    for (size_t i = 0; i < pr_param_size(weights); i++)
        assert_true(pr_model_reals(few, "mix.weights")[i] == (i % weights->cols == PR_MIX_SCORE));
    pr_model_free(none);
    pr_model_free(few);
}

int main(void)
{
    parsrec_error err;
    assert_ok(pr_pool_new(&pool, 2, &err));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_found),
        cmocka_unit_test(counts_alone_are_drawn_to_the_prior_of_mix),
        cmocka_unit_test(lists_ask_for_the_next_item),
        cmocka_unit_test(the_same_every_time),
        cmocka_unit_test(little_data_and_other_models_stay),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pr_pool_free(pool);
    return failed;
}
