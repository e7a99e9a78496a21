/* Recommendation against a plain computation, filters by hand, names, pasts of another data set, no
 * allocation, many threads on one model. */
#include "support/testing.h"

#include <pthread.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/directory.h"
#include "model/model_file.h"
#include "recommend/recommend.h"
#include "support/sample_data.h"

static char folder[] = "/tmp/parsrec-recommend-XXXXXX", shop_path[64], sample_path[64], path[64];

/* Two models whose weights are drawn, not learnt: a sample with a tree of categories, and a synthetic
 * shop of 40 items in five categories. */
enum { SHOP_USERS = 23, SHOP_CATEGORIES = 5, SHOP_ITEMS = 40 };

static void save_model(const pr_dataset *data, const char *to)
{
    parsrec_error err;
    pr_config config;
    pr_model *model;
    assert_ok(pr_model_defaults(&config, "parsrec", &err));
    assert_ok(pr_config_assign(&config, "dim.user=4", &err));
    assert_ok(pr_config_assign(&config, "dim.item=8", &err));
    assert_ok(pr_model_new(&model, "parsrec", &config, data->users, data->items, 5, &err));
    assert_ok(pr_model_save(model, data, to, &err));
    pr_model_free(model);
}

static int make_models(void **state)
{
    (void)state;
    parsrec_error err;
    pr_dataset *shop;
    sample s;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(shop_path, sizeof shop_path, "%s/shop.model", folder);
    snprintf(sample_path, sizeof sample_path, "%s/sample.model", folder);
    snprintf(path, sizeof path, "%s/data.st", folder);
    parsrec_synth_options o = parsrec_synth_default();
    o.users = SHOP_USERS;
    o.sessions = 6;
    o.categories = SHOP_CATEGORIES;
    o.products = SHOP_ITEMS / SHOP_CATEGORIES;
    char groups[64];
    snprintf(groups, sizeof groups, "%s/groups.json", folder);
    FILE *f = fopen(groups, "w");
    assert_non_null(f);
    fputs("{\"groups\": [{\"name\": \"all\", \"share\": 1, \"blocks\": [5]}]}", f);
    fclose(f);
    o.groups_path = groups;
    assert_ok(parsrec_synth(path, &o, NULL, NULL, &err));
    assert_ok(pr_dataset_load(&shop, path, &err));
    save_model(shop, shop_path);
    pr_dataset_free(shop);
    unlink(path);
    unlink(groups);
    sample_make(&s);
    save_model(&s.data, sample_path);
    return 0;
}

static int remove_models(void **state)
{
    (void)state;
    unlink(shop_path);
    unlink(sample_path);
    return rmdir(folder); /* fails when something was left behind */
}

typedef struct opened {
    parsrec_model *model;
    parsrec_scratch *own;
} opened;

static opened open_model(const char *from, size_t basket)
{
    parsrec_error err;
    opened o;
    assert_ok(parsrec_model_load(&o.model, from, &err));
    assert_ok(parsrec_scratch_new(&o.own, o.model, basket, &err));
    return o;
}

static void close_model(opened *o)
{
    parsrec_scratch_free(o->own);
    parsrec_model_free(o->model);
}

/* ---- against a plain computation ---- */

/* A request with room for its lists. */
typedef struct drawn {
    int32_t lists[5][6];
    int32_t past[12];
    parsrec_numbers history;
    parsrec_request request;
} drawn;

static parsrec_numbers draw_list(pr_stream *s, int32_t *list, uint32_t most, uint32_t below)
{
    size_t count = pr_stream_below(s, most + 1);
    for (size_t i = 0; i < count; i++)
        list[i] = (int32_t)pr_stream_below(s, below);
    return (parsrec_numbers){list, count};
}

static void draw_request(drawn *d, uint32_t number)
{
    pr_rng rng = pr_rng_make(7, 1);
    pr_stream s = pr_stream_at(&rng, number, 0, 0);
    parsrec_request *r = &d->request;
    *r = parsrec_request_default();
    r->user = (int32_t)pr_stream_below(&s, SHOP_USERS + 1) - 1;
    r->k = 1 + pr_stream_below(&s, SHOP_ITEMS + 5);
    r->basket = draw_list(&s, d->lists[0], 6, SHOP_ITEMS);
    bool filtered = pr_stream_below(&s, 2) == 0;
    r->exclude = draw_list(&s, d->lists[1], filtered ? 6 : 0, SHOP_ITEMS);
    r->only = draw_list(&s, d->lists[2], filtered ? 6 : 0, SHOP_ITEMS);
    r->categories = draw_list(&s, d->lists[3], filtered ? 3 : 0, SHOP_CATEGORIES);
    r->exclude_categories = draw_list(&s, d->lists[4], filtered ? 2 : 0, SHOP_CATEGORIES);
    d->history = draw_list(&s, d->past, 12, SHOP_ITEMS);
    r->history = pr_stream_below(&s, 3) == 0 ? &d->history : NULL;
}

static bool listed(const parsrec_numbers *numbers, int32_t number)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->list[i] == number)
            return true;
    return false;
}

static bool allowed(const parsrec_request *r, const pr_dataset *data, int32_t item)
{
    int32_t c = data->item_category[item];
    return !listed(&r->basket, item) && !listed(&r->exclude, item) &&
           !listed(&r->exclude_categories, c) && (r->only.count == 0 || listed(&r->only, item)) &&
           (r->categories.count == 0 || listed(&r->categories, c));
}

static parsrec_source expected_source(const parsrec_request *r)
{
    if (r->user >= 0)
        return PARSREC_SOURCE_MODEL;
    bool nothing = r->basket.count == 0 && (r->history == NULL || r->history->count == 0);
    return nothing ? PARSREC_SOURCE_POPULAR : PARSREC_SOURCE_ANYONE;
}

