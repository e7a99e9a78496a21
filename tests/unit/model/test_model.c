/* model: training is the same on any number of threads, allocates nothing, follows the teacher;
 * sessions agree with training and with each other. */
#include "support/shaken.h"

#include "base/memory.h"
#include "model/history.h"
#include "model/parsrec/parsrec_learn.h"
#include "model/trainer.h"
#include "model/user_rows.h"

#include "support/toy_features.h"

enum { USERS = 30, ITEMS = 600, ROWS = 150, LONGEST = 9, PAST = 40 };

/* Baskets of 1..9 items with pasts of 0..40, all drawn once. */
typedef struct shop {
    int32_t items[ROWS][LONGEST], past[ROWS][PAST];
    pr_basket baskets[ROWS];
} shop;

static void fill_shop(shop *s)
{
    pr_rng rng = pr_rng_make(4, 4);
    for (uint32_t r = 0; r < ROWS; r++) {
        pr_stream draw = pr_stream_at(&rng, r, 0, 0);
        size_t size = 1 + pr_stream_below(&draw, LONGEST), past = pr_stream_below(&draw, PAST);
        for (size_t i = 0; i < size; i++) /* no item twice */
            s->items[r][i] = (int32_t)(pr_stream_below(&draw, ITEMS / LONGEST) * LONGEST + i);
        for (size_t i = 0; i < past; i++)
            s->past[r][i] = (int32_t)pr_stream_below(&draw, ITEMS);
        s->baskets[r] = (pr_basket){.user = (int32_t)(r % USERS) - 1, /* a guest among them */
                                    .history = {.items = s->past[r], .count = past},
                                    .items = s->items[r],
                                    .size = size,
                                    .features = toy_features(r % USERS, r)};
    }
}

static pr_config small_config(void)
{
    pr_config c = pr_config_default();
    c.dim_user = 12, c.dim_item = 20;
    return c;
}

static const pr_limits limits = {ROWS, LONGEST, LONGEST, PAST, 0};

/* Three families in a tree, and items without one. */
static const int32_t parents[] = {-1, 0, -1};
static int32_t families[ITEMS];

/* And two columns: colours, which some have none of, and sizes, which are unknown of some. */
static int32_t colours[ITEMS];
static float sizes[ITEMS];
static const pr_feature_column item_features[] = {
    {.name = NULL, .code = colours, .values = {"ab", toy_offsets, 2}},
    {.name = NULL, .number = sizes}};
static const pr_shared_column item_columns[] = {{&item_features[0], 3, 0, 0},
                                                {&item_features[1], 5, 2, 0.5f}};

static pr_category_tree some_tree(void)
{
    for (int32_t v = 0; v < ITEMS; v++) {
        families[v] = v % 4 - 1;
        colours[v] = v % 3 - 1;
        sizes[v] = v % 7 == 0 ? NAN : (float)(v % 5);
    }
    return (pr_category_tree){3, parents, families, item_columns, 2, 6};
}

static double size_of(size_t v)
{
    return v % 7 == 0 ? 0 : ((double)(v % 5) - 2) * 0.5;
}

static pr_model *new_model(const pr_config *config)
{
    parsrec_error err;
    pr_model *model;
    pr_category_tree tree = some_tree();
    assert_ok(
        pr_model_new_bare(&model, "parsrec", config, &(pr_shop){TOY_SHOP(USERS, ITEMS)}, &err));
    assert_ok(pr_model_set_tree(model, &tree, &err));
    assert_ok(pr_model_alloc_weights(model, &err));
    pr_params_fill(&model->params, model->weights, PR_INIT_NORMAL, 1);
    return model;
}

