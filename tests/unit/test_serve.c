/* Parts of the server that need no socket: targets, routes and their description, access, the cache, workers,
 * engines. */
#include <pthread.h>
#include <stdatomic.h>

#include "serve/access.h"
#include "serve/workers.h"
#include "serve_app.h"
#include "testing.h"

/* ---- targets ---- */

static void targets_are_taken_apart(void **state)
{
    (void)state;
    http_target t;
    assert_int_equal(http_target_parse(&t, "/v1/users/a%2Fb%20c?q=x+y&n=1&flag&e="), TARGET_OK);
    assert_int_equal(t.segment_count, 3);
    assert_string_equal(t.segments[2], "a/b c");
    assert_string_equal(http_target_field(&t, "q"), "x y");
    assert_string_equal(http_target_field(&t, "flag"), "");
    assert_string_equal(http_target_field(&t, "e"), "");
    assert_null(http_target_field(&t, "x"));
    assert_int_equal(http_target_parse(&t, "/a+b"), TARGET_OK); /* a plus is one in a path */
    assert_string_equal(t.segments[0], "a+b");
    assert_int_equal(http_target_parse(&t, "/%2541"), TARGET_OK); /* decoded once */
    assert_string_equal(t.segments[0], "%41");
}

static void bad_targets_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "x",       "http://h/", "/%",
                                      "/%4",   "/%zz",    "/%00",      "/?q=%ff%fe",
                                      "/?%=1", "/%c0%af", "/%C3%28"};
    http_target t;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(http_target_parse(&t, bad[i]), TARGET_BAD);
    char long_one[TARGET_BYTES_MOST + 2];
    memset(long_one, 'a', sizeof long_one - 1);
    long_one[0] = '/';
    long_one[sizeof long_one - 1] = '\0';
    assert_int_equal(http_target_parse(&t, long_one), TARGET_TOO_LONG);
    long_one[TARGET_BYTES_MOST] = '\0';
    assert_int_equal(http_target_parse(&t, long_one), TARGET_OK);
    assert_int_equal(http_target_parse(&t, "/1/2/3/4/5/6/7/8/9"), TARGET_TOO_LONG);
}

/* ---- the description is true ---- */

static void every_route_is_described(void **state)
{
    (void)state;
    static const char *const words[] = {"get", "post", "delete"};
    http_response r = {0};
    http_request ask = {.method = HTTP_GET};
    http_target_parse(&ask.target, "/openapi.json");
    route_answer(serve_app(), &ask, &r);
    json_t *document = json_loadb(r.body, r.size, 0, NULL);
    json_t *paths = json_object_get(document, "paths");
    size_t described = 0;
    const char *path;
    json_t *methods;
    json_object_foreach(paths, path, methods) described += json_object_size(methods);
    assert_int_equal(described, route_count);
    for (size_t i = 0; i < route_count; i++) {
        const json_t *operation =
            json_object_get(json_object_get(paths, routes[i].path), words[routes[i].method]);
        if (operation == NULL)
            fail_msg("%s %s is not in docs/openapi.json", words[routes[i].method], routes[i].path);
        bool admin =
            json_array_size(json_object_get(operation, "security")) == 1 &&
            json_object_size(json_array_get(json_object_get(operation, "security"), 0)) > 0;
        assert_int_equal(admin, routes[i].access == ACCESS_ADMIN);
    }
    json_decref(document);
    http_response_free(&r);
}

/* ---- access ---- */

static int status_for(http_method method, const char *path, const http_request *headers)
{
    static http_request request;
    http_response r = {0};
    request = *headers;
    request.method = method;
    assert_int_equal(http_target_parse(&request.target, path), TARGET_OK);
    route_answer(serve_app(), &request, &r);
    serve_app_check(&r);
    int status = r.status;
    http_response_free(&r);
    return status;
}

