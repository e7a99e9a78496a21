/* Lifts of pairs of items: by their definition, the strongest of many, their sums over a basket, broken
 * tensors, and their share of a score. */
#include <math.h>
#include <stdlib.h>

#include "support/shaken.h"
#include "support/testing.h"
#include "support/toy_shop.h"

#include "data/split.h"
#include "model/lifts.h"

enum { USERS = 90, ITEMS = 24 };

static pr_lifts count_kind(size_t width, bool after, const pr_dataset *data)
{
    parsrec_error err;
    pr_lifts lifts;
    pr_counted from = {.data = data, .scope = pr_scope_before(PR_VALID, 1)};
    assert_ok(pr_lifts_count(&lifts, width, after, &from, &err));
    assert_ok(pr_lifts_verify(&lifts, lifts.ends[ITEMS - 1], &err));
    return lifts;
}

static pr_lifts count(size_t width, const pr_dataset *data)
{
    return count_kind(width, false, data);
}

static toy_shop shop_of(void)
{
    return toy_make(
        (toy_sizes){.users = USERS, .items = ITEMS, .least = 4, .spread = 5, .sizes = 6});
}

/* both[a,b]: training sessions that contain a and b; both[a,a] those that contain a. */
static double count_plainly(double (*both)[ITEMS], const pr_dataset *data)
{
    double sessions = 0;
    for (size_t u = 0; u < USERS; u++)
        for (int64_t s = data->user_offsets[u]; s < pr_split_train_end(data, u, 1); s++) {
            sessions++;
            for (int64_t a = data->session_offsets[s]; a < data->session_offsets[s + 1]; a++)
                for (int64_t b = data->session_offsets[s]; b < data->session_offsets[s + 1]; b++)
                    both[data->action_items[a]][data->action_items[b]]++;
        }
    return sessions;
}

static void they_are_as_defined(void **state)
{
    (void)state;
    static double both[ITEMS][ITEMS];
    toy_shop shop = shop_of();
    size_t kept = 0, never = 0;
    double sessions = count_plainly(both, &shop.data);
    pr_lifts t = count(ITEMS, &shop.data);
    for (int32_t a = 0; a < ITEMS; a++)
        for (int32_t b = 0; b < ITEMS; b++) {
            double chance = both[a][a] * both[b][b] / sessions, n = both[a][b];
            bool says = a != b && fabs(n - chance) / sqrt(chance + 1) >= 0.5;
            assert_close(pr_lift_of(&t, a, b), says ? log((n + 1) / (chance + 1)) : 0, 1e-5);
            kept += says;
            never += says && n == 0;
        }
    assert_int_equal(kept, t.ends[ITEMS - 1]);
    assert_true(never > 0); /* best sellers that were never bought together count too */
    pr_lifts_free(&t);
    toy_free(&shop);
}

/* Of a user's training items one after the other, d places later counts 1 / d^2, up to 20 places. */
static void those_of_what_comes_after_are_as_defined(void **state)
{
    (void)state;
    static double after[ITEMS][ITEMS], held[ITEMS];
    toy_shop shop = shop_of();
    const pr_dataset *data = &shop.data;
    double actions = 0, sum = 0;
    size_t kept = 0, one_way = 0;
    for (size_t u = 0; u < USERS; u++) {
        int64_t first = data->session_offsets[data->user_offsets[u]];
        int64_t end = data->session_offsets[pr_split_train_end(data, u, 1)];
        for (int64_t a = first; a < end; a++, actions++) {
            held[data->action_items[a]]++;
            for (int64_t d = 1; d <= 20 && a + d < end; d++)
                after[data->action_items[a]][data->action_items[a + d]] += 1 / (double)(d * d);
        }
    }
    for (int d = 1; d <= 20; d++)
        sum += 1 / (double)(d * d);
    pr_lifts t = count_kind(ITEMS, true, data);
    for (int32_t a = 0; a < ITEMS; a++)
        for (int32_t b = 0; b < ITEMS; b++) {
            double chance = held[a] * held[b] * sum / actions, n = after[a][b];
            double strength = fabs(n - chance) / sqrt(chance + 1);
            if (a == b || fabs(strength - 0.5) < 1e-3) /* the sum is rounded */
                continue;
            bool says = strength >= 0.5;
            assert_close(pr_lift_of(&t, a, b), says ? log((n + 0.3) / (chance + 0.3)) : 0, 1e-3);
            kept += says;
            one_way += pr_lift_of(&t, a, b) > 0 && pr_lift_of(&t, b, a) <= 0;
        }
    assert_true(kept > 20 && one_way > 5);
    pr_lifts_free(&t);
    toy_free(&shop);
}

static void the_strongest_are_kept(void **state)
{
    (void)state;
    static double both[ITEMS][ITEMS];
    toy_shop shop = shop_of();
    double sessions = count_plainly(both, &shop.data);
    pr_lifts all = count(ITEMS, &shop.data), few = count(6, &shop.data);
    for (int32_t a = 0; a < ITEMS; a++) {
        double least = INFINITY, most = 0;
        for (int32_t b = 0; b < ITEMS; b++) {
            double chance = both[a][a] * both[b][b] / sessions;
            double strength = fabs(both[a][b] - chance) / sqrt(chance + 1);
            if (pr_lift_of(&few, a, b) != 0)
                least = fmin(least, strength);
            else if (pr_lift_of(&all, a, b) != 0)
                most = fmax(most, strength);
        }
        assert_true(least >= most - 1e-6);
        assert_true(few.ends[a] - pr_lifts_start(&few, a) <= 6);
    }
    pr_lifts_free(&all);
    pr_lifts_free(&few);
    toy_free(&shop);
}