/* Of a user table that ranks divide. */
static void rows_of_some_users_begin_as_those_of_all(void **state)
{
    (void)state;
    parsrec_error err;
    pr_config config = small_config();
    pr_model *all = new_model(&config), *some;
    const pr_param *whole = pr_params_users(&all->params);
    size_t bytes = whole->cols * sizeof *all->weights;
    for (size_t first = 0; first <= USERS; first++) {
        size_t end = first + 2 < USERS ? first + 2 : USERS;
        assert_ok(
            pr_model_new_bare(&some, "parsrec", &config, &(pr_shop){TOY_SHOP(USERS, ITEMS)}, &err));
        pr_params_keep_users(&some->params, first, end);
        pr_category_tree tree = some_tree();
        assert_ok(pr_model_set_tree(some, &tree, &err));
        assert_ok(pr_model_alloc_weights(some, &err));
        pr_params_fill(&some->params, some->weights, PR_INIT_NORMAL, 1);
        const pr_param *users = pr_params_users(&some->params);
        assert_int_equal(users->rows, end - first + 1);
        assert_int_equal(pr_param_all_rows(users), USERS + 1);
        assert_int_equal(users->at, whole->at);
        assert_memory_equal(some->weights, all->weights, whole->at * sizeof *all->weights);
        for (size_t u = 0; u <= USERS; u++) {
            size_t here = pr_param_row_here(users, u);
            assert_int_equal(here != PR_ROW_ELSEWHERE, (u >= first && u < end) || u == USERS);
            if (here != PR_ROW_ELSEWHERE)
                assert_memory_equal(some->weights + users->at + here * users->cols,
                                    pr_user_row(all, u), bytes);
        }
        pr_model_free(some);
    }
    pr_model_free(all);
}

/* A few batches on some threads; returns the model. */
static pr_model *trained(const pr_config *config, unsigned threads, size_t batches, double *loss)
{
    static shop s;
    parsrec_error err;
    pr_model *model = new_model(config);
    pr_pool *pool;
    pr_trainer *trainer;
    fill_shop(&s);
    assert_ok(pr_pool_new(&pool, threads, &err));
    assert_ok(pr_trainer_new(&trainer, model, pool, &limits, 9, &err));
    size_t before = pr_memory_count();
    for (uint32_t i = 0; i < batches; i++) {
        pr_batch batch = {.baskets = s.baskets, .rows = ROWS - i, .number = i};
        pr_batch_result result;
        assert_ok(pr_trainer_learn(trainer, &batch, &result, &err));
        *loss = result.loss * (double)batch.rows / (double)result.items;
    }
    assert_int_equal(pr_memory_count(), before); /* a step allocates nothing */
    pr_trainer_free(trainer);
    pr_pool_free(pool);
    return model;
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    for (int optimiser = PR_ADAM; optimiser <= PR_SGD; optimiser++) {
        pr_config config = small_config();
        config.optimiser = optimiser;
        config.cell = optimiser == PR_ADAM ? PR_CELL_LSTM : PR_CELL_GRU;
        config.pull = config.recall = config.neighbours = config.kin = optimiser == PR_ADAM;
        config.features_user = config.features_session = optimiser == PR_ADAM;
        double loss;
        pr_model *one = trained(&config, 1, 4, &loss);
        for (unsigned threads = 2; threads <= 3; threads++) {
            pr_model *more = trained(&config, threads, 4, &loss);
            assert_memory_equal(more->weights, one->weights,
                                one->params.size * sizeof *one->weights);
            pr_model_free(more);
        }
        pr_model_free(one);
    }
}

static void training_lowers_the_loss(void **state)
{
    (void)state;
    pr_config config = small_config();
    config.rate = 0.01;
    double first, last;
    pr_model_free(trained(&config, 1, 1, &first));
    pr_model_free(trained(&config, 1, 60, &last));
    assert_close(first, log(ITEMS), 0.1);
    assert_true(last < first - 0.5);
}

