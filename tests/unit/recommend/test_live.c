/* Live pasts against pasts taken from a data set, sessions that grow, forgetting, threads, memory. */
#include "support/testing.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/rng.h"
#include "model/model_file.h"
#include "recommend/recommend.h"
#include "support/crafted.h"
#include "support/toy_shop.h"

/* The shop as it is in the end; the model was made when half of everybody's sessions were over and the
 * last users had not come yet. */
enum { USERS = 20, EARLY_USERS = 15, ITEMS = 30 };

static char folder[] = "/tmp/parsrec-live-XXXXXX", whole_path[64];
static char model_path[2][64];
static toy_shop shop;

static int64_t early_sessions(int64_t user)
{
    return user < EARLY_USERS ? (shop.user_offsets[user + 1] - shop.user_offsets[user]) / 2 : 0;
}

/* The first sessions of the first users, as a data set that shares the keys. */
static void make_early(pr_dataset *early, int64_t *users, int64_t *sessions, int32_t *items)
{
    int64_t s = 0, n = 0;
    users[0] = sessions[0] = 0;
    for (int64_t u = 0; u < EARLY_USERS; u++) {
        for (int64_t k = 0; k < early_sessions(u); k++) {
            const int64_t *from = shop.session_offsets + shop.user_offsets[u] + k;
            for (int64_t a = from[0]; a < from[1]; a++)
                items[n++] = shop.items[a];
            sessions[++s] = n;
        }
        users[u + 1] = s;
    }
    *early = shop.data;
    early->users = early->user_keys.count = EARLY_USERS;
    early->sessions = (size_t)s;
    early->actions = (size_t)n;
    early->user_offsets = users;
    early->session_offsets = sessions;
    early->action_items = items;
}

static void save_model(const pr_dataset *data, const char *const *settings, const char *to)
{
    parsrec_error err;
    pr_config config = pr_config_default();
    pr_model *model;
    for (; *settings != NULL; settings++)
        assert_ok(pr_config_assign(&config, *settings, &err));
    assert_ok(pr_model_new(&model, "parsrec", &config, data->users, data->items, 5, &err));
    assert_ok(pr_model_save(model, data, to, &err));
    pr_model_free(model);
}

static int make_models(void **state)
{
    (void)state;
    static const char *const plain[] = {"dim.user=4", "dim.item=8", NULL};
    static const char *const parts[] = {"dim.user=4", "dim.item=8",      "recall=on", "pull=on",
                                        "past=on",    "history=decayed", NULL};
    static int64_t users[USERS + 1], sessions[USERS * 16];
    static int32_t items[USERS * 16 * 4];
    parsrec_error err;
    pr_dataset early;
    if (mkdtemp(folder) == NULL)
        return -1;
    shop = toy_make((toy_sizes){USERS, ITEMS, 5, 4, 4, 0});
    snprintf(whole_path, sizeof whole_path, "%s/whole.st", folder);
    assert_ok(pr_dataset_save(&shop.data, NULL, 0, whole_path, &err));
    make_early(&early, users, sessions, items);
    for (int i = 0; i < 2; i++) {
        snprintf(model_path[i], sizeof model_path[i], "%s/%d.model", folder, i);
        save_model(&early, i == 0 ? plain : parts, model_path[i]);
    }
    return 0;
}

static int remove_models(void **state)
{
    (void)state;
    toy_free(&shop);
    unlink(whole_path);
    unlink(model_path[0]);
    unlink(model_path[1]);
    return rmdir(folder);
}

typedef struct opened {
    parsrec_model *model;
    parsrec_scratch *own;
    parsrec_live *live;
} opened;

static opened open_live(const char *from)
{
    parsrec_error err;
    opened o;
    assert_ok(parsrec_model_load(&o.model, from, &err));
    assert_ok(parsrec_scratch_new(&o.own, o.model, 8, &err));
    assert_ok(parsrec_live_new(&o.live, o.model, &err));
    return o;
}

static void close_live(opened *o)
{
    parsrec_live_free(o->live);
    parsrec_scratch_free(o->own);
    parsrec_model_free(o->model);
}

/* The public calls with live histories. */
static parsrec_status live_recommend(const opened *o, const parsrec_request *r, parsrec_hit *hits,
                                     size_t capacity, parsrec_answer *a, parsrec_error *err)
{
    parsrec_request live = *r;
    live.live = o->live;
    return parsrec_recommend(o->model, o->own, &live, hits, capacity, a, err);
}

static parsrec_status live_json(const opened *o, const char *request, size_t k, const char **answer,
                                parsrec_error *err)
{
    const parsrec_json_options options = {.k = k, .live = o->live};
    return parsrec_recommend_json(o->model, o->own, &options, request, strlen(request), answer,
                                  err);
}

static const char *user_key(int64_t user, char key[16])
{
    snprintf(key, 16, "u%05d", (int)user);
    return key;
}

static void add(const opened *o, const char *user, const char *session, const int32_t *items,
                size_t count)
{
    parsrec_error err;
    assert_ok(parsrec_live_add(o->live, user, session, items, count, &err));
}

/* ---- as if the model had taken them ---- */

/* Everything that happened after the model was made: sessions of the users in turn, item by item or at
 * once, with or without a name. */
static void live_through(const opened *o)
{
    char key[16], name[16];
    for (int64_t k = 0, more = 1; more != 0; k++) {
        more = 0;
        for (int64_t u = 0; u < USERS; u++) {
            int64_t s = shop.user_offsets[u] + early_sessions(u) + k;
            if (s >= shop.user_offsets[u + 1])
                continue;
            more = 1;
            const int32_t *items = shop.items + shop.session_offsets[s];
            size_t n = (size_t)(shop.session_offsets[s + 1] - shop.session_offsets[s]);
            snprintf(name, sizeof name, "%d", (int)k);
            if (s % 3 == 0)
                add(o, user_key(u, key), NULL, items, n);
            for (size_t i = 0; i < n && s % 3 != 0; i++) /* growing, with what is there already */
                add(o, user_key(u, key), name, items, i + 1);
        }
    }
}

