/* Parts of the server that need no socket: targets, routes and their description, access, jobs, workers,
 * engines. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "serve/access.h"
#include "serve/event_flow.h"
#include "serve/store.h"
#include "serve/workers.h"
#include "support/serve_app.h"
#include "support/testing.h"

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

/* The parameters of a kind ("query", "path"), as the table of routes lists them. */
static void parameter_names(const json_t *operation, const char *in, char *out, size_t size)
{
    const json_t *list = json_object_get(operation, "parameters");
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *p = json_array_get(list, i);
        if (strcmp(json_string_value(json_object_get(p, "in")), in) == 0)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     json_string_value(json_object_get(p, "name")));
        assert_in_range(used, 0, size - 1);
    }
}

/* Everything that a reference points to is there. */
static void check_references(const json_t *value, const json_t *document)
{
    const char *key, *target = json_string_value(json_object_get(value, "$ref"));
    json_t *child;
    size_t i;
    if (target != NULL) {
        static const char schemas[] = "#/components/schemas/";
        assert_memory_equal(target, schemas, sizeof schemas - 1);
        assert_non_null(
            json_object_get(json_object_get(json_object_get(document, "components"), "schemas"),
                            target + sizeof schemas - 1));
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, child) check_references(child, document);
    json_array_foreach(value, i, child) check_references(child, document);
}

/* What generators of clients and linters ask for. */
static void check_operation(const route *r, const json_t *operation, json_t *seen)
{
    char names[128];
    const char *id = json_string_value(json_object_get(operation, "operationId"));
    assert_non_null(id);
    assert_null(json_object_get(seen, id));
    json_object_set_new(seen, id, json_true());
    assert_non_null(json_object_get(operation, "summary"));
    assert_non_null(json_object_get(operation, "security"));
    assert_non_null(json_object_get(json_object_get(operation, "responses"), "200"));
    assert_non_null(json_object_get(json_object_get(operation, "responses"), "400"));
    parameter_names(operation, "query", names, sizeof names);
    assert_string_equal(names, r->query);
    parameter_names(operation, "path", names, sizeof names);
    assert_string_equal(names, strstr(r->path, "{id}") != NULL ? "id" : "");
}