/* One step of plain descent: a row moves by its own gradient and by those of all items that share a category. */
static void kin_learn_together(void **state)
{
    (void)state;
    static shop s;
    parsrec_error err;
    pr_config config = small_config();
    config.optimiser = PR_SGD, config.clip = 0, config.rate = 1, config.kin = config.pull = 1;
    pr_model *model = new_model(&config);
    pr_pool *pool;
    pr_trainer *trainer;
    pr_batch_result result;
    fill_shop(&s);
    assert_ok(pr_pool_new(&pool, 2, &err));
    assert_ok(pr_trainer_new(&trainer, model, pool, &limits, 9, &err));
    pr_batch batch = {.baskets = s.baskets, .rows = ROWS, .number = 1};
    assert_ok(pr_trainer_gradient(trainer, &batch, &result, &err));
    const pr_param *p = pr_params_find(&model->params, "pull_emb");
    pr_real *before = zeros(ITEMS * p->cols), *g = pr_trainer_gradients(trainer) + p->at;
    double sum[6] = {0}; /* of column 2, by family, colour and size */
    memcpy(before, model->weights + p->at, ITEMS * p->cols * sizeof *before);
    for (size_t v = 0; v < ITEMS; v++) {
        for (int32_t f = families[v]; f >= 0; f = parents[f])
            sum[f] += (double)g[v * p->cols + 2];
        if (colours[v] >= 0)
            sum[3 + colours[v]] += (double)g[v * p->cols + 2];
        sum[5] += size_of(v) * (double)g[v * p->cols + 2];
    }
    assert_ok(pr_trainer_update(trainer, &result, &err));
    for (size_t v = 0; v < ITEMS; v++) {
        size_t at = v * p->cols + 2;
        double step = (double)g[at];
        for (int32_t f = families[v]; f >= 0; f = parents[f])
            step += sum[f];
        step += colours[v] >= 0 ? sum[3 + colours[v]] : 0;
        step += size_of(v) * sum[5];
        assert_close(model->weights[p->at + at], (double)before[at] - config.rate * step, 1e-6);
    }
    assert_true(fabs(sum[0]) > 1e-3 && fabs(sum[1]) > 1e-3 &&
                fabs(sum[5]) > 1e-4); /* or nothing was seen */
    free(before);
    pr_trainer_free(trainer);
    pr_pool_free(pool);
    pr_model_free(model);
}

static void long_baskets_are_cut_and_divergence_is_told(void **state)
{
    (void)state;
    static shop s;
    parsrec_error err;
    pr_model *model;
    pr_pool *pool;
    pr_trainer *trainer;
    pr_batch_result result;
    pr_config config = small_config();
    config.steps = 3;
    fill_shop(&s);
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    assert_ok(pr_pool_new(&pool, 1, &err));
    assert_ok(pr_trainer_new(&trainer, model, pool, &limits, 9, &err));
    uint64_t expected = 0;
    for (size_t r = 0; r < ROWS; r++)
        expected += s.baskets[r].size < 3 ? s.baskets[r].size : 3;
    pr_batch batch = {.baskets = s.baskets, .rows = ROWS, .number = 7};
    assert_ok(pr_trainer_gradient(trainer, &batch, &result, &err));
    assert_int_equal(result.items, expected);
    pr_real before = model->weights[5];
    model->weights[0] = NAN;
    assert_fails(pr_trainer_learn(trainer, &batch, &result, &err), PARSREC_E_DIVERGED, "batch 7");
    assert_true(model->weights[5] == before);
    batch.rows = ROWS + 1;
    assert_fails(pr_trainer_learn(trainer, &batch, &result, &err), PARSREC_E_LIMIT, "fit");
    pr_trainer_free(trainer);
    pr_pool_free(pool);
    pr_model_free(model);
}

