/* Why an item is recommended: every effect against plain calls with something left out, for every kind
 * of model; chances and sentences by hand; corners. */
#include "support/shaken.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/writer.h"
#include "model/chances.h"
#include "model/model_file.h"
#include "recommend/recommend.h"
#include "support/sample_data.h"
#include "support/toy_shop.h"

enum { ITEMS = 45, USERS = 12, BASKET = 40 };

/* ---- chances by hand ---- */

static void chances_by_hand(void **state)
{
    (void)state;
    const pr_model_kind exponents = {0}, shares = {.scores_are_shares = true};
    pr_model model = {.kind = &exponents, .items = 3};
    const pr_real all[] = {1, 2, 3}, scores[] = {1, -(pr_real)INFINITY, 3}, never[] = {0, 0, -1};
    pr_chances c = pr_chances_of(&model, scores);
    assert_close(pr_log_chance(&c, 3), -.126928, 1e-6); /* 3 - log(e + e³) */
    assert_close(pr_log_chance(&c, 1), -2.126928, 1e-6);
    c = pr_chances_of(&model, all);
    assert_close(pr_log_chance(&c, 3), -.407606, 1e-6);
    model.kind = &shares;
    c = pr_chances_of(&model, scores);
    assert_close(pr_log_chance(&c, 3), log(.75), 1e-6);
    assert_close(pr_log_chance(&c, -2), log(1e-6), 1e-12);
    c = pr_chances_of(&model, never);
    assert_close(pr_log_chance(&c, 0), log(1e-6), 1e-12);
}

/* ---- models of a toy shop ---- */

typedef struct opened {
    parsrec_data *data; /* of models that count */
    parsrec_model *model;
    parsrec_scratch *own;
} opened;

static toy_shop shop;
static char folder[] = "/tmp/parsrec-reasons-XXXXXX", data_path[64], model_path[64];

static int make_shop(void **state)
{
    (void)state;
    parsrec_error err;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(data_path, sizeof data_path, "%s/data.st", folder);
    snprintf(model_path, sizeof model_path, "%s/a.model", folder);
    shop = toy_make((toy_sizes){USERS, ITEMS, 3, 4, 5, 0});
    assert_ok(pr_dataset_save(&shop.data, NULL, 0, data_path, &err));
    return 0;
}

static int remove_shop(void **state)
{
    (void)state;
    toy_free(&shop);
    unlink(data_path);
    return rmdir(folder);
}

/* Weights of models that learn are drawn, not learnt, and large enough to make a difference. */
static void save_drawn(const char *kind, const pr_dataset *data, const char *path)
{
    parsrec_error err;
    pr_config config;
    pr_model *model;
    assert_ok(pr_model_defaults(&config, kind, &err));
    config.recall = config.neighbours = config.pairs =
        0; /* a list of items does not tell sessions apart */
    assert_ok(pr_config_assign(&config, "dim.user=8", &err));
    assert_ok(pr_config_assign(&config, "dim.item=8", &err));
    if (config.length == 0) /* otherwise chosen when training begins */
        assert_ok(pr_config_assign(&config, "length=64", &err));
    assert_ok(pr_model_new(&model, kind, &config, data->users, data->items, 5, &err));
    shake(model, 0.2);
    assert_ok(pr_model_save(model, data, path, &err));
    pr_model_free(model);
}

static opened open_kind(const char *kind)
{
    parsrec_error err;
    opened o = {0};
    if (parsrec_model_counts(kind)) {
        parsrec_train_options options = parsrec_train_default();
        options.model = kind;
        assert_ok(parsrec_data_load(&o.data, data_path, &err));
        assert_ok(parsrec_model_count(&o.model, o.data, &options, NULL, &err));
    } else {
        save_drawn(kind, &shop.data, model_path);
        assert_ok(parsrec_model_load(&o.model, model_path, &err));
        unlink(model_path);
    }
    assert_ok(parsrec_scratch_new(&o.own, o.model, BASKET, &err));
    return o;
}

static void close_model(opened *o)
{
    parsrec_scratch_free(o->own);
    parsrec_model_free(o->model);
    parsrec_data_free(o->data);
}

/* ---- against plain calls ---- */