/* The history is all of the user's sessions, as they stand in the data set. */
static void plain_scores(pr_real *scores, const pr_model_file *file, const parsrec_request *r)
{
    parsrec_error err;
    pr_scorer *session;
    pr_start start = {.user = r->user};
    if (expected_source(r) == PARSREC_SOURCE_POPULAR) {
        memset(scores, 0, SHOP_ITEMS * sizeof *scores);
        for (size_t a = 0; a < file->data->actions; a++)
            scores[file->data->action_items[a]] += 1;
        for (size_t i = 0; i < SHOP_ITEMS; i++)
            scores[i] /= (pr_real)file->data->sessions;
        return;
    }
    if (r->history != NULL) {
        start.history = (pr_history){.items = r->history->list, .count = r->history->count};
    } else if (r->user >= 0) {
        const int64_t *sessions = file->data->user_offsets + r->user;
        int64_t first = file->data->session_offsets[sessions[0]];
        start.history.items = file->data->action_items + first;
        start.history.count = (size_t)(file->data->session_offsets[sessions[1]] - first);
    }
    assert_ok(pr_scorer_new(&session, file->model, 1, SHOP_ITEMS, &err));
    pr_scorer_start(session, &start, 1);
    for (size_t i = 0; i < r->basket.count; i++) {
        parsrec_numbers before = {r->basket.list, i};
        if (!listed(&before, r->basket.list[i]))
            pr_scorer_place(session, &r->basket.list[i]);
    }
    pr_scorer_score_all(session, scores);
    pr_scorer_free(session);
}

static void agrees_with_a_full_sort(void **state)
{
    (void)state;
    parsrec_error err;
    pr_model_file file;
    assert_ok(pr_model_load(&file, shop_path, &err));
    assert_ok(pr_model_make_ready(file.model, &err));
    opened o = open_model(shop_path, 6);
    size_t full = 0, cut = 0;
    for (uint32_t n = 0; n < 600; n++) {
        drawn d;
        parsrec_hit hits[SHOP_ITEMS + 5];
        parsrec_answer a;
        pr_real scores[SHOP_ITEMS];
        draw_request(&d, n);
        assert_ok(parsrec_recommend(o.model, o.own, &d.request, hits, SHOP_ITEMS + 5, &a, &err));
        plain_scores(scores, &file, &d.request);
        size_t left = 0;
        for (int32_t i = 0; i < SHOP_ITEMS; i++)
            left += allowed(&d.request, file.data, i);
        assert_int_equal(a.count, left < d.request.k ? left : d.request.k);
        assert_int_equal(a.source, expected_source(&d.request));
        for (size_t h = 0; h < a.count; h++) { /* each the best of what is left */
            int32_t best = -1;
            for (int32_t i = 0; i < SHOP_ITEMS; i++)
                if (allowed(&d.request, file.data, i) && scores[i] > -(pr_real)INFINITY &&
                    (best < 0 || scores[i] > scores[best]))
                    best = i;
            assert_int_equal(hits[h].item, best);
            assert_close((double)hits[h].score, (double)scores[best], 0);
            scores[best] = -(pr_real)INFINITY;
        }
        *(a.count == d.request.k ? &cut : &full) += 1;
    }
    assert_true(cut > 100 && full > 100); /* both ends of an answer were met */
    close_model(&o);
    pr_model_file_free(&file);
}

/* ---- by hand, on the sample: milk bread eggs Té in FOOD>DAIRY, FOOD, none, DRINK ---- */

enum { MILK, BREAD, EGGS, TEA, FOOD = 0, DAIRY, DRINK };

static unsigned items_of(const opened *o, const parsrec_request *r)
{
    parsrec_error err;
    parsrec_hit hits[SAMPLE_ITEMS];
    parsrec_answer a;
    unsigned set = 0;
    assert_ok(parsrec_recommend(o->model, o->own, r, hits, SAMPLE_ITEMS, &a, &err));
    for (size_t i = 0; i < a.count; i++)
        set |= 1u << hits[i].item;
    return set;
}

#define LIST(...)                                                                          \
    {                                                                                      \
        (const int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t) \
    }
#define SET(item) (1u << (item))

