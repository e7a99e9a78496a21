/* Maps of relationships against plain loops over single baskets, and what is made of them. */
#include "explain/explain.h"

#include "base/memory.h"
#include "data/histories.h"
#include "support/sample_data.h"
#include "support/testing.h"
#include "support/toy_shop.h"

static parsrec_error err;

/* ---- rows and columns ---- */

static sample shop;
static pr_axis axis;

static parsrec_status make_axis(const pr_axis_options *options)
{
    pr_axis_free(&axis);
    return pr_axis_init(&axis, &shop.data, options, &err);
}

/* milk 3 actions in DAIRY below FOOD, bread 2 in FOOD, eggs 2 in none, tea 2 in DRINK. */
static void axis_of_categories(void **state)
{
    (void)state;
    sample_make(&shop);
    assert_ok(make_axis(&(pr_axis_options){.top = 60}));
    assert_int_equal(axis.count, 3);
    assert_string_equal(axis.names[1], "DAIRY");
    assert_int_equal(axis.class[0], 1); /* milk */
    assert_int_equal(axis.class[2], 3); /* eggs: the rest */
    assert_int_equal(axis.order[axis.offsets[2]], 3);
    assert_int_equal(axis.block[0], axis.block[1]); /* one branch */
    assert_int_not_equal(axis.block[1], axis.block[2]);
    assert_ok(make_axis(&(pr_axis_options){.top = 60, .level = 1}));
    assert_int_equal(axis.count, 2);
    assert_int_equal(axis.class[0], axis.class[1]); /* milk and bread are FOOD */
    const char *listed[] = {"FOOD", "DRINK"};
    assert_ok(make_axis(&(pr_axis_options){.list = listed, .list_count = 2}));
    assert_int_equal(axis.class[0], 0); /* a category stands for those below */
    const char *unknown[] = {"SHOES", "DRINK"};
    assert_fails(make_axis(&(pr_axis_options){.list = unknown, .list_count = 2}),
                 PARSREC_E_NOT_FOUND, "SHOES");
    shop.data.categories = 0;
    assert_fails(make_axis(&(pr_axis_options){.top = 60}), PARSREC_E_INPUT, "no categories");
    pr_axis_free(&axis);
}

static void axis_of_items(void **state)
{
    (void)state;
    sample_make(&shop);
    assert_ok(make_axis(&(pr_axis_options){.items = true, .top = 2}));
    assert_int_equal(axis.count, 2); /* of equal numbers of actions the first */
    assert_int_equal(axis.there, 4);
    assert_string_equal(axis.names[0], "bread"); /* by category: FOOD before DAIRY; has no name */
    assert_string_equal(axis.names[1], "Milk 1.5l");
    assert_int_equal(axis.offsets[3], 4);
    assert_fails(make_axis(&(pr_axis_options){.items = true, .top = 1}), PARSREC_E_INPUT,
                 "at least two items");
    pr_axis_free(&axis);
}

static void equal_names_are_told_apart(void **state)
{
    (void)state;
    sample_make(&shop);
    memcpy(shop.item_bytes, "milkbread", 9);
    static const int64_t names[] = {0, 3, 6, 9, 12};
    shop.data.item_names = sample_names("teateaeggtea", names, 4);
    assert_ok(make_axis(&(pr_axis_options){.items = true, .top = 4}));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(strncmp(axis.names[i], "tea (", 5) == 0,
                         strcmp(axis.names[i], "egg") != 0);
    pr_axis_free(&axis);
}

/* ---- sums over baskets, against plain loops ---- */

enum { USERS = 40, ITEMS = 23, CLASSES = 5 };

static toy_shop toy;
static pr_model *model;
static pr_user_group group;
static int32_t everybody[USERS], parents[CLASSES + 1], categories[ITEMS];

/* Item i belongs to category i mod 6, of which the last is not shown. */
static int make_toy(void **state)
{
    (void)state;
    static const int64_t names[] = {0, 1, 2, 3, 4, 5, 6};
    toy = toy_make((toy_sizes){USERS, ITEMS, 3, 4, 6, 0});
    for (int i = 0; i < ITEMS; i++)
        categories[i] = i % (CLASSES + 1);
    for (int c = 0; c <= CLASSES; c++)
        parents[c] = -1;
    toy.data.categories = CLASSES + 1;
    toy.data.category_names = (pr_names){"abcdef", names, CLASSES + 1};
    toy.data.category_parent = parents;
    toy.data.item_category = categories;
    for (int u = 0; u < USERS; u++)
        everybody[u] = u;
    group = (pr_user_group){
        .name = (char *)(uintptr_t) "everybody", .users = everybody, .count = USERS};
    const char *list[] = {"a", "b", "c", "d", "e"};
    pr_axis_options options = {.list = list, .list_count = CLASSES};
    pr_config config = pr_config_default();
    config.dim_user = config.dim_item = 8;
    if (pr_axis_init(&axis, &toy.data, &options, &err) != PARSREC_OK ||
        pr_model_new(&model, "parsrec", &config, USERS, ITEMS, 3, &err) != PARSREC_OK)
        return 1;
    for (size_t i = 0; i < model->params.size; i++)
        model->weights[i] *= 2; /* first weights are too meek to tell mistakes apart */
    return 0;
}