/* The answer of a plain call for one item: its place, and its log-probability among all items that are
 * not in `basket`. */
typedef struct plain {
    double chance;
    size_t rank;
} plain;

static size_t ask(const opened *o, const parsrec_request *r, parsrec_hit hits[ITEMS])
{
    parsrec_error err;
    parsrec_answer a;
    parsrec_request all = *r;
    all.k = ITEMS;
    assert_ok(parsrec_recommend(o->model, o->own, &all, hits, ITEMS, &a, &err));
    return a.count;
}

static plain plainly(const opened *o, const char *kind, parsrec_request r, int32_t left_out,
                     int32_t item)
{
    parsrec_hit hits[ITEMS];
    int32_t excluded[8];
    double sum = 0, score = -HUGE_VAL, top = -HUGE_VAL;
    bool shares = pr_model_kind_named(kind)->scores_are_shares;
    plain p = {0};
    for (size_t i = 0; i < r.exclude.count; i++)
        excluded[i] = r.exclude.list[i];
    excluded[r.exclude.count] = left_out; /* the item that is left out is no answer */
    r.exclude = (parsrec_numbers){excluded, r.exclude.count + (left_out >= 0)};
    size_t n = ask(o, &r, hits);
    for (size_t i = 0; i < n; i++)
        if (hits[i].item == item)
            p.rank = i + 1;
    r.exclude = (parsrec_numbers){&left_out, left_out >= 0};
    n = ask(o, &r, hits);
    for (size_t i = 0; i < n; i++) {
        top = fmax(top, (double)hits[i].score);
        score = hits[i].item == item ? (double)hits[i].score : score;
    }
    for (size_t i = 0; i < n; i++)
        sum += shares ? fmax((double)hits[i].score, 0) : exp((double)hits[i].score - top);
    p.chance = !shares ? score - top - log(sum) : fmax(log(fmax(score, 0) / sum), log(1e-6));
    return p;
}

static void assert_effect(const parsrec_why *why, const parsrec_effect *e, plain without)
{
    assert_close(e->effect, why->log_probability - without.chance, 2e-5);
    assert_int_equal(e->rank, without.rank);
}

/* A basket of three items, sometimes one of them twice, and sometimes a filter. */
static parsrec_request draw_request(uint32_t number, int32_t basket[4], int32_t *excluded)
{
    pr_rng rng = pr_rng_make(9, 1);
    pr_stream s = pr_stream_at(&rng, number, 0, 0);
    parsrec_request r = parsrec_request_default();
    r.user = (int32_t)(number % USERS);
    for (size_t i = 0; i < 3; i++)
        basket[i] = (int32_t)(pr_stream_below(&s, ITEMS / 3) * 3 + i);
    basket[3] = basket[pr_stream_below(&s, 3)];
    r.basket = (parsrec_numbers){basket, 2 + pr_stream_below(&s, 3)};
    *excluded = (int32_t)pr_stream_below(&s, ITEMS);
    r.exclude = (parsrec_numbers){excluded, pr_stream_below(&s, 2)};
    r.k = number % 2 == 0 ? 5 : ITEMS; /* few and many hits are ranked in different ways */
    return r;
}

static void assert_drops(const opened *o, const char *kind, const parsrec_request *r,
                         const parsrec_why *why)
{
    for (size_t i = 0; i < why->reason_count; i++) {
        int32_t left[4];
        size_t n = 0;
        parsrec_request without = *r;
        for (size_t b = 0; b < r->basket.count; b++)
            if (r->basket.list[b] != why->reasons[i].item)
                left[n++] = r->basket.list[b];
        without.basket = (parsrec_numbers){left, n};
        assert_effect(why, &why->reasons[i].drop,
                      plainly(o, kind, without, why->reasons[i].item, why->item));
    }
}

static bool has_user_rows(const char *kind)
{
    return strcmp(kind, "parsrec") == 0 || strcmp(kind, "bpr") == 0 || strcmp(kind, "fpmc") == 0 ||
           strcmp(kind, "ncf") == 0 || strcmp(kind, "caser") == 0 || strcmp(kind, "hrm") == 0 ||
           strcmp(kind, "transrec") == 0;
}

