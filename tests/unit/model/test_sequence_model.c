/* model: sequence models. Sessions compute what training does, see a window of the newest items and
 * nothing else; masks and wrong items are drawn as they should be. */
#include "support/numbers.h"

#include "model/trainer.h"

enum { USERS = 5, ITEMS = 40, LENGTH = 6, LIVED = 20 };

static const char *const kinds[] = {"sasrec", "bert4rec", "tisasrec"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Lives of users, oldest item first. */
static int32_t lived[USERS][LIVED];

static int draw_lives(void **state)
{
    (void)state;
    pr_rng rng = pr_rng_make(3, 3);
    for (uint32_t u = 0; u < USERS; u++) {
        pr_stream draw = pr_stream_at(&rng, u, 0, 0);
        for (size_t i = 0; i < LIVED; i++)
            lived[u][i] = (int32_t)pr_stream_below(&draw, ITEMS);
    }
    return 0;
}

/* Small, without dropout; `settings` ends with NULL. */
static pr_model *make_model(const char *kind, const char *const *settings)
{
    static const char *const small[] = {"dim.item=8",          "length=6",
                                        "ffn.width=2",         "dropout.hidden=0",
                                        "dropout.attention=0", "separator=off"};
    parsrec_error err;
    pr_config config;
    pr_model *model;
    assert_ok(pr_model_defaults(&config, kind, &err));
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        assert_ok(pr_config_assign(&config, small[i], &err));
    for (size_t i = 0; settings != NULL && settings[i] != NULL; i++)
        assert_ok(pr_config_assign(&config, settings[i], &err));
    assert_ok(pr_model_new(&model, kind, &config, USERS, ITEMS, 1, &err));
    pr_real *more = numbers(model->params.size, 0.3, 7); /* biases are not zero, positions matter */
    for (size_t i = 0; i < model->params.size; i++)
        model->weights[i] += more[i];
    free(more);
    return model;
}

/* ---- scores ---- */

static pr_history past_of(const int32_t *items, size_t count)
{
    return (pr_history){.items = items, .count = count};
}

/* Scores after a history alone. */
static void score_past(const pr_model *model, pr_history past, pr_real *scores)
{
    parsrec_error err;
    pr_scorer *session;
    pr_start start = {.user = PR_ANYONE, .history = past};
    assert_ok(pr_scorer_new(&session, model, 1, 1, &err));
    pr_scorer_start(session, &start, 1);
    pr_scorer_score_all(session, scores);
    pr_scorer_free(session);
}

/* Cross entropy of `target` after a history. */
static double loss_after(const pr_model *model, pr_history past, int32_t target)
{
    pr_real scores[ITEMS];
    double sum = 0;
    score_past(model, past, scores);
    for (size_t v = 0; v < ITEMS; v++)
        sum += exp((double)scores[v]);
    return log(sum) - (double)scores[target];
}

/* The same weights for a shorter window. */
static pr_model *shorter_model(const pr_model *model, size_t length)
{
    char setting[32];
    snprintf(setting, sizeof setting, "length=%zu", length);
    pr_model *shorter = make_model(model->kind->name, (const char *const[]){setting, NULL});
    for (size_t i = 0; i < model->params.count; i++) {
        const pr_param *from = &model->params.list[i], *to = &shorter->params.list[i];
        assert_string_equal(from->name, to->name);
        memcpy(shorter->weights + to->at, model->weights + from->at,
               pr_param_size(to) * sizeof(pr_real));
    }
    return shorter;
}

/* Scores after items that are not a user's first ones: SASRec sees no start row before them, as where
 * they fill the window of a model. */
static void score_cut(const pr_model *model, pr_history past, pr_real *scores)
{
    pr_model *shorter = shorter_model(model, past.count);
    score_past(shorter, past, scores);
    pr_model_free(shorter);
}

/* ---- training ---- */

typedef struct learner {
    pr_model *model;
    pr_pool *pool;
    pr_trainer *trainer;
} learner;

static learner learner_of(pr_model *model)
{
    parsrec_error err;
    learner l = {.model = model};
    pr_limits limits = {
        .rows = USERS, .steps = pr_model_steps(model), .basket = LIVED, .history = LIVED};
    assert_ok(pr_pool_new(&l.pool, 1, &err));
    assert_ok(pr_trainer_new(&l.trainer, model, l.pool, &limits, 9, &err));
    return l;
}

static void learner_free(learner *l)
{
    pr_trainer_free(l->trainer);
    pr_pool_free(l->pool);
    pr_model_free(l->model);
}

static pr_batch_result gradient(learner *l, const pr_basket *baskets, size_t rows, uint32_t number)
{
    parsrec_error err;
    pr_batch_result result;
    pr_batch batch = {.baskets = baskets, .rows = rows, .number = number};
    assert_ok(pr_trainer_gradient(l->trainer, &batch, &result, &err));
    return result;
}

/* User u's items from `begin` to `end` as what is learnt from, those before as history. */
static pr_basket sample(size_t u, size_t begin, size_t end)
{
    return (pr_basket){.user = (int32_t)u,
                       .history = past_of(lived[u], begin),
                       .items = lived[u] + begin,
                       .size = end - begin};
}

/* ---- sessions against training ---- */

static void sasrec_scores_whole_sequences_as_it_learns_them(void **state)
{
    (void)state;
    pr_model *model = make_model("sasrec", NULL);
    learner l = learner_of(model);
    const pr_basket baskets[] = {sample(0, 0, 3), sample(1, 0, LENGTH), sample(2, 0, 1)};
    double expected = 0;
    size_t targets = 0;
    for (size_t r = 0; r < 3; r++)
        for (size_t i = 0; i < baskets[r].size; i++, targets++)
            expected += loss_after(model, past_of(baskets[r].items, i), baskets[r].items[i]);
    pr_batch_result result = gradient(&l, baskets, 3, 0);
    assert_int_equal(result.items, targets);
    assert_close(result.total, expected, 1e-5 * expected);
    assert_close(result.loss, expected / (double)targets, 1e-5);
    learner_free(&l);
}

/* A sequence cut out of a longer life has no start row. At its position p training sees p + 1 items,
 * which is what a session sees whose window is no longer than that. */
static void sasrec_scores_cut_sequences_as_it_learns_them(void **state)
{
    (void)state;
    pr_model *model = make_model("sasrec", NULL);
    learner l = learner_of(model);
    const pr_basket cut = sample(3, 5, 5 + LENGTH + 1);
    double expected = 0;
    for (size_t p = 0; p < LENGTH; p++) {
        pr_model *shorter = shorter_model(model, p + 1);
        expected += loss_after(shorter, past_of(cut.items, p + 1), cut.items[p + 1]);
        pr_model_free(shorter);
    }
    pr_batch_result result = gradient(&l, &cut, 1, 0);
    assert_int_equal(result.items, LENGTH);
    assert_close(result.total, expected, 1e-5 * expected);
    learner_free(&l);
}

static void bert4rec_scores_the_end_as_it_learns_it(void **state)
{
    (void)state;
    pr_model *model = make_model("bert4rec", (const char *const[]){"mask.last=1", NULL});
    learner l = learner_of(model);
    const pr_basket baskets[] = {sample(0, 0, 4), sample(1, 0, LENGTH),
                                 sample(2, 7, 7 + LENGTH + 1), sample(4, 0, 1)};
    double expected = 0;
    size_t tokens = 0;
    for (size_t r = 0; r < 4; r++) {
        size_t n = baskets[r].size;
        expected += loss_after(model, past_of(baskets[r].items, n - 1), baskets[r].items[n - 1]);
        tokens += n < LENGTH ? n : LENGTH;
    }
    pr_batch_result result = gradient(&l, baskets, 4, 0);
    assert_int_equal(result.items, 4);
    assert_close(result.total, expected, 1e-5 * expected);
    assert_close(result.loss, expected / ((double)tokens * model->config.mask), 1e-5 * expected);
    learner_free(&l);
}

static void assert_scores(const pr_real *actual, const pr_real *expected, const char *what)
{
    assert_all_close(actual, expected, ITEMS, 1e-5, what);
}

static bool differ(const pr_real *a, const pr_real *b)
{
    for (size_t v = 0; v < ITEMS; v++)
        if (fabs((double)(a[v] - b[v])) > 1e-3)
            return true;
    return false;
}

/* ---- sessions that are separated ---- */

static const int64_t breaks[] = {0, 2, 2, 3, 6, 9, 12}; /* the second session is empty */
enum { SESSIONS = 6 };
static const int64_t days[SESSIONS + 1] = {100, 100, 107, 109, 140, 150, 151};
static const int64_t *dates; /* when these sessions were, or NULL */

/* The sessions of user u before session s. */
static pr_history sessions_before(size_t u, size_t s)
{
    return (pr_history){.items = lived[u],
                        .count = (size_t)breaks[s],
                        .sessions = breaks,
                        .session_count = s,
                        .times = dates,
                        .now = dates != NULL ? dates[s] : PR_NO_TIME};
}

/* Cross entropy of item i of user u: what came before its session is history, the rest is placed. */
static double loss_in_session(const pr_model *model, size_t u, size_t i)
{
    parsrec_error err;
    pr_scorer *session;
    pr_real scores[ITEMS];
    double sum = 0;
    size_t s = 0;
    while ((size_t)breaks[s + 1] <= i)
        s++;
    pr_start start = {.user = PR_ANYONE, .history = sessions_before(u, s)};
    assert_ok(pr_scorer_new(&session, model, 1, LIVED, &err));
    pr_scorer_start(session, &start, 1);
    for (size_t k = (size_t)breaks[s]; k < i; k++)
        pr_scorer_place(session, &lived[u][k]);
    pr_scorer_score_all(session, scores);
    pr_scorer_free(session);
    for (size_t v = 0; v < ITEMS; v++)
        sum += exp((double)scores[v]);
    return log(sum) - (double)scores[lived[u][i]];
}

/* The first `end` items of user u as one sequence. */
static pr_basket separated_sample(size_t u, size_t end)
{
    return (pr_basket){.user = (int32_t)u,
                       .history = {.sessions = breaks, .session_count = SESSIONS, .times = dates},
                       .items = lived[u],
                       .size = end};
}

static void assert_separated(const char *kind)
{
    pr_model *model = make_model(kind, (const char *const[]){"separator=on", "length=16", NULL});
    learner l = learner_of(model);
    const pr_basket baskets[] = {separated_sample(0, 5), separated_sample(1, LENGTH + 1)};
    double expected = 0;
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < baskets[r].size; i++)
            expected += loss_in_session(model, r, i);
    pr_batch_result result = gradient(&l, baskets, 2, 0);
    assert_int_equal(result.items, 5 + LENGTH + 1); /* a separator is not predicted */
    assert_close(result.total, expected, 1e-5 * expected);
    learner_free(&l);
}