static int free_toy(void **state)
{
    (void)state;
    pr_model_free(model);
    pr_axis_free(&axis);
    toy_free(&toy);
    return 0;
}

static pr_map_source source_of(size_t basket_most)
{
    return (pr_map_source){.model = model,
                           .data = &toy.data,
                           .axis = &axis,
                           .group = &group,
                           .basket_most = basket_most,
                           .attention = true,
                           .drop = true,
                           .task_baskets = 7};
}

static parsrec_status run(pr_map_sums *sums, const pr_map_source *source, unsigned threads)
{
    pr_pool *pool;
    *sums = (pr_map_sums){0};
    PR_TRY(pr_pool_new(&pool, threads, &err));
    parsrec_status status = pr_map_sums_make(sums, source, pool, NULL, &err);
    pr_pool_free(pool);
    return status;
}

/* Chances of classes after a basket, without the items of `barred` or, if `untouched`, of all their
 * classes; the last number is the log chance of item `next` among all that are not barred. */
static void plain_chances(double *chance, int32_t user, int64_t session, const int32_t *basket,
                          size_t n, const int32_t *barred, size_t barred_count, bool untouched,
                          int32_t next, pr_real *weights)
{
    pr_scorer *s;
    pr_real scores[ITEMS];
    assert_ok(pr_scorer_new(&s, model, 1, 8, &err));
    pr_start start = {.user = user,
                      .history = pr_history_before(&toy.data, (size_t)user, (size_t)session)};
    pr_scorer_start(s, &start, 1);
    for (size_t p = 0; p < n; p++)
        pr_scorer_place(s, &basket[p]);
    pr_scorer_score_all(s, scores);
    if (weights != NULL)
        pr_scorer_attention(s, 0, weights);
    pr_scorer_free(s);
    double all = 0, total = 0;
    for (int c = 0; c <= CLASSES + 1; c++)
        chance[c] = 0;
    for (int i = 0; i < ITEMS; i++) {
        bool out = false, touched = false;
        for (size_t p = 0; p < barred_count; p++) {
            out = out || barred[p] == i;
            touched = touched || (untouched && categories[i] < CLASSES &&
                                  categories[barred[p]] == categories[i]);
        }
        double mass = out ? 0 : exp((double)scores[i]);
        total += mass;
        if (!touched) {
            chance[categories[i]] += mass;
            all += mass;
        }
    }
    for (int c = 0; c <= CLASSES; c++)
        chance[c] /= all;
    chance[CLASSES + 1] = (double)scores[next] - log(total);
}

typedef struct plain_maps {
    double effect[PR_MAP_STAGES][CLASSES][CLASSES]; /* row, column ... */
    double counted[PR_MAP_STAGES][CLASSES][CLASSES];
    double attention[CLASSES][CLASSES], rows[CLASSES];
    double agreeing, pairs;
} plain_maps;

static int sign(double x)
{
    return (x > 0) - (x < 0);
}

static void plain_step(plain_maps *m, double user[CLASSES][CLASSES], int32_t who, int64_t session,
                       const int32_t *items, size_t t)
{
    double with[CLASSES + 2], without[CLASSES + 2], effect[8];
    pr_real weights[8];
    int row = categories[items[t]];
    size_t stage = t > 3 ? 2 : t - 1;
    for (size_t r = 0; r < t; r++) {
        int32_t rest[8];
        size_t n = 0;
        int c = categories[items[r]];
        for (size_t p = 0; p < t; p++)
            if (p != r)
                rest[n++] = items[p];
        for (int own = 0; own < 2; own++) { /* its own class is a share of everything */
            plain_chances(with, who, session, items, t, items, t, own == 0, items[t], weights);
            plain_chances(without, who, session, rest, n, items, t, own == 0, items[t], NULL);
            for (int i = 0; i < CLASSES && c < CLASSES; i++)
                if ((i == c) == (own == 1) && with[i] > 0 && without[i] > 0) {
                    m->effect[stage][i][c] += log(with[i] / without[i]);
                    m->counted[stage][i][c]++;
                }
        }
        effect[r] = with[CLASSES + 1] - without[CLASSES + 1];
        if (row < CLASSES && c < CLASSES)
            user[row][c] += (double)weights[r];
    }
    for (size_t a = 0; a < t; a++)
        for (size_t b = 0; b < a; b++) {
            m->agreeing += sign((double)(weights[a] - weights[b])) * sign(effect[a] - effect[b]);
            m->pairs++;
        }
}

