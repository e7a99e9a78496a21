/* One request after the other on a connection: read, routed, answered where it was read or by a thread
 * that may take its time, and counted. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/memory.h"
#include "serve/http_inside.h"

static void set_stage(client *c, exchange_stage stage)
{
    atomic_store_explicit(&c->stage, (int)stage, memory_order_relaxed);
}

/* ---- sending ---- */

/* Nothing is loaded from elsewhere, nothing inline runs, nobody frames it. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

static void add_headers(struct MHD_Response *m, const client *c)
{
    const http_response *r = &c->response;
    char text[96];
    MHD_add_response_header(m, "Content-Type", r->type);
    MHD_add_response_header(m, "X-Content-Type-Options", "nosniff");
    if (r->etag != NULL) {
        snprintf(text, sizeof text, "\"%s\"", r->etag);
        MHD_add_response_header(m, "ETag", text);
    }
    MHD_add_response_header(m, "Cache-Control", r->page ? "no-cache" : "no-store");
    if (r->page) {
        MHD_add_response_header(m, "Content-Security-Policy", page_policy);
        MHD_add_response_header(m, "Referrer-Policy", "no-referrer");
    }
    if (r->allow != NULL)
        MHD_add_response_header(m, "Allow", r->allow);
    if (r->status == 401)
        MHD_add_response_header(m, "WWW-Authenticate", "Bearer");
    if (r->retry_after > 0) {
        snprintf(text, sizeof text, "%d", r->retry_after);
        MHD_add_response_header(m, "Retry-After", text);
    }
    if (c->closing || atomic_load_explicit(&c->server->app->stopping, memory_order_relaxed))
        MHD_add_response_header(m, "Connection", "close");
}

static struct MHD_Response *make_response(client *c)
{
    http_response *r = &c->response;
    struct MHD_Response *m =
        r->owned != NULL
            ? MHD_create_response_from_buffer_with_free_callback(r->size, r->owned, pr_free)
            : MHD_create_response_from_buffer(r->size, (void *)(uintptr_t)r->body,
                                              MHD_RESPMEM_PERSISTENT);
    if (m != NULL)
        r->owned = NULL; /* the response's now */
    return m;
}

static enum MHD_Result send_response(client *c)
{
    struct MHD_Response *m = make_response(c);
    if (m == NULL)
        return MHD_NO;
    add_headers(m, c);
    atomic_store_explicit(&c->sent_at, pr_now(), memory_order_relaxed);
    set_stage(c, STAGE_SENT);
    enum MHD_Result result = MHD_queue_response(c->connection, (unsigned)c->response.status, m);
    MHD_destroy_response(m);
    return result;
}

/* ---- answering ---- */

static void shed(client *c, const char *why)
{
    atomic_fetch_add(&c->server->app->counts.shed, 1);
    answer_error(&c->response, 503, "overloaded", "%s", why);
    c->response.retry_after = 1;
}

static void work_elsewhere(work_item *work)
{
    client *c = (client *)((char *)work - offsetof(client, work));
    c->route->handle(c->server->app, &c->request, &c->response);
    MHD_resume_connection(c->connection); /* exchange_go_on is called again */
}

static enum MHD_Result answer(client *c)
{
    workers *pool = c->server->pools[c->route->pace];
    c->complete_at = pr_now();
    c->request.body = (pr_slice){c->body != NULL ? c->body : "", c->request.body.size};
    if (pool == NULL) {
        c->route->handle(c->server->app, &c->request, &c->response);
        return send_response(c);
    }
    set_stage(c, STAGE_WORKING);
    c->work.run = work_elsewhere;
    MHD_suspend_connection(c->connection);
    if (!workers_submit(pool, &c->work)) {
        shed(c, "Too many such requests are waiting; ask again soon.");
        MHD_resume_connection(c->connection);
    }
    return MHD_YES;
}

/* ---- reading ---- */

static const char *header(const client *c, const char *name)
{
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

static void read_headers(client *c, const char *method)
{
    http_request *r = &c->request;
    r->method = http_method_of(method);
    r->authorization = header(c, "Authorization");
    r->host = header(c, "Host");
    r->origin = header(c, "Origin");
    r->if_none_match = header(c, "If-None-Match");
    r->idempotency_key = header(c, "Idempotency-Key");
}

static bool announces_too_much(const client *c)
{
    uint64_t bytes;
    const char *length = header(c, "Content-Length");
    return length != NULL && pr_parse_u64(pr_slice_of(length), &bytes) &&
           bytes > c->server->app->options->body_most;
}

typedef struct framing {
    unsigned lengths, codings;
    bool doubtful;
} framing;

/* The library keeps a space between name and colon as part of the name, and adds a folded line to the name of an
 * empty header: neither is the header that a proxy may have seen. */
static enum MHD_Result note_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    static const char length[] = "Content-Length", coding[] = "Transfer-Encoding";
    framing *f = context;
    (void)kind;
    bool is_length = strncasecmp(name, length, sizeof length - 1) == 0;
    bool is_coding = strncasecmp(name, coding, sizeof coding - 1) == 0;
    f->lengths += is_length;
    f->codings += is_coding;
    f->doubtful |= (is_length && strlen(name) != sizeof length - 1) ||
                   (is_coding && strlen(name) != sizeof coding - 1) ||
                   (is_coding && (value == NULL || strcasecmp(value, "chunked") != 0)) ||
                   strpbrk(name, " \t") != NULL;
    return MHD_YES;
}

/* Where the length of a body is said twice, a proxy in front may have read another one, and have taken for a body
 * what is a request here, or the other way round. libmicrohttpd lets that pass. */