static void assert_same_answer(const opened *o, const opened *expected, const char *key,
                               const parsrec_request *r)
{
    parsrec_error err;
    parsrec_request live = *r, taken = *r;
    parsrec_hit hits[2][ITEMS];
    parsrec_answer a[2];
    assert_ok(parsrec_live_find(o->live, key, &live.user, &err));
    assert_ok(parsrec_model_find(expected->model, PARSREC_USER, key, &taken.user, &err));
    assert_ok(live_recommend(o, &live, hits[0], ITEMS, &a[0], &err));
    assert_ok(
        parsrec_recommend(expected->model, expected->own, &taken, hits[1], ITEMS, &a[1], &err));
    assert_int_equal(a[0].source, a[1].source);
    assert_int_equal(a[0].count, a[1].count);
    for (size_t i = 0; i < a[0].count; i++) {
        assert_int_equal(hits[0][i].item, hits[1][i].item);
        assert_close((double)hits[0][i].score, (double)hits[1][i].score, 2e-6);
    }
}

static void equals_pasts_taken_from_data(void **state)
{
    (void)state;
    static const int32_t basket[] = {3, 17};
    parsrec_error err;
    for (int m = 0; m < 2; m++) {
        opened o = open_live(model_path[m]), expected = open_live(model_path[m]);
        parsrec_data *data;
        char key[16];
        live_through(&o);
        assert_ok(parsrec_data_load(&data, whole_path, &err));
        assert_ok(parsrec_model_take_pasts(expected.model, data, NULL, &err));
        for (int64_t u = 0; u < USERS; u++) {
            parsrec_request r = parsrec_request_default();
            r.k = ITEMS;
            r.basket = (parsrec_numbers){basket, (size_t)u % 3};
            assert_same_answer(&o, &expected, user_key(u, key), &r);
        }
        parsrec_data_free(data);
        close_live(&o);
        close_live(&expected);
    }
}

/* ---- sessions ---- */

/* The past of a user as text: "3 4|17". */
static const char *past_of(const opened *o, const char *user, const char *without)
{
    static char text[512];
    parsrec_error err;
    pr_history_copy copy = {0};
    int32_t number;
    assert_ok(parsrec_live_find(o->live, user, &number, &err));
    assert_ok(pr_live_history(o->live->pasts, number, without, &copy, &err));
    size_t used = 0;
    text[0] = '\0';
    for (size_t s = 0; s < copy.history.session_count; s++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", s > 0 ? "|" : "");
        for (int64_t i = copy.history.sessions[s]; i < copy.history.sessions[s + 1]; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d",
                                     i > copy.history.sessions[s] ? " " : "",
                                     (int)copy.history.items[i - copy.history.sessions[0]]);
    }
    pr_history_copy_free(&copy);
    return text;
}

static void sessions_grow_where_they_began(void **state)
{
    (void)state;
    opened o = open_live(model_path[0]);
    add(&o, "eve", "a", (const int32_t[]){4, 2, 4}, 3);
    add(&o, "eve", "b", (const int32_t[]){4}, 1);
    add(&o, "eve", NULL, (const int32_t[]){9}, 1);
    add(&o, "eve", NULL, (const int32_t[]){9}, 1);
    assert_string_equal(past_of(&o, "eve", NULL), "4 2|4|9|9");
    add(&o, "eve", "a", (const int32_t[]){2, 7, -1, 8}, 4);
    add(&o, "eve", "b", (const int32_t[]){5}, 1);
    assert_string_equal(past_of(&o, "eve", NULL), "4 2 7 8|4 5|9|9");
    assert_string_equal(past_of(&o, "eve", "a"), "4 5|9|9");
    assert_string_equal(past_of(&o, "eve", "b"), "4 2 7 8|9|9");
    assert_string_equal(past_of(&o, "eve", "c"), "4 2 7 8|4 5|9|9");
    add(&o, "dan", "a", (const int32_t[]){1}, 1); /* a name is the user's own */
    assert_string_equal(past_of(&o, "dan", NULL), "1");
    add(&o, "eve", "d", (const int32_t[]){-1}, 1); /* nothing of it is known, but it was one */
    assert_string_equal(past_of(&o, "eve", NULL), "4 2 7 8|4 5|9|9|");
    close_live(&o);
}

/* Each event of a user with very many sessions is compared with the names of the newest only. */
static void sessions_of_long_ago_are_over(void **state)
{
    (void)state;
    enum { OPEN = 1000 }; /* docs/serve.md */
    opened o = open_live(model_path[0]);
    parsrec_error err;
    char *text;
    add(&o, "eve", "old", (const int32_t[]){1}, 1);
    for (int i = 1; i < OPEN; i++)
        add(&o, "eve", NULL, (const int32_t[]){2}, 1);
    add(&o, "eve", "old", (const int32_t[]){3}, 1);
    assert_ok(parsrec_live_user_json(&text, o.live, "eve", 0, &err));
    assert_non_null(strstr(text, "\"baskets\":1000,"));
    parsrec_text_free(text);
    add(&o, "eve", "new", (const int32_t[]){4}, 1);
    add(&o, "eve", "old", (const int32_t[]){5}, 1);
    add(&o, "eve", "new", (const int32_t[]){6}, 1);
    assert_ok(parsrec_live_user_json(&text, o.live, "eve", 0, &err));
    assert_non_null(strstr(text, "\"baskets\":1002,"));
    parsrec_text_free(text);
    close_live(&o);
}

/* An older session that grows by hundreds of items, in pieces of any size. */
static void long_sessions_keep_their_order(void **state)
{
    (void)state;
    enum { SESSIONS = 5 };
    opened o = open_live(model_path[0]);
    pr_rng rng = pr_rng_make(3, 1);
    pr_stream s = pr_stream_at(&rng, 0, 0, 0);
    int32_t expected[SESSIONS][ITEMS];
    size_t counts[SESSIONS] = {0};
    for (int i = 0; i < SESSIONS; i++)
        add(&o, "eve", (const char[]){(char)('a' + i), '\0'}, (const int32_t[]){-1}, 1);
    for (int n = 0; n < 60; n++) {
        int32_t items[4];
        size_t which = pr_stream_below(&s, SESSIONS), count = 1 + pr_stream_below(&s, 4);
        for (size_t i = 0; i < count; i++) {
            items[i] = (int32_t)pr_stream_below(&s, ITEMS);
            bool held = false;
            for (size_t k = 0; k < counts[which]; k++)
                held = held || expected[which][k] == items[i];
            if (!held)
                expected[which][counts[which]++] = items[i];
        }
        add(&o, "eve", (const char[]){(char)('a' + which), '\0'}, items, count);
    }
    char text[512] = "";
    size_t used = 0;
    for (int i = 0; i < SESSIONS; i++)
        for (size_t k = 0; k <= counts[i]; k++)
            used += (size_t)(k < counts[i] ? snprintf(text + used, sizeof text - used, "%s%d",
                                                      k > 0 ? " " : "", (int)expected[i][k])
                                           : snprintf(text + used, sizeof text - used, "%s",
                                                      i + 1 < SESSIONS ? "|" : ""));
    assert_string_equal(past_of(&o, "eve", NULL), text);
    close_live(&o);
}