static void plain_user(plain_maps *m, int32_t who, size_t basket_most)
{
    double user[CLASSES][CLASSES] = {{0}};
    bool placed[ITEMS] = {false};
    for (int64_t s = toy.user_offsets[who]; s < toy.user_offsets[who + 1]; s++) {
        const int32_t *items = toy.items + toy.session_offsets[s];
        size_t n = (size_t)(toy.session_offsets[s + 1] - toy.session_offsets[s]);
        n = n < basket_most ? n : basket_most;
        for (size_t t = 1; t < n; t++) {
            plain_step(m, user, who, s, items, t);
            placed[items[t - 1]] = true;
        }
    }
    double distinct[CLASSES + 1] = {0};
    for (int i = 0; i < ITEMS; i++)
        distinct[categories[i]] += placed[i];
    for (int i = 0; i < CLASSES; i++) {
        double total = 0;
        for (int j = 0; j < CLASSES; j++)
            total += user[i][j] = distinct[j] > 0 ? user[i][j] / distinct[j] : 0;
        for (int j = 0; j < CLASSES && total > 0; j++)
            m->attention[i][j] += user[i][j] / total;
        m->rows[i] += total > 0;
    }
}

/* The effect of column j on row i: at each stage less the mean of the others but the ends. There are four
 * others at most, of which none is cut off; with five the least and the largest would be. */
static double plain_drop(const plain_maps *m, int i, int j)
{
    double sum = 0, steps = 0;
    for (int s = 0; s < PR_MAP_STAGES; s++) {
        double others[CLASSES], common = 0;
        size_t n = 0;
        for (int k = 0; k < CLASSES; k++)
            if (k != i && m->counted[s][i][k] > 0)
                others[n++] = m->effect[s][i][k] / m->counted[s][i][k];
        for (size_t k = 0; k < n; k++)
            common += others[k] / (double)n;
        sum += m->effect[s][i][j] - m->counted[s][i][j] * common;
        steps += m->counted[s][i][j];
    }
    return sum / steps;
}

/* Six columns: of the five others on a row, the least and the largest do not make what is common. */
static void ends_are_not_common(void **state)
{
    (void)state;
    enum { N = 6 };
    double effect[PR_MAP_STAGES * N * N] = {0}, counted[PR_MAP_STAGES * N * N] = {0}, spare[N];
    const double on_first[] = {7, 1, 2, 3, 50, -9};
    pr_map_sums sums = {.N = N, .effect = effect, .counted = counted, .spare = spare};
    for (size_t j = 0; j < N; j++) {
        effect[j * N] = 2 * on_first[j];
        counted[j * N] = 2;
    }
    double map[N * N];
    pr_map_drop(map, &sums);
    for (size_t j = 0; j < N; j++)
        assert_close(map[j], on_first[j] - 2, 1e-12); /* (1 + 2 + 3) / 3 */
    assert_true(isnan(map[N]));
}

static void sums_are_what_plain_loops_find(void **state)
{
    (void)state;
    for (size_t most = 3; most <= 6; most += 3) {
        pr_map_source source = source_of(most);
        pr_map_sums sums;
        plain_maps plain = {0};
        double drop[CLASSES * CLASSES], attention[CLASSES * CLASSES];
        assert_ok(run(&sums, &source, 2));
        for (int32_t u = 0; u < USERS; u++)
            plain_user(&plain, u, most);
        pr_map_drop(drop, &sums);
        pr_map_attention(attention, &sums);
        for (int i = 0; i < CLASSES; i++)
            for (int j = 0; j < CLASSES; j++) {
                double expected = plain_drop(&plain, i, j);
                assert_close(drop[i * CLASSES + j], expected, 2e-5);
                assert_close(attention[i * CLASSES + j], plain.attention[i][j] / plain.rows[i],
                             1e-6);
            }
        assert_close(sums.pairs, plain.pairs, 0);
        assert_close(sums.agreeing, plain.agreeing, 4); /* a few pairs are equal up to rounding */
        assert_int_equal(sums.cut > 0, most == 3);
        pr_map_sums_free(&sums);
    }
}

/* A map that says nothing would pass many comparisons. */
static void effects_are_not_all_alike(void **state)
{
    (void)state;
    pr_map_source source = source_of(6);
    pr_map_sums sums;
    double map[CLASSES * CLASSES], least = INFINITY, most = -INFINITY;
    assert_ok(run(&sums, &source, 1));
    pr_map_drop(map, &sums);
    for (size_t k = 0; k < CLASSES * CLASSES; k++) {
        least = fmin(least, map[k]);
        most = fmax(most, map[k]);
    }
    assert_true(most - least > 0.1);
    pr_map_sums_free(&sums);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    pr_map_source source = source_of(5);
    pr_map_sums one, more;
    size_t cells = CLASSES * CLASSES * sizeof(double);
    assert_ok(run(&one, &source, 1));
    for (unsigned threads = 2; threads <= 3; threads++) {
        assert_ok(run(&more, &source, threads));
        assert_memory_equal(one.attention, more.attention, cells);
        assert_memory_equal(one.effect, more.effect, PR_MAP_STAGES * cells);
        assert_memory_equal(one.counted, more.counted, PR_MAP_STAGES * cells);
        assert_close(one.agreeing, more.agreeing, 0);
        pr_map_sums_free(&more);
    }
    pr_map_sums_free(&one);
}