static void traces_are_recognised(void **state)
{
    (void)state;
    static const char good[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    static const char *const bad[] = {
        "",
        "00",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473\n-00f067aa0ba902b7-01"};
    char trace[HTTP_TRACE_TEXT];
    http_trace_of(trace, good);
    assert_string_equal(trace, "4bf92f3577b34da6a3ce929d0e0e4736");
    http_trace_of(trace, "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more");
    assert_string_equal(trace, "4bf92f3577b34da6a3ce929d0e0e4736");
    http_trace_of(trace, NULL);
    assert_string_equal(trace, "");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        http_trace_of(trace, bad[i]);
        assert_string_equal(trace, "");
    }
}

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
    const json_t *info = json_object_get(document, "info");
    assert_non_null(json_object_get(json_object_get(info, "license"), "url"));
    assert_true(json_array_size(json_object_get(document, "servers")) > 0);
    check_references(document, document);
    json_t *seen = json_object();
    for (size_t i = 0; i < route_count; i++) {
        const json_t *operation =
            json_object_get(json_object_get(paths, routes[i].path), words[routes[i].method]);
        if (operation == NULL)
            fail_msg("%s %s is not in docs/openapi.json", words[routes[i].method], routes[i].path);
        check_operation(&routes[i], operation, seen);
        bool admin =
            json_array_size(json_object_get(operation, "security")) == 1 &&
            json_object_size(json_array_get(json_object_get(operation, "security"), 0)) > 0;
        assert_int_equal(admin, routes[i].access == ACCESS_ADMIN);
    }
    json_decref(seen);
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

/* On loopback and elsewhere alike: behind a proxy everybody comes from this machine. */
static void the_token_opens(void **state)
{
    (void)state;
    const http_request none = {0}, right = {.authorization = "Bearer 0123456789abcdef"},
                       wrong = {.authorization = "Bearer 0123456789abcdeX"},
                       half = {.authorization = "Bearer 01234567"},
                       basic = {.authorization = "Basic 0123456789abcdef"};
    app *a = serve_app();
    for (int public = 0; public < 2; public ++) {
        a->public_listen = public;
        serve_app_token(true);
        for (size_t i = 0; i < route_count; i++) {
            if (routes[i].access == ACCESS_OPEN)
                continue;
            assert_int_equal(status_for(routes[i].method, routes[i].path, &none), 401);
            assert_int_equal(status_for(routes[i].method, routes[i].path, &wrong), 401);
            assert_int_equal(status_for(routes[i].method, routes[i].path, &half), 401);
            assert_int_equal(status_for(routes[i].method, routes[i].path, &basic), 401);
        }
        assert_int_equal(status_for(HTTP_GET, "/v1/model", &right), 200);
        assert_int_equal(status_for(HTTP_DELETE, "/v1/users/x", &right), 422); /* no store */
        assert_int_equal(status_for(HTTP_GET, "/healthz", &none), 200);
        assert_int_equal(status_for(HTTP_GET, "/readyz", &none), 200);
        assert_int_equal(status_for(HTTP_GET, "/openapi.json", &none), 200);
    }
    a->public_listen = false;
    serve_app_token(false);
    assert_int_equal(status_for(HTTP_GET, "/v1/model", &none), 200);
    assert_int_equal(status_for(HTTP_DELETE, "/v1/users/x", &none), 403);
    assert_int_equal(status_for(HTTP_POST, "/v1/admin/reload", &right), 403);
}

/* A page of another site may make a browser send requests here, with a token or not, and a name of another
 * domain may be made to point here: no route answers them. */
static void strangers_pages_are_refused(void **state)
{
    (void)state;
    static const char token[] = "Bearer 0123456789abcdef";
    const http_request cases[] = {
        {.host = "localhost:8080", .origin = "http://localhost:8080"},
        {.host = "127.0.0.1"},
        {.host = "[::1]:80"},
        {.host = "localhost", .fetch_site = "same-origin"},
        {.host = "localhost", .fetch_site = "none"}, /* typed by a person */
        {.host = "evil.example"},
        {.host = "localhost.evil.example"},
        {.host = "localhost", .origin = "http://evil.example"},
        {.host = "localhost", .origin = "null"},
        {.host = "["},
        {.host = "[::1].evil.example"},
        {.host = "[::1]x:80"},
        {.host = "localhost:80.evil.example"},
        {.host = "127.0.0.1:80@evil.example"},
        {.host = ""},
    };
    enum { CASES = sizeof cases / sizeof *cases, GOOD = 5 };
    for (int given = 0; given < 2; given++) {
        serve_app_token(given);
        for (size_t c = 0; c < CASES; c++) {
            http_request headers = cases[c];
            headers.authorization = given ? token : NULL;
            if (c < GOOD)
                assert_int_equal(status_for(HTTP_GET, "/v1/model", &headers), 200);
            for (size_t i = 0; c >= GOOD && i < route_count; i++)
                assert_int_equal(status_for(routes[i].method, routes[i].path, &headers), 403);
        }
        /* A picture in another site's page, which has no Origin; a link to our own page is fine. */
        static const char *const sites[] = {"cross-site", "same-site", ""};
        for (size_t s = 0; s < sizeof sites / sizeof *sites; s++) {
            const http_request headers = {
                .host = "localhost", .fetch_site = sites[s], .authorization = given ? token : NULL};
            for (size_t i = 0; i < route_count; i++)
                if (routes[i].access != ACCESS_OPEN)
                    assert_int_equal(status_for(routes[i].method, routes[i].path, &headers), 403);
            assert_int_not_equal(status_for(HTTP_GET, "/", &headers), 403);
            assert_int_equal(status_for(HTTP_GET, "/healthz", &headers), 200);
        }
    }
    serve_app_token(false);
}

/* ---- jobs ---- */

/* What a test job does: it reports progress until it is stopped, and counts how it ended. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool end;
    int running, ran, stopped;
} trial = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static atomic_bool trial_forgotten; /* whom requests with a user are about */

static parsrec_status trial_check(const engine *e, json_t *request, parsrec_error *err)
{
    (void)e;
    if (atomic_load(&trial_forgotten) && json_object_get(request, "user") != NULL)
        return pr_fail(err, PARSREC_E_NOT_FOUND, "there is no such user");
    return json_object_get(request, "bad") == NULL
               ? PARSREC_OK
               : pr_fail(err, PARSREC_E_INPUT, "this request is bad");
}

static parsrec_status trial_run(char **text, const engine *e, json_t *request,
                                const parsrec_hooks *hooks, parsrec_error *err)
{
    (void)e;
    bool stop = false, end = false;
    pthread_mutex_lock(&trial.lock);
    trial.running++;
    pthread_cond_broadcast(&trial.changed);
    while (!stop && !end) {
        end = trial.end;
        pthread_mutex_unlock(&trial.lock);
        const parsrec_progress half = {.stage = "trying", .done = 1, .total = 2};
        stop = hooks->on_progress(hooks->context, &half) != 0;
        pthread_mutex_lock(&trial.lock);
    }
    trial.running--;
    trial.ran += !stop;
    trial.stopped += stop;
    pthread_cond_broadcast(&trial.changed);
    pthread_mutex_unlock(&trial.lock);
    if (stop)
        return pr_fail(err, PARSREC_E_STOPPED, "stopped");
    if (json_object_get(request, "fails") != NULL)
        return pr_fail(err, PARSREC_E_NOT_FOUND, "there is nothing");
    size_t size = (size_t)json_integer_value(json_object_get(request, "size")) + 2;
    *text = pr_alloc(size + 1, 1);
    assert_non_null(*text);
    memset(*text, '1', size);
    (*text)[size] = '\0';
    return PARSREC_OK;
}

static size_t trial_stages(const json_t *request)
{
    (void)request;
    return 1;
}

static const job_kind trial_kind = {"trial", trial_check, trial_run, trial_stages};

static void trial_end(bool end)
{
    pthread_mutex_lock(&trial.lock);
    trial.end = end;
    trial.ran = trial.stopped = 0;
    pthread_mutex_unlock(&trial.lock);
}

/* Until this many run. */
static void trial_wait(int running)
{
    pthread_mutex_lock(&trial.lock);
    while (trial.running != running)
        pthread_cond_wait(&trial.changed, &trial.lock);
    pthread_mutex_unlock(&trial.lock);
}

static atomic_bool no_stop;

static jobs_verdict try_job(jobs *t, const char *request, job_view *view)
{
    parsrec_error err = {0};
    json_t *json = json_loads(request, 0, NULL);
    assert_non_null(json);
    jobs_verdict verdict = jobs_submit(t, &trial_kind, json, view, &err);
    json_decref(json);
    return verdict;
}

/* The job's status once it is finished. */
static job_status last_status(jobs *t, const char *id, char **text)
{
    job_view view;
    assert_true(jobs_look(t, id, &view));
    while (view.status == JOB_QUEUED || view.status == JOB_RUNNING) {
        job_view_free(&view);
        sched_yield();
        assert_true(jobs_look(t, id, &view));
    }
    job_status status = view.status;
    if (text != NULL)
        *text = view.text;
    else
        pr_free(view.text);
    return status;
}

static void jobs_are_shared_and_kept(void **state)
{
    (void)state;
    static jobs t;
    job_view first, second;
    char *text;
    jobs_init(&t, &serve_app()->engines, &no_stop);
    trial_end(false);
    assert_int_equal(try_job(&t, "{\"bad\":1}", &first), JOBS_REFUSED);
    assert_int_equal(try_job(&t, "{\"a\":1,\"b\":2}", &first), JOBS_TAKEN);
    trial_wait(1);
    assert_int_equal(try_job(&t, "{\"b\":2, \"a\":1}", &second), JOBS_TAKEN);
    assert_string_equal(first.id, second.id);
    assert_int_equal(strlen(first.id), JOB_ID_BYTES - 1);
    assert_int_equal(try_job(&t, "{\"a\":2}", &second), JOBS_TAKEN);
    assert_string_not_equal(first.id, second.id);
    trial_wait(2);
    assert_true(jobs_look(&t, first.id, &second));
    assert_int_equal(second.status, JOB_RUNNING);
    assert_true(second.progress <= 0.5);
    trial_end(true);
    assert_int_equal(last_status(&t, first.id, &text), JOB_DONE);
    assert_string_equal(text, "11");
    pr_free(text);
    assert_int_equal(try_job(&t, "{\"a\":1,\"b\":2}", &second), JOBS_TAKEN);
    assert_int_equal(second.status, JOB_DONE);
    assert_string_equal(second.text, "11");
    assert_true(second.progress >= 1);
    job_view_free(&second);
    assert_int_equal(try_job(&t, "{\"fails\":1}", &second), JOBS_TAKEN);
    assert_int_equal(last_status(&t, second.id, NULL), JOB_FAILED);
    assert_false(jobs_look(&t, "0123", &second));
    jobs_free(&t);
}

static void jobs_nobody_wants_are_cancelled(void **state)
{
    (void)state;
    static jobs t;
    job_view view, other;
    jobs_init(&t, &serve_app()->engines, &no_stop);
    trial_end(false);
    /* Two want it: the first who leaves does not take it away. */
    assert_int_equal(try_job(&t, "{\"a\":1}", &view), JOBS_TAKEN);
    assert_int_equal(try_job(&t, "{\"a\":1}", &view), JOBS_TAKEN);
    trial_wait(1);
    assert_true(jobs_cancel(&t, view.id, &other));
    assert_int_not_equal(other.status, JOB_CANCELLED);
    assert_true(jobs_cancel(&t, view.id, &other));
    assert_int_equal(other.status, JOB_CANCELLED);
    assert_int_equal(last_status(&t, view.id, NULL), JOB_CANCELLED);
    /* A new question of the same kind starts again. */
    assert_int_equal(try_job(&t, "{\"a\":1}", &other), JOBS_TAKEN);
    assert_string_not_equal(view.id, other.id);
    trial_wait(1);
    /* Nobody asks any more. */
    pthread_mutex_lock(&t.lock);
    t.left_seconds = -1;
    pthread_mutex_unlock(&t.lock);
    assert_true(jobs_look(&t, other.id, &view));
    trial_wait(0);
    assert_int_equal(trial.ran, 0);
    assert_int_equal(trial.stopped, 2);
    jobs_free(&t);
}

typedef struct waiting_client {
    jobs *table;
    atomic_bool left;
    double deadline;
    jobs_verdict verdict;
    job_view view;
} waiting_client;

static void *wait_for_job(void *context)
{
    waiting_client *c = context;
    parsrec_error err = {0};
    json_t *json = json_loads("{\"waited\":1}", 0, NULL);
    c->verdict = jobs_ask(c->table, &trial_kind, json, c->deadline, &c->left, &c->view, &err);
    json_decref(json);
    return NULL;
}

static void clients_who_wait_may_leave(void **state)
{
    (void)state;
    static jobs t;
    pthread_t threads[2];
    static waiting_client clients[2];
    jobs_init(&t, &serve_app()->engines, &no_stop);
    trial_end(false);
    for (size_t i = 0; i < 2; i++) {
        clients[i] = (waiting_client){.table = &t, .deadline = 1e300};
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_job, &clients[i]), 0);
        trial_wait(1); /* the second joins the first's */
    }
    atomic_store(&clients[0].left, true);
    pthread_join(threads[0], NULL);
    trial_end(true);
    pthread_join(threads[1], NULL);
    assert_int_equal(clients[1].view.status, JOB_DONE);
    job_view_free(&clients[0].view);
    job_view_free(&clients[1].view);
    trial_end(false);
    engine_put(&serve_app()->engines, serve_app_engine()); /* what was kept is another model's */
    clients[0] = (waiting_client){.table = &t, .deadline = 1e300};
    assert_int_equal(pthread_create(&threads[0], NULL, wait_for_job, &clients[0]), 0);
    trial_wait(1);
    atomic_store(&clients[0].left, true);
    pthread_join(threads[0], NULL);
    trial_wait(0);
    assert_int_equal(trial.stopped, 1);
    /* One who waited too long gets an answer, and the job continues. */
    clients[0] = (waiting_client){.table = &t, .deadline = 0};
    wait_for_job(&clients[0]);
    assert_int_equal(clients[0].verdict, JOBS_TAKEN);
    assert_true(clients[0].view.status == JOB_QUEUED || clients[0].view.status == JOB_RUNNING);
    trial_end(true);
    assert_int_equal(last_status(&t, clients[0].view.id, NULL), JOB_DONE);
    jobs_free(&t);
}