static bool has_one_length(client *c)
{
    framing f = {0};
    MHD_get_connection_values(c->connection, MHD_HEADER_KIND, note_framing, &f);
    if (f.lengths + f.codings <= 1 && !f.doubtful)
        return true;
    answer_error(
        &c->response, 400, "bad_request",
        "Say the length of the body once: one Content-Length, or Transfer-Encoding: chunked.");
    return false;
}

static void refuse_body(client *c)
{
    answer_error(&c->response, 413, "too_large", "A body may have at most %llu bytes.",
                 (unsigned long long)c->server->app->options->body_most);
}

static bool has_target(client *c)
{
    if (c->verdict == TARGET_TOO_LONG)
        answer_error(&c->response, 414, "too_long", "The path or the query is too long.");
    else if (c->verdict == TARGET_BAD)
        answer_error(&c->response, 400, "bad_request",
                     "The path or the query is not valid: check %%XX and UTF-8.");
    return c->verdict == TARGET_OK;
}

static bool has_room(client *c)
{
    const app *a = c->server->app;
    if ((uint64_t)atomic_load_explicit(&a->counts.connections, memory_order_relaxed) <=
        a->options->connections_most)
        return true;
    shed(c, "Too many connections are open; ask again soon.");
    return false;
}

/* False when the answer is known before the body. */
static bool is_welcome(client *c)
{
    if (!has_room(c) || !has_target(c))
        return false;
    c->route = route_find(c->server->app, &c->request, &c->response);
    if (c->route == NULL)
        return false;
    if (announces_too_much(c)) {
        refuse_body(c);
        return false;
    }
    return true;
}

/* An answer that does not wait for the body closes the connection; so a body of bearable size is read,
 * and dropped, first. */
static enum MHD_Result start(client *c, const char *method)
{
    c->complete_at = pr_now();
    read_headers(c, method);
    c->closing = !has_one_length(c);
    if (c->closing)
        return send_response(c);
    c->decided = !is_welcome(c);
    if (c->decided && (announces_too_much(c) || c->response.status == 503))
        return send_response(c);
    set_stage(c, STAGE_BODY);
    return MHD_YES;
}

/* A body without a length may still turn out too large; then the rest is dropped. */
static void take_piece(client *c, const char *bytes, size_t size)
{
    size_t have = c->request.body.size;
    if (c->decided || c->body_too_large)
        return;
    if (have + size > c->server->app->options->body_most ||
        pr_grow(&c->body, &c->body_capacity, have + size, 1, NULL) != PARSREC_OK) {
        c->body_too_large = true;
        return;
    }
    memcpy(c->body + have, bytes, size);
    c->request.body.size = have + size;
}

static enum MHD_Result finish_reading(client *c)
{
    if (!c->decided && !c->body_too_large)
        return answer(c);
    c->complete_at = pr_now();
    if (!c->decided)
        refuse_body(c);
    return send_response(c);
}

/* ---- callbacks ---- */

void *exchange_begin(void *server, const char *uri, struct MHD_Connection *connection)
{
    (void)server;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    client *c = info != NULL ? info->socket_context : NULL;
    if (c == NULL)
        return NULL;
    c->verdict = http_target_parse(&c->request.target, uri);
    c->request.body.size = 0;
    c->body_too_large = false;
    atomic_store(&c->left, false);
    c->request.left = &c->left;
    c->route = NULL;
    set_stage(c, STAGE_HEADERS);
    atomic_fetch_add_explicit(&c->server->app->counts.in_flight, 1, memory_order_relaxed);
    return c;
}

enum MHD_Result exchange_go_on(void *server, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **context)
{
    (void)server;
    (void)connection;
    (void)url;
    (void)version;
    client *c = *context;
    if (c == NULL)
        return MHD_NO;
    switch ((exchange_stage)atomic_load_explicit(&c->stage, memory_order_relaxed)) {
    case STAGE_HEADERS:
        return start(c, method);
    case STAGE_BODY:
        if (*upload_size == 0)
            return finish_reading(c);
        take_piece(c, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    case STAGE_WORKING:
        return send_response(c);
    case STAGE_IDLE:
    case STAGE_SENT:
        break;
    }
    return MHD_NO;
}

static void log_request(const client *c, double seconds)
{
    const app *a = c->server->app;
    const http_request *r = &c->request;
    const char *target = a->options->log_targets ? r->target.text
                         : c->route != NULL      ? c->route->path
                         : c->response.page      ? "page"
                                                 : "other";
    access_log_write(c->server->log, &(access_line){
                                         .method = http_method_name(r->method),
                                         .target = target,
                                         .status = c->response.status,
                                         .bytes = c->response.size,
                                         .seconds = seconds,
                                     });
}

/* Memory of a body that was far larger than usual is given back. */
static void tidy_up(client *c)
{
    enum { KEPT = 16384 };
    http_response_free(&c->response);
    if (c->body_capacity > KEPT) {
        pr_free(c->body);
        c->body = NULL;
        c->body_capacity = 0;
    }
}

void exchange_end(void *server, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode how)
{
    (void)server;
    (void)connection;
    (void)how;
    client *c = *context;
    if (c == NULL)
        return;
    metrics *counts = &c->server->app->counts;
    double now = pr_now(), seconds = now - c->complete_at;
    if (c->response.status != 0) {
        metrics_count(counts, c->route != NULL ? (size_t)(c->route - routes) : route_count,
                      c->response.status, seconds);
        log_request(c, seconds);
    }
    atomic_fetch_sub_explicit(&counts->in_flight, 1, memory_order_relaxed);
    tidy_up(c);
    atomic_store_explicit(&c->waiting, now, memory_order_relaxed);
    set_stage(c, STAGE_IDLE);
    *context = NULL;
}