static void attention_needs_no_scores(void **state)
{
    (void)state;
    pr_map_source both = source_of(5), alone = both;
    pr_map_sums a, b;
    alone.drop = false;
    assert_ok(run(&a, &both, 1));
    assert_ok(run(&b, &alone, 1));
    for (size_t k = 0; k < CLASSES * CLASSES; k++)
        assert_close(a.attention[k], b.attention[k], 1e-5); /* other rows beside them */
    assert_close(b.placed[0], 0, 0);
    pr_map_sums_free(&a);
    pr_map_sums_free(&b);
}

static void baskets_of_one_item_say_nothing(void **state)
{
    (void)state;
    toy_shop single = toy_make((toy_sizes){USERS, ITEMS, 3, 4, 1, 1});
    pr_map_source source = source_of(5);
    pr_map_sums sums;
    source.data = &single.data;
    assert_fails(run(&sums, &source, 2), PARSREC_E_INPUT, "no basket of two items");
    pr_map_sums_free(&sums);
    toy_free(&single);
}

static void memory_of_the_sums_fails(void **state)
{
    (void)state;
    pr_map_source source = source_of(5);
    parsrec_status status = PARSREC_E_MEMORY;
    size_t after = 0;
    for (; status != PARSREC_OK && after < 300; after++) {
        pr_map_sums sums;
        pr_memory_fail_after(after);
        status = run(&sums, &source, 2);
        pr_memory_fail_after(SIZE_MAX);
        assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
        pr_map_sums_free(&sums);
    }
    assert_int_equal(status, PARSREC_OK);
    assert_true(after >= 20); /* thread pool, workers, sums and scorers */
}

/* ---- other maps ---- */

static parsrec_status count(pr_evidence *out, const pr_dataset *data, const pr_axis *classes,
                            const pr_user_group *users, unsigned threads)
{
    pr_pool *pool;
    *out = (pr_evidence){0};
    PR_TRY(pr_pool_new(&pool, threads, &err));
    parsrec_status status = pr_evidence_count(out, data, classes, users, pool, NULL, &err);
    pr_pool_free(pool);
    return status;
}

/* ann: milk bread | milk eggs | bread eggs tea; cy: milk | tea. Both in 1 of 5 baskets where chance
 * would have 3 · 2 / 5. */
static void lift_by_hand(void **state)
{
    (void)state;
    pr_axis items = {0};
    pr_evidence evidence;
    sample_make(&shop);
    static int32_t all[] = {0, 1, 2};
    pr_user_group three = {.name = (char *)(uintptr_t) "all", .users = all, .count = 3};
    assert_ok(pr_axis_init(&items, &shop.data, &(pr_axis_options){.items = true, .top = 4}, &err));
    double map[16];
    size_t milk = items.class[0], bread = items.class[1];
    assert_ok(count(&evidence, &shop.data, &items, &three, 2));
    pr_map_lift(map, &evidence);
    assert_close(map[milk * 4 + bread], log((1 + 0.5) / (1.2 + 0.5)), 1e-12);
    assert_close(map[bread * 4 + milk], map[milk * 4 + bread], 0);
    assert_true(isnan(map[milk * 4 + milk]));
    parsrec_relation r = {.row = milk, .column = bread};
    pr_evidence_of(&r, &evidence);
    assert_int_equal(r.both, 1);
    assert_int_equal(r.row_baskets, 3);
    assert_int_equal(r.column_baskets, 2);
    assert_int_equal(r.baskets, 5);
    assert_close(r.expected, 1.2, 1e-12);
    assert_close(r.lift, 1 / 1.2, 1e-12);
    /* By basket 1 - 1/3 - 1/2 + (2/1.2 - 1)/5 = .3, which is more than by user. */
    double error = (double)evidence.error[milk * 4 + bread];
    assert_close(error, sqrt(0.3), 1e-6);
    assert_close(r.low, r.lift * exp(-pr_evidence_reach(4) * error), 1e-6);
    assert_close(r.high * r.low, r.lift * r.lift, 1e-9);
    pr_evidence_free(&evidence);
    three.count = 1; /* ann alone: 1 of 3 baskets, where chance would have 2 · 2 / 3 */
    assert_ok(count(&evidence, &shop.data, &items, &three, 1));
    pr_map_lift(map, &evidence);
    assert_close(map[milk * 4 + bread], log((1 + 0.5) / (4.0 / 3 + 0.5)), 1e-12);
    pr_evidence_free(&evidence);
    pr_axis_free(&items);
}

/* Of one pair, and of the 1,770 pairs of 60 classes. */
static void intervals_hold_for_all_pairs(void **state)
{
    (void)state;
    assert_close(pr_evidence_reach(2), 1.959964, 1e-5);
    assert_close(erfc(pr_evidence_reach(60) / sqrt(2)) * 1770, 0.05, 1e-4);
}