static void separated_sessions_are_scored_as_they_are_learnt(void **state)
{
    (void)state;
    static const char *const some[] = {"sasrec", "tisasrec", "gru4rec", "narm", "stamp", "dream"};
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        dates = NULL;
        assert_separated(some[k]);
        dates = days;
        assert_separated(some[k]);
    }
    dates = NULL;
}

/* Of two pasts with the same items only TiSASRec tells which one is longer ago. */
static void tisasrec_knows_how_long_ago_it_was(void **state)
{
    (void)state;
    static const int64_t later[SESSIONS + 1] = {100, 100, 107, 109, 140, 250, 251};
    static const char *const some[] = {"tisasrec", "sasrec"};
    for (size_t k = 0; k < 2; k++) {
        pr_model *model =
            make_model(some[k], (const char *const[]){"separator=on", "length=16", NULL});
        pr_real soon[ITEMS], late[ITEMS];
        dates = days;
        score_past(model, sessions_before(0, 5), soon);
        dates = later;
        score_past(model, sessions_before(0, 5), late);
        assert_true(differ(soon, late) == (k == 0));
        dates = NULL;
        pr_model_free(model);
    }
}

/* Where sessions are single items, the order of these is all there is; within a basket it is nothing. */
static void dream_takes_items_without_separators_for_baskets(void **state)
{
    (void)state;
    static const int32_t forth[] = {1, 2, 3}, back[] = {2, 1, 3};
    static const char *const separators[] = {"separator=off", "separator=on"};
    for (size_t k = 0; k < 2; k++) {
        pr_model *model = make_model(
            "dream", (const char *const[]){separators[k], "pool=mean", "length=16", NULL});
        pr_real one[ITEMS], other[ITEMS];
        score_past(model, (pr_history){.items = forth, .count = 3}, one);
        score_past(model, (pr_history){.items = back, .count = 3}, other);
        assert_true(differ(one, other) == (k == 0));
        pr_model_free(model);
    }
}