static void filters_do_what_they_say(void **state)
{
    (void)state;
    opened o = open_model(sample_path, 0);
    const struct {
        parsrec_request request;
        unsigned expected;
    } cases[] = {
        {{.user = -1, .k = 9}, SET(MILK) | SET(BREAD) | SET(EGGS) | SET(TEA)},
        {{.user = -1, .k = 9, .basket = LIST(MILK, MILK, TEA)}, SET(BREAD) | SET(EGGS)},
        {{.user = -1, .k = 9, .categories = LIST(FOOD)}, SET(MILK) | SET(BREAD)},
        {{.user = -1, .k = 9, .categories = LIST(DAIRY, DRINK)}, SET(MILK) | SET(TEA)},
        {{.user = -1, .k = 9, .exclude_categories = LIST(FOOD)}, SET(EGGS) | SET(TEA)},
        {{.user = -1, .k = 9, .exclude_categories = LIST(DAIRY)},
         SET(BREAD) | SET(EGGS) | SET(TEA)},
        {{.user = -1, .k = 9, .categories = LIST(FOOD), .exclude_categories = LIST(DAIRY)},
         SET(BREAD)},
        {{.user = -1, .k = 9, .only = LIST(EGGS, TEA), .exclude = LIST(TEA)}, SET(EGGS)},
        {{.user = -1, .k = 9, .only = LIST(EGGS), .categories = LIST(FOOD)}, 0},
        {{.user = -1, .k = 9, .only = LIST(EGGS), .basket = LIST(EGGS)}, 0},
        {{.user = -1, .k = 9, .basket = LIST(MILK, BREAD, EGGS, TEA)}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(items_of(&o, &cases[i].request), cases[i].expected);
    close_model(&o);
}

/* Of each category the best, as a plain call without the limit has them. */
static void categories_have_their_limit(void **state)
{
    (void)state;
    parsrec_error err;
    opened o = open_model(shop_path, 6);
    size_t thinned = 0;
    for (uint32_t n = 0; n < 300; n++) {
        drawn d;
        parsrec_hit all[SHOP_ITEMS], hits[SHOP_ITEMS];
        parsrec_answer a, b;
        size_t shown[SHOP_CATEGORIES] = {0}, expected = 0;
        draw_request(&d, n);
        size_t k = d.request.k, limit = 1 + n % 4;
        d.request.k = SHOP_ITEMS;
        assert_ok(parsrec_recommend(o.model, o.own, &d.request, all, SHOP_ITEMS, &a, &err));
        d.request.k = k;
        d.request.max_per_category = limit;
        assert_ok(parsrec_recommend(o.model, o.own, &d.request, hits, SHOP_ITEMS, &b, &err));
        for (size_t i = 0; i < a.count && expected < k; i++)
            if (shown[parsrec_model_item_category(o.model, all[i].item)]++ < limit) {
                assert_true(expected < b.count);
                assert_int_equal(hits[expected].item, all[i].item);
                assert_true(hits[expected++].score == all[i].score);
            }
        assert_int_equal(b.count, expected);
        thinned += b.count < a.count && b.count < k;
    }
    assert_true(thinned > 50);
    close_model(&o);
}

static void bad_requests_get_a_sentence(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_hit hit;
    parsrec_answer a;
    opened o = open_model(sample_path, 2), other = open_model(sample_path, 2);
    parsrec_request r = parsrec_request_default();
#define ASK() parsrec_recommend(o.model, o.own, &r, &hit, 1, &a, &err)
    assert_ok(ASK());
    assert_int_equal(a.count, 1); /* capacity is less than k */
    r.user = SAMPLE_USERS;
    assert_fails(ASK(), PARSREC_E_ARGUMENT, "user 3");
    r.user = -2;
    assert_fails(ASK(), PARSREC_E_ARGUMENT, "user -2");
    r = parsrec_request_default();
    r.k = 0;
    assert_fails(ASK(), PARSREC_E_ARGUMENT, "k is 0");
    r = parsrec_request_default();
    r.basket = (parsrec_numbers)LIST(MILK, BREAD, EGGS);
    assert_fails(ASK(), PARSREC_E_LIMIT, "the basket has 3 items, at most 2");
    r.basket = (parsrec_numbers)LIST(SAMPLE_ITEMS);
    assert_fails(ASK(), PARSREC_E_ARGUMENT, "basket[0] is 4");
    r.basket = (parsrec_numbers){NULL, 1};
    assert_fails(ASK(), PARSREC_E_ARGUMENT, "no list");
    r = parsrec_request_default();
    r.exclude_categories = (parsrec_numbers)LIST(DRINK, -1);
    assert_fails(ASK(), PARSREC_E_ARGUMENT, "exclude_categories[1] is -1");
    r = parsrec_request_default();
    r.features = &(parsrec_feature){.number = 1};
    r.feature_count = 1;
    assert_fails(ASK(), PARSREC_E_ARGUMENT, "features[0] has no name");
    r.features = &(parsrec_feature){.name = "colour", .number = 1};
    assert_fails(ASK(), PARSREC_E_INPUT, "no 'colour' of users or sessions");
    r = parsrec_request_default();
    assert_fails(parsrec_recommend(o.model, other.own, &r, &hit, 1, &a, &err), PARSREC_E_ARGUMENT,
                 "a scratch made for it");
    assert_fails(parsrec_recommend(o.model, NULL, &r, &hit, 1, &a, &err), PARSREC_E_ARGUMENT,
                 "needs");
    assert_ok(parsrec_recommend(o.model, o.own, &r, NULL, 0, &a, &err));
    assert_int_equal(a.count, 0);
    close_model(&o);
    close_model(&other);
}

/* ---- features ---- */

/* The code of the session feature `channel` in a request with this value. */
static int32_t channel_code(const opened *o, const char *word, double number)
{
    parsrec_error err;
    parsrec_feature value = {.name = "channel", .word = word, .number = number};
    parsrec_request r = parsrec_request_default();
    pr_known_features known = {0};
    r.features = &value;
    r.feature_count = 1;
    assert_ok(pr_request_features(o->own, &r, &known, &err));
    return known.session.columns[0].code[0];
}

/* Among its values is what printf makes of a number that is unknown. */
static void an_unknown_value_is_not_a_word(void **state)
{
    (void)state;
    static const int64_t channels[] = {0, 3, 4};
    sample s;
    sample_make(&s);
    s.session_feature[0].values = sample_names("nan5", channels, 2);
    save_model(&s.data, path);
    opened o = open_model(path, 2);
    assert_int_equal(channel_code(&o, "nan", (double)NAN), 0);
    assert_int_equal(channel_code(&o, NULL, 5), 1);
    assert_int_equal(channel_code(&o, NULL, 6), -1);
    assert_int_equal(channel_code(&o, NULL, (double)NAN), -1);
    close_model(&o);
    unlink(path);
}

/* ---- names ---- */

static int32_t found(const opened *o, parsrec_thing thing, const char *word)
{
    int32_t number;
    parsrec_error err;
    assert_ok(parsrec_model_find(o->model, thing, word, &number, &err));
    return number;
}

static void assert_name(parsrec_name name, const char *expected)
{
    assert_int_equal(name.size, strlen(expected));
    assert_memory_equal(name.bytes, expected, name.size);
}

static void names_and_numbers(void **state)
{
    (void)state;
    parsrec_error err;
    int32_t number;
    char text[32];
    opened o = open_model(sample_path, 0);
    assert_int_equal(found(&o, PARSREC_USER, "cy"), 2);
    assert_int_equal(found(&o, PARSREC_ITEM, "eggs"), EGGS);
    assert_int_equal(found(&o, PARSREC_ITEM, "Milk 1.5l"), MILK);
    assert_int_equal(found(&o, PARSREC_CATEGORY, "FOOD > DAIRY"), DAIRY);
    assert_int_equal(found(&o, PARSREC_CATEGORY, "DAIRY"), DAIRY);
    assert_fails(parsrec_model_find(o.model, PARSREC_USER, "dora", &number, &err),
                 PARSREC_E_NOT_FOUND, "no user 'dora'");
    assert_fails(parsrec_model_find(o.model, PARSREC_ITEM, "", &number, &err), PARSREC_E_NOT_FOUND,
                 "no item");
    assert_fails(parsrec_model_find(o.model, PARSREC_CATEGORY, "FOOD>DAIRY", &number, &err),
                 PARSREC_E_NOT_FOUND, "no category");
    assert_name(parsrec_model_key(o.model, PARSREC_USER, 0), "ann");
    assert_name(parsrec_model_key(o.model, PARSREC_ITEM, TEA), "T\xC3\xA9");
    assert_name(parsrec_model_key(o.model, PARSREC_CATEGORY, DRINK), "DRINK");
    assert_name(parsrec_model_key(o.model, PARSREC_ITEM, 4), "");
    assert_name(parsrec_model_item_name(o.model, TEA), "Tea bags");
    assert_name(parsrec_model_item_name(o.model, BREAD), "");
    assert_name(parsrec_model_item_name(o.model, -1), "");
    assert_int_equal(parsrec_model_item_category(o.model, EGGS), -1);
    assert_int_equal(parsrec_model_item_category(o.model, MILK), DAIRY);
    assert_string_equal(parsrec_model_category_path(o.model, DAIRY, text, sizeof text),
                        "FOOD > DAIRY");
    assert_string_equal(parsrec_model_category_path(o.model, 3, text, sizeof text), "");
    close_model(&o);
}

/* Two items of one name, two categories of one name under different parents. */
static void a_name_that_several_bear(void **state)
{
    (void)state;
    static const int64_t twins[] = {0, 3, 6, 9, 12}, nodes[] = {0, 1, 4, 5, 8};
    static const int32_t parent[] = {-1, 0, -1, 2};
    parsrec_error err;
    int32_t number;
    sample s;
    pr_directory d;
    sample_make(&s);
    s.data.item_names = sample_names("RyeRyeOatTea", twins, 4);
    s.data.category_names = sample_names("ATOPBTOP", nodes, 4);
    s.data.category_parent = parent;
    s.data.categories = 4;
    assert_ok(pr_directory_init(&d, &s.data, &err));
    assert_fails(pr_directory_item(&d, pr_slice_of("Rye"), &number, &err), PARSREC_E_NOT_FOUND,
                 "several items are named 'Rye'; use the item's key: 'milk', 'bread'");
    int32_t named[4];
    assert_int_equal(pr_directory_named(&d, pr_slice_of("Rye"), named, 4), 2);
    assert_int_equal(named[0], 0);
    assert_int_equal(named[1], 1);
    assert_int_equal(pr_directory_named(&d, pr_slice_of("Rye"), named, 1), 1);
    assert_int_equal(pr_directory_named(&d, pr_slice_of("Oat"), named, 4), 1);
    assert_int_equal(named[0], 2);
    assert_int_equal(pr_directory_named(&d, pr_slice_of("milk"), named, 4), 0); /* which is a key */
    assert_int_equal(pr_directory_named(&d, pr_slice_of(""), named, 4), 0);
    /* Blanks around a key or a name, as import leaves them out. */
    assert_int_equal(pr_directory_named(&d, pr_slice_of(" Rye "), named, 4), 2);
    assert_ok(pr_directory_item(&d, pr_slice_of("\tOat\xC2\xA0 "), &number, &err));
    assert_int_equal(number, 2);
    assert_ok(pr_directory_item(&d, pr_slice_of("milk   "), &number, &err));
    assert_int_equal(number, 0);
    assert_ok(pr_directory_user(&d, pr_slice_of(" ann "), &number, &err));
    assert_int_equal(number, 0);
    assert_fails(pr_directory_user(&d, pr_slice_of("  "), &number, &err), PARSREC_E_NOT_FOUND,
                 "there is no user '  '");
    assert_fails(pr_directory_category(&d, pr_slice_of("TOP"), &number, &err), PARSREC_E_NOT_FOUND,
                 "several categories are named 'TOP'");
    assert_ok(pr_directory_category(&d, pr_slice_of("B > TOP"), &number, &err));
    assert_int_equal(number, 3);
    assert_ok(pr_directory_item(&d, pr_slice_of("Oat"), &number, &err));
    assert_int_equal(number, 2);
    pr_directory_free(&d);
}

/* ---- who is served how ---- */

static parsrec_source source_of(const opened *o, int32_t user)
{
    parsrec_error err;
    parsrec_request r = parsrec_request_default();
    parsrec_answer a;
    r.user = user;
    assert_ok(parsrec_recommend(o->model, o->own, &r, NULL, 0, &a, &err));
    return a.source;
}

static float score_of(const opened *o, int32_t user, const parsrec_numbers *history, int32_t item)
{
    parsrec_error err;
    parsrec_request r = parsrec_request_default();
    parsrec_answer a;
    parsrec_hit hit;
    r.user = user;
    r.history = history;
    r.only = (parsrec_numbers){&item, 1};
    assert_ok(parsrec_recommend(o->model, o->own, &r, &hit, 1, &a, &err));
    assert_int_equal(a.count, 1);
    return hit.score;
}

/* bob has no session: his row was never trained. */
static void untrained_rows_are_not_used(void **state)
{
    (void)state;
    opened o = open_model(sample_path, 0);
    assert_int_equal(source_of(&o, 0), PARSREC_SOURCE_MODEL);
    assert_int_equal(source_of(&o, 1), PARSREC_SOURCE_POPULAR);
    assert_int_equal(source_of(&o, PARSREC_GUEST), PARSREC_SOURCE_POPULAR);
    assert_true(score_of(&o, 1, NULL, TEA) == score_of(&o, PARSREC_GUEST, NULL, TEA));
    const parsrec_numbers milk = LIST(MILK);
    assert_true(score_of(&o, 1, &milk, TEA) == score_of(&o, PARSREC_GUEST, &milk, TEA));
    assert_true(score_of(&o, 0, &milk, TEA) != score_of(&o, PARSREC_GUEST, &milk, TEA));
    assert_true(score_of(&o, 0, NULL, TEA) != score_of(&o, PARSREC_GUEST, NULL, TEA));
    close_model(&o);
}

/* Another data set: dora, whom the model never saw, bought something new and tea; ann eggs, twice; cy
 * is not in it. */
static void pasts_of_another_data_set(void **state)
{
    (void)state;
    static const int64_t users[] = {0, 4, 7}, offsets[] = {0, 1, 3}, sessions[] = {0, 2, 3, 4};
    static const int64_t keys[] = {0, 3, 6, 10};
    static const int32_t actions[] = {0, 1, 2, 2};
    parsrec_error err;
    parsrec_pasts_report report;
    sample s;
    parsrec_data *data;
    sample_make(&s);
    s.data = (pr_dataset){.users = 2,
                          .sessions = 3,
                          .items = 3,
                          .actions = 4,
                          .user_offsets = offsets,
                          .session_offsets = sessions,
                          .action_items = actions,
                          .user_keys = sample_names("dora"
                                                    "ann",
                                                    users, 2),
                          .item_keys = sample_names("newT\xC3\xA9"
                                                    "eggs",
                                                    keys, 3),
                          .item_names = s.data.category_names,
                          .category_names = s.data.category_names,
                          .source = ""};
    s.data.item_names.count = s.data.category_names.count = 0;
    assert_ok(pr_dataset_save(&s.data, NULL, 0, path, &err));
    assert_ok(parsrec_data_load(&data, path, &err));
    unlink(path);
    opened o = open_model(sample_path, 0);
    assert_ok(parsrec_model_take_pasts(o.model, data, &report, &err));
    parsrec_data_free(data);
    assert_int_equal(report.users, 2);
    assert_int_equal(report.new_users, 1);
    assert_int_equal(report.unknown_items, 1);
    assert_int_equal(report.unknown_actions, 1);
    assert_int_equal(parsrec_model_size(o.model, PARSREC_USER), 4);
    int32_t dora = found(&o, PARSREC_USER, "dora");
    assert_int_equal(dora, 3);
    assert_name(parsrec_model_key(o.model, PARSREC_USER, dora), "dora");
    assert_int_equal(source_of(&o, dora), PARSREC_SOURCE_ANYONE);
    assert_int_equal(source_of(&o, 0), PARSREC_SOURCE_MODEL);
    const parsrec_numbers tea = LIST(TEA), eggs = LIST(EGGS, EGGS), none = {NULL, 0};
    assert_true(score_of(&o, dora, NULL, MILK) == score_of(&o, PARSREC_GUEST, &tea, MILK));
    assert_true(score_of(&o, 0, NULL, MILK) == score_of(&o, 0, &eggs, MILK));
    assert_true(score_of(&o, 2, NULL, MILK) == score_of(&o, 2, &none, MILK));
    assert_true(score_of(&o, 0, &eggs, MILK) != score_of(&o, 0, &none, MILK));
    close_model(&o);
}

/* ---- memory ---- */

static void a_request_allocates_nothing(void **state)
{
    (void)state;
    parsrec_error err;
    opened o = open_model(shop_path, 6);
    size_t before = pr_memory_count();
    for (uint32_t n = 0; n < 50; n++) {
        drawn d;
        parsrec_hit hits[10];
        parsrec_answer a;
        draw_request(&d, n);
        assert_ok(parsrec_recommend(o.model, o.own, &d.request, hits, 10, &a, &err));
    }
    assert_int_equal(pr_memory_count(), before);
    close_model(&o);
}

/* Every allocation of loading, asking and taking pasts fails in turn: a status, nothing leaks. */
static void out_of_memory_is_a_status(void **state)
{
    (void)state;
    static const char request[] = "{\"user\":\"ann\",\"basket\":[\"milk\"],\"only\":[\"eggs\"]}";
    parsrec_error err;
    bool whole = false;
    size_t failures = 0;
    for (size_t i = 0; !whole; i++) {
        parsrec_model *model = NULL;
        parsrec_scratch *own = NULL;
        const char *answer;
        pr_memory_fail_after(i);
        parsrec_status status = parsrec_model_load(&model, sample_path, &err);
        if (status == PARSREC_OK)
            status = parsrec_model_take_pasts(model, parsrec_model_data(model), NULL, &err);
        if (status == PARSREC_OK)
            status = parsrec_scratch_new(&own, model, 0, &err);
        if (status == PARSREC_OK)
            status = parsrec_recommend_json(model, own, &(parsrec_json_options){.k = 3}, request,
                                            sizeof request - 1, &answer, &err);
        pr_memory_fail_after(SIZE_MAX);
        whole = status == PARSREC_OK;
        if (!whole)
            assert_int_equal(status, PARSREC_E_MEMORY);
        failures += !whole;
        parsrec_scratch_free(own);
        parsrec_model_free(model);
    }
    assert_true(failures > 20);
}

/* ---- JSON ---- */

/* The last date in the sample. */
#define NEWEST "\"time\":\"2027-01-15T08:00:00Z\",\"time_from\":\"data\","

static void json_requests(void **state)
{
    (void)state;
    parsrec_error err;
    const char *answer;
    opened o = open_model(sample_path, 3);
#define JSON(text)                                                                              \
    parsrec_recommend_json(o.model, o.own, &(parsrec_json_options){.k = 2}, text, strlen(text), \
                           &answer, &err)
    assert_ok(JSON("{\"user\":\"ann\",\"basket\":[\"milk\"],\"only\":[\"T\\u00e9\"]}"));
    char expected[256];
    parsrec_request r = {.user = 0, .k = 1, .basket = LIST(MILK), .only = LIST(TEA)};
    parsrec_hit hit;
    parsrec_answer a;
    assert_ok(parsrec_recommend(o.model, o.own, &r, &hit, 1, &a, &err));
    int used = snprintf(expected, sizeof expected,
                        "{\"user\":\"ann\",\"source\":\"model\"," NEWEST
                        "\"basket\":[\"milk\"],\"items\":[{\"item\":"
                        "\"T\xC3\xA9\",\"name\":\"Tea bags\",\"category\":\"DRINK\",\"score\":");
    assert_memory_equal(answer, expected, (size_t)used);
    char *rest; /* however many digits it takes, it is the same number */
    assert_true(strtof(answer + used, &rest) == hit.score);
    assert_string_equal(rest, "}]}");
    assert_ok(JSON("{\"user\":\"nobody\",\"k\":1,\"exclude_categories\":[\"FOOD\",\"DRINK\"]}"));
    assert_non_null(strstr(answer,
                           "{\"user\":\"nobody\",\"source\":\"popular\"," NEWEST "\"basket\":[],"
                           "\"items\":[{\"item\":\"eggs\","));
    assert_ok(JSON("{\"k\":1,\"time\":0}"));
    assert_non_null(strstr(answer, "\"time\":\"1970-01-01T00:00:00Z\",\"time_from\":\"request\""));
    assert_ok(JSON("{\"k\":1,\"time\":\"9999-12-31T23:59:59Z\"}"));
    assert_non_null(strstr(answer, "\"time\":\"9999-12-31T23:59:59Z\","));
    assert_ok(JSON("{\"k\":1,\"time\":\"1000-01-01\"}"));
    assert_non_null(strstr(answer, "\"time\":\"1000-01-01T00:00:00Z\","));
    assert_ok(JSON("{\"user\":null,\"only\":[\"eggs\"],\"basket\":[\"eggs\"]}"));
    assert_string_equal(answer, "{\"user\":null,\"source\":\"anyone\"," NEWEST
                                "\"basket\":[\"eggs\"],\"items\":[]}");
    assert_fails(JSON("{\"basket\":[\"x7\"],\"strict\":true}"), PARSREC_E_NOT_FOUND,
                 "basket: there is no item 'x7'");
    assert_null(answer);
    uint64_t searches = pr_directory_searches();
    assert_ok(JSON("{\"basket\":[\"x7\",\"eggs\",8],\"history\":[\"x9\"],\"exclude\":[\"y\"],"
                   "\"only\":[\"eggs\",\"z\"],\"strict\":false}"));
    assert_string_equal(answer,
                        "{\"user\":null,\"source\":\"anyone\"," NEWEST "\"basket\":[\"eggs\"],"
                        "\"items\":[],\"unknown_items\":[\"x7\",8,\"x9\",\"y\",\"z\"]}");
    /* Suggestions that nobody reads are not looked for. */
    assert_int_equal(pr_directory_searches(), searches);
    assert_ok(JSON("{\"basket\":[\"eggs\"],\"only\":[\"eggs\"]}")); /* the next starts anew */
    assert_null(strstr(answer, "unknown_items"));
    assert_fails(JSON("{\"only\":[\"x7\",\"x8\",9]}"), PARSREC_E_NOT_FOUND,
                 "only: there is no item '9'");
    assert_true(pr_directory_searches() > searches);
    assert_fails(JSON("{\"strict\":1}"), PARSREC_E_INPUT, "strict must be true or false");
    assert_fails(JSON("{\"categories\":[\"x7\"]}"), PARSREC_E_NOT_FOUND, "no category 'x7'");
    assert_fails(JSON("{\"basket\":[\"milk\",\"milk\",\"milk\",\"milk\"]}"), PARSREC_E_LIMIT,
                 "at most 3");
    assert_fails(JSON("{\"basket\":[1.5]}"), PARSREC_E_INPUT, "basket[0] is neither");
    assert_fails(JSON("{\"basket\":\"milk\"}"), PARSREC_E_INPUT, "basket must be a list");
    assert_fails(JSON("{\"user\":[]}"), PARSREC_E_INPUT, "user must be text");
    assert_fails(JSON("{\"k\":-1}"), PARSREC_E_INPUT, "k must be");
    assert_fails(JSON("{\"max_per_category\":0}"), PARSREC_E_INPUT, "max_per_category must be");
    assert_fails(JSON("{\"k\":1e3}"), PARSREC_E_INPUT, "k must be");
    assert_fails(JSON("{\"k\":1,\"k\":2}"), PARSREC_E_INPUT, "not valid JSON");
    assert_fails(JSON("{\"bascet\":[]}"), PARSREC_E_INPUT, "no field 'bascet'");
    assert_fails(JSON("[]"), PARSREC_E_INPUT, "a request is an object");
    assert_fails(JSON(""), PARSREC_E_INPUT, "not valid JSON");
#undef JSON
    close_model(&o);
}

/* Of the request, else now, unless that is further from the data than the data are long; else the last
 * date in the data. */
static void an_answer_says_for_what_time_it_is(void **state)
{
    (void)state;
    parsrec_error err;
    const char *answer;
    opened o = open_model(sample_path, 3);
    const pr_histories *pasts = &o.model->pasts;
    int64_t gap = pasts->last_time - pasts->first_time, now = pasts->last_time + gap;
    parsrec_json_options options = {.k = 1, .now = &now};
    assert_true(gap > 0);
#define JSON(text) \
    parsrec_recommend_json(o.model, o.own, &options, text, strlen(text), &answer, &err)
    assert_ok(JSON("{\"user\":\"ann\"}"));
    assert_non_null(strstr(answer, "\"time_from\":\"now\""));
    assert_ok(JSON("{\"user\":\"ann\",\"time\":null}"));
    assert_non_null(strstr(answer, "\"time_from\":\"now\""));
    now++;
    assert_ok(JSON("{\"user\":\"ann\"}"));
    assert_non_null(strstr(answer, NEWEST));
    assert_ok(JSON("{\"user\":\"ann\",\"time\":\"2001-02-03T04:05+01:00\"}"));
    assert_non_null(strstr(answer, "\"time\":\"2001-02-03T03:05:00Z\",\"time_from\":\"request\""));
    assert_ok(JSON("{\"time\":981169500000}")); /* milliseconds */
    assert_non_null(strstr(answer, "\"time\":\"2001-02-03T03:05:00Z\""));
    assert_fails(JSON("{\"time\":\"noon\"}"), PARSREC_E_INPUT, "time must be seconds or");
    assert_fails(JSON("{\"time\":[]}"), PARSREC_E_INPUT, "time must be seconds or");
    assert_fails(JSON("{\"time\":1e300}"), PARSREC_E_INPUT, "time must be seconds or");
#undef JSON
    close_model(&o);
}

static const char *code_for_test(parsrec_status status)
{
    return status == PARSREC_E_LIMIT ? "too_large" : "other";
}

/* Many requests in one text: each answer is that of the request alone. */
static void json_batches(void **state)
{
    (void)state;
    static const char one[] = "{\"user\":\"ann\",\"basket\":[\"milk\"],\"explain\":true}";
    static const char batch[] = "{\"requests\":[{\"user\":\"ann\",\"basket\":[\"milk\"],"
                                "\"explain\":true},{\"k\":9},{\"requests\":[]}]}";
    parsrec_error err;
    parsrec_json_options options = {.k = 2, .batch_most = 3, .error_code = code_for_test};
    const char *answer;
    opened o = open_model(sample_path, 3);
    parsrec_scratch_limit(o.own, 5);
    assert_ok(parsrec_recommend_json(o.model, o.own, &options, one, strlen(one), &answer, &err));
    char *alone = pr_copy_string(answer, strlen(answer));
    assert_non_null(alone);
    assert_ok(
        parsrec_recommend_json(o.model, o.own, &options, batch, strlen(batch), &answer, &err));
    assert_memory_equal(answer, "{\"answers\":[", 12);
    assert_memory_equal(answer + 12, alone, strlen(alone));
    const char *rest = answer + 12 + strlen(alone);
    assert_non_null(strstr(rest, ",{\"error\":{\"code\":\"too_large\",\"message\":\"k is 9, at"));
    assert_non_null(strstr(rest, "\"code\":\"other\",\"message\":\"there is no field 'requests'"));
    options.error_code = NULL;
    options.batch_items_most = 2 + SAMPLE_ITEMS + 2; /* k is 2, 9 and 2 */
    assert_ok(
        parsrec_recommend_json(o.model, o.own, &options, batch, strlen(batch), &answer, &err));
    assert_non_null(strstr(answer, "\"code\":\"E_LIMIT\""));
    options.batch_bytes_most = strlen(answer);
    assert_ok(
        parsrec_recommend_json(o.model, o.own, &options, batch, strlen(batch), &answer, &err));
    options.batch_bytes_most = strlen(alone);
    assert_fails(
        parsrec_recommend_json(o.model, o.own, &options, batch, strlen(batch), &answer, &err),
        PARSREC_E_LIMIT, "the answers to the first 1 requests have more than");
    options.batch_items_most--;
    assert_fails(
        parsrec_recommend_json(o.model, o.own, &options, batch, strlen(batch), &answer, &err),
        PARSREC_E_LIMIT, "items together, at most");
    options.batch_most = 2;
    assert_fails(
        parsrec_recommend_json(o.model, o.own, &options, batch, strlen(batch), &answer, &err),
        PARSREC_E_INPUT, "a list of at most 2");
    options.batch_most = 0;
    assert_fails(
        parsrec_recommend_json(o.model, o.own, &options, batch, strlen(batch), &answer, &err),
        PARSREC_E_INPUT, "no field 'requests'");
    pr_free(alone);
    close_model(&o);
}

/* An answer of structs is written as that of a text. */
static void answers_as_json(void **state)
{
    (void)state;
    static const char one[] = "{\"user\":\"ann\",\"basket\":[\"milk\",\"x\",\"y\"]}";
    static const char *const unknown[] = {"x", "y"};
    parsrec_error err;
    const char *answer;
    opened o = open_model(sample_path, 3);
    assert_ok(parsrec_recommend_json(o.model, o.own, NULL, one, strlen(one), &answer, &err));
    char *expected = pr_copy_string(answer, strlen(answer));
    assert_non_null(expected);
    parsrec_request r = {.user = 0, .k = 10, .basket = LIST(MILK)};
    parsrec_hit hits[10];
    parsrec_answer_parts parts = {
        .user = "ann", .request = &r, .hits = hits, .unknown = unknown, .unknown_count = 2};
    assert_ok(parsrec_recommend(o.model, o.own, &r, hits, 10, &parts.answer, &err));
    assert_ok(parsrec_answer_json(o.model, o.own, &parts, &answer, &err));
    assert_string_equal(answer, expected);
    assert_fails(parsrec_answer_json(o.model, o.own, NULL, &answer, &err), PARSREC_E_ARGUMENT,
                 "needs a model");
    pr_free(expected);
    close_model(&o);
}

/* ---- threads ---- */

typedef struct worker {
    const parsrec_model *model;
    pthread_t thread;
    uint64_t sum;
} worker;

static void *work(void *context)
{
    worker *w = context;
    parsrec_scratch *own;
    parsrec_error err;
    if (parsrec_scratch_new(&own, w->model, 6, &err) != PARSREC_OK)
        return NULL;
    for (uint32_t n = 0; n < 200; n++) {
        drawn d;
        parsrec_hit hits[10];
        parsrec_answer a;
        draw_request(&d, n);
        if (parsrec_recommend(w->model, own, &d.request, hits, 10, &a, &err) == PARSREC_OK)
            for (size_t i = 0; i < a.count; i++)
                w->sum = w->sum * 31 + (uint64_t)hits[i].item;
    }
    parsrec_scratch_free(own);
    return NULL;
}

static void threads_share_a_model(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    opened o = open_model(shop_path, 6);
    worker workers[THREADS], alone = {.model = o.model};
    work(&alone);
    assert_true(alone.sum != 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.model = o.model};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_true(workers[i].sum == alone.sum);
    }
    close_model(&o);
}

/* ---- files ---- */

static void model_files_are_checked(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_file_report report;
    char format[32];
    assert_ok(parsrec_file_check(sample_path, &report, &err));
    assert_string_equal(report.format, "parsrec.model");
    assert_true(report.has_checksum);
    assert_ok(parsrec_file_format(sample_path, format, &err));
    assert_string_equal(format, "parsrec.model");
    parsrec_data *data;
    assert_fails(parsrec_data_load(&data, sample_path, &err), PARSREC_E_FORMAT,
                 "is a model, not a data set");
    opened o = open_model(sample_path, 0);
    parsrec_model_facts facts;
    parsrec_model_describe(o.model, &facts);
    assert_string_equal(facts.kind, "parsrec");
    assert_int_equal(facts.users, SAMPLE_USERS);
    assert_int_equal(facts.items, SAMPLE_ITEMS);
    assert_int_equal(facts.bytes, report.bytes);
    assert_true(facts.parameters >= 4 * (SAMPLE_USERS + 1) + 8 * (SAMPLE_ITEMS + 1));
    size_t changed = 0, count = 0;
    parsrec_setting s;
    for (; parsrec_model_setting(o.model, count, &s); count++) {
        changed += strcmp(s.value, s.initial) != 0;
        if (strcmp(s.key, "loss") == 0) /* what auto was resolved to */
            assert_string_equal(s.value, "ce");
    }
    assert_int_equal(changed, 3); /* two dimensions, and the loss */
    assert_true(count > 20);
    close_model(&o);
}

/* Many requests at once are the same requests one by one, at any number of threads. */
static void many_requests_equal_single_ones(void **state)
{
    (void)state;
    enum { COUNT = 2100, K = 6 };
    static parsrec_hit hits[COUNT * K], single[K];
    static parsrec_answer answers[COUNT];
    static int32_t users[COUNT], items[COUNT * 2];
    static int64_t offsets[COUNT + 1];
    opened o = open_model(shop_path, 8);
    parsrec_error err = {0};
    parsrec_answer answer;
    int32_t barred[] = {1, 2};
    parsrec_request r = parsrec_request_default();
    r.k = K;
    r.exclude = (parsrec_numbers){barred, 2};
    for (size_t i = 0; i < COUNT; i++) {
        users[i] = (int32_t)(i % (SHOP_USERS + 1)) - 1; /* guests too */
        offsets[i + 1] = offsets[i] + (int64_t)(i % 3);
        for (int64_t j = offsets[i]; j < offsets[i + 1]; j++)
            items[j] = (int32_t)(i + (size_t)(7 * j)) % SHOP_ITEMS;
    }
    parsrec_many many = {.request = &r,
                         .users = users,
                         .basket_items = items,
                         .basket_offsets = offsets,
                         .count = COUNT};
    for (many.threads = 1; many.threads <= 4; many.threads += 3) {
        assert_ok(parsrec_recommend_many(o.model, &many, hits, answers, NULL, &err));
        for (size_t i = 0; i < COUNT; i++) {
            r.user = users[i];
            r.basket = (parsrec_numbers){items + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
            assert_ok(parsrec_recommend(o.model, o.own, &r, single, K, &answer, &err));
            assert_int_equal(answers[i].count, answer.count);
            assert_int_equal(answers[i].source, answer.source);
            assert_memory_equal(&hits[i * K], single, answer.count * sizeof *hits);
        }
        r.basket = (parsrec_numbers){NULL, 0};
    }
    /* Users by number, one basket for all; what is missing is -1. */
    int32_t only[] = {3, 4};
    r.exclude = (parsrec_numbers){NULL, 0};
    r.only = (parsrec_numbers){only, 2};
    many = (parsrec_many){.request = &r, .count = SHOP_USERS};
    assert_ok(parsrec_recommend_many(o.model, &many, hits, answers, NULL, &err));
    for (size_t i = 0; i < SHOP_USERS; i++) {
        assert_int_equal(answers[i].count, 2);
        assert_true(hits[i * K + 1].item == 3 || hits[i * K + 1].item == 4);
        assert_int_equal(hits[i * K + 2].item, -1);
        assert_true(isnan(hits[i * K + 2].score));
    }
    close_model(&o);
}

static int stop_at_once(void *context, const parsrec_progress *progress)
{
    (void)context;
    assert_string_equal(progress->unit, "requests");
    return 1;
}

static void many_requests_can_fail_and_stop(void **state)
{
    (void)state;
    opened o = open_model(shop_path, 8);
    parsrec_error err = {0};
    parsrec_hit hits[30];
    parsrec_answer answers[3];
    int32_t users[] = {0, SHOP_USERS, SHOP_USERS + 1};
    int64_t offsets[] = {0, 2, 1, 1};
    parsrec_request r = parsrec_request_default();
    parsrec_many many = {.request = &r, .users = users, .count = 3, .threads = 2};
    assert_fails(parsrec_recommend_many(o.model, &many, hits, answers, NULL, &err),
                 PARSREC_E_ARGUMENT, "request 1: user 23");
    many.users = NULL;
    many.basket_offsets = offsets;
    assert_fails(parsrec_recommend_many(o.model, &many, hits, answers, NULL, &err),
                 PARSREC_E_ARGUMENT, "request 0: the offsets of baskets are wrong");
    many.basket_offsets = NULL;
    parsrec_hooks hooks = {.on_progress = stop_at_once};
    assert_int_equal(parsrec_recommend_many(o.model, &many, hits, answers, &hooks, &err),
                     PARSREC_E_STOPPED);
    assert_fails(parsrec_recommend_many(o.model, &many, NULL, answers, NULL, &err),
                 PARSREC_E_ARGUMENT, "room for the answers");
    many.count = 0;
    assert_ok(parsrec_recommend_many(o.model, &many, NULL, NULL, NULL, &err));
    many.count = 3;
    parsrec_status status = PARSREC_E_MEMORY;
    for (size_t n = 0; status != PARSREC_OK; n++) {
        pr_memory_fail_after(n);
        status = parsrec_recommend_many(o.model, &many, hits, answers, NULL, &err);
        pr_memory_fail_after(SIZE_MAX);
        if (status != PARSREC_OK)
            assert_int_equal(status, PARSREC_E_MEMORY);
    }
    close_model(&o);
}

/* Settings that ask for tensors the file does not hold: refused before memory is spent on them. */
static void settings_must_fit_the_tensors(void **state)
{
    (void)state;
    static const char config[] = "{\"dim.user\":4096,\"dim.item\":4096}";
    const pr_metadata words[] = {{"model", "parsrec"}, {"config", config}};
    const pr_enclosing in = {.format = PR_MODEL_FORMAT,
                             .version = PR_MODEL_VERSION,
                             .metadata = words,
                             .metadata_count = 2};
    parsrec_error err;
    parsrec_model *model;
    sample s;
    sample_make(&s);
    assert_ok(pr_dataset_enclose(&s.data, &in, path, &err));
    assert_fails(parsrec_model_load(&model, path, &err), PARSREC_E_FORMAT, "is missing");
    assert_null(model);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_full_sort),
        cmocka_unit_test(filters_do_what_they_say),
        cmocka_unit_test(categories_have_their_limit),
        cmocka_unit_test(bad_requests_get_a_sentence),
        cmocka_unit_test(an_unknown_value_is_not_a_word),
        cmocka_unit_test(names_and_numbers),
        cmocka_unit_test(a_name_that_several_bear),
        cmocka_unit_test(untrained_rows_are_not_used),
        cmocka_unit_test(pasts_of_another_data_set),
        cmocka_unit_test(a_request_allocates_nothing),
        cmocka_unit_test(out_of_memory_is_a_status),
        cmocka_unit_test(json_requests),
        cmocka_unit_test(an_answer_says_for_what_time_it_is),
        cmocka_unit_test(json_batches),
        cmocka_unit_test(answers_as_json),
        cmocka_unit_test(threads_share_a_model),
        cmocka_unit_test(many_requests_equal_single_ones),
        cmocka_unit_test(many_requests_can_fail_and_stop),
        cmocka_unit_test(model_files_are_checked),
        cmocka_unit_test(settings_must_fit_the_tensors),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