/* Finished, running or asked to be cancelled: nobody reads it any more. Results about others stay for those who
 * asked for them. */
static void results_go_with_their_user(void **state)
{
    (void)state;
    static jobs t;
    job_view about[3], other, view;
    jobs_init(&t, &serve_app()->engines, &no_stop);
    trial_end(true);
    assert_int_equal(try_job(&t, "{\"user\":1}", &about[0]), JOBS_TAKEN);
    assert_int_equal(try_job(&t, "{\"user\":2}", &about[1]), JOBS_TAKEN);
    assert_int_equal(try_job(&t, "{\"a\":1}", &other), JOBS_TAKEN);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(last_status(&t, about[i].id, NULL), JOB_DONE);
    assert_int_equal(last_status(&t, other.id, NULL), JOB_DONE);
    trial_end(false);
    assert_int_equal(try_job(&t, "{\"user\":3}", &about[2]), JOBS_TAKEN);
    trial_wait(1);
    engine *e = engine_take(t.engines);
    atomic_store(&trial_forgotten, true);
    atomic_fetch_add(&e->forgotten, 1);
    engine_drop(e);
    assert_false(jobs_cancel(&t, about[0].id, &view));
    assert_false(jobs_look(&t, about[1].id, &view));
    assert_int_equal(last_status(&t, other.id, NULL), JOB_DONE);
    trial_end(true);
    assert_int_equal(last_status(&t, about[2].id, NULL), JOB_FAILED);
    assert_true(jobs_look(&t, about[2].id, &view));
    assert_int_equal(view.err.status, PARSREC_E_NOT_FOUND);
    atomic_store(&trial_forgotten, false);
    jobs_free(&t);
}