static void bert4rec_scores_separated_sessions_as_it_learns_them(void **state)
{
    (void)state;
    static const char *const settings[] = {"separator=on", "length=16", "mask.last=1", NULL};
    pr_model *model = make_model("bert4rec", settings);
    learner l = learner_of(model);
    for (size_t end = 1; end <= LENGTH + 1; end++) {
        const pr_basket basket = separated_sample(2, end);
        double expected = loss_in_session(model, 2, end - 1);
        assert_close(gradient(&l, &basket, 1, 0).total, expected, 1e-5 * expected);
    }
    learner_free(&l);
}

/* Of 12 items in sessions of 3 a window of 8 has the newest 6, the separator between them and the one
 * that begins the open basket; BERT4Rec needs one more position. */
static void separators_take_their_positions(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        size_t seen; /* items of the past in a window of 8 */
    } cases[KINDS] = {{"sasrec", 6}, {"bert4rec", 5}, {"tisasrec", 6}};
    for (size_t k = 0; k < KINDS; k++) {
        pr_model *model =
            make_model(cases[k].kind, (const char *const[]){"separator=on", "length=8", NULL});
        pr_real all[ITEMS], same[ITEMS], fewer[ITEMS], plain[ITEMS];
        pr_history past = sessions_before(3, SESSIONS);
        score_past(model, past, all);
        score_past(model, past_of(lived[3], past.count), plain);
        for (size_t cut = 0; cut < 2; cut++) {
            size_t seen = cases[k].seen - cut, first = past.count - seen;
            int64_t own[] = {(int64_t)first, 9, 12};
            size_t from = first < 9 ? 0 : 1;
            pr_history newest = {.items = lived[3] + first,
                                 .count = seen,
                                 .sessions = own + from,
                                 .session_count = 2 - from};
            score_past(model, newest, cut == 0 ? same : fewer);
        }
        assert_scores(all, same, cases[k].kind);
        assert_true(differ(all, fewer));
        assert_true(differ(all, plain));
        pr_model_free(model);
    }
}