/* The history vector follows item by item: the mean of the rows of all that was bought, whatever is left
 * out. Models whose vector is no plain mean or sum have none. */
static void vectors_follow(void **state)
{
    (void)state;
    parsrec_error err;
    for (int m = 0; m < 2; m++) {
        opened o = open_live(model_path[m]);
        const pr_model *model = o.model->file.model;
        const float *rows = pr_model_reals(model, "item_emb");
        size_t width = (size_t)model->config.dim_item;
        pr_history_copy copy = {0};
        live_through(&o);
        add(&o, "u00002", "open", (const int32_t[]){4, 9}, 2);
        for (int32_t user = 0; user < EARLY_USERS; user++) {
            assert_ok(pr_live_history(o.live->pasts, user, user == 2 ? "open" : NULL, &copy, &err));
            assert_int_equal(copy.has_vector, m == 0);
            for (size_t k = 0; k < width && copy.has_vector; k++) {
                double sum = 0;
                for (size_t i = 0; i < copy.history.count; i++)
                    sum += (double)rows[(size_t)copy.history.items[i] * width + k];
                assert_close((double)copy.vector[k], sum / (double)copy.history.count, 1e-6);
            }
        }
        pr_history_copy_free(&copy);
        close_live(&o);
    }
}

/* The open basket of a request is no part of its history. */
static void an_open_session_is_not_the_past(void **state)
{
    (void)state;
    static const int32_t basket[] = {3, 17};
    parsrec_error err;
    parsrec_hit hits[2][5];
    parsrec_answer a;
    parsrec_request r = parsrec_request_default();
    r.k = 5;
    r.basket = (parsrec_numbers){basket, 2};
    r.session = "now";
    opened o = open_live(model_path[0]);
    assert_ok(parsrec_live_find(o.live, "u00003", &r.user, &err));
    assert_ok(live_recommend(&o, &r, hits[0], 5, &a, &err));
    add(&o, "u00003", "now", basket, 2);
    assert_ok(live_recommend(&o, &r, hits[1], 5, &a, &err));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(hits[0][i].item, hits[1][i].item);
        assert_close((double)hits[0][i].score, (double)hits[1][i].score, 1e-6);
    }
    r.session = NULL; /* but it is when it is over */
    assert_ok(live_recommend(&o, &r, hits[1], 5, &a, &err));
    assert_true(fabs((double)hits[0][0].score - (double)hits[1][0].score) > 1e-5);
    close_live(&o);
}

/* ---- a scratch that has answered before ---- */

/* The answer of a scratch that remembers others is that of a new one. */
static void assert_as_if_new(const opened *o, const parsrec_request *r)
{
    parsrec_error err;
    parsrec_hit hits[2][5];
    parsrec_answer a;
    parsrec_scratch *fresh;
    assert_ok(parsrec_scratch_new(&fresh, o->model, 8, &err));
    assert_ok(parsrec_recommend(o->model, o->own, r, hits[0], 5, &a, &err));
    assert_ok(parsrec_recommend(o->model, fresh, r, hits[1], 5, &a, &err));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(hits[0][i].item, hits[1][i].item);
        assert_close((double)hits[0][i].score, (double)hits[1][i].score, 0);
    }
    parsrec_scratch_free(fresh);
}

/* Two sets of live histories have different purchases of one user; one scratch answers with both. */
static void live_histories_do_not_mix(void **state)
{
    (void)state;
    parsrec_error err;
    opened o = open_live(model_path[0]);
    parsrec_live *other;
    parsrec_request r = parsrec_request_default(), r_other;
    assert_ok(parsrec_live_new(&other, o.model, &err));
    assert_ok(parsrec_live_find(o.live, "u00003", &r.user, &err));
    assert_ok(parsrec_live_add(o.live, "u00003", "s", (const int32_t[]){3, 4, 5}, 3, &err));
    assert_ok(parsrec_live_add(other, "u00003", "s", (const int32_t[]){17, 18, 19}, 3, &err));
    r.live = o.live;
    r_other = r;
    r_other.live = other;
    assert_as_if_new(&o, &r);
    assert_as_if_new(&o, &r_other);
    assert_as_if_new(&o, &r);
    parsrec_live_free(other);
    close_live(&o);
}

static void replaced_histories_count_at_once(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_data *data;
    opened o = open_live(model_path[0]);
    parsrec_request r = parsrec_request_default();
    assert_ok(parsrec_model_find(o.model, PARSREC_USER, "u00003", &r.user, &err));
    assert_as_if_new(&o, &r);
    parsrec_live_free(o.live);
    o.live = NULL;
    assert_ok(parsrec_data_load(&data, whole_path, &err));
    assert_ok(parsrec_model_take_pasts(o.model, data, NULL, &err));
    assert_as_if_new(&o, &r);
    parsrec_data_free(data);
    close_live(&o);
}

/* ---- forgetting ---- */