#ifdef __GLIBC__
/* A long request is not kept with its failure. */
static void failed_jobs_keep_no_request(void **state)
{
    (void)state;
    enum { JOBS = 8, LONG = 1 << 20 };
    static jobs t;
    job_view view;
    jobs_init(&t, &serve_app()->engines, &no_stop);
    trial_end(true);
    char *text = pr_alloc(LONG + 64, 1);
    assert_non_null(text);
    const struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < JOBS; i++) {
        int size = sprintf(text, "{\"fails\":%d,\"long\":\"", i);
        memset(text + size, 'x', LONG);
        strcpy(text + size + LONG, "\"}");
        assert_int_equal(try_job(&t, text, &view), JOBS_TAKEN);
        assert_int_equal(last_status(&t, view.id, NULL), JOB_FAILED);
    }
    const struct mallinfo2 after = mallinfo2();
    assert_true(after.hblkhd + after.uordblks < before.hblkhd + before.uordblks + JOBS / 2 * LONG);
    pr_free(text);
    jobs_free(&t);
}
#endif

static void jobs_are_bounded(void **state)
{
    (void)state;
    static jobs t;
    char text[64], first[JOB_ID_BYTES] = "";
    job_view view;
    jobs_init(&t, &serve_app()->engines, &no_stop);
    trial_end(false);
    for (int i = 0; i < JOB_RUNNERS + JOB_QUEUE; i++) {
        snprintf(text, sizeof text, "{\"n\":%d}", i);
        assert_int_equal(try_job(&t, text, &view), JOBS_TAKEN);
        trial_wait(i < JOB_RUNNERS ? i + 1 : JOB_RUNNERS);
    }
    assert_int_equal(try_job(&t, "{\"n\":-1}", &view), JOBS_FULL);
    assert_int_equal(try_job(&t, "{\"n\":3}", &view), JOBS_TAKEN); /* has its place already */
    trial_end(true);
    /* Results beyond the limit: what was not asked for longest goes. */
    t.bytes_most = 3000;
    for (int i = 0; i < 4; i++) {
        do {
            snprintf(text, sizeof text, "{\"n\":%d,\"size\":1000}", i);
        } while (try_job(&t, text, &view) == JOBS_FULL);
        if (i == 0)
            memcpy(first, view.id, sizeof first);
        assert_int_equal(last_status(&t, view.id, NULL), JOB_DONE);
    }
    assert_false(jobs_look(&t, first, &view));
    jobs_free(&t);
}

