/* mix: features by hand, weights that are found again, scores that are the weighted sum. */
#include "support/testing.h"
#include "support/toy_shop.h"

#include "data/histories.h"
#include "model/choice_fit.h"
#include "model/count_features.h"
#include "model/counting/counting.h"

/* ---- the fit ---- */

enum { CASES = 3000, EACH = 6 };

static const double truth[3] = {1.5, -0.7, 0.4};

/* Choices drawn from a logit with known weights. */
static pr_choices draw_choices(pr_rng rng)
{
    pr_choices c = {.features = 3, .cases = CASES};
    c.starts = calloc(CASES + 1, sizeof *c.starts);
    c.taken = calloc(CASES, sizeof *c.taken);
    c.x = calloc((size_t)CASES * EACH * 3, sizeof *c.x);
    c.offset = calloc((size_t)CASES * EACH, sizeof *c.offset);
    for (uint32_t n = 0; n < CASES; n++) {
        pr_stream s = pr_stream_at(&rng, n, 0, 0);
        double score[EACH], best = -INFINITY;
        float *x = c.x + (size_t)n * EACH * 3;
        size_t chosen = 0;
        c.starts[n] = (size_t)n * EACH;
        c.taken[n] = 1;
        for (size_t a = 0; a < EACH; a++) {
            score[a] = -log(-log(pr_stream_unit(&s))); /* Gumbel noise makes the choice a logit */
            for (size_t k = 0; k < 3; k++) {
                x[a * 3 + k] = (float)pr_stream_normal(&s);
                score[a] += truth[k] * (double)x[a * 3 + k];
            }
            if (score[a] > best) {
                best = score[a];
                chosen = a;
            }
        }
        for (size_t k = 0; k < 3; k++) { /* what was taken stands first */
            float swap = x[k];
            x[k] = x[chosen * 3 + k];
            x[chosen * 3 + k] = swap;
        }
    }
    c.starts[CASES] = (size_t)CASES * EACH;
    return c;
}

static void free_choices(pr_choices *c)
{
    free(c->starts);
    free(c->taken);
    free(c->x);
    free(c->offset);
}

static void weights_are_found_again(void **state)
{
    (void)state;
    parsrec_error err;
    pr_choices c = draw_choices(pr_rng_make(3, 1));
    double one[3] = {0}, four[3] = {0}, gain;
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        pr_pool *pool;
        assert_ok(pr_pool_new(&pool, threads, &err));
        assert_ok(pr_choice_fit(threads == 1 ? one : four, &gain, &c, 1, pool, &err));
        pr_pool_free(pool);
    }
    for (size_t k = 0; k < 3; k++)
        assert_close(one[k], truth[k], 0.1);
    assert_memory_equal(one, four, sizeof one);
    assert_true(gain > 0.5 && gain < log(EACH));
    free_choices(&c);
}

/* A strong prior holds the weights where they were; no cases leave them. */
static void the_prior_holds(void **state)
{
    (void)state;
    parsrec_error err;
    pr_pool *pool;
    pr_choices c = draw_choices(pr_rng_make(3, 1));
    double held[3] = {0.2, 0.3, -0.1};
    assert_ok(pr_pool_new(&pool, 1, &err));
    assert_ok(pr_choice_fit(held, NULL, &c, 1e9, pool, &err));
    assert_close(held[0], 0.2, 1e-3);
    assert_close(held[2], -0.1, 1e-3);
    c.cases = 0;
    held[1] = 7;
    assert_ok(pr_choice_fit(held, NULL, &c, 1, pool, &err));
    assert_close(held[1], 7, 0);
    pr_pool_free(pool);
    free_choices(&c);
}

/* ---- the model ---- */

enum { ITEMS = 40 };

static pr_model *count(const toy_shop *shop, pr_split_part part, unsigned threads)
{
    parsrec_error err;
    pr_pool *pool;
    pr_model *model;
    pr_config config;
    pr_scope scope = pr_scope_before(part, 1);
    assert_ok(pr_model_defaults(&config, "mix", &err));
    assert_ok(pr_pool_new(&pool, threads, &err));
    assert_ok(pr_count_model(&model, "mix", &config, &shop->data, &scope, pool, NULL, &err));
    pr_pool_free(pool);
    return model;
}

static toy_shop make_shop(void)
{
    return toy_make((toy_sizes){.users = 150, .items = ITEMS, .least = 4, .spread = 3, .sizes = 5});
}