static void one_who_is_forgotten_is_a_guest(void **state)
{
    (void)state;
    static const char ask[] = "{\"user\":\"u00003\",\"basket\":[\"i00004\"],\"k\":3}";
    static const char ask_as_guest[] = "{\"basket\":[\"i00004\"],\"k\":3}";
    parsrec_error err;
    const char *answer;
    char guest[1024];
    opened o = open_live(model_path[0]);
    parsrec_request r = {.k = 3, .basket = {(const int32_t[]){4}, 1}};
    parsrec_hit hits[3];
    parsrec_answer a;
    assert_ok(parsrec_live_find(o.live, "u00003", &r.user, &err));
    assert_ok(live_json(&o, ask_as_guest, 3, &answer, &err));
    snprintf(guest, sizeof guest, "%s", strstr(answer, "\"source\""));
    add(&o, "u00003", "s", (const int32_t[]){1, 2}, 2);
    assert_ok(live_json(&o, ask, 3, &answer, &err));
    assert_non_null(strstr(answer, "\"source\":\"model\""));
    assert_ok(parsrec_live_forget(o.live, "u00003", &err));
    assert_fails(parsrec_live_find(o.live, "u00003", &(int32_t){0}, &err), PARSREC_E_NOT_FOUND,
                 "no user 'u00003'");
    assert_ok(live_json(&o, ask, 3, &answer, &err));
    assert_string_equal(strstr(answer, "\"source\""), guest);
    /* Also for those who kept the number. */
    assert_ok(live_recommend(&o, &r, hits, 3, &a, &err));
    assert_int_equal(a.source, PARSREC_SOURCE_ANYONE);
    /* What comes later is a new past, and the row stays unused. */
    add(&o, "u00003", "s", (const int32_t[]){5}, 1);
    assert_string_equal(past_of(&o, "u00003", NULL), "5");
    assert_ok(live_json(&o, ask, 3, &answer, &err));
    assert_non_null(strstr(answer, "\"source\":\"anyone\""));
    assert_string_not_equal(strstr(answer, "\"source\""), guest);
    /* Nobody, twice, and one of whom only events are known. */
    assert_ok(parsrec_live_forget(o.live, "nobody", &err));
    add(&o, "eve", NULL, (const int32_t[]){5}, 1);
    for (int i = 0; i < 2; i++)
        assert_ok(parsrec_live_forget(o.live, "eve", &err));
    assert_fails(parsrec_live_find(o.live, "eve", &(int32_t){0}, &err), PARSREC_E_NOT_FOUND, "eve");
    close_live(&o);
}

/* ---- facts and search ---- */

static void assert_json(char *text, const char *expected)
{
    json_t *a = json_loads(text, 0, NULL), *b = json_loads(expected, 0, NULL);
    assert_non_null(b);
    if (json_equal(a, b) == 0)
        fail_msg("%s is not %s", text, expected);
    json_decref(a);
    json_decref(b);
    parsrec_text_free(text);
}

/* A user of the model, one who came later, nobody; and one who comes back. */
static void forgotten_by_a_hash_of_the_key(void **state)
{
    (void)state;
    static const uint8_t secret[PARSREC_HASH_BYTES] = {7, 1, 1};
    static const char *const names[] = {"u00001", "late-comer", "nobody", "late-comer"};
    parsrec_error err;
    parsrec_model *model;
    parsrec_live *live;
    int32_t number, item = 3;
    assert_ok(parsrec_model_load(&model, model_path[0], &err));
    assert_ok(parsrec_live_new(&live, model, &err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint8_t hash[PARSREC_HASH_BYTES];
        pr_siphash(hash, secret, names[i], strlen(names[i]));
        if (i % 2 == 1)
            assert_ok(parsrec_live_add(live, names[i], NULL, &item, 1, &err));
        if (i != 2)
            assert_ok(parsrec_live_find(live, names[i], &number, &err));
        assert_false(i < 3 && parsrec_live_forgotten(live, names[i]));
        assert_ok(parsrec_live_forget_hash(live, secret, hash, &err));
        assert_int_equal(parsrec_live_find(live, names[i], &number, NULL), PARSREC_E_NOT_FOUND);
        assert_int_equal(parsrec_live_forgotten(live, names[i]), i != 2);
    }
    assert_ok(parsrec_live_find(live, "u00002", &number, &err));
    assert_fails(parsrec_live_forget_hash(live, secret, NULL, &err), PARSREC_E_ARGUMENT, "a hash");
    parsrec_live_free(live);
    parsrec_model_free(model);
}

/* An open basket is what a session is about, and no past; what is bought leaves it. */
static void open_baskets_are_no_past(void **state)
{
    (void)state;
    enum { SESSIONS = 6 };
    parsrec_error err;
    opened o = open_live(model_path[0]);
    int32_t *items = NULL, user;
    size_t capacity = 0, count;
    const int32_t three[] = {4, 7, -1, 4, 9}, two[] = {7, 11};
    assert_ok(parsrec_live_cart(o.live, "cara", "s", three, 5, &err));
    assert_ok(parsrec_live_find(o.live, "cara", &user, &err));
    assert_string_equal(past_of(&o, "cara", NULL), "");
    assert_ok(pr_live_session(o.live->pasts, user, "s", 10, &items, &capacity, &count, &err));
    assert_int_equal(count, 3);
    assert_true(items[0] == 4 && items[1] == 7 && items[2] == 9);
    assert_ok(parsrec_live_add(o.live, "cara", "s", two, 2, &err));
    assert_string_equal(past_of(&o, "cara", NULL), "7 11");
    assert_ok(pr_live_session(o.live->pasts, user, "s", 3, &items, &capacity, &count, &err));
    assert_int_equal(count, 3); /* the newest of 7 11 4 9 */
    assert_true(items[0] == 11 && items[1] == 4 && items[2] == 9);
    for (int i = 0; i < SESSIONS; i++) { /* the oldest makes room */
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        assert_ok(parsrec_live_cart(o.live, "cara", name, three, 1, &err));
    }
    assert_ok(pr_live_session(o.live->pasts, user, "t0", 3, &items, &capacity, &count, &err));
    assert_int_equal(count, 0);
    assert_ok(
        parsrec_live_cart(o.live, "cara", NULL, three, 1, &err)); /* nobody could ask for it */
    assert_ok(parsrec_live_forget(o.live, "cara", &err));
    assert_ok(pr_live_session(o.live->pasts, user, "t5", 3, &items, &capacity, &count, &err));
    assert_int_equal(count, 0);
    pr_free(items);
    close_live(&o);
}

static void facts_of_a_user(void **state)
{
    (void)state;
    parsrec_error err;
    char *text;
    opened o = open_live(model_path[0]);
    add(&o, "eve", NULL, (const int32_t[]){4, 2}, 2);
    add(&o, "eve", NULL, (const int32_t[]){7}, 1);
    add(&o, "eve", NULL, (const int32_t[]){4}, 1);
    assert_ok(parsrec_live_user_json(&text, o.live, "eve", 2, &err));
    assert_json(text,
                "{\"user\":\"eve\",\"known\":false,\"baskets\":3,\"items\":["
                "{\"item\":\"i00004\",\"name\":null,\"category\":null,\"count\":2,\"last\":0},"
                "{\"item\":\"i00007\",\"name\":null,\"category\":null,\"count\":1,\"last\":1},"
                "{\"item\":\"i00002\",\"name\":null,\"category\":null,\"count\":1,\"last\":2}],"
                "\"recent\":[[\"i00004\"],[\"i00007\"]]}");
    assert_ok(parsrec_live_user_json(&text, o.live, "u00000", 0, &err));
    assert_non_null(strstr(text, "\"known\":true"));
    assert_non_null(strstr(text, "\"recent\":[]"));
    parsrec_text_free(text);
    assert_fails(parsrec_live_user_json(&text, o.live, "nobody", 2, &err), PARSREC_E_NOT_FOUND,
                 "nobody");
    assert_null(text);
    parsrec_bought list[2];
    size_t count;
    assert_ok(parsrec_live_bought(o.live, "eve", list, 2, &count, &err)); /* of three */
    assert_int_equal(count, 2);
    assert_true(list[0].item == 4 && list[0].count == 2 && list[0].last == 0);
    assert_true(list[1].item == 7 && list[1].count == 1 && list[1].last == 1);
    assert_fails(parsrec_live_bought(o.live, "nobody", list, 2, &count, &err), PARSREC_E_NOT_FOUND,
                 "nobody");
    assert_int_equal(count, 0);
    close_live(&o);
}

static void search_by_text(void **state)
{
    (void)state;
    parsrec_error err;
    char *text;
    opened o = open_live(model_path[0]);
    add(&o, "13 Eve", NULL, (const int32_t[]){4}, 1);
    assert_ok(parsrec_live_forget(o.live, "u00013", &err));
    assert_ok(parsrec_live_search_json(&text, o.live, PARSREC_USER, "013", 9, &err));
    assert_json(text, "{\"users\":[]}");
    assert_ok(parsrec_live_search_json(&text, o.live, PARSREC_USER, "1", 3, &err));
    assert_non_null(strstr(text, "[{\"baskets\":1,\"user\":\"13 Eve\"},{\"baskets\":"));
    json_t *json = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(json, "users")), 3);
    json_decref(json);
    parsrec_text_free(text);
    assert_ok(parsrec_live_search_json(&text, o.live, PARSREC_USER, "eVE", 3, &err));
    assert_json(text, "{\"users\":[{\"user\":\"13 Eve\",\"baskets\":1}]}");
    assert_ok(parsrec_live_search_json(&text, o.live, PARSREC_ITEM, "I00002", 3, &err));
    assert_json(text, "{\"items\":[{\"item\":\"i00002\",\"name\":null,\"category\":null}]}");
    assert_ok(parsrec_live_search_json(&text, o.live, PARSREC_ITEM, "", 2, &err));
    assert_non_null(strstr(text, "i00001"));
    assert_null(strstr(text, "i00002"));
    parsrec_text_free(text);
    assert_ok(parsrec_live_search_json(&text, o.live, PARSREC_ITEM, "i", 0, &err));
    assert_json(text, "{\"items\":[]}");
    assert_fails(parsrec_live_search_json(&text, o.live, PARSREC_CATEGORY, "", 2, &err),
                 PARSREC_E_ARGUMENT, "PARSREC_USER or PARSREC_ITEM");
    close_live(&o);
}