static void assert_others(const opened *o, const char *kind, const parsrec_request *r,
                          const parsrec_why *why)
{
    const parsrec_numbers nothing = {NULL, 0};
    parsrec_request without = *r;
    without.history = &nothing;
    assert_effect(why, &why->history, plainly(o, kind, without, -1, why->item));
    int64_t first = shop.user_offsets[r->user], end = shop.user_offsets[r->user + 1];
    int64_t from = shop.session_offsets[first];
    parsrec_numbers past = {shop.items + from, (size_t)(shop.session_offsets[end] - from)};
    without.user = PARSREC_GUEST;
    without.history = &past;
    if (has_user_rows(kind)) /* to others sessions matter, or every user is the same */
        assert_effect(why, &why->user, plainly(o, kind, without, -1, why->item));
    else if (pr_model_kind_named(kind)->fill_without != NULL) /* she is a neighbour of the guest */
        assert_true(isfinite(why->user.effect));
    else if (strcmp(kind, "random") != 0)
        assert_effect(why, &why->user, (plain){why->log_probability, why->rank});
}

static void assert_shares(const parsrec_why *why)
{
    double sum = why->history.share + why->user.share, effects = 0;
    for (size_t i = 0; i < why->reason_count; i++) {
        sum += why->reasons[i].drop.share;
        effects = fmax(effects, why->reasons[i].drop.effect);
        assert_true(why->reasons[i].drop.share >= 0);
    }
    if (fmax(effects, fmax(why->history.effect, why->user.effect)) > 1e-5)
        assert_close(sum, 1, 1e-9);
    else
        assert_close(sum, 0, 0);
}

static void assert_parts(const char *kind, const parsrec_why *why, float score)
{
    const parsrec_parts *p = &why->parts;
    double sum = p->network + p->history + p->memory + p->item;
    assert_int_equal(why->has_parts, pr_model_kind_named(kind)->parts != NULL && isfinite(sum));
    for (size_t i = 0; i < why->reason_count; i++)
        sum += why->reasons[i].part;
    if (why->has_parts)
        assert_close(sum, score, 1e-4);
}

static void effects_are_those_of_leaving_out(void **state)
{
    (void)state;
    parsrec_error err;
    size_t moved = 0;
    for (size_t k = 0; pr_model_kinds[k] != NULL; k++) {
        const char *kind = pr_model_kinds[k]->name;
        if (strcmp(kind, "oracle") == 0)
            continue; /* needs the truth of synthetic data */
        opened o = open_kind(kind);
        for (uint32_t n = 0; n < 24; n++) {
            int32_t basket[4], excluded;
            parsrec_hit hits[ITEMS];
            parsrec_why whys[ITEMS];
            parsrec_answer a;
            parsrec_request r = draw_request(n, basket, &excluded);
            assert_ok(parsrec_recommend(o.model, o.own, &r, hits, ITEMS, &a, &err));
            assert_ok(parsrec_recommend_why(o.model, o.own, &r, hits, a.count, whys, &err));
            for (size_t h = 0; h < a.count; h += n % 2 == 0 ? 1 : 7) {
                const parsrec_why *why = &whys[h];
                assert_int_equal(why->item, hits[h].item);
                assert_int_equal(why->rank, h + 1);
                assert_close(why->log_probability, plainly(&o, kind, r, -1, why->item).chance,
                             2e-5);
                assert_drops(&o, kind, &r, why);
                assert_others(&o, kind, &r, why);
                assert_shares(why);
                assert_parts(kind, why, hits[h].score);
                moved += strcmp(kind, "parsrec") == 0 && why->reasons[0].drop.rank != why->rank;
            }
        }
        close_model(&o);
    }
    assert_true(moved > 20); /* leaving out an item does matter here */
}

/* ---- attention, earlier baskets, long baskets ---- */

static parsrec_why explain_one(const opened *o, const parsrec_request *r)
{
    parsrec_error err;
    parsrec_hit hit;
    parsrec_answer a;
    parsrec_why why;
    assert_ok(parsrec_recommend(o->model, o->own, r, &hit, 1, &a, &err));
    assert_int_equal(a.count, 1);
    assert_ok(parsrec_recommend_why(o->model, o->own, r, &hit, 1, &why, &err));
    return why;
}