/* Sums of whole numbers at any number of threads; the plain sum of squared influences. */
static void errors_are_what_plain_loops_find(void **state)
{
    (void)state;
    pr_evidence one, three;
    enum { N = CLASSES };
    assert_ok(count(&one, &toy.data, &axis, &group, 1));
    assert_ok(count(&three, &toy.data, &axis, &group, 3));
    assert_memory_equal(one.both, three.both, N * N * sizeof *one.both);
    assert_memory_equal(one.error, three.error, N * N * sizeof *one.error);
    double n = (double)one.baskets, both = (double)one.both[3];
    double ni = (double)one.both[0], nj = (double)one.both[3 * N + 3];
    double by_basket = 0, by_user = 0;
    assert_true(both > 0);
    for (size_t u = 0; u < USERS; u++) {
        double user = 0;
        for (int64_t s = toy.data.user_offsets[u]; s < toy.data.user_offsets[u + 1]; s++) {
            const int64_t *at = toy.data.session_offsets + s;
            double i = 0, j = 0;
            for (int64_t a = at[0]; a < at[1]; a++) {
                i = axis.class[toy.data.action_items[a]] == 0 ? 1 : i;
                j = axis.class[toy.data.action_items[a]] == 3 ? 1 : j;
            }
            double influence = i * j / both - i / ni - j / nj + 1 / n;
            by_basket += influence * influence;
            user += influence;
        }
        by_user += user * user;
    }
    assert_close((double)one.error[3], sqrt(fmax(by_basket, by_user)), 1e-6);
    pr_evidence_free(&one);
    pr_evidence_free(&three);
}

static void embedding_by_hand(void **state)
{
    (void)state;
    double map[CLASSES * CLASSES], expected = 0, pairs = 0;
    const pr_real *rows = pr_model_reals(model, "item_emb");
    assert_ok(pr_map_embedding(map, model, &axis, &err));
    for (size_t i = 1; i < ITEMS; i += CLASSES + 1)
        for (size_t j = 3; j < ITEMS; j += CLASSES + 1, pairs++)
            for (size_t d = 0; d < 8; d++)
                expected += (double)rows[i * 8 + d] * (double)rows[j * 8 + d];
    assert_close(map[1 * CLASSES + 3], expected / pairs, 1e-6);
}

/* Six classes: the first five in one department, the last alone. */
enum { SIX = 6, LAST_ONE = SIX - 1 };

typedef struct made {
    pr_explanation e;
    pr_explained_group group;
    double drop[SIX * SIX], placed[SIX];
    uint64_t both[SIX * SIX];
    float error[SIX * SIX];
    int32_t paths[SIX * PR_CATEGORY_LEVELS];
    char *names[SIX], *categories[1];
} made;

static void set_pair(made *m, size_t i, size_t j, double drop, uint64_t both)
{
    m->drop[i * SIX + j] = m->drop[j * SIX + i] = drop;
    m->both[i * SIX + j] = m->both[j * SIX + i] = both;
    m->error[i * SIX + j] = m->error[j * SIX + i] = 1 / sqrtf((float)both);
}

/* The model puts 2.08 between all of the department. Every class is in 1,000 of 10,000 baskets, and every pair
 * in 100, which is what chance would have. */
static void make_six(made *m)
{
    *m = (made){0};
    m->e.axis = (pr_axis){.count = SIX, .categories = 1};
    m->e.axis.paths = m->paths;
    m->e.axis.names = m->names;
    m->e.axis.category_names = m->categories;
    m->e.groups = &m->group;
    m->e.group_count = 1;
    m->e.has[PARSREC_MAP_DROP] = true;
    m->group.maps[PARSREC_MAP_DROP] = m->drop;
    m->group.placed = m->placed;
    m->group.evidence = (pr_evidence){SIX, 10000, pr_evidence_reach(SIX), m->both, m->error};
    m->categories[0] = (char *)(uintptr_t) "GROCERY";
    for (size_t i = 0; i < SIX; i++) {
        m->placed[i] = 1000;
        for (size_t l = 0; l < PR_CATEGORY_LEVELS; l++)
            m->paths[i * PR_CATEGORY_LEVELS + l] = l == 0 && i < LAST_ONE ? 0 : -1;
        for (size_t j = 0; j < i; j++)
            set_pair(m, i, j, i < LAST_ONE ? log(2.08) : 0, 100);
        m->both[i * SIX + i] = 1000;
    }
}

static parsrec_relation_verdict verdict_of(made *m, size_t i, size_t j)
{
    parsrec_relation r;
    pr_relation_set(&r, &m->e, 0, PARSREC_MAP_DROP, i, j);
    return r.verdict;
}