/* A request that names its session and no basket is about what events put into it. */
static void a_session_stands_for_its_basket(void **state)
{
    (void)state;
    parsrec_error err;
    opened o = open_live(model_path[0]);
    const int32_t first[] = {3, 5}, second[] = {7}, other[] = {9};
    const char *text;
    char *named;
#define ASK(request) assert_ok(live_json(&o, request, 2, &text, &err))
    assert_ok(parsrec_live_add(o.live, "eve", "till-7", first, 2, &err));
    assert_ok(parsrec_live_add(o.live, "eve", "till-8", other, 1, &err));
    assert_ok(parsrec_live_add(o.live, "eve", "till-7", second, 1, &err));
    ASK("{\"user\":\"eve\",\"session\":\"till-7\",\"basket\":[\"i00003\",\"i00005\",\"i00007\"]}");
    assert_non_null(named = pr_copy_string(text, strlen(text)));
    ASK("{\"user\":\"eve\",\"session\":\"till-7\"}");
    assert_string_equal(text, named);
    pr_free(named);
    ASK("{\"user\":\"eve\",\"session\":\"till-7\",\"basket\":[]}"); /* which is empty, it says */
    assert_non_null(strstr(text, "\"basket\":[],"));
    ASK("{\"user\":\"eve\",\"session\":\"till-9\"}");
    assert_non_null(strstr(text, "\"basket\":[],"));
    ASK("{\"user\":\"nobody\",\"session\":\"till-7\"}"); /* another user's is not shown */
    assert_non_null(strstr(text, "\"basket\":[],"));
#undef ASK
    close_live(&o);
}

/* Sessions of events follow those of the base in time: one without a date is of the one before it, and
 * none goes back. */