/* ---- what a session sees ---- */

static void the_newest_items_count_and_no_others(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        pr_model *model = make_model(kinds[k], NULL);
        size_t room = LENGTH - (k == 1); /* of bert4rec one place is the mask's */
        pr_real all[ITEMS], newest[ITEMS], fewer[ITEMS];
        score_past(model, past_of(lived[0], LIVED), all);
        score_past(model, past_of(lived[0] + LIVED - room, room), newest);
        score_past(model, past_of(lived[0] + LIVED - room + 1, room - 1), fewer);
        assert_scores(all, newest, kinds[k]);
        assert_true(differ(all, fewer));
        pr_model_free(model);
    }
}

/* What SASRec sees of a life: items begin..end, after the start row while `whole`. Where they fill the
 * window, the start row or the oldest item is dropped before another is placed. */
typedef struct window {
    size_t begin, end;
    bool whole;
} window;

static window window_of(size_t past)
{
    return (window){past > LENGTH ? past - LENGTH : 0, past, past < LENGTH};
}

static window window_after(window w)
{
    bool full = w.end - w.begin + w.whole == LENGTH;
    return (window){w.begin + (full && !w.whole), w.end + 1, w.whole && !full};
}

static void expect(const pr_model *model, window w, pr_real *scores)
{
    bool sasrec = strcmp(model->kind->name, "bert4rec") != 0;
    if (sasrec && !w.whole)
        score_cut(model, past_of(lived[1] + w.begin, w.end - w.begin), scores);
    else
        score_past(model, past_of(lived[1], w.end), scores);
}

