/* The memory of pairs: priors of simulated users, ratios worked out by hand, classes of a tree, the
 * terms of a score, and broken files. */
#include "support/shaken.h"

#include "base/rng.h"
#include "base/threads.h"

enum { CLASSES = 4, ITEMS = 9, USERS = 300, SESSIONS = 80 };

static const int32_t parent[] = {-1, -1, 0, 0, 1, 1};
static const int32_t category[ITEMS] = {2, 2, 3, 3, 4, 4, 5, 5, -1};

/* Classes 0 and 1 go together for the first half of the users and not at all for the others; classes 2
 * and 3 go together for everybody. Each class is bought in 3 of 10 sessions, an item without a class in
 * all of them. */
typedef struct shop {
    pr_dataset data;
    int64_t user_offsets[USERS + 1], session_offsets[USERS * SESSIONS + 1];
    int32_t items[USERS * SESSIONS * (CLASSES + 1)];
} shop;

static bool buys(pr_stream *s, double chance)
{
    return pr_stream_unit(s) < chance;
}

static shop *make_shop(void)
{
    shop *s = calloc(1, sizeof *s);
    pr_rng rng = pr_rng_make(5, 1);
    int64_t session = 0, at = 0;
    for (size_t u = 0; u < USERS; u++) {
        for (size_t k = 0; k < SESSIONS; k++) {
            pr_stream draw = pr_stream_at(&rng, (uint32_t)u, (uint32_t)k, 0);
            bool has[CLASSES] = {buys(&draw, 0.3), false, buys(&draw, 0.3), false};
            has[1] = buys(&draw, u >= USERS / 2 ? 0.3 : has[0] ? 0.65 : 0.15);
            has[3] = buys(&draw, has[2] ? 0.6 : 0.17);
            s->items[at++] = ITEMS - 1;
            for (int32_t c = 0; c < CLASSES; c++)
                if (has[c])
                    s->items[at++] = 2 * c + (int32_t)(k % 2);
            s->session_offsets[++session] = at;
        }
        s->user_offsets[u + 1] = session;
    }
    s->data = (pr_dataset){.users = USERS,
                           .sessions = (size_t)session,
                           .items = ITEMS,
                           .actions = (size_t)at,
                           .user_offsets = s->user_offsets,
                           .session_offsets = s->session_offsets,
                           .action_items = s->items,
                           .categories = 6,
                           .category_parent = parent,
                           .item_category = category};
    return s;
}

typedef struct memory {
    uint32_t class_of[ITEMS];
    pr_real priors[64 * 63 / 2 * PR_PAIR_PRIOR];
    pr_pair_memory pairs;
    size_t personal;
} memory;

static void count(memory *m, const shop *s, size_t classes, unsigned threads)
{
    parsrec_error err;
    pr_pool *pool;
    pr_category_tree tree = {.categories = 6, .parent = parent, .item_category = category};
    assert_ok(pr_pool_new(&pool, threads, &err));
    pr_counted from = {.data = &s->data, .scope = {.last = 1}, .pool = pool};
    m->pairs = (pr_pair_memory){ITEMS, classes, m->class_of, m->priors};
    assert_ok(pr_pairs_count(&m->pairs, &m->personal, &tree, &from, &err));
    pr_pool_free(pool);
}

static pr_history history_of(const shop *s, size_t user)
{
    int64_t first = s->user_offsets[user], end = s->user_offsets[user + 1];
    int64_t at = s->session_offsets[first];
    return (pr_history){.items = s->items + at,
                        .count = (size_t)(s->session_offsets[end] - at),
                        .sessions = s->session_offsets + first,
                        .session_count = (size_t)(end - first)};
}

/* ---- priors ---- */

static void only_pairs_in_which_users_differ_are_remembered(void **state)
{
    shop *s = *state;
    memory *m = calloc(1, sizeof *m), *two = calloc(1, sizeof *two);
    count(m, s, 64, 1);
    count(two, s, 64, 2);
    assert_int_equal(m->personal, 1);
    assert_memory_equal(m->priors, two->priors, sizeof m->priors);
    pr_pair_partners partners = pr_pair_partners_of(&m->pairs);
    uint32_t a = m->class_of[0], b = m->class_of[2];
    assert_true(a != b && m->class_of[1] == a);
    assert_int_equal(partners.own, UINT64_C(1) << a | UINT64_C(1) << b);
    assert_int_equal(partners.any, 15);
    const pr_real *alike = m->priors + pr_pair_row(m->class_of[4], m->class_of[6]) * PR_PAIR_PRIOR;
    assert_close(alike[0], log(2), 0.05); /* .6 against .3 in all */
    for (size_t i = 1; i < PR_PAIR_PRIOR; i++)
        assert_close(alike[i], 0, 0);
    free(m), free(two);
}