static void live_sessions_have_dates(void **state)
{
    (void)state;
    enum { DAY = 86400 };
    static const int64_t user_offsets[] = {0, 2}, session_offsets[] = {0, 1, 3};
    static const int64_t times[] = {10 * DAY, 20 * DAY};
    static const int32_t items[] = {1, 1, 2}, bought[] = {3};
    pr_histories base = {.users = 1,
                         .user_offsets = user_offsets,
                         .session_offsets = session_offsets,
                         .items = items,
                         .times = times};
    parsrec_error err;
    pr_intern users = {0};
    pr_live_histories *live;
    pr_history_copy copy = {0};
    uint32_t number;
    pr_slice ann = pr_slice_of("ann"), bob = pr_slice_of("bob");
    assert_ok(pr_intern_add(&users, ann, &number, &err));
    assert_ok(pr_live_new(&live, &base, &users, ITEMS, &(pr_live_rows){0}, &err));
    assert_ok(pr_live_add(live, ann, "a", 25 * DAY, bought, 1, &err));
    assert_ok(pr_live_add(live, ann, "a", 26 * DAY, items + 1, 1, &err)); /* the same session */
    assert_ok(pr_live_add(live, ann, NULL, PR_NO_TIME, bought, 1, &err));
    assert_ok(pr_live_add(live, ann, NULL, 15 * DAY, bought, 1, &err));
    assert_ok(pr_live_history(live, 0, NULL, &copy, &err));
    static const int64_t expected[] = {10 * DAY, 20 * DAY, 25 * DAY, 25 * DAY, 25 * DAY};
    assert_int_equal(copy.history.session_count, 5);
    assert_memory_equal(copy.history.times, expected, sizeof expected);
    assert_ok(pr_live_history(live, 0, "a", &copy, &err)); /* without the open one */
    static const int64_t without[] = {10 * DAY, 20 * DAY, 20 * DAY, 20 * DAY};
    assert_memory_equal(copy.history.times, without, sizeof without);
    assert_ok(pr_live_add(live, bob, NULL, PR_NO_TIME, bought, 1, &err));
    assert_ok(pr_live_history(live, 1, NULL, &copy, &err));
    assert_null(copy.history.times); /* nothing is known */
    assert_ok(pr_live_add(live, bob, NULL, 30 * DAY, bought, 1, &err));
    assert_ok(pr_live_history(live, 1, NULL, &copy, &err));
    assert_int_equal(copy.history.times[0], 30 * DAY);
    pr_history_copy_free(&copy);
    pr_live_free(live);
    pr_intern_free(&users);
}

static void bad_arguments_get_a_sentence(void **state)
{
    (void)state;
    parsrec_error err;
    opened o = open_live(model_path[0]), other = open_live(model_path[1]);
    const int32_t good[] = {1}, bad[] = {ITEMS};
    parsrec_request r = parsrec_request_default();
    parsrec_answer a;
    const char *text;
    assert_fails(parsrec_live_add(o.live, "", NULL, good, 1, &err), PARSREC_E_ARGUMENT, "no key");
    assert_fails(parsrec_live_add(o.live, "\xff", NULL, good, 1, &err), PARSREC_E_ARGUMENT,
                 "UTF-8");
    assert_fails(parsrec_live_add(o.live, "eve", NULL, bad, 1, &err), PARSREC_E_ARGUMENT,
                 "items[0] is 30");
    assert_ok(parsrec_live_add(o.live, "eve", NULL, NULL, 0, &err));
    /* A store may have been written by others. Differences of times must not overflow. */
    assert_fails(parsrec_live_add_at(o.live, "eve", NULL, INT64_MIN + 1, good, 1, &err),
                 PARSREC_E_ARGUMENT, "is out of range");
    assert_fails(parsrec_live_add_at(o.live, "eve", NULL, INT64_MAX, good, 1, &err),
                 PARSREC_E_ARGUMENT, "is out of range");
    assert_fails(parsrec_live_find(o.live, "eve", &r.user, &err), PARSREC_E_NOT_FOUND, "eve");
    const int64_t never = INT64_MAX;
    r.time = &never;
    assert_fails(parsrec_recommend(o.model, o.own, &r, NULL, 0, &a, &err), PARSREC_E_ARGUMENT,
                 "the time 9223372036854775807 is out of range");
    r.time = NULL;
    assert_fails(parsrec_recommend(o.model, other.own, &r, NULL, 0, &a, &err), PARSREC_E_ARGUMENT,
                 "a scratch made for it");
    r.live = o.live;
    assert_fails(parsrec_recommend(other.model, other.own, &r, NULL, 0, &a, &err),
                 PARSREC_E_ARGUMENT, "made for another model");
    r.user = EARLY_USERS;
    assert_fails(live_recommend(&o, &r, NULL, 0, &a, &err), PARSREC_E_ARGUMENT, "user 15");
#define JSON(request) live_json(&o, request, 2, &text, &err)
    assert_ok(JSON("{\"user\":\"u\",\"session\":\"s\"}"));
    assert_ok(JSON("{\"session\":17,\"user\":1}"));
    assert_fails(JSON("{\"session\":\"s\"}"), PARSREC_E_INPUT, "says nothing without user");
    assert_fails(JSON("{\"session\":\"s\",\"user\":null}"), PARSREC_E_INPUT, "without user");
    assert_fails(JSON("{\"session\":[]}"), PARSREC_E_INPUT, "session must be text");
    assert_fails(
        parsrec_recommend_json(o.model, o.own, NULL, "{\"session\":\"s\"}", 15, &text, &err),
        PARSREC_E_INPUT, "leave it out");
    close_live(&o);
    close_live(&other);
}

/* ---- memory ---- */

static parsrec_status some_life(opened *o, parsrec_error *err)
{
    static const int32_t items[] = {1, 2, 3};
    static const char ask[] = "{\"user\":\"u00003\",\"explain\":true}";
    const char *answer;
    char *text = NULL;
    parsrec_status status = parsrec_live_new(&o->live, o->model, err);
    for (int i = 0; i < 9 && status == PARSREC_OK; i++) {
        char key[16];
        status = parsrec_live_add(o->live, user_key(3 * i, key), i < 5 ? "s" : NULL, items, 3, err);
    }
    if (status == PARSREC_OK)
        status = live_json(o, ask, 3, &answer, err);
    if (status == PARSREC_OK)
        status = parsrec_live_forget(o->live, "u00007", err);
    if (status == PARSREC_OK)
        status = parsrec_live_user_json(&text, o->live, "u00003", 3, err);
    parsrec_text_free(text);
    return status;
}