static void sums_begin_anew(void **state)
{
    (void)state;
    static pr_real sum[ITEMS];
    static int32_t touched[ITEMS + 1];
    static uint8_t seen[ITEMS];
    static const int32_t basket[] = {3, 4, 11};
    toy_shop shop = shop_of();
    pr_lift_sums sums = {sum, touched, seen, 0};
    pr_lifts t = count(8, &shop.data);
    for (int round = 0; round < 2; round++) {
        pr_lift_start(&sums);
        for (size_t i = 0; i < 3; i++)
            pr_lift_place(&sums, &t, basket[i]);
        for (int32_t v = 0; v < ITEMS; v++) {
            double expected = 0;
            for (size_t i = 0; i < 3; i++)
                expected += (double)pr_lift_of(&t, basket[i], v);
            assert_close(sum[v], expected, 1e-6);
        }
        assert_true(sums.count > 0 && sums.count <= 24);
    }
    pr_lift_start(&sums);
    for (size_t v = 0; v < ITEMS; v++)
        assert_true(sum[v] == 0 && seen[v] == 0);
    pr_lifts_free(&t);
    toy_free(&shop);
}

static void broken_tensors_are_refused(void **state)
{
    (void)state;
    parsrec_error err;
    uint32_t ends[] = {1, 2}, to[] = {1, 0, 0, 0};
    pr_real logs[4] = {0};
    pr_lifts lifts = {2, ends, to, logs};
    assert_ok(pr_lifts_verify(&lifts, 4, &err));
    to[1] = 2;
    assert_fails(pr_lifts_verify(&lifts, 4, &err), PARSREC_E_FORMAT, "does not exist");
    to[1] = 0;
    ends[1] = 0;
    assert_fails(pr_lifts_verify(&lifts, 4, &err), PARSREC_E_FORMAT, "item 1 have no end");
    ends[1] = 5;
    assert_fails(pr_lifts_verify(&lifts, 4, &err), PARSREC_E_FORMAT, "item 1 have no end");
}

/* Every placed item is given its own lift, and all parts add up to the score. In lists the last item has one,
 * and the whole of it. */
static void check_score_terms(bool after)
{
    static const char *const settings[] = {"dim.user=4", "dim.item=4",   "recall=on", "bias=on",
                                           "mix=on",     "neighbours=3", "lifts=4",   NULL};
    parsrec_error err;
    pr_config config = pr_config_default();
    pr_model *model;
    pr_scorer *scorer;
    for (size_t i = 0; settings[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    if (after) {
        assert_ok(pr_config_assign(&config, "order=stored", &err));
        assert_ok(pr_config_assign(&config, "lifts.after=on", &err));
    }
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    shake(model, 0.1);
    const pr_param *weights = pr_params_find(&model->params, "mix.weights");
    pr_real *later = pr_model_reals(model, "mix.weights") + weights->cols;
    later[0] = 1;
    later[weights->cols - 1] = (pr_real)0.5;
    assert_ok(pr_scorer_new(&scorer, model, 1, 4, &err));
    const int32_t basket[] = {after ? 6 : 1, after ? 1 : 6};
    pr_start start = {.user = 3};
    pr_score_terms terms;
    pr_real placed[2], score, half;
    pr_scorer_start(scorer, &start, 1);
    for (int i = 0; i < 2; i++)
        pr_scorer_place(scorer, &basket[i]);
    pr_scorer_score(scorer, 0, &(int32_t){2}, 1, &score);
    assert_true(pr_scorer_terms(scorer, 0, 2, &terms, placed));
    assert_close(terms.network + terms.history + terms.memory + terms.item + placed[0] + placed[1],
                 score, 1e-5);
    pr_real own = pr_model_reals(model, "lifts.logs")[1]; /* of item 1 with item 2 */
    later[weights->cols - 1] = (pr_real)0.25;
    pr_scorer_score(scorer, 0, &(int32_t){2}, 1, &half);
    assert_true(own != 0);
    assert_close(score - half, after ? own * 0.25 : own * 0.25 / 2, 1e-5);
    assert_close(placed[0], after ? 0 : own * 0.5 / 2, 1e-6);
    if (!after) /* in lists the last item adds more than its lift */
        assert_close(placed[1], 0, 1e-6);
    pr_scorer_free(scorer);
    pr_model_free(model);
}

static void score_terms_contain_them(void **state)
{
    (void)state;
    check_score_terms(false);
    check_score_terms(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_as_defined),
        cmocka_unit_test(those_of_what_comes_after_are_as_defined),
        cmocka_unit_test(the_strongest_are_kept),
        cmocka_unit_test(sums_begin_anew),
        cmocka_unit_test(broken_tensors_are_refused),
        cmocka_unit_test(score_terms_contain_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
