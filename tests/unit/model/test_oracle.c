/* model: the oracle's two halves against numbers worked out by hand. */
#include "support/toy_run.h"

#include "model/counting/oracle.h"

static double below(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

static void products_win_as_they_should(void **state)
{
    (void)state;
    double work[200];
    pr_real log_chance[100];
    static const float two[] = {1.5f, 0.25f};
    pr_argmax_chances(log_chance, two, 2, work);
    assert_close(exp((double)log_chance[0]), below(1.25 / sqrt(2)), 1e-7);
    assert_close(exp((double)log_chance[1]), below(-1.25 / sqrt(2)), 1e-7);
    static const float same[] = {-3, -3, -3, -3};
    pr_argmax_chances(log_chance, same, 4, work);
    for (int i = 0; i < 4; i++)
        assert_close(exp((double)log_chance[i]), 0.25, 1e-7);
    float many[100];
    double sum = 0;
    for (int i = 0; i < 100; i++)
        many[i] = (float)i / 7 - 5;
    pr_argmax_chances(log_chance, many, 100, work);
    for (int i = 0; i < 100; i++) {
        sum += exp((double)log_chance[i]);
        assert_true(i == 0 || log_chance[i] >= log_chance[i - 1]);
    }
    assert_close(sum, 1, 1e-6);
    assert_true(isfinite((double)log_chance[0]));
}

static pr_trip trip(int a, int b, int c, uint32_t first)
{
    pr_trip t = {.order = {(uint16_t)a, (uint16_t)b, (uint16_t)c}, .first = first};
    for (int i = 0; i < 3; i++)
        t.filter |= UINT64_C(1) << t.order[i];
    return t;
}

/* Four categories; baskets of two (0.75) or three (0.25) items; two trips in equal parts. */
static const pr_real sizes[PR_SYNTH_BASKET_MOST + 1] = {0, 0, 0.75f, 0.25f};

static void ask(const pr_trip *list, size_t count, int seen, double chance[4])
{
    uint8_t has[4] = {0};
    uint16_t categories[] = {(uint16_t)seen};
    if (seen >= 0)
        has[seen] = 1;
    pr_trips trips = {list, count, 3};
    pr_trips_chances(chance, 4, &trips, &(pr_seen){categories, seen >= 0, has}, sizes);
}

static void categories_follow_the_trips(void **state)
{
    (void)state;
    double chance[4];
    pr_trip list[] = {trip(0, 1, 2, 0), trip(3, 2, 0, 0)};
    /* The first item is any of the basket: 0.75/2 + 0.25/3 in the two first places, 0.25/3 in the
     * third; halved for the two trips. */
    double front = 0.75 / 2 + 0.25 / 3, third = 0.25 / 3;
    ask(list, 2, -1, chance);
    assert_close(chance[0], (front + third) / 2, 1e-7);
    assert_close(chance[1], front / 2, 1e-7);
    assert_close(chance[2], (front + third) / 2, 1e-7);
    assert_close(chance[3], front / 2, 1e-7);
    /* Category 1 is only in the first trip; it is one of 2 or one of 3, the next one of 1 or 2. Trips
     * that lack it count a hundred times less, as few hold it. */
    ask(list, 2, 1, chance);
    double two = 0.75 / (2 * 1), three = 0.25 / (3 * 2);
    double sum = (two + three + three) * 1.01 + 0.01 * (two + three);
    assert_close(chance[1], 0, 0);
    assert_close(chance[0], (two + three + 0.01 * three) / sum, 1e-7);
    assert_close(chance[2], (three + 0.01 * (two + three)) / sum, 1e-7);
    assert_close(chance[3], 0.01 * (two + three) / sum, 1e-7);
}

static void trips_not_made_say_nothing(void **state)
{
    (void)state;
    double chance[4];
    /* The second is made for baskets of three only, the third never. */
    pr_trip list[] = {trip(0, 1, 2, 1), trip(3, 1, 2, 3), trip(3, 1, 2, PR_SYNTH_BASKET_MOST + 1)};
    ask(list, 3, -1, chance);
    double front = 0.75 / 2 + 0.25 / 3, third = 0.25 / 3, sum = 2 * front + 4 * third;
    assert_close(chance[0], front / sum, 1e-7);
    assert_close(chance[1], (front + third) / sum, 1e-7);
    assert_close(chance[2], 2 * third / sum, 1e-7);
    assert_close(chance[3], third / sum, 1e-7);
}

/* Enough trips hold the basket: the others are not asked. */
static void plenty_of_trips_stand_for_themselves(void **state)
{
    (void)state;
    enum { MANY = 400 };
    static pr_trip list[MANY];
    double chance[4];
    for (int i = 0; i < MANY; i++)
        list[i] = i % 2 == 0 ? trip(0, 1, 2, 0) : trip(3, 2, 0, 0);
    ask(list, MANY, 1, chance);
    double two = 0.75 / 2, three = 0.25 / 6;
    assert_close(chance[0], (two + three) / (two + 2 * three), 1e-7);
    assert_close(chance[3], 0, 0);
}

/* ---- the whole ---- */

/* Two users of two groups, two categories of two products. In the first group both categories are
 * independent, in the second they move as one, which makes no difference to baskets of both. */
static const int32_t group[] = {0, 1};
static const double sigma[] = {1, 0, 0, 1, 1, 1, 1, 1}, alpha[] = {-0.5, -0.5};
static const float base_utility[] = {2, 0, 0, 0, /* then the other user */ 0, 0, 0, 3};
static const pr_truth truth = {
    .users = 2,
    .items = 4,
    .groups = 2,
    .categories = 2,
    .products = 2,
    .group = group,
    .sigma = sigma,
    .alpha = alpha,
    .base_utility = base_utility,
    .options = {.users = 2, .sessions = 3, .categories = 2, .products = 2}};

static pr_model *read_truth(const toy_shop *shop, unsigned threads)
{
    parsrec_error err;
    pr_model *model;
    pr_pool *pool;
    pr_config config = pr_config_default();
    assert_ok(pr_pool_new(&pool, threads, &err));
    pr_counted from = {.data = &shop->data, .truth = &truth, .pool = pool};
    assert_ok(
        pr_model_new_bare(&model, "oracle", &config, &(pr_shop){.users = 2, .items = 4}, &err));
    assert_ok(model->kind->count(model, &from, &err));
    pr_pool_free(pool);
    return model;
}

static void scores_are_log_chances(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop = toy_make((toy_sizes){2, 4, 3, 1, 2, 0});
    pr_model *model = read_truth(&shop, 2);
    pr_scorer *session;
    pr_real scores[3 * 4];
    assert_ok(pr_scorer_new(&session, model, 3, 4, &err));
    pr_start starts[3] = {{.user = 0}, {.user = 1}, {.user = PR_ANYONE}};
    pr_scorer_start(session, starts, 3);
    pr_scorer_score_all(session, scores);
    double first = below(2 / sqrt(2)), last = below(3 / sqrt(2));
    assert_close(exp((double)scores[0]), 0.5 * first, 1e-6);
    assert_close(exp((double)scores[1]), 0.5 * (1 - first), 1e-6);
    assert_close(exp((double)scores[2]), 0.25, 1e-6);
    assert_close(exp((double)scores[4 + 3]), 0.5 * last, 1e-6);
    assert_close(exp((double)scores[8 + 0]), 0.5 * (first + 0.5) / 2, 1e-6);
    static const int32_t placed[] = {1, 3, -1};
    pr_scorer_place(session, placed);
    pr_scorer_score_all(session, scores);
    assert_close(exp((double)scores[0]), 0, 1e-20); /* nobody buys twice from a category */
    assert_close(exp((double)scores[2]), 0.5, 1e-6);
    assert_close(exp((double)scores[4]), 0.5, 1e-6);
    assert_close(exp((double)scores[8 + 2]), 0.5 * (1 - last + 0.5) / 2, 1e-6);
    static const int32_t some[] = {3, 0};
    pr_real few[2];
    pr_scorer_score(session, 0, some, 2, few);
    assert_true(few[0] == scores[3] && few[1] == scores[0]);
    pr_scorer_free(session);
    pr_model_free(model);
    toy_free(&shop);
}

static void the_oracle_fits_into_a_file(void **state)
{
    (void)state;
    parsrec_error err;
    toy_shop shop = toy_make((toy_sizes){2, 4, 3, 1, 2, 0});
    pr_model *one = read_truth(&shop, 1), *model = read_truth(&shop, 3);
    assert_memory_equal(one->weights, model->weights, one->params.size * sizeof *one->weights);
    pr_model_file file;
    assert_ok(pr_model_save(model, &shop.data, toy_path("model"), &err));
    assert_ok(pr_model_load(&file, toy_path("model"), &err));
    assert_int_equal(file.model->params.size, model->params.size);
    assert_memory_equal(file.model->weights, model->weights,
                        model->params.size * sizeof *model->weights);
    pr_model_file_free(&file);
    const struct {
        const char *name;
        uint32_t value;
        const char *sentence;
    } damages[] = {{"shape", 0, "sizes"},
                   {"shape", 3, "sizes"},
                   {"user_group", 2, "groups"},
                   {"item_category", 2, "categories"},
                   {"trip", 0, NULL}}; /* a filter may miss something, but points nowhere */
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        uint32_t *word = pr_model_u32(model, damages[i].name), before = *word;
        *word = damages[i].value;
        assert_ok(pr_model_save(model, &shop.data, toy_path("model"), &err));
        *word = before;
        if (damages[i].sentence != NULL)
            assert_fails(pr_model_load(&file, toy_path("model"), &err), PARSREC_E_FORMAT,
                         damages[i].sentence);
        else
            assert_ok(pr_model_load(&file, toy_path("model"), &err));
        pr_model_file_free(&file);
    }
    pr_model_u32(model, "trip")[2] = 2; /* the first category of the first trip */
    assert_ok(pr_model_save(model, &shop.data, toy_path("model"), &err));
    assert_fails(pr_model_load(&file, toy_path("model"), &err), PARSREC_E_FORMAT, "trips");
    pr_model_free(one);
    pr_model_free(model);
    toy_free(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_win_as_they_should),
        cmocka_unit_test(categories_follow_the_trips),
        cmocka_unit_test(trips_not_made_say_nothing),
        cmocka_unit_test(plenty_of_trips_stand_for_themselves),
        cmocka_unit_test(scores_are_log_chances),
        cmocka_unit_test(the_oracle_fits_into_a_file),
    };
    return cmocka_run_group_tests(tests, toy_open_folder, toy_remove_folder);
}