/* Every feature of every item for one user, worked out from the sessions themselves. */
static void features_are_counts(void **state)
{
    (void)state;
    toy_shop shop = make_shop();
    const pr_dataset *d = &shop.data;
    pr_model *model = count(&shop, PR_TEST, 2);
    pr_count_tables t = pr_count_tables_of(model);
    enum { USER = 7 };
    size_t test = (size_t)d->user_offsets[USER + 1] - 1, counted = 0;
    double held[ITEMS] = {0}, both[ITEMS] = {0}, times[ITEMS] = {0}, recent[ITEMS] = {0};
    int32_t placed = d->action_items[d->session_offsets[test]];
    for (size_t u = 0; u < d->users; u++)
        for (int64_t s = d->user_offsets[u]; s + 1 < d->user_offsets[u + 1]; s++) {
            bool has = false;
            counted++;
            for (int64_t a = d->session_offsets[s]; a < d->session_offsets[s + 1]; a++) {
                held[d->action_items[a]]++;
                has = has || d->action_items[a] == placed;
                if (u != USER)
                    continue;
                times[d->action_items[a]]++;
                recent[d->action_items[a]] +=
                    pow(model->config.recall_decay, (double)(d->user_offsets[u + 1] - 2 - s));
            }
            for (int64_t a = d->session_offsets[s]; has && a < d->session_offsets[s + 1]; a++)
                both[d->action_items[a]] += d->action_items[a] != placed;
        }
    float planes[PR_COUNT_FEATURES * ITEMS], lift[ITEMS] = {0};
    int32_t items[ITEMS], slots[ITEMS] = {0};
    float repeats[ITEMS][PR_REPEAT_FEATURES];
    pr_count_scratch scratch = {items, repeats, slots};
    pr_history history = pr_history_before(d, USER, test);
    pr_count_features_start(planes, &t, &history, model->config.recall_decay, &scratch);
    pr_count_lift_add(lift, &t, placed);
    assert_close(t.sessions, (double)counted, 0);
    for (size_t i = 0; i < ITEMS; i++) {
        double by_chance = held[placed] * held[i] / (double)counted;
        bool had = times[i] > 0;
        assert_close(planes[PR_COUNT_TIMES * ITEMS + i], log(1 + times[i]), 1e-5);
        assert_close(planes[PR_COUNT_RECENT * ITEMS + i], log(1 + recent[i]), 1e-5);
        assert_close(planes[PR_COUNT_HAD * ITEMS + i], had, 0);
        assert_close(planes[PR_COUNT_POPULAR * ITEMS + i],
                     log((held[i] + 0.5) / (double)(counted + 1)), 1e-4);
        assert_close(planes[PR_COUNT_SESSIONS * ITEMS + i],
                     had ? log(1 + (double)history.session_count) : 0, 1e-5);
        assert_close(lift[i], log(1 + both[i]) - log(1 + by_chance), 1e-4);
        assert_close(pr_count_lift(&t, placed, (int32_t)i), lift[i], 1e-4);
    }
    pr_model_free(model);
    toy_free(&shop);
}

/* Scores of all, of some, and their terms agree, with an empty basket and with two items in it. */
static void scores_are_the_sum_of_their_terms(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop = make_shop();
    pr_model *model = count(&shop, PR_TEST, 1);
    pr_scorer *scorer;
    assert_ok(pr_scorer_new(&scorer, model, 2, 4, &err));
    pr_start starts[2] = {
        {.user = 3,
         .history = pr_history_before(&shop.data, 3, (size_t)shop.data.user_offsets[4] - 1)},
        {.user = PR_ANYONE}};
    assert_true(starts[0].history.count > 0);
    pr_scorer_start(scorer, starts, 2);
    for (size_t step = 0; step < 3; step++) {
        float all[2 * ITEMS];
        pr_scorer_score_all(scorer, all);
        for (size_t r = 0; r < 2; r++)
            for (int32_t i = 0; i < ITEMS; i++) {
                pr_score_terms terms;
                float some, placed[4], sum;
                pr_scorer_score(scorer, r, &i, 1, &some);
                assert_close(some, (double)all[r * ITEMS + (size_t)i], 1e-6);
                assert_true(pr_scorer_terms(scorer, r, i, &terms, placed));
                sum = terms.network + terms.history + terms.memory + terms.item;
                for (size_t p = 0; p < step; p++)
                    sum += placed[p];
                assert_close(sum, (double)some, 1e-4);
            }
        pr_scorer_place(scorer, (int32_t[]){(int32_t)step, (int32_t)(step + 5)});
    }
    pr_scorer_free(scorer);
    pr_model_free(model);
    toy_free(&shop);
}

/* The same bits at any number of threads; and what is evaluated does not change the weights. */
static void what_is_evaluated_is_not_known(void **state)
{
    (void)state;
    toy_shop shop = make_shop();
    pr_model *one = count(&shop, PR_TEST, 1), *three = count(&shop, PR_TEST, 3);
    assert_int_equal(one->params.size, three->params.size);
    assert_memory_equal(one->weights, three->weights, one->params.size * sizeof *one->weights);
    for (size_t u = 0; u < shop.data.users; u++) { /* other test sessions */
        int64_t last = shop.data.user_offsets[u + 1] - 1;
        for (int64_t a = shop.data.session_offsets[last]; a < shop.data.session_offsets[last + 1];
             a++)
            shop.items[a] = (int32_t)((u + (size_t)a) % ITEMS);
    }
    pr_model *other = count(&shop, PR_TEST, 2);
    assert_memory_equal(one->weights, other->weights, one->params.size * sizeof *one->weights);
    pr_model_free(one);
    pr_model_free(three);
    pr_model_free(other);
    toy_free(&shop);
}

/* Too few sessions to fit on: the weights are those it begins with, and it works. */
static void a_tiny_shop_has_a_mix(void **state)
{
    (void)state;
    toy_shop shop =
        toy_make((toy_sizes){.users = 2, .items = 6, .least = 1, .spread = 1, .sizes = 2});
    pr_model *model = count(&shop, PR_TEST, 1);
    assert_close(pr_model_reals(model, "mix.weights")[PR_COUNT_HAD], 1, 0);
    pr_model_free(model);
    toy_free(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_found_again),
        cmocka_unit_test(the_prior_holds),
        cmocka_unit_test(features_are_counts),
        cmocka_unit_test(scores_are_the_sum_of_their_terms),
        cmocka_unit_test(what_is_evaluated_is_not_known),
        cmocka_unit_test(a_tiny_shop_has_a_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