static void attention_is_of_the_basket(void **state)
{
    (void)state;
    const int32_t basket[] = {4, 7, 4, 20};
    parsrec_request r = parsrec_request_default();
    r.basket = (parsrec_numbers){basket, 4};
    opened o = open_kind("parsrec"), other = open_kind("sasrec");
    parsrec_why why = explain_one(&o, &r);
    assert_int_equal(why.reason_count, 3);
    assert_int_equal(why.reasons[2].item, 20);
    assert_close(why.reasons[0].attention + why.reasons[1].attention + why.reasons[2].attention, 1,
                 1e-6);
    assert_true(why.reasons[0].attention != why.reasons[1].attention);
    why = explain_one(&other, &r);
    assert_true(isnan(why.reasons[0].attention));
    close_model(&o);
    close_model(&other);
}

/* User 0's baskets in the toy shop: {0} {1 2} {4 5 6}, and no more. */
static void earlier_baskets_are_counted(void **state)
{
    (void)state;
    const int32_t past[] = {8, 4, 4}, five = 5;
    const parsrec_numbers history = {past, 3};
    opened o = open_kind("pop");
    parsrec_request r = parsrec_request_default();
    r.user = 0;
    r.only = (parsrec_numbers){&five, 1};
    assert_int_equal(explain_one(&o, &r).earlier_baskets, 1);
    r.only = (parsrec_numbers){&past[1], 1};
    assert_int_equal(explain_one(&o, &r).earlier_baskets, 1);
    r.history = &history;
    assert_int_equal(explain_one(&o, &r).earlier_baskets, 2);
    r.only = (parsrec_numbers){&past[0], 1};
    r.history = NULL;
    assert_int_equal(explain_one(&o, &r).earlier_baskets, 0);
    close_model(&o);
}

static void the_newest_items_are_explained(void **state)
{
    (void)state;
    int32_t basket[BASKET];
    for (int32_t i = 0; i < BASKET; i++)
        basket[i] = (i * 7) % ITEMS;
    opened o = open_kind("parsrec");
    parsrec_request r = parsrec_request_default();
    r.user = 3;
    r.basket = (parsrec_numbers){basket, BASKET};
    parsrec_why why = explain_one(&o, &r);
    assert_int_equal(why.reason_count, PARSREC_REASONS_MOST);
    double seen = 0;
    for (size_t i = 0; i < PARSREC_REASONS_MOST; i++) {
        assert_int_equal(why.reasons[i].item, basket[BASKET - PARSREC_REASONS_MOST + i]);
        seen += why.reasons[i].attention;
    }
    assert_true(seen > .3 && seen < 1); /* the older ones have their weight too */
    int32_t shorter[BASKET - 1];        /* without the newest but one */
    memcpy(shorter, basket, sizeof shorter);
    shorter[BASKET - 2] = basket[BASKET - 1];
    parsrec_request without = r;
    without.basket = (parsrec_numbers){shorter, BASKET - 1};
    assert_effect(&why, &why.reasons[PARSREC_REASONS_MOST - 2].drop,
                  plainly(&o, "parsrec", without, basket[BASKET - 2], why.item));
    close_model(&o);
}

/* ---- corners ---- */

static void nothing_to_leave_out(void **state)
{
    (void)state;
    char sentence[512];
    opened o = open_kind("parsrec");
    parsrec_request r = parsrec_request_default();
    parsrec_why why = explain_one(&o, &r); /* a guest's empty basket */
    assert_int_equal(why.reason_count, 0);
    assert_true(isnan(why.history.effect) && isnan(why.user.effect));
    assert_string_equal(parsrec_why_sentence(o.model, &why, sentence, sizeof sentence),
                        "a common choice to begin with");
    const parsrec_numbers nothing = {NULL, 0};
    r.user = 2;
    r.history = &nothing; /* somebody without a past */
    why = explain_one(&o, &r);
    assert_true(isnan(why.history.effect) && isfinite(why.user.effect));
    close_model(&o);
}