static void jobs_by_request(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int status;
    } cases[] = {
        {"{\"kind\":\"relations\",\"request\":{\"map\":\"lift\",\"by\":\"item\"}}", 202},
        {"{\"kind\":\"whatif\",\"request\":{\"drop\":[\"item=milk\"],\"draws\":1,"
         "\"resamples\":20}}",
         202},
        {"{\"kind\":\"relations\",\"request\":{\"maps\":\"lift\"}}", 400},
        {"{\"kind\":\"relations\",\"request\":{\"group\":[\"a=/etc/passwd\"]}}", 400},
        {"{\"kind\":\"relations\",\"request\":{\"user\":\"nobody\"}}", 404},
        {"{\"kind\":\"whatif\",\"request\":{}}", 400},
        {"{\"kind\":\"whatif\"}", 400},
        {"{\"kind\":\"recommend\",\"request\":{}}", 400},
        {"{\"kind\":\"whatif\",\"request\":{},\"more\":1}", 400},
        {"[]", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static http_request request;
        http_response r = {0};
        request = (http_request){.method = HTTP_POST, .body = pr_slice_of(cases[i].body)};
        http_target_parse(&request.target, "/v1/jobs");
        route_answer(serve_app(), &request, &r);
        serve_app_check(&r);
        assert_int_equal(r.status, cases[i].status);
        json_t *answer = json_loadb(r.body, r.size, 0, NULL);
        http_response_free(&r);
        if (cases[i].status == 202) {
            char path[64];
            const char *id = json_string_value(json_object_get(answer, "job"));
            assert_int_not_equal(last_status(&serve_app()->jobs, id, NULL), JOB_CANCELLED);
            snprintf(path, sizeof path, "/v1/jobs/%s", id);
            request.method = HTTP_GET;
            http_target_parse(&request.target, path);
            route_answer(serve_app(), &request, &r);
            assert_int_equal(r.status, 200);
            serve_app_check(&r);
            http_response_free(&r);
        }
        json_decref(answer);
    }
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
    static const struct {
        http_method method;
        const char *target, *body;
        int expected;
        bool slow; /* a study: not every allocation of it */
    } bodies[] = {
        {HTTP_POST, "/v1/recommend", "{\"user\":\"ann\",\"basket\":[\"milk\"],\"explain\":true}",
         200, false},
        {HTTP_POST, "/v1/recommend", "{\"requests\":[{\"user\":\"ann\"},{\"basket\":[\"x\"]}]}",
         200, false},
        {HTTP_POST, "/v1/events", "{\"events\":[{\"user\":7,\"items\":[\"milk\",\"none\"]}]}", 422,
         false},
        {HTTP_GET, "/v1/items?q=m&limit=3", "", 200, false},
        {HTTP_GET, "/v1/categories", "", 200, false},
        {HTTP_GET, "/v1/users?q=a", "", 200, false},
        {HTTP_GET, "/v1/users/ann", "", 200, false},
        {HTTP_DELETE, "/v1/users/ann", "", 422, false},
        {HTTP_GET, "/v1/groups", "", 200, false},
        {HTTP_GET, "/v1/relations?map=lift&by=item", "", 200, true},
        {HTTP_POST, "/v1/whatif", "{\"drop\":[\"item=milk\"],\"question\":\"rechoice\"}", 200,
         true},
        {HTTP_GET, "/v1/model", "", 200, false},
        {HTTP_GET, "/v1/quality", "", 200, false},
        {HTTP_GET, "/metrics", "", 200, false},
    };
#ifdef __SANITIZE_THREAD__ /* which does not look for leaks */
    const bool all_slow = true;
#else
    const bool all_slow = false;
#endif
    serve_app_token(true); /* to forget somebody */
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        int expected = bodies[i].expected, status = 0;
        for (size_t fail = 0; status != expected && fail < 10000;
             fail += all_slow || bodies[i].slow ? 1 + fail / 4 : 1) {
            pr_memory_fail_after(fail);
            static http_request request;
            http_response r = {0};
            request = (http_request){.method = bodies[i].method,
                                     .body = pr_slice_of(bodies[i].body),
                                     .authorization = "Bearer 0123456789abcdef"};
            http_target_parse(&request.target, bodies[i].target);
            route_answer(serve_app(), &request, &r);
            pr_memory_fail_after(SIZE_MAX);
            status = r.status;
            serve_app_check(&r);
            http_response_free(&r);
            assert_true(status == expected || status == 503 || status == 200);
        }
        assert_int_equal(status, expected);
    }
    serve_app_token(false);
}