static void the_token_opens(void **state)
{
    (void)state;
    const http_request none = {0}, right = {.authorization = "Bearer 0123456789abcdef"},
                       wrong = {.authorization = "Bearer 0123456789abcdeX"},
                       half = {.authorization = "Bearer 01234567"},
                       basic = {.authorization = "Basic 0123456789abcdef"};
    app *a = serve_app();
    assert_int_equal(status_for(HTTP_GET, "/v1/model", &none), 200);
    assert_int_equal(status_for(HTTP_DELETE, "/v1/users/x", &none), 401);
    assert_int_equal(status_for(HTTP_DELETE, "/v1/users/x", &wrong), 401);
    assert_int_equal(status_for(HTTP_DELETE, "/v1/users/x", &half), 401);
    assert_int_equal(status_for(HTTP_DELETE, "/v1/users/x", &basic), 401);
    assert_int_equal(status_for(HTTP_DELETE, "/v1/users/x", &right), 422); /* no store */
    a->public_listen = true;
    assert_int_equal(status_for(HTTP_GET, "/v1/model", &none), 401);
    assert_int_equal(status_for(HTTP_GET, "/metrics", &none), 401);
    assert_int_equal(status_for(HTTP_GET, "/v1/model", &right), 200);
    assert_int_equal(status_for(HTTP_GET, "/healthz", &none), 200);
    a->public_listen = false;
}

static void strangers_pages_are_refused(void **state)
{
    (void)state;
    const http_request cases[] = {
        {.host = "localhost:8080", .origin = "http://localhost:8080"},
        {.host = "127.0.0.1"},
        {.host = "[::1]:80"},
        {.host = "evil.example"},
        {.host = "localhost.evil.example"},
        {.host = "localhost", .origin = "http://evil.example"},
        {.host = "localhost", .origin = "null"},
        {.host = "["},
        {.host = ""},
    };
    const int expected[] = {200, 200, 200, 403, 403, 403, 403, 403, 403};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(status_for(HTTP_GET, "/v1/model", &cases[i]), expected[i]);
}

/* ---- the cache ---- */

static void answers_are_kept(void **state)
{
    (void)state;
    static answer_cache cache;
    size_t size;
    answer_cache_init(&cache);
    pr_slice key = pr_slice_of("question"), text = pr_slice_of("answer");
    assert_null(answer_cache_get(&cache, key, 1, &size));
    answer_cache_put(&cache, key, 1, text);
    answer_cache_put(&cache, key, 1, text);
    assert_null(answer_cache_get(&cache, key, 2, &size)); /* another model */
    char *kept = answer_cache_get(&cache, key, 1, &size);
    assert_string_equal(kept, "answer");
    pr_free(kept);
    for (int i = 0; i < CACHE_ENTRIES; i++) { /* asked for now and then: it stays */
        char other[32];
        snprintf(other, sizeof other, "other %d", i);
        answer_cache_put(&cache, pr_slice_of(other), 1, text);
        pr_free(answer_cache_get(&cache, key, 1, &size));
    }
    kept = answer_cache_get(&cache, key, 1, &size);
    assert_non_null(kept);
    pr_free(kept);
    assert_null(answer_cache_get(&cache, pr_slice_of("other 0"), 1, &size)); /* the oldest went */
    answer_cache_free(&cache);
}

/* ---- workers ---- */

typedef struct counted {
    work_item work;
    atomic_int *sum;
    pthread_barrier_t *gate; /* NULL: none */
} counted;

static void count_up(work_item *self)
{
    counted *c = (counted *)self;
    if (c->gate != NULL)
        pthread_barrier_wait(c->gate);
    atomic_fetch_add(c->sum, 1);
}

static void work_is_done_and_refused(void **state)
{
    (void)state;
    enum { QUEUE = 4, ALL = QUEUE + 3 };
    parsrec_error err;
    workers *pool;
    atomic_int sum = 0;
    pthread_barrier_t gate;
    counted work[ALL];
    pthread_barrier_init(&gate, NULL, 2);
    assert_ok(workers_new(&pool, 1, QUEUE, &err));
    for (size_t i = 0; i < ALL; i++)
        work[i] = (counted){{.run = count_up}, &sum, i == 0 ? &gate : NULL};
    assert_true(workers_submit(pool, &work[0].work)); /* holds the one thread */
    size_t taken = 1;
    for (size_t i = 1; i < ALL; i++)
        taken += workers_submit(pool, &work[i].work);
    assert_in_range(taken, QUEUE, QUEUE + 1); /* the first may be off the queue already */
    pthread_barrier_wait(&gate);
    workers_finish(pool);
    assert_int_equal(atomic_load(&sum), (int)taken);
    assert_false(workers_submit(pool, &work[ALL - 1].work));
    workers_free(pool);
    pthread_barrier_destroy(&gate);
}