static void a_catalogue_of_one_item(void **state)
{
    (void)state;
    parsrec_error err;
    char sentence[512];
    opened o = {0};
    toy_shop one = toy_make((toy_sizes){2, 1, 1, 1, 1, 1});
    save_drawn("parsrec", &one.data, model_path);
    assert_ok(parsrec_model_load(&o.model, model_path, &err));
    assert_ok(parsrec_scratch_new(&o.own, o.model, 0, &err));
    parsrec_request r = parsrec_request_default();
    r.user = 0;
    parsrec_why why = explain_one(&o, &r);
    assert_close(why.log_probability, 0, 1e-6);
    assert_close(why.history.effect, 0, 1e-6);
    assert_int_equal(why.user.rank, 1);
    assert_string_equal(parsrec_why_sentence(o.model, &why, sentence, sizeof sentence),
                        "a common choice with anyone; you also bought it in 1 earlier basket");
    unlink(model_path);
    close_model(&o);
    toy_free(&one);
}

static void bad_questions_get_a_sentence(void **state)
{
    (void)state;
    parsrec_error err;
    const int32_t four = 4;
    parsrec_hit hit = {.item = 4};
    parsrec_why why;
    opened o = open_kind("parsrec");
    parsrec_request r = parsrec_request_default();
#define WHY() parsrec_recommend_why(o.model, o.own, &r, &hit, 1, &why, &err)
    assert_ok(WHY());
    r.basket = (parsrec_numbers){&four, 1};
    assert_fails(WHY(), PARSREC_E_ARGUMENT, "is in the basket");
    r.basket.count = 0;
    r.exclude = (parsrec_numbers){&four, 1};
    assert_fails(WHY(), PARSREC_E_ARGUMENT, "not allowed by the request");
    hit.item = ITEMS;
    assert_fails(WHY(), PARSREC_E_ARGUMENT, "hits[0] is item 45");
    r.user = -7;
    assert_fails(WHY(), PARSREC_E_ARGUMENT, "user -7");
    r = parsrec_request_default();
    assert_ok(parsrec_recommend_why(o.model, o.own, &r, NULL, 0, NULL, &err));
    assert_fails(parsrec_recommend_why(o.model, o.own, &r, &hit, 1, NULL, &err), PARSREC_E_ARGUMENT,
                 "room for their reasons");
    close_model(&o);
}

static void memory_is_taken_once(void **state)
{
    (void)state;
    parsrec_error err;
    opened o = open_kind("parsrec");
    parsrec_request r = parsrec_request_default();
    parsrec_hit hit = {.item = 4};
    parsrec_why why;
    parsrec_status status;
    size_t failures = 0;
    for (;; failures++) {
        pr_memory_fail_after(failures);
        status = WHY();
        pr_memory_fail_after(SIZE_MAX);
        if (status == PARSREC_OK)
            break;
        assert_int_equal(status, PARSREC_E_MEMORY);
    }
    assert_true(failures > 5);
    size_t before = pr_memory_count();
    r.user = 5;
    assert_ok(WHY());
    assert_int_equal(pr_memory_count(), before);
    close_model(&o);
}

/* ---- words ---- */

enum { MILK, BREAD, EGGS, TEA };

static void assert_sentence(const parsrec_why *why, const char *expected)
{
    sample s;
    char text[512], cut[12];
    sample_make(&s);
    pr_directory directory = {.data = &s.data};
    assert_string_equal(pr_reason_sentence(&directory, why, text, sizeof text), expected);
    pr_reason_sentence(&directory, why, cut, sizeof cut);
    assert_int_equal(strlen(cut), strlen(expected) < 11 ? strlen(expected) : 11);
}

static void names_that_items_share_have_keys(void **state)
{
    (void)state;
    static const int64_t names[] = {0, 3, 3, 7, 10}; /* milk and tea are called Tea, bread is not */
    const parsrec_effect none = {NAN, NAN, 0};
    parsrec_why why = {.item = EGGS,
                       .history = none,
                       .user = none,
                       .reasons = {{MILK, .4, {.5, .5, 3}, 0},
                                   {BREAD, .4, {.3, .3, 2}, 0},
                                   {EGGS, .4, {.2, .2, 2}, 0}},
                       .reason_count = 3};
    sample s;
    char text[512];
    parsrec_error err;
    pr_directory directory;
    sample_make(&s);
    s.data.item_names = sample_names("TeaEggsTea", names, SAMPLE_ITEMS);
    assert_ok(pr_directory_init(&directory, &s.data, &err));
    pr_slice milk = pr_name(&s.data.item_keys, MILK), bread = pr_name(&s.data.item_keys, BREAD);
    char expected[200];
    snprintf(expected, sizeof expected, "because of Tea [%.*s] (0.50), %.*s (0.30) and Eggs (0.20)",
             (int)milk.size, milk.bytes, (int)bread.size, bread.bytes);
    assert_string_equal(pr_reason_sentence(&directory, &why, text, sizeof text), expected);
    pr_directory_free(&directory);
}