/* ---- quality ---- */

/* Measures of the model before are no measures of one that cannot be evaluated. */
static void a_failed_evaluation_leaves_no_other(void **state)
{
    (void)state;
    static quality q;
    parsrec_error err = {0};
    engine *e;
    sample few;
    sample_make(&few);
    few.user_offsets[1] = 2; /* nobody has three sessions */
    assert_ok(engine_new(&e, serve_app_model_of(&few), (engine_limits){8, 20}, &err));
    quality_init(&q);
    q.table = json_array();
    q.baselines = json_object();
    quality_start(&q, e);
    engine_drop(e);
    assert_true(q.running);
    assert_int_equal(pthread_join(q.thread, NULL), 0);
    q.running = false;
    json_t *json = quality_json(&q);
    assert_true(json_is_false(json_object_get(json, "ready")));
    assert_true(json_string_length(json_object_get(json, "failure")) > 0);
    json_decref(json);
    quality_free(&q);
}

/* ---- search ---- */

/* "T\xC3\xA9" is asked for with a capital of two bytes. */
static void items_are_found_in_any_case(void **state)
{
    (void)state;
    static http_request request;
    http_response r = {0};
    request = (http_request){.method = HTTP_GET};
    assert_int_equal(http_target_parse(&request.target, "/v1/items?q=t%C3%89"), TARGET_OK);
    route_answer(serve_app(), &request, &r);
    assert_int_equal(r.status, 200);
    assert_non_null(strstr(r.body, "\"T\xC3\xA9\""));
    http_response_free(&r);
}