/* What the category tree alone puts between two classes is no finding; what both model and data say is. */
static void data_must_confirm(void **state)
{
    (void)state;
    made m;
    parsrec_relation list[3];
    make_six(&m);
    set_pair(&m, 0, LAST_ONE, log(4), 300); /* counted three times as often as by chance */
    set_pair(&m, 2, LAST_ONE, log(9), 20);  /* a fifth as often */
    set_pair(&m, 3, 4, log(3), 300);        /* more than the department, in model and data */
    set_pair(&m, 2, 3, log(1.5), 300);      /* less than the department */
    assert_ok(pr_tree_sums_init(&m.group.tree, &m.e.region, &m.e.axis, m.drop, &err));
    assert_int_equal(verdict_of(&m, 0, 1), PARSREC_RELATION_UNCERTAIN); /* 2.08; counted 1.00 */
    assert_int_equal(verdict_of(&m, 2, LAST_ONE), PARSREC_RELATION_CONTRADICTED);
    assert_int_equal(verdict_of(&m, 2, 3), PARSREC_RELATION_CATEGORY);
    assert_int_equal(pr_relations(list, 3, &m.e, 0, PARSREC_MAP_DROP, true), 2);
    assert_int_equal(list[0].row + list[0].column, LAST_ONE);
    assert_close(list[0].lift, 3, 1e-12);
    assert_close(list[0].strength, log(list[0].low), 1e-12);
    assert_null(list[0].category);
    /* Nine other pairs: eight with 2.08 and one with 1.5. */
    assert_string_equal(list[1].category, "GROCERY");
    assert_close(list[1].category_part, (8 * log(2.08) + log(1.5)) / 9, 1e-9);
    assert_close(list[1].strength, log(3) - list[1].category_part, 1e-9);
    assert_int_equal(pr_relations(list, 1, &m.e, 0, PARSREC_MAP_DROP, false), 1);
    assert_close(list[0].value, log(9), 1e-12);
    pr_region_free(&m.e.region);
}

/* Of rare classes chance would have a tenth of a basket with both; that two have is no proof. */
static void two_baskets_prove_nothing(void **state)
{
    (void)state;
    made m;
    parsrec_relation list[SIX * SIX];
    make_six(&m);
    for (size_t j = 1; j < LAST_ONE; j++) {
        set_pair(&m, 0, j, log(2.08), 3);
        set_pair(&m, LAST_ONE, j, 0, 3);
    }
    set_pair(&m, 0, LAST_ONE, log(9), 2);
    m.both[0] = m.both[LAST_ONE * SIX + LAST_ONE] = 32;
    assert_ok(pr_tree_sums_init(&m.group.tree, &m.e.region, &m.e.axis, m.drop, &err));
    assert_int_equal(verdict_of(&m, 0, LAST_ONE), PARSREC_RELATION_FEW);
    assert_int_equal(pr_relations(list, SIX * SIX, &m.e, 0, PARSREC_MAP_DROP, true), 0);
    assert_int_equal(pr_relations(list, SIX * SIX, &m.e, 0, PARSREC_MAP_DROP, false), 11);
    m.placed[0] = m.placed[LAST_ONE] = 9; /* too seldom left out to be listed at all */
    assert_int_equal(pr_relations(list, SIX * SIX, &m.e, 0, PARSREC_MAP_DROP, false), 10);
    pr_region_free(&m.e.region);
}

/* Two groups differ only where their counts do. */
static void counts_must_differ(void **state)
{
    (void)state;
    made a, b;
    pr_explained_group groups[2];
    parsrec_group_contrast list[3];
    make_six(&a);
    make_six(&b);
    set_pair(&a, 0, LAST_ONE, log(3), 300);
    set_pair(&a, 1, LAST_ONE, log(3.5), 105);
    groups[0] = a.group;
    groups[1] = b.group;
    a.e.groups = groups;
    a.e.group_count = 2;
    for (size_t g = 0; g < 2; g++)
        assert_ok(pr_tree_sums_init(&groups[g].tree, &a.e.region, &a.e.axis, a.drop, &err));
    assert_int_equal(parsrec_explanation_contrasts(&a.e, 0, 1, PARSREC_MAP_DROP, list, 3), 1);
    assert_int_equal(list[0].first.row, 0);
    assert_close(list[0].first.lift / list[0].second.lift, 3, 1e-9);
    assert_close(list[0].value, log(3), 1e-9);
    assert_int_equal(parsrec_explanation_contrasts(&a.e, 1, 0, PARSREC_MAP_DROP, list, 3), 1);
    assert_close(list[0].value, -log(3), 1e-9);
    assert_int_equal(parsrec_explanation_contrasts(&a.e, 0, 2, PARSREC_MAP_DROP, list, 3), 0);
    assert_int_equal(parsrec_explanation_contrasts(&a.e, 0, 1, PARSREC_MAP_DROP, list, 0), 0);
    pr_region_free(&a.e.region);
}

/* A user's maps may have too few cells in common for a rank correlation; nothing is said of it then. */
static void agreement_without_a_map(void **state)
{
    (void)state;
    char words[300];
    pr_explained_group one = {.step_agreement = -.12, .map_agreement = (double)NAN};
    assert_string_equal(pr_agreement_words(&one, words, sizeof words),
                        "Attention against effect: within a step Kendall's tau is -0.12 (1: they "
                        "agree, 0: they are unrelated).");
    one.step_agreement = (double)NAN;
    assert_string_equal(pr_agreement_words(&one, words, sizeof words), "");
}