static void teacher_takes_the_winner_or_draws_evenly(void **state)
{
    (void)state;
    int32_t left[4], items[4] = {3, 9, 4, 7};
    size_t count[1], drawn[10] = {0};
    pr_arnn_teacher t = {left, count, 4, pr_rng_make(1, 1)};
    pr_basket basket = {.items = items, .size = 4};
    pr_arnn_teacher_begin(&t, 0, &basket);
    uint32_t place[3] = {0, 0, 0};
    assert_int_equal(pr_arnn_teacher_choose(&t, 0, 4, PR_CHOOSE_WINNER_OR_ANY, place), 4);
    int32_t second =
        pr_arnn_teacher_choose(&t, 0, 4, PR_CHOOSE_WINNER_OR_ANY, place); /* no longer left */
    assert_true(second == 3 || second == 9 || second == 7);
    for (place[0] = 0; place[0] < 4000; place[0]++) {
        pr_arnn_teacher_begin(&t, 0, &basket);
        drawn[pr_arnn_teacher_choose(&t, 0, 5, PR_CHOOSE_WINNER_OR_ANY, place)]++;
    }
    for (size_t i = 0; i < 4; i++)
        assert_close((double)drawn[items[i]], 1000, 100);
    pr_arnn_teacher_begin(&t, 0, &basket);
    assert_int_equal(pr_arnn_teacher_choose(&t, 0, 5, PR_CHOOSE_WINNER_OR_FIRST, place), 3);
    assert_int_equal(pr_arnn_teacher_choose(&t, 0, 7, PR_CHOOSE_WINNER_OR_FIRST, place), 7);
    assert_int_equal(pr_arnn_teacher_choose(&t, 0, 3, PR_CHOOSE_WINNER_OR_FIRST, place), 9);
    memset(drawn, 0, sizeof drawn);
    for (place[0] = 0; place[0] < 4000; place[0]++) {
        pr_arnn_teacher_begin(&t, 0, &basket);
        pr_arnn_teacher_cut(&t, 0, 3, false, place);
        assert_int_equal(count[0], 3);
        for (size_t i = 0; i < 3; i++)
            drawn[left[i]]++;
    }
    for (size_t i = 0; i < 4; i++)
        assert_close((double)drawn[items[i]], 3000, 100);
    memset(drawn, 0, sizeof drawn);
    for (place[0] = 0; place[0] < 4000; place[0]++) {
        pr_arnn_teacher_begin(&t, 0, &basket);
        pr_arnn_teacher_cut(&t, 0, 2, true, place);
        assert_int_equal(count[0], 2);
        size_t from = 0;
        while (items[from] != left[0])
            from++;
        assert_int_equal(left[1], items[from + 1]);
        drawn[from]++;
    }
    for (size_t i = 0; i < 3; i++)
        assert_close((double)drawn[i], 4000 / 3.0, 100);
    pr_arnn_teacher_begin(&t, 0, &basket);
    pr_arnn_teacher_cut(&t, 0, 4, false, place);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pr_arnn_teacher_choose(&t, 0, 7, PR_CHOOSE_FIRST, place), items[i]);
}

static void histories_weigh_as_asked(void **state)
{
    (void)state;
    int32_t list[] = {5, 2, 5, 8, 2}, items[5], slots[10] = {0};
    int64_t sessions[] = {100, 103, 105};
    pr_real w[5];
    pr_history h = {.items = list, .count = 5, .sessions = sessions, .session_count = 2};
    pr_config c = pr_config_default();
    assert_int_equal(pr_history_bag(items, w, slots, &h, &c), 3);
    assert_true(items[0] == 5 && items[1] == 2 && items[2] == 8);
    assert_close(w[0], 0.4, 1e-6);
    assert_close(w[2], 0.2, 1e-6);
    c.history = PR_HISTORY_SUM;
    pr_history_bag(items, w, slots, &h, &c);
    assert_close(w[1], 2, 0);
    c.history = PR_HISTORY_DECAYED, c.history_decay = 0.5; /* 3 items of .5, 2 of 1 */
    pr_history_bag(items, w, slots, &h, &c);
    assert_close(w[0], 1 / 3.5, 1e-6);
    assert_close(w[1], 1.5 / 3.5, 1e-6);
    c.history_length = 3; /* 5 of the first session is left of it */
    assert_int_equal(pr_history_bag(items, w, slots, &h, &c), 3);
    assert_close(w[0], 0.5 / 2.5, 1e-6);
    h.count = 0, h.session_count = 0;
    assert_int_equal(pr_history_bag(items, w, slots, &h, &c), 0);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(slots[i], 0);
}