/* On average the log ratios are those of the two halves: lifts of 2.17 and of 1 around the mean. */
static void users_are_told_apart_by_their_own_history(void **state)
{
    shop *s = *state;
    memory *m = calloc(1, sizeof *m);
    count(m, s, 64, 1);
    pr_pair_partners partners = pr_pair_partners_of(&m->pairs);
    double sum[2] = {0};
    for (size_t u = 0; u < USERS; u++) {
        pr_pair_basket basket;
        pr_history history = history_of(s, u);
        pr_pair_start(&basket, &history);
        assert_true(pr_pair_place(&basket, &m->pairs, &partners, 0));
        assert_false(pr_pair_place(&basket, &m->pairs, &partners, 1)); /* the same class */
        sum[u >= USERS / 2] += (double)basket.sums[PR_PAIR_OWN][m->class_of[2]] / (USERS / 2.0);
        assert_close(basket.sums[PR_PAIR_OWN][m->class_of[4]], 0, 0);
        assert_close(basket.sums[PR_PAIR_ALL][m->class_of[4]], 0, 0.05);
        assert_close(basket.sums[PR_PAIR_ALL][m->class_of[2]], log(1.58), 0.05);
    }
    assert_true(sum[0] > 0.15 && sum[1] < -0.25);
    assert_true(sum[0] - sum[1] > 0.45 && sum[0] - sum[1] < 0.75); /* log 2.17 = 0.77 */
    free(m);
}

static void nothing_is_known_without_a_history(void **state)
{
    shop *s = *state;
    memory *m = calloc(1, sizeof *m);
    count(m, s, 64, 1);
    pr_pair_partners partners = pr_pair_partners_of(&m->pairs);
    pr_history whole = history_of(s, 0), loose = {.items = whole.items, .count = whole.count};
    pr_history one = {
        .items = whole.items, .count = 3, .sessions = (int64_t[]){0, 3}, .session_count = 1};
    const pr_history none[] = {{0}, loose, one};
    for (size_t i = 0; i < 3; i++) {
        pr_pair_basket basket;
        pr_pair_start(&basket, &none[i]);
        assert_true(pr_pair_place(&basket, &m->pairs, &partners, 0));
        pr_real log[PR_PAIR_TERMS];
        pr_pair_logs(log, &basket, &m->pairs, &partners, m->class_of[0], m->class_of[2]);
        assert_close(log[PR_PAIR_OWN], 0, 0);
        assert_close(log[PR_PAIR_ALL], basket.sums[PR_PAIR_ALL][m->class_of[2]], 0);
        assert_close(basket.sums[PR_PAIR_OWN][m->class_of[2]], 0, 0);
    }
    free(m);
}

/* ---- ratios by hand ---- */

/* Four sessions: both classes in two of them, one of each in one. Two ratios, half and twice. */
static void a_ratio_is_the_posterior_mean(void **state)
{
    (void)state;
    static const int32_t items[] = {0, 1, 0, 1, 0, 1, 2};
    static const int64_t sessions[] = {0, 2, 4, 5, 6, 7};
    uint32_t class_of[] = {0, 1, 2};
    pr_real priors[PR_PAIR_PRIOR] = {0, 0, 0.5, 0, 0, 0, 0.5, 0};
    pr_pair_memory pairs = {3, 2, class_of, priors};
    pr_pair_partners partners = pr_pair_partners_of(&pairs);
    pr_pair_basket basket;
    pr_pair_start(
        &basket,
        &(pr_history){.items = items, .count = 7, .sessions = sessions, .session_count = 5});
    pr_pair_place(&basket, &pairs, &partners, 0);
    /* a = b = 3, both 2, none 1 of 5 sessions; without a lift 9/5 would contain both */
    double l[2], m[2] = {1.05, 2.95}; /* .9 and 3.6, brought inside 1 to 3 */
    for (int i = 0; i < 2; i++)
        l[i] = exp(4.0 / 5 * (2 * log(m[i]) + 2 * log(3 - m[i]) + log(m[i] - 1)));
    double mean = (0.5 * l[0] + 2 * l[1]) / (l[0] + l[1]);
    assert_close(basket.sums[PR_PAIR_OWN][1], log(mean / 1.25), 1e-4);
    const pr_real gates[PR_PAIR_GATES] = {0.5, 0.25};
    assert_close(pr_pair_gate(&basket, gates, PR_PAIR_OWN), 1.75, 1e-6);
    assert_close(pr_pair_gate(&basket, gates, PR_PAIR_ALL), 1, 0);
    basket.distinct = 8;
    assert_close(pr_pair_gate(&basket, gates, PR_PAIR_ALL), 0.5, 1e-6);
    basket.distinct = 1;
    pr_pair_place(&basket, &pairs, &partners, 2); /* an item without a class */
    assert_int_equal(basket.distinct, 1);
}