/* ---- truth ---- */

static pr_dataset *synthetic(const char *path)
{
    parsrec_synth_options options = parsrec_synth_default();
    pr_dataset *data;
    options.users = 20;
    options.sessions = 4;
    options.products = 5;
    assert_ok(parsrec_synth(path, &options, NULL, NULL, &err));
    assert_ok(pr_dataset_load(&data, path, &err));
    return data;
}

static void truth_is_recovered_by_itself(void **state)
{
    (void)state;
    char path[] = "/tmp/parsrec-explain-XXXXXX";
    const char *specs[] = {"truth", "everybody"};
    enum { C = 20, LAST = C * C - 1, TRIPS = 40000 };
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    pr_dataset *data = synthetic(path);
    pr_group_source from = {.data = data, .last = 1};
    pr_user_groups groups;
    pr_truth truth;
    pr_group_truth known[3], again;
    pr_pool *pool, *one;
    assert_ok(pr_pool_new(&pool, 2, &err));
    assert_ok(pr_pool_new(&one, 1, &err));
    assert_ok(pr_user_groups_init(&groups, &from, specs, 2, &err));
    assert_ok(pr_truth_read(&truth, data, &err));
    for (size_t g = 0; g < 3; g++)
        assert_ok(pr_group_truth_init(&known[g], &truth, &groups.list[g], TRIPS, pool, &err));
    assert_ok(pr_group_truth_init(&again, &truth, &groups.list[0], TRIPS, one, &err));
    assert_memory_equal(known[0].lift, again.lift, C * C * sizeof(double));
    /* The last two categories: .99 in A, -.5 in B. */
    assert_close(known[2].sigma[LAST - 1], (0.99 - 0.5) / 2, 1e-12);
    assert_true(known[0].lift[LAST - 1] > 3);
    assert_true(known[1].lift[LAST - 1] < 0.6);
    pr_recovery r;
    pr_difference_recovery d;
    assert_ok(pr_recovery_score(&r, known[0].sigma, &known[0], C, &err));
    assert_close(r.rank, 1, 1e-12);
    assert_close(r.positive, 1, 0);
    assert_int_equal(r.pairs, 190);
    assert_ok(pr_recovery_score(&r, known[0].lift, &known[0], C, &err));
    assert_close(r.related, 1, 0);
    static double logs[2][C * C];
    for (size_t g = 0; g < 2; g++)
        for (size_t k = 0; k < C * C; k++)
            logs[g][k] = 0.25 + 0.5 * log(fmax(known[g].lift[k], 1e-9));
    assert_ok(pr_recovery_score(&r, logs[0], &known[0], C, &err));
    assert_close(r.slope, 0.5, 1e-9);
    assert_ok(pr_recovery_difference(&d, logs[0], logs[1], &known[0], &known[1], C, &err));
    assert_close(d.slope, 0.5, 1e-9);
    assert_ok(
        pr_recovery_difference(&d, known[0].sigma, known[1].sigma, &known[0], &known[1], C, &err));
    assert_close(d.rank, 1, 1e-12);
    assert_close(d.different, 1, 0);
    assert_int_equal(d.differents, 4);
    for (size_t k = 0; k < C * C; k++)
        known[2].sigma[k] = -known[0].sigma[k];
    assert_ok(pr_recovery_score(&r, known[2].sigma, &known[0], C, &err));
    assert_close(r.rank, -1, 1e-12);
    assert_true(r.positive < 1e-9);
    for (size_t g = 0; g < 3; g++)
        pr_group_truth_free(&known[g]);
    pr_group_truth_free(&again);
    pr_user_groups_free(&groups);
    pr_pool_free(pool);
    pr_pool_free(one);
    pr_dataset_free(data);
    remove(path);
}

/* ---- all of it ---- */

static parsrec_status explain(pr_explanation *e, const pr_dataset *data,
                              const parsrec_explain_options *options, unsigned threads)
{
    pr_pool *pool;
    *e = (pr_explanation){0};
    PR_TRY(pr_pool_new(&pool, threads, &err));
    parsrec_status status = pr_explain(e, model, data, options, pool, NULL, &err);
    pr_pool_free(pool);
    return status;
}