static void pasts_are_recalled_by_number_and_age(void **state)
{
    (void)state;
    int32_t list[] = {5, 2, 5, 8, 2, 7, 2}, items[4], slots[10] = {0};
    int64_t sessions[] = {100, 102, 105, 107}; /* 5 2 | 5 8 2 | 7 2 */
    pr_real f[4][PR_REPEAT_FEATURES];
    pr_history h = {.items = list, .count = 7, .sessions = sessions, .session_count = 3};
    assert_int_equal(pr_repeat_features(items, f, NULL, slots, &h, 0.5, NULL, NULL), 4);
    assert_true(items[0] == 7 && items[1] == 2 && items[2] == 5 && items[3] == 8);
    assert_close(f[1][PR_REPEAT_COUNT], log(1 + 3), 1e-6);
    assert_close(f[1][PR_REPEAT_RECENT], log(1 + 1 + 0.5 + 0.25), 1e-6);
    assert_close(f[2][PR_REPEAT_RECENT], log(1 + 0.5 + 0.25), 1e-6);
    assert_close(f[3][PR_REPEAT_COUNT], log(1 + 1), 1e-6);
    assert_close(f[3][PR_REPEAT_HAD], 1, 0);
    assert_close(f[0][PR_REPEAT_SESSIONS], log(1 + 3), 1e-6);
    /* With dates: day 0, 10 and 40, asked on day 50; everybody buys every 20 days. */
    const int64_t times[] = {1000000, 1000000 + 10 * 86400, 1000000 + 40 * 86400};
    pr_real everybody[10];
    for (size_t i = 0; i < 10; i++)
        everybody[i] = 20;
    h.times = times;
    h.now = 1000000 + 50 * 86400;
    assert_int_equal(pr_repeat_features(items, f, NULL, slots, &h, 0.5, NULL, everybody), 4);
    assert_close(f[1][PR_REPEAT_AGE], log(1 + 10), 1e-6); /* item 2: three times in 40 days */
    assert_close(f[1][PR_REPEAT_EARLY], log(10.5 / ((40 + 2 * 20) / 4. + 0.5)), 1e-6);
    assert_close(f[1][PR_REPEAT_LATE], 0, 0);
    assert_close(f[2][PR_REPEAT_AGE], log(1 + 40), 1e-6); /* item 8 once, or 5 twice in 10 days */
    assert_true(f[2][PR_REPEAT_LATE] > 0 && f[2][PR_REPEAT_EARLY] == 0);
    h.now = PR_NO_TIME; /* expected back after 20 days, the mean interval: day 60 */
    assert_int_equal(pr_repeat_features(items, f, NULL, slots, &h, 0.5, NULL, everybody), 4);
    assert_close(f[1][PR_REPEAT_AGE], log(1 + 20), 1e-6);
    h.times = NULL; /* not known: every item is due */
    assert_int_equal(pr_repeat_features(items, f, NULL, slots, &h, 0.5, NULL, everybody), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_close(f[i][PR_REPEAT_AGE], log(1 + 20), 1e-6);
        assert_true(f[i][PR_REPEAT_EARLY] == 0 && f[i][PR_REPEAT_LATE] == 0);
    }
    h = (pr_history){.items = list, .count = 3}; /* one age */
    assert_int_equal(pr_repeat_features(items, f, NULL, slots, &h, 0.5, NULL, NULL), 2);
    assert_close(f[0][PR_REPEAT_RECENT], log(1 + 2), 1e-6);
    assert_close(f[0][PR_REPEAT_SESSIONS], log(1 + 1), 1e-6);
    h.count = 0;
    assert_int_equal(pr_repeat_features(items, f, NULL, slots, &h, 0.5, NULL, NULL), 0);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(slots[i], 0);
}

static bool placed_before(const pr_basket *basket, size_t j, size_t v)
{
    for (size_t i = 0; i < j && i < basket->size; i++)
        if ((size_t)basket->items[i] == v)
            return true;
    return false;
}