/* ---- who was forgotten, and a store that is lost ---- */

/* The baskets in the model's data stay hidden when the user buys again. */
static void who_was_forgotten_stays_hidden(void **state)
{
    (void)state;
    parsrec_error err = {0};
    const http_request none = {0};
    const int32_t item = 0;
    engine *e = serve_app_engine();
    engine_put(&serve_app()->engines, e);
    assert_int_equal(status_for(HTTP_GET, "/v1/relations?map=lift&by=item&user=ann", &none), 200);
    assert_ok(parsrec_live_forget(e->live, "ann", &err));
    atomic_fetch_add(&e->forgotten, 1);
    assert_ok(parsrec_live_add(e->live, "ann", "back", &item, 1, &err));
    assert_int_equal(status_for(HTTP_GET, "/v1/users/ann", &none), 200);
    assert_int_equal(status_for(HTTP_GET, "/v1/relations?map=lift&by=item&user=ann", &none), 404);
    assert_int_equal(status_for(HTTP_GET, "/v1/relations?map=lift&by=item&group=user:ann", &none),
                     404);
}

/* An event with a mistake says nothing about a store that is lost. */
static void mistakes_bring_no_store_back(void **state)
{
    (void)state;
    static app own;
    parsrec_error err = {0};
    char path[] = "/tmp/parsrec-store.XXXXXX", url[64];
    const char *items[] = {"milk"};
    store_event event = {.user = "ann", .items = items, .count = 1, .id = "\xFF"};
    assert_non_null(mkdtemp(path));
    snprintf(url, sizeof url, "sqlite:%s/s", path);
    serve_options options = serve_default();
    options.store = url;
    assert_ok(app_init(&own, &options, &err));
    engine_put(&own.engines, serve_app_engine());
    assert_ok(event_flow_open(&own, &err));
    atomic_store(&own.unwritten, true);
    assert_fails(event_flow_append(&own, &event, 1, NULL, &err), PARSREC_E_ARGUMENT, "not valid");
    assert_true(atomic_load(&own.unwritten));
    event.id = "1";
    store_receipt receipt;
    assert_ok(event_flow_append(&own, &event, 1, &receipt, &err));
    assert_false(atomic_load(&own.unwritten));
    app_free(&own);
    assert_int_equal(unlink(url + strlen("sqlite:")), 0);
    assert_int_equal(rmdir(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_are_taken_apart),
        cmocka_unit_test(bad_targets_are_refused),
        cmocka_unit_test(traces_are_recognised),
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(the_token_opens),
        cmocka_unit_test(strangers_pages_are_refused),
        cmocka_unit_test(jobs_are_shared_and_kept),
        cmocka_unit_test(jobs_nobody_wants_are_cancelled),
        cmocka_unit_test(clients_who_wait_may_leave),
        cmocka_unit_test(results_go_with_their_user),
#ifdef __GLIBC__
        cmocka_unit_test(failed_jobs_keep_no_request),
#endif
        cmocka_unit_test(jobs_are_bounded),
        cmocka_unit_test(jobs_by_request),
        cmocka_unit_test(work_is_done_and_refused),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(a_replaced_engine_keeps_nothing),
        cmocka_unit_test(a_replaced_engine_goes_with_its_last_user),
        cmocka_unit_test(a_failed_evaluation_leaves_no_other),
        cmocka_unit_test(items_are_found_in_any_case),
        cmocka_unit_test(who_was_forgotten_stays_hidden),
        cmocka_unit_test(mistakes_bring_no_store_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