/* ---- classes ---- */

static void the_deepest_level_that_fits_gives_the_classes(void **state)
{
    shop *s = *state;
    memory *m = calloc(1, sizeof *m);
    count(m, s, 4, 1);
    for (size_t v = 0; v < ITEMS; v++)
        assert_int_equal(m->class_of[v], v / 2); /* 4 is no class */
    count(m, s, 3, 1);
    for (size_t v = 0; v < ITEMS; v++)
        assert_int_equal(m->class_of[v], v < 8 ? v / 4 : 3);
    count(m, s, 1, 1); /* even the top has more */
    for (size_t v = 0; v < ITEMS; v++)
        assert_int_equal(m->class_of[v], 1);
    assert_int_equal(m->personal, 0);
    free(m);
}

/* ---- scores ---- */

/* Every placed item is given what its class adds, once. */
static void score_terms_contain_the_pairs(void **state)
{
    const shop *s = *state;
    static const char *const settings[] = {"dim.user=4", "dim.item=4", "pairs=5", "pull=on", NULL};
    parsrec_error err;
    pr_config config = pr_config_default();
    pr_model *model;
    pr_scorer *scorer;
    for (size_t i = 0; settings[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    shake(model, 0.1);
    assert_ok(pr_scorer_new(&scorer, model, 1, 4, &err));
    pr_start start = {.user = 3, .history = history_of(s, 3)}, stranger = {.user = 3};
    pr_score_terms terms, plain;
    pr_real placed[3], without[3], score;
    static const int32_t basket[] = {1, 6, 0}; /* classes 1, 1 and 0 */
    for (int known = 0; known < 2; known++) {
        pr_scorer_start(scorer, known ? &start : &stranger, 1);
        for (int i = 0; i < 3; i++)
            pr_scorer_place(scorer, &basket[i]);
        assert_true(
            pr_scorer_terms(scorer, 0, 2, known ? &terms : &plain, known ? placed : without));
    }
    pr_scorer_score(scorer, 0, &(int32_t){2}, 1, &score);
    assert_close(terms.network + terms.history + terms.memory + terms.item + placed[0] + placed[1] +
                     placed[2],
                 score, 1e-5);
    assert_true(fabs((double)(placed[0] - without[0])) > 1e-3);
    assert_close(placed[1], without[1], 1e-6);
    assert_true(fabs((double)(placed[2] - without[2])) > 1e-3);
    pr_scorer_free(scorer);
    pr_model_free(model);
}

static void broken_tensors_are_refused(void **state)
{
    (void)state;
    parsrec_error err;
    uint32_t class_of[] = {0, 2};
    pr_real priors[PR_PAIR_PRIOR] = {-1, 0.5, 0.5};
    pr_pair_memory pairs = {2, 2, class_of, priors};
    assert_ok(pr_pairs_verify(&pairs, &err));
    class_of[1] = 3;
    assert_fails(pr_pairs_verify(&pairs, &err), PARSREC_E_FORMAT, "item 1 has a class");
    class_of[1] = 1;
    priors[4] = -1;
    assert_fails(pr_pairs_verify(&pairs, &err), PARSREC_E_FORMAT, "negative");
}

static int open_shop(void **state)
{
    *state = make_shop();
    return *state == NULL;
}

static int close_shop(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_pairs_in_which_users_differ_are_remembered),
        cmocka_unit_test(users_are_told_apart_by_their_own_history),
        cmocka_unit_test(nothing_is_known_without_a_history),
        cmocka_unit_test(a_ratio_is_the_posterior_mean),
        cmocka_unit_test(the_deepest_level_that_fits_gives_the_classes),
        cmocka_unit_test(score_terms_contain_the_pairs),
        cmocka_unit_test(broken_tensors_are_refused),
    };
    return cmocka_run_group_tests(tests, open_shop, close_shop);
}