static void placed_items_follow_the_history(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t before = 0; before <= 9; before += 3) { /* nothing, some, all of the window */
            pr_model *model = make_model(kinds[k], NULL);
            pr_scorer *asked, *silent;
            pr_start start = {.user = 1, .history = past_of(lived[1], before)};
            pr_real scores[ITEMS], expected[ITEMS];
            window w = window_of(before);
            assert_ok(pr_scorer_new(&asked, model, 1, LIVED, &err));
            assert_ok(pr_scorer_new(&silent, model, 1, LIVED, &err));
            pr_scorer_start(asked, &start, 1);
            pr_scorer_start(silent, &start, 1);
            for (size_t n = before; n < LIVED; n++, w = window_after(w)) { /* far beyond a window */
                expect(model, w, expected);
                pr_scorer_score_all(asked, scores);
                assert_scores(scores, expected, kinds[k]);
                pr_scorer_place(asked, &lived[1][n]);
                pr_scorer_place(silent, &lived[1][n]);
            }
            expect(model, w, expected);
            pr_scorer_score_all(silent, scores);
            assert_scores(scores, expected, kinds[k]);
            pr_scorer_free(asked);
            pr_scorer_free(silent);
            pr_model_free(model);
        }
}

static void guests_and_users_are_what_they_bought(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t k = 0; k < KINDS; k++) {
        pr_model *model = make_model(kinds[k], NULL);
        pr_scorer *session;
        const pr_start starts[] = {{.user = PR_ANYONE},
                                   {.user = 3},
                                   {.user = PR_ANYONE, .history = past_of(lived[2], 4)},
                                   {.user = 2, .history = past_of(lived[2], 4)}};
        pr_real scores[4 * ITEMS];
        assert_ok(pr_scorer_new(&session, model, 4, 1, &err));
        pr_scorer_start(session, starts, 4);
        pr_scorer_score_all(session, scores);
        assert_scores(scores, scores + ITEMS, "without a past");
        assert_scores(scores + 2 * ITEMS, scores + 3 * ITEMS, "with one");
        assert_true(differ(scores, scores + 2 * ITEMS));
        pr_scorer_free(session);
        pr_model_free(model);
    }
}

static void rows_do_not_touch_each_other(void **state)
{
    (void)state;
    parsrec_error err;
    for (size_t k = 0; k < KINDS; k++) {
        pr_model *model = make_model(kinds[k], NULL);
        pr_scorer *session;
        const pr_start starts[] = {{.user = 0, .history = past_of(lived[0], 3)},
                                   {.user = PR_ANYONE},
                                   {.user = 2, .history = past_of(lived[2], 2)}};
        pr_real all[3 * ITEMS], some[2], expected[ITEMS];
        assert_ok(pr_scorer_new(&session, model, 4, LIVED, &err));
        for (int again = 0; again < 2; again++) { /* a new start forgets the baskets before */
            pr_scorer_start(session, starts, 3);
            pr_scorer_place(session, (int32_t[]){lived[0][3], -1, lived[2][2]});
            pr_scorer_score_all(session, all);
            pr_scorer_place(session, (int32_t[]){-1, -1, lived[2][3]});
            pr_scorer_score(session, 2, (int32_t[]){ITEMS - 1, 4}, 2, some);
            pr_scorer_score_all(session, all);
            score_past(model, past_of(lived[0], 4), expected);
            assert_scores(all, expected, "row 0");
            score_past(model, past_of(NULL, 0), expected);
            assert_scores(all + ITEMS, expected, "row 1");
            score_past(model, past_of(lived[2], 4), expected);
            assert_scores(all + 2 * ITEMS, expected, "row 2");
            assert_close(some[0], expected[ITEMS - 1], 1e-5);
            assert_close(some[1], expected[4], 1e-5);
        }
        pr_scorer_free(session);
        pr_model_free(model);
    }
}

static void dropout_is_for_learning_alone(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        static const char *const drop[] = {"dropout.hidden=0.5", "dropout.attention=0.5", NULL};
        pr_model *plain = make_model(kinds[k], NULL);
        learner dropped = learner_of(make_model(kinds[k], drop));
        pr_real a[ITEMS], b[ITEMS];
        score_past(plain, past_of(lived[0], 5), a);
        score_past(dropped.model, past_of(lived[0], 5), b);
        assert_memory_equal(a, b, sizeof a);
        const pr_basket basket = sample(0, 0, LENGTH);
        double one = gradient(&dropped, &basket, 1, 1).total;
        assert_close(gradient(&dropped, &basket, 1, 1).total, one, 0); /* the place decides */
        assert_true(fabs(gradient(&dropped, &basket, 1, 2).total - one) > 1e-3);
        learner_free(&dropped);
        pr_model_free(plain);
    }
}