static void explanation_of_two_groups(void **state)
{
    (void)state;
    const char *groups[] = {"user:u00003", "everybody"}, *show[] = {"a", "b", "c"};
    parsrec_explain_options o = parsrec_explain_default();
    o.groups = groups;
    o.group_count = 2;
    o.show = show;
    o.show_count = 3;
    pr_explanation e;
    assert_ok(explain(&e, &toy.data, &o, 2));
    assert_int_equal(e.group_count, 2);
    assert_true(e.has_difference && !e.has_truth);
    for (size_t k = 0; k < 9; k++) {
        double a = e.groups[0].maps[PARSREC_MAP_DROP][k], b = e.groups[1].maps[PARSREC_MAP_DROP][k];
        double d = e.difference.maps[PARSREC_MAP_DROP][k];
        assert_true(isnan(a) ? isnan(d) : d == a - b);
    }
    pr_writer text = {0}, page = {0}, csv = {0};
    assert_ok(pr_explanation_write(&text, &e, PARSREC_TEXT_PLAIN, &err));
    assert_non_null(strstr(text.text, "everybody: 40 users"));
    assert_ok(pr_explanation_write(&page, &e, PARSREC_TEXT_HTML, &err));
    assert_non_null(strstr(page.text, "Can attention be trusted?"));
    pr_explanation_csv(&csv, &e, &(pr_explained_picture){PARSREC_MAP_LIFT, 1, 1},
                       e.groups[1].maps[PARSREC_MAP_LIFT]);
    static const char corner[] =
        "bought next (natural logarithm of times as often as by chance),a,b,c\na,,";
    assert_memory_equal(csv.text, corner, sizeof corner - 1);
    assert_string_equal(e.groups[0].name, "user:u00003"); /* for programs; people read the label */
    assert_non_null(strstr(text.text, "\nu00003: 1 user"));
    assert_null(strstr(text.text, "user:u00003"));
    json_t *json = pr_explanation_json(&e, true);
    json_t *group_json = json_array_get(json_object_get(json, "groups"), 1);
    json_t *row = json_array_get(json_object_get(json_object_get(group_json, "maps"), "drop"), 2);
    assert_close(json_real_value(json_array_get(row, 1)), e.groups[1].maps[PARSREC_MAP_DROP][7], 0);
    json_decref(json);
    pr_writer_free(&text);
    pr_writer_free(&page);
    pr_writer_free(&csv);
    pr_explanation_clear(&e);
}

static void what_cannot_be_explained(void **state)
{
    (void)state;
    parsrec_explain_options o = parsrec_explain_default();
    pr_explanation e;
    o.difference = "A,B";
    assert_fails(explain(&e, &toy.data, &o, 1), PARSREC_E_ARGUMENT, "'A,B' does not name two");
    pr_explanation_clear(&e);
    const char *unknown[] = {"user:nobody"};
    o = parsrec_explain_default();
    o.groups = unknown;
    o.group_count = 1;
    assert_fails(explain(&e, &toy.data, &o, 1), PARSREC_E_NOT_FOUND, "user 'nobody'");
    pr_explanation_clear(&e);
    pr_model *learnt = model;
    pr_config config = pr_config_default();
    assert_ok(pr_model_new_bare(&model, "pop", &config, &(pr_shop){.users = USERS, .items = ITEMS},
                                &err));
    o = parsrec_explain_default();
    o.maps[PARSREC_MAP_ATTENTION] = true;
    assert_fails(explain(&e, &toy.data, &o, 1), PARSREC_E_UNSUPPORTED, "pop has no attention");
    pr_explanation_clear(&e);
    pr_model_free(model);
    model = learnt;
}

static void memory_of_the_whole_fails(void **state)
{
    (void)state;
    const char *groups[] = {"user:u00003", "everybody"};
    parsrec_explain_options o = parsrec_explain_default();
    o.groups = groups;
    o.group_count = 2;
    o.cluster = true;
    o.command = "parsrec explain";
    parsrec_status status = PARSREC_E_MEMORY;
    size_t after = 0;
    for (; status != PARSREC_OK && after < 1000; after++) {
        pr_explanation e;
        pr_memory_fail_after(after);
        status = explain(&e, &toy.data, &o, 1);
        pr_memory_fail_after(SIZE_MAX);
        assert_true(status == PARSREC_OK || status == PARSREC_E_MEMORY);
        pr_explanation_clear(&e);
    }
    assert_int_equal(status, PARSREC_OK);
    assert_true(after > 60);
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(axis_of_categories),
        cmocka_unit_test(axis_of_items),
        cmocka_unit_test(equal_names_are_told_apart),
        cmocka_unit_test(lift_by_hand),
        cmocka_unit_test(intervals_hold_for_all_pairs),
        cmocka_unit_test(data_must_confirm),
        cmocka_unit_test(two_baskets_prove_nothing),
        cmocka_unit_test(counts_must_differ),
        cmocka_unit_test(agreement_without_a_map),
        cmocka_unit_test(truth_is_recovered_by_itself),
        cmocka_unit_test(ends_are_not_common),
    };
    const struct CMUnitTest walked[] = {
        cmocka_unit_test(sums_are_what_plain_loops_find),
        cmocka_unit_test(errors_are_what_plain_loops_find),
        cmocka_unit_test(effects_are_not_all_alike),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(attention_needs_no_scores),
        cmocka_unit_test(baskets_of_one_item_say_nothing),
        cmocka_unit_test(memory_of_the_sums_fails),
        cmocka_unit_test(embedding_by_hand),
        cmocka_unit_test(explanation_of_two_groups),
        cmocka_unit_test(what_cannot_be_explained),
        cmocka_unit_test(memory_of_the_whole_fails),
    };
    return cmocka_run_group_tests(plain, NULL, NULL) +
           cmocka_run_group_tests(walked, make_toy, free_toy);
}