/* ---- engines ---- */

static engine *new_engine(size_t users)
{
    parsrec_error err;
    engine *e;
    assert_ok(engine_new(&e, serve_app_model(), (engine_limits){8, 20}, &err));
    atomic_fetch_add(&e->users, (unsigned)users - 1);
    return e;
}

/* Somebody still works with it: what is idle goes at once, what comes back goes too, and nothing stays. */
static void a_replaced_engine_keeps_nothing(void **state)
{
    (void)state;
    parsrec_error err;
    parsrec_scratch *idle, *busy;
    engine *e = new_engine(2);
    assert_ok(engine_borrow(e, &idle, &err));
    assert_ok(engine_borrow(e, &busy, &err));
    engine_give_back(e, idle);
    assert_int_equal(e->idle_count, 1);
    engine_retire(e);
    assert_int_equal(atomic_load(&e->users), 1);
    assert_int_equal(e->idle_count, 0);
    engine_give_back(e, busy);
    assert_int_equal(e->idle_count, 0);
    engine_drop(e);
}

typedef struct last_user {
    engine *engine;
    pthread_barrier_t *gate;
} last_user;

static void *use_to_the_end(void *context)
{
    const last_user *u = context;
    parsrec_error err;
    parsrec_scratch *own;
    assert_ok(engine_borrow(u->engine, &own, &err));
    pthread_barrier_wait(u->gate);
    engine_give_back(u->engine, own);
    engine_drop(u->engine);
    return NULL;
}

/* Whoever comes last frees it, and only then. */
static void a_replaced_engine_goes_with_its_last_user(void **state)
{
    (void)state;
    enum { USERS = 3 };
    pthread_barrier_t gate;
    pthread_t threads[USERS];
    last_user user = {new_engine(USERS + 1), &gate};
    pthread_barrier_init(&gate, NULL, USERS + 1);
    for (size_t i = 0; i < USERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_to_the_end, &user), 0);
    pthread_barrier_wait(&gate);
    engine_retire(user.engine);
    for (size_t i = 0; i < USERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&gate);
}

/* ---- nothing leaks, whatever allocation fails ---- */

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const bodies[][2] = {
        {"/v1/recommend", "{\"user\":\"ann\",\"basket\":[\"milk\"],\"explain\":true}"},
        {"/v1/recommend", "{\"requests\":[{\"user\":\"ann\"},{\"basket\":[\"x\"]}]}"},
        {"/v1/events", "{\"events\":[{\"user\":7,\"items\":[\"milk\",\"none\"]}]}"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const char *body = bodies[i][1];
        int expected = i < 2 ? 200 : 422, status = 0;
        for (size_t fail = 0; status != expected && fail < 10000; fail++) {
            pr_memory_fail_after(fail);
            static http_request request;
            http_response r = {0};
            request = (http_request){.method = HTTP_POST, .body = pr_slice_of(body)};
            http_target_parse(&request.target, bodies[i][0]);
            route_answer(serve_app(), &request, &r);
            pr_memory_fail_after(SIZE_MAX);
            status = r.status;
            serve_app_check(&r);
            http_response_free(&r);
            assert_true(status == expected || status == 503 || status == 200);
        }
        assert_int_equal(status, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_taken_apart),
        cmocka_unit_test(bad_targets_are_refused),
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(the_token_opens),
        cmocka_unit_test(strangers_pages_are_refused),
        cmocka_unit_test(answers_are_kept),
        cmocka_unit_test(work_is_done_and_refused),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(a_replaced_engine_keeps_nothing),
        cmocka_unit_test(a_replaced_engine_goes_with_its_last_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