static void sentences_by_hand(void **state)
{
    (void)state;
    const parsrec_effect none = {NAN, NAN, 0};
    parsrec_why why = {.item = TEA,
                       .history = none,
                       .user = none,
                       .earlier_baskets = 12,
                       .reasons = {{MILK, .2, {.61, .61, 3}, 0}, {BREAD, .8, {.39, .39, 2}, 0}},
                       .reason_count = 2};
    assert_sentence(&why, "because of Milk 1.5l (0.61) and bread (0.39); you also bought it in 12 "
                          "earlier baskets");
    why.usual_days = 9.4;
    why.last_days = 11.2;
    assert_sentence(&why, "because of Milk 1.5l (0.61) and bread (0.39); you also bought it in 12 "
                          "earlier baskets, usually every 9 days, last 11 days ago");
    why.usual_days = 1.2;
    why.last_days = 0.9;
    assert_sentence(&why, "because of Milk 1.5l (0.61) and bread (0.39); you also bought it in 12 "
                          "earlier baskets, usually every day, last 1 day ago");
    why.earlier_baskets = 1;
    why.usual_days = 30;
    why.last_days = 0.1;
    assert_sentence(&why, "because of Milk 1.5l (0.61) and bread (0.39); you also bought it in 1 "
                          "earlier basket, which others buy every 30 days, last on the same day");
    why.usual_days = why.last_days = 0;
    why.history = (parsrec_effect){2, .5, 9};
    why.user = (parsrec_effect){.1, .02, 2};
    why.reasons[0].drop.share = .3;
    why.reasons[1].drop.share = .18;
    why.earlier_baskets = 1;
    assert_sentence(&why, "because of what you bought before (0.50), Milk 1.5l (0.30) and bread "
                          "(0.18); you also bought it in 1 earlier basket");
    why.reasons[1].drop = (parsrec_effect){-3, 0, 1};
    why.history.share = .95;
    why.reasons[0].drop.share = .05;
    why.user = (parsrec_effect){-.5, 0, 1};
    why.earlier_baskets = 0;
    assert_sentence(
        &why,
        "because of what you bought before (0.95), although it goes less with bread; new to you");
    why.user.effect = -3.5;
    assert_sentence(&why, "because of what you bought before (0.95), although others take it more "
                          "often than you; new to you");
    why.history = (parsrec_effect){-4, 0, 1};
    why.reasons[0].drop = (parsrec_effect){.04, 1, 1}; /* too little to be felt */
    assert_sentence(&why,
                    "a common choice with anyone, although less after what you bought before; "
                    "new to you");
    why.history = (parsrec_effect){0, 0, 1};
    why.reason_count = 0;
    why.user = (parsrec_effect){.4, 1, 4};
    assert_sentence(&why, "because of your own taste (1.00); new to you");
}