static void out_of_memory_is_a_status(void **state)
{
    (void)state;
    parsrec_error err;
    size_t failures = 0;
    for (bool whole = false; !whole; failures += !whole) {
        opened o = open_live(model_path[0]);
        parsrec_live_free(o.live);
        o.live = NULL;
        pr_memory_fail_after(failures);
        parsrec_status status = some_life(&o, &err);
        pr_memory_fail_after(SIZE_MAX);
        whole = status == PARSREC_OK;
        if (!whole)
            assert_int_equal(status, PARSREC_E_MEMORY);
        if (o.live != NULL) { /* what failed can be done again */
            add(&o, "zoe", "s", (const int32_t[]){1, 2}, 2);
            assert_string_equal(past_of(&o, "zoe", NULL), "1 2");
        }
        close_live(&o);
    }
    assert_true(failures > 20);
}

/* ---- threads ---- */

enum { WRITERS = 3, READERS = 3, ROUNDS = 300 };

typedef struct crowd {
    opened *o;
    atomic_int writing, problems;
} crowd;

typedef struct member {
    crowd *all;
    pthread_t thread;
    int number;
} member;

/* Each adds to users of its own and to one that all share. */
static void *write_events(void *context)
{
    member *m = context;
    parsrec_live *live = m->all->o->live;
    for (int i = 0; i < ROUNDS; i++) {
        char key[32], session[16];
        int32_t item = i % ITEMS;
        snprintf(key, sizeof key, "w%d-%d", m->number, i % 7);
        snprintf(session, sizeof session, "%d", i / 50);
        bool bad = parsrec_live_add(live, key, session, &item, 1, NULL) != PARSREC_OK;
        bad = bad || parsrec_live_add(live, "u00000", NULL, &item, 1, NULL) != PARSREC_OK;
        bad = bad || (i % 90 == 0 && parsrec_live_forget(live, "u00001", NULL) != PARSREC_OK);
        m->all->problems += bad;
    }
    m->all->writing--;
    return NULL;
}

static void *read_answers(void *context)
{
    member *m = context;
    crowd *all = m->all;
    parsrec_scratch *own;
    if (parsrec_scratch_new(&own, all->o->model, 8, NULL) != PARSREC_OK)
        all->problems++;
    for (int i = 0; all->writing > 0 || i < 50; i++) {
        char ask[64];
        const char *answer;
        char *text = NULL;
        snprintf(ask, sizeof ask, "{\"user\":\"%s\",\"k\":2}",
                 i % 3 == 0 ? "u00000" : (i % 3 == 1 ? "u00001" : "w1-2"));
        all->problems += parsrec_recommend_json(all->o->model, own,
                                                &(parsrec_json_options){.live = all->o->live}, ask,
                                                strlen(ask), &answer, NULL) != PARSREC_OK;
        if (i % 20 == 0)
            all->problems += parsrec_live_search_json(&text, all->o->live, PARSREC_USER, "w", 5,
                                                      NULL) != PARSREC_OK;
        parsrec_text_free(text);
    }
    parsrec_scratch_free(own);
    return NULL;
}

static void threads_share_live_pasts(void **state)
{
    (void)state;
    opened o = open_live(model_path[1]);
    crowd all = {.o = &o, .writing = WRITERS};
    member members[WRITERS + READERS];
    parsrec_error err;
    char *text;
    for (int i = 0; i < WRITERS + READERS; i++) {
        members[i] = (member){.all = &all, .number = i};
        assert_int_equal(pthread_create(&members[i].thread, NULL,
                                        i < WRITERS ? write_events : read_answers, &members[i]),
                         0);
    }
    for (int i = 0; i < WRITERS + READERS; i++)
        pthread_join(members[i].thread, NULL);
    assert_int_equal(all.problems, 0);
    assert_ok(parsrec_live_user_json(&text, o.live, "u00000", 0, &err));
    char expected[32];
    snprintf(expected, sizeof expected, "\"baskets\":%d,",
             (int)early_sessions(0) + WRITERS * ROUNDS);
    assert_non_null(strstr(text, expected));
    parsrec_text_free(text);
    close_live(&o);
}

/* Keys that share a slot in a table without a seed. */
static void crafted_users_do_not_pile_up(void **state)
{
    (void)state;
    enum { MANY = 4000, BITS = 12 };
    uint64_t before = pr_long_probes(), own = pr_name_seed();
    for (uint64_t known = 0; known < 2; known++) { /* then an attacker who knows the seed */
        opened o = open_live(model_path[0]);
        if (known == 1)
            pr_name_seed_set(9);
        crafted c = {.seed = known == 1 ? 9 : 0, .bits = BITS};
        for (int i = 0; i < MANY; i++)
            add(&o, crafted_next(&c), "s", (const int32_t[]){i % ITEMS}, 1);
        assert_int_equal(pr_long_probes(), before + known);
        close_live(&o);
    }
    pr_name_seed_set(own);
}

/* ---- files ---- */

static parsrec_live_note note_of(const char *store, const char *base)
{
    parsrec_live_note note = {.through = 41, .entries = 37};
    snprintf(note.store, sizeof note.store, "%s", store);
    snprintf(note.base, sizeof note.base, "%s", base);
    return note;
}

/* Purchases, sessions that grow later, open baskets, one who is forgotten and one who came back. */
static void some_history(const opened *o)
{
    parsrec_error err;
    live_through(o);
    add(o, "eve", "a", (const int32_t[]){4, 2}, 2);
    add(o, "eve", NULL, (const int32_t[]){9}, 1);
    add(o, "eve", "a", (const int32_t[]){7}, 1);
    assert_ok(parsrec_live_cart(o->live, "eve", "open", (const int32_t[]){3, 5}, 2, &err));
    add(o, "gone", "a", (const int32_t[]){1}, 1);
    assert_ok(parsrec_live_forget(o->live, "gone", &err));
    assert_ok(parsrec_live_forget(o->live, "u00003", &err));
    assert_ok(parsrec_live_forget(o->live, "u00004", &err));
    add(o, "u00004", "back", (const int32_t[]){6}, 1);
}

/* Items in the same order, scores but for rounding: sums are added up in another order. */
static void assert_equal_lives(const opened *a, const opened *b, const char *key)
{
    const opened *both[] = {a, b};
    parsrec_hit hits[2][ITEMS];
    parsrec_answer answers[2];
    parsrec_error err;
    for (int i = 0; i < 2; i++) {
        parsrec_request r = parsrec_request_default();
        r.k = ITEMS;
        assert_ok(parsrec_live_find(both[i]->live, key, &r.user, &err));
        assert_ok(live_recommend(both[i], &r, hits[i], ITEMS, &answers[i], &err));
    }
    assert_int_equal(answers[0].source, answers[1].source);
    assert_int_equal(answers[0].count, answers[1].count);
    for (size_t i = 0; i < answers[0].count; i++) {
        assert_int_equal(hits[0][i].item, hits[1][i].item);
        assert_close((double)hits[0][i].score, (double)hits[1][i].score, 2e-6);
    }
}