/* Loss of the batch from session scores: what training computes, seen from the other side. */
static double loss_by_sessions(const pr_model *model, const pr_basket *baskets, size_t rows)
{
    parsrec_error err;
    pr_scorer *session;
    pr_real *scores = zeros(ROWS * ITEMS);
    pr_start starts[ROWS];
    double loss = 0;
    assert_ok(pr_scorer_new(&session, model, rows, LONGEST, &err));
    for (size_t r = 0; r < rows; r++)
        starts[r] = (pr_start){.user = baskets[r].user,
                               .history = baskets[r].history,
                               .features = baskets[r].features};
    pr_scorer_start(session, starts, rows);
    for (size_t j = 0; j < LONGEST; j++) {
        int32_t next[ROWS];
        pr_scorer_score_all(session, scores);
        for (size_t r = 0; r < rows; r++) {
            next[r] = j + 1 < baskets[r].size ? baskets[r].items[j] : -1;
            double sum = 0;
            for (size_t v = 0; v < ITEMS; v++)
                if (!model->config.unique || !placed_before(&baskets[r], j, v))
                    sum += exp((double)scores[r * ITEMS + v]);
            if (j < baskets[r].size)
                loss += log(sum) - (double)scores[r * ITEMS + (size_t)baskets[r].items[j]];
        }
        pr_scorer_place(session, next);
    }
    free(scores);
    pr_scorer_free(session);
    return loss / (double)rows;
}

static void sessions_compute_what_training_does(void **state)
{
    (void)state;
    static shop s;
    static const char *const variants[] = {
        "layers=1",  "layers=2",         "stack=paper",         "ffn=pre",
        "ffn=post",  "bias=on",          "unique=on",           "pull=on",
        "past=on",   "recall=on",        "neighbours=3",        "cell=gru",
        "cell=lstm", "features.user=on", "features.session=on", "pairs=9"};
    parsrec_error err;
    fill_shop(&s);
    pr_config config = small_config();
    config.dropout_user = config.dropout_history = config.dropout_keys = config.anyone = 0;
    config.dropout_output = PR_DROP_NONE;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        pr_model *model;
        pr_pool *pool;
        pr_trainer *trainer;
        pr_batch_result result;
        assert_ok(pr_config_assign(&config, variants[i], &err));
        model = new_model(&config);
        shake(model, 0.1);
        assert_ok(pr_pool_new(&pool, 1, &err));
        assert_ok(pr_trainer_new(&trainer, model, pool, &limits, 9, &err));
        pr_batch batch = {.baskets = s.baskets, .rows = ROWS, .in_order = true};
        assert_ok(pr_trainer_gradient(trainer, &batch, &result, &err));
        assert_close(loss_by_sessions(model, s.baskets, ROWS), result.loss, 1e-4 * result.loss);
        pr_trainer_free(trainer);
        pr_pool_free(pool);
        pr_model_free(model);
    }
}

static void rows_do_not_touch_each_other(void **state)
{
    static shop s;
    parsrec_error err;
    pr_model *model;
    pr_scorer *three, *one;
    pr_config config = small_config();
    config.bias = config.pull = config.past = config.recall = config.neighbours = 1;
    config.cell = *(const int *)*state;
    fill_shop(&s);
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    shake(model, 0.1);
    assert_ok(pr_scorer_new(&three, model, 3, 4, &err));
    assert_ok(pr_scorer_new(&one, model, 1, 4, &err));
    pr_start starts[3] = {{.user = 3, .history = s.baskets[0].history},
                          {.user = PR_ANYONE},
                          {.user = 5, .history = s.baskets[1].history}};
    pr_scorer_start(three, starts, 3);
    pr_scorer_start(one, starts + 2, 1);
    pr_scorer_place(three, (int32_t[]){7, -1, 1});
    pr_scorer_place(three, (int32_t[]){-1, -1, 2});
    pr_scorer_place(one, (int32_t[]){1});
    pr_scorer_place(one, (int32_t[]){2});
    int32_t some[3] = {0, 599, 44};
    pr_real a[3], b[3], weights[4], *all = zeros(3 * ITEMS);
    pr_scorer_score(three, 2, some, 3, a);
    pr_scorer_score(one, 0, some, 3, b);
    pr_scorer_score_all(three, all);
    for (size_t i = 0; i < 3; i++) {
        assert_close(a[i], b[i], 1e-5);
        assert_close(all[2 * ITEMS + (size_t)some[i]], b[i], 1e-5);
    }
    assert_int_equal(pr_scorer_attention(three, 1, weights), 0);
    assert_int_equal(pr_scorer_attention(three, 0, weights), 1);
    assert_int_equal(pr_scorer_attention(three, 2, weights), 2);
    assert_close(weights[0] + weights[1], 1, 1e-5);
    free(all);
    pr_scorer_free(three);
    pr_scorer_free(one);
    pr_model_free(model);
}