/* ---- draws ---- */

/* A sequence has at least one masked item, so on average L p + (1 - p)^L of L. */
static void items_are_masked_at_their_rate(void **state)
{
    (void)state;
    static const char *const settings[] = {"mask=0.3", "mask.last=0", NULL};
    enum { TIMES = 2000 };
    learner l = learner_of(make_model("bert4rec", settings));
    const pr_basket baskets[] = {sample(0, 0, LENGTH), sample(1, 0, LENGTH)};
    uint64_t masked = 0;
    for (uint32_t i = 0; i < TIMES; i++)
        masked += gradient(&l, baskets, 2, i).items;
    assert_close((double)masked / (2 * TIMES), LENGTH * 0.3 + pow(0.7, LENGTH), 0.05);
    learner_free(&l);
}

/* The user had item 0 before the window and items 1 and 2 in it; all others may be drawn as wrong. */
static void wrong_items_are_none_of_the_users(void **state)
{
    (void)state;
    static const char *const settings[] = {"loss=bce", "negatives=3", NULL};
    static const int32_t life[] = {0, 0, 1, 2, 1, 2, 1, 2, 1};
    learner l = learner_of(make_model("sasrec", settings));
    const pr_basket basket = {.history = past_of(life, 2), .items = life + 2, .size = LENGTH + 1};
    const pr_param *items = pr_params_find(&l.model->params, "item_emb");
    bool drawn[ITEMS] = {false};
    for (uint32_t i = 0; i < 60; i++) {
        gradient(&l, &basket, 1, i);
        const pr_real *g = pr_trainer_gradients(l.trainer) + items->at;
        for (size_t v = 0; v < ITEMS; v++)
            drawn[v] |= g[v * items->cols] != 0;
    }
    assert_false(drawn[0]);
    for (size_t v = 1; v < ITEMS; v++)
        assert_true(drawn[v]);
    learner_free(&l);
}

static void settings_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *setting, *says;
    } cases[] = {
        {"sasrec", "heads=3", "heads = 3 does not divide dim.item"},
        {"bert4rec", "heads=3", "heads = 3 does not divide dim.item"},
        {"bert4rec", "loss=bce", "loss = ce only"},
        {"bert4rec", "length=1", "length of at least 2"},
        {"sasrec", "length=1", "separator = on needs a length of at least 2"},
    };
    parsrec_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pr_config config;
        assert_ok(pr_model_defaults(&config, cases[i].kind, &err));
        assert_ok(pr_config_assign(&config, cases[i].setting, &err));
        assert_fails(pr_model_check(cases[i].kind, &config, &err), PARSREC_E_CONFIG, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sasrec_scores_whole_sequences_as_it_learns_them),
        cmocka_unit_test(sasrec_scores_cut_sequences_as_it_learns_them),
        cmocka_unit_test(bert4rec_scores_the_end_as_it_learns_it),
        cmocka_unit_test(separated_sessions_are_scored_as_they_are_learnt),
        cmocka_unit_test(tisasrec_knows_how_long_ago_it_was),
        cmocka_unit_test(bert4rec_scores_separated_sessions_as_it_learns_them),
        cmocka_unit_test(dream_takes_items_without_separators_for_baskets),
        cmocka_unit_test(separators_take_their_positions),
        cmocka_unit_test(the_newest_items_count_and_no_others),
        cmocka_unit_test(placed_items_follow_the_history),
        cmocka_unit_test(guests_and_users_are_what_they_bought),
        cmocka_unit_test(rows_do_not_touch_each_other),
        cmocka_unit_test(dropout_is_for_learning_alone),
        cmocka_unit_test(items_are_masked_at_their_rate),
        cmocka_unit_test(wrong_items_are_none_of_the_users),
        cmocka_unit_test(settings_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, draw_lives, NULL);
}