static void a_file_brings_everything_back(void **state)
{
    (void)state;
    parsrec_error err;
    char path[80], key[16];
    int32_t number;
    snprintf(path, sizeof path, "%s/histories", folder);
    for (int m = 0; m < 2; m++) {
        opened told = open_live(model_path[m]), read = open_live(model_path[m]);
        parsrec_live_note note = note_of("store", "base"), found = note_of("store", "base");
        some_history(&told);
        assert_ok(parsrec_live_save(told.live, &note, path, &err));
        found.through = found.entries = 0;
        assert_ok(parsrec_live_load(read.live, &found, path, &err));
        assert_memory_equal(&found, &note, sizeof note);
        assert_int_equal(found.through, 41);
        assert_true(parsrec_live_forgotten(read.live, "u00003"));
        assert_int_equal(parsrec_live_find(read.live, "gone", &number, NULL), PARSREC_E_NOT_FOUND);
        assert_int_equal(parsrec_live_find(read.live, "u00003", &number, NULL),
                         PARSREC_E_NOT_FOUND);
        assert_string_equal(past_of(&read, "u00004", NULL), "6");
        assert_string_equal(past_of(&read, "eve", "a"), "9");
        for (int more = 0; more < 2; more++) { /* as it was read, and with what comes after */
            for (int64_t u = 0; u < USERS; u++)
                if (u != 3)
                    assert_equal_lives(&read, &told, user_key(u, key));
            assert_equal_lives(&read, &told, "eve");
            const opened *both[] = {&read, &told};
            for (int i = 0; i < 2; i++) {
                const char *answer;
                add(both[i], "eve", "a", (const int32_t[]){8}, 1);
                assert_string_equal(past_of(both[i], "eve", NULL), "4 2 7 8|9");
                assert_ok(live_json(both[i], "{\"user\":\"eve\",\"session\":\"open\"}", 1, &answer,
                                    &err));
                assert_non_null(strstr(answer, "\"basket\":[\"i00003\",\"i00005\"]"));
            }
        }
        /* It is the same file again, apart from the seed. Who was forgotten since is not in it. */
        assert_ok(parsrec_live_forget(read.live, "eve", &err));
        assert_ok(parsrec_live_save(read.live, &found, path, &err));
        assert_int_equal(found.users, note.users - 1);
        close_live(&told);
        close_live(&read);
    }
    assert_int_equal(remove(path), 0);
}

static void a_file_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    parsrec_error err;
    char path[80];
    snprintf(path, sizeof path, "%s/histories", folder);
    opened o = open_live(model_path[0]);
    parsrec_live_note note = note_of("store", "base"), other = note_of("other", "base");
    some_history(&o);
    assert_ok(parsrec_live_save(o.live, &note, path, &err));
    assert_ok(parsrec_file_check(path, NULL, &err));
    assert_fails(parsrec_live_load(o.live, &note, path, &err), PARSREC_E_ARGUMENT,
                 "nothing was added");
    close_live(&o);
    o = open_live(model_path[0]);
    assert_fails(parsrec_live_load(o.live, &other, path, &err), PARSREC_E_INPUT, "another store");
    other = note_of("store", "other");
    assert_fails(parsrec_live_load(o.live, &other, path, &err), PARSREC_E_INPUT, "other data");
    other = note_of("", "base");
    assert_fails(parsrec_live_load(o.live, &other, path, &err), PARSREC_E_ARGUMENT, "a store");
    assert_fails(parsrec_live_load(o.live, &note, model_path[0], &err), PARSREC_E_FORMAT,
                 "parsrec.histories");
    assert_int_equal(pr_live_users(o.live->pasts), EARLY_USERS);
    bool whole = false;
    for (size_t i = 0; !whole; i++) { /* nothing is added where memory does not suffice */
        pr_memory_fail_after(i);
        parsrec_status status = parsrec_live_load(o.live, &note, path, &err);
        pr_memory_fail_after(SIZE_MAX);
        whole = status == PARSREC_OK;
        assert_true(whole || status == PARSREC_E_MEMORY);
        assert_true(whole || pr_live_users(o.live->pasts) == EARLY_USERS);
    }
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -1, SEEK_END), 0);
    int last = fgetc(f);
    assert_int_equal(fseek(f, -1, SEEK_END), 0);
    assert_true(fputc(last ^ 1, f) != EOF && fclose(f) == 0);
    assert_fails(parsrec_live_load(o.live, &note, path, &err), PARSREC_E_CHECKSUM, "checksum");
    close_live(&o);
    assert_int_equal(remove(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_pasts_taken_from_data),
        cmocka_unit_test(sessions_grow_where_they_began),
        cmocka_unit_test(sessions_of_long_ago_are_over),
        cmocka_unit_test(long_sessions_keep_their_order),
        cmocka_unit_test(vectors_follow),
        cmocka_unit_test(an_open_session_is_not_the_past),
        cmocka_unit_test(live_histories_do_not_mix),
        cmocka_unit_test(replaced_histories_count_at_once),
        cmocka_unit_test(one_who_is_forgotten_is_a_guest),
        cmocka_unit_test(forgotten_by_a_hash_of_the_key),
        cmocka_unit_test(open_baskets_are_no_past),
        cmocka_unit_test(facts_of_a_user),
        cmocka_unit_test(search_by_text),
        cmocka_unit_test(a_session_stands_for_its_basket),
        cmocka_unit_test(live_sessions_have_dates),
        cmocka_unit_test(bad_arguments_get_a_sentence),
        cmocka_unit_test(out_of_memory_is_a_status),
        cmocka_unit_test(threads_share_live_pasts),
        cmocka_unit_test(crafted_users_do_not_pile_up),
        cmocka_unit_test(a_file_brings_everything_back),
        cmocka_unit_test(a_file_that_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, make_models, remove_models);
}