/* All parts add up to the score, and those that are plain products are what the tables say. */
static void parts_add_up(void **state)
{
    (void)state;
    static shop s;
    parsrec_error err;
    pr_config config = small_config();
    pr_model *model;
    pr_scorer *session;
    pr_score_terms parts;
    pr_real placed[4], score;
    int32_t item = 44;
    fill_shop(&s);
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    assert_ok(pr_scorer_new(&session, model, 1, 4, &err));
    pr_scorer_start(session, &(pr_start){.user = 3}, 1);
    assert_false(pr_scorer_terms(session, 0, item, &parts, placed)); /* the paper's has none */
    pr_scorer_free(session);
    pr_model_free(model);
    config.bias = config.pull = config.past = config.recall = config.neighbours = 1;
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    shake(model, 0.1);
    assert_ok(pr_scorer_new(&session, model, 1, 4, &err));
    pr_scorer_start(session, &(pr_start){.user = 3, .history = s.baskets[0].history}, 1);
    pr_scorer_place(session, (int32_t[]){7});
    pr_scorer_place(session, (int32_t[]){1});
    assert_true(pr_scorer_terms(session, 0, item, &parts, placed));
    pr_scorer_score(session, 0, &item, 1, &score);
    assert_close(parts.network + parts.history + parts.memory + parts.item + placed[0] + placed[1],
                 score, 1e-5);
    assert_close(parts.item, pr_model_reals(model, "bias")[item], 0);
    size_t dv = (size_t)config.dim_item, du = (size_t)config.dim_user;
    const pr_real *e = pr_model_reals(model, "item_emb") + (size_t)item * dv;
    const pr_real *pull = pr_model_reals(model, "pull_emb") + 7 * dv;
    const pr_real *w = pr_model_reals(model, "pull.user_w");
    const pr_real *u = pr_model_reals(model, "user_emb") + 3 * du;
    double sum = 0;
    for (size_t i = 0; i < dv; i++) {
        double scale = 1;
        for (size_t k = 0; k < du; k++)
            scale += (double)w[i * du + k] * (double)u[k];
        sum += scale * (double)pull[i] * (double)e[i];
    }
    assert_close(placed[0], sum, 1e-6);
    assert_true(fabs((double)parts.network) > 1e-3 && fabs((double)parts.history) > 1e-4);
    assert_true(fabs((double)parts.memory) > 1e-3);
    pr_scorer_free(session);
    pr_model_free(model);
}