static void answers_in_json(void **state)
{
    (void)state;
    parsrec_error err;
    const char *answer;
    opened o = open_kind("parsrec");
#define JSON(text)                                                                              \
    parsrec_recommend_json(o.model, o.own, &(parsrec_json_options){.k = 2}, text, strlen(text), \
                           &answer, &err)
    assert_ok(JSON("{\"user\":\"u00002\",\"basket\":[\"i00001\",\"i00009\"],\"explain\":true}"));
    json_t *json = json_loads(answer, 0, NULL), *basket, *history;
    double chance, attention, effect, share, network;
    int rank, earlier;
    const char *sentence;
    assert_int_equal(json_array_size(json_object_get(json, "items")), 2);
    json_t *why = json_object_get(json_array_get(json_object_get(json, "items"), 1), "why");
    assert_int_equal(json_unpack(why, "{s:s, s:o, s:o, s:{s:F}, s:i, s:F, s:i, s:{s:F} !}",
                                 "sentence", &sentence, "basket", &basket, "history", &history,
                                 "user", "effect", &effect, "earlier_baskets", &earlier,
                                 "log_probability", &chance, "rank", &rank, "parts", "network",
                                 &network),
                     0);
    assert_int_equal(rank, 2);
    assert_true(chance < 0);
    assert_int_equal(json_array_size(basket), 2);
    assert_int_equal(json_unpack(json_array_get(basket, 1), "{s:s, s:n, s:F, s:F, s:F, s:i, s:F !}",
                                 "item", &sentence, "name", "attention", &attention, "effect",
                                 &effect, "share", &share, "rank", &rank, "part", &effect),
                     0);
    assert_string_equal(sentence, "i00009");
    json_decref(json);
    assert_ok(JSON("{\"explain\":true,\"k\":1}"));
    assert_non_null(strstr(answer, "\"basket\":[],\"history\":null,\"user\":null,"));
    assert_ok(JSON("{\"explain\":false}"));
    assert_null(strstr(answer, "why"));
    assert_ok(JSON("{\"explain\":true,\"k\":1000}"));
    assert_ok(JSON("{}")); /* the wish of an earlier request is forgotten */
    assert_null(strstr(answer, "why"));
    assert_fails(JSON("{\"explain\":1}"), PARSREC_E_INPUT, "explain must be true or false");
    close_model(&o);
}

/* ---- with the answer, in one go ---- */

static json_t *asked(const opened *o, uint32_t n, bool explain)
{
    parsrec_error err;
    pr_writer text = {0};
    const char *answer;
    parsrec_name user = parsrec_model_key(o->model, PARSREC_USER, (int32_t)(n % USERS));
    pr_write(&text, "{\"user\":\"%.*s\",\"k\":%u,\"explain\":%s,\"basket\":[", (int)user.size,
             user.bytes, 1 + n % 9, explain ? "true" : "false");
    for (uint32_t i = 0; i < n % 8; i++) {
        parsrec_name item =
            parsrec_model_key(o->model, PARSREC_ITEM, (int32_t)((n + i * 5) % ITEMS));
        pr_write(&text, "%s\"%.*s\"", i > 0 ? "," : "", (int)item.size, item.bytes);
    }
    pr_write(&text, "]}");
    assert_ok(parsrec_recommend_json(o->model, o->own, &(parsrec_json_options){.k = 5}, text.text,
                                     text.size, &answer, &err));
    pr_writer_free(&text);
    json_t *json = json_loads(answer, 0, NULL);
    assert_non_null(json);
    return json;
}

static void explained_answers_are_the_plain_ones(void **state)
{
    (void)state;
    static const char *const kinds[] = {"parsrec", "markov", "sasrec"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        opened o = open_kind(kinds[k]);
        for (uint32_t n = 0; n < 60; n++) {
            json_t *alone = asked(&o, n, false), *explained = asked(&o, n, true);
            json_t *items = json_object_get(explained, "items");
            assert_true(json_array_size(items) > 0);
            for (size_t i = 0; i < json_array_size(items); i++)
                assert_int_equal(json_object_del(json_array_get(items, i), "why"), 0);
            assert_true(json_equal(alone, explained));
            json_decref(alone);
            json_decref(explained);
        }
        close_model(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_by_hand),
        cmocka_unit_test(effects_are_those_of_leaving_out),
        cmocka_unit_test(attention_is_of_the_basket),
        cmocka_unit_test(earlier_baskets_are_counted),
        cmocka_unit_test(the_newest_items_are_explained),
        cmocka_unit_test(nothing_to_leave_out),
        cmocka_unit_test(a_catalogue_of_one_item),
        cmocka_unit_test(bad_questions_get_a_sentence),
        cmocka_unit_test(memory_is_taken_once),
        cmocka_unit_test(sentences_by_hand),
        cmocka_unit_test(names_that_items_share_have_keys),
        cmocka_unit_test(answers_in_json),
        cmocka_unit_test(explained_answers_are_the_plain_ones),
    };
    return cmocka_run_group_tests(tests, make_shop, remove_shop);
}