/* Of a list the item placed last also says what follows it, and those before it pull less and less. */
static void parts_of_a_list_add_up(void **state)
{
    (void)state;
    parsrec_error err;
    pr_config config = small_config();
    pr_model *model;
    pr_scorer *session;
    pr_score_terms parts;
    pr_real placed[2][4], score;
    int32_t item = 44;
    config.pull = 1, config.pull_fade = 0.5, config.order = PR_ORDER_STORED;
    assert_ok(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, &err));
    shake(model, 0.1);
    assert_ok(pr_scorer_new(&session, model, 1, 4, &err));
    pr_scorer_start(session, &(pr_start){.user = 3}, 1);
    pr_scorer_place(session, (int32_t[]){7});
    for (int i = 0; i < 2; i++) {
        pr_scorer_place(session, (int32_t[]){1 + i});
        assert_true(pr_scorer_terms(session, 0, item, &parts, placed[i]));
    }
    pr_scorer_score(session, 0, &item, 1, &score);
    assert_close(parts.network + placed[1][0] + placed[1][1] + placed[1][2], score, 1e-5);
    assert_true(fabs((double)placed[0][0]) > 1e-3);
    assert_close(placed[1][0], 0.5 * (double)placed[0][0], 1e-6);
    size_t dv = (size_t)config.dim_item;
    const pr_real *e = pr_model_reals(model, "item_emb") + (size_t)item * dv;
    const pr_real *follow = pr_model_reals(model, "follow_emb") + 2 * dv;
    const pr_real *pull = pr_model_reals(model, "pull_emb") + 2 * dv;
    const pr_real *w = pr_model_reals(model, "pull.user_w");
    const pr_real *u = pr_model_reals(model, "user_emb") + 3 * (size_t)config.dim_user;
    double sum = 0;
    for (size_t i = 0; i < dv; i++) {
        double scale = 1;
        for (size_t k = 0; k < (size_t)config.dim_user; k++)
            scale += (double)w[i * (size_t)config.dim_user + k] * (double)u[k];
        sum += (scale * (double)pull[i] + (double)follow[i]) * (double)e[i];
    }
    assert_close(placed[1][2], sum, 1e-6);
    pr_scorer_free(session);
    pr_model_free(model);
}

static parsrec_status make_all(parsrec_error *err)
{
    static shop s;
    pr_config config = small_config();
    pr_model *model = NULL;
    pr_pool *pool = NULL;
    pr_trainer *trainer = NULL;
    pr_scorer *session = NULL;
    parsrec_status status;
    fill_shop(&s);
    PR_TRY_GOTO(pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 1, err));
    PR_TRY_GOTO(pr_pool_new(&pool, 1, err));
    PR_TRY_GOTO(pr_trainer_new(&trainer, model, pool, &limits, 9, err));
    PR_TRY_GOTO(pr_scorer_new(&session, model, 2, 4, err));
done:
    pr_scorer_free(session);
    pr_trainer_free(trainer);
    pr_pool_free(pool);
    pr_model_free(model);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    parsrec_error err;
    size_t failures = 0;
    for (;; failures++) {
        pr_memory_fail_after(failures);
        parsrec_status status = make_all(&err);
        pr_memory_fail_after(SIZE_MAX);
        if (status == PARSREC_OK)
            break;
        assert_int_equal(status, PARSREC_E_MEMORY);
    }
    assert_true(failures > 15);
    pr_config config = small_config();
    pr_model *model;
    assert_fails(pr_model_new(&model, "oracle9", &config, 1, 1, 1, &err), PARSREC_E_ARGUMENT,
                 "no model 'oracle9'");
    assert_fails(pr_model_new(&model, "parsrec", &config, 1, 0, 1, &err), PARSREC_E_ARGUMENT,
                 "0 items");
}

int main(void)
{
    static int cells[] = {PR_CELL_RNN, PR_CELL_GRU, PR_CELL_LSTM};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_some_users_begin_as_those_of_all),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(training_lowers_the_loss),
        cmocka_unit_test(long_baskets_are_cut_and_divergence_is_told),
        cmocka_unit_test(teacher_takes_the_winner_or_draws_evenly),
        cmocka_unit_test(histories_weigh_as_asked),
        cmocka_unit_test(kin_learn_together),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(parts_of_a_list_add_up),
        cmocka_unit_test(pasts_are_recalled_by_number_and_age),
        cmocka_unit_test(sessions_compute_what_training_does),
        cmocka_unit_test_prestate(rows_do_not_touch_each_other, &cells[0]),
        cmocka_unit_test_prestate(rows_do_not_touch_each_other, &cells[1]),
        cmocka_unit_test_prestate(rows_do_not_touch_each_other, &cells[2]),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
