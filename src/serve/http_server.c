/* Connections, their requests and the listening socket. A connection carries one request after the
 * other; each is read, routed, answered (on the thread that read it, or on a pool if the route is slow)
 * and counted.
 *
 * libmicrohttpd calls exchange_begin, then exchange_continue once for each part of a request, then
 * exchange_end. A client lives as long as its connection, and its memory is reused by the next request.
 * While a pool works on a request (STAGE_WORKING), the connection is suspended and only that thread
 * touches the client; stage, waiting, sent_at and left are atomic, because http_server_tend reads them
 * from another thread. */
#include "serve/http_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "serve/routes.h"
#include "serve/workers.h"

typedef enum exchange_stage {
    STAGE_IDLE,    /* waiting for a request */
    STAGE_HEADERS, /* the request line has arrived */
    STAGE_BODY,
    STAGE_WORKING, /* a thread of a pool makes the answer */
    STAGE_SENT,
} exchange_stage;

/* A connection and its current request. */
typedef struct client {
    struct http_server *server;
    struct client *before, *after; /* in the server's list */
    struct MHD_Connection *connection;
    int fd;
    atomic_int stage;       /* exchange_stage */
    _Atomic double waiting; /* time since which it waits for a request */
    _Atomic double sent_at; /* when the answer was ready to be sent */

    http_request request;
    target_verdict verdict;
    char *body;
    size_t body_capacity;
    bool decided; /* the answer is known before the body */
    bool closing; /* the connection ends with the answer */
    bool surplus; /* there were too many connections when it was opened */
    bool body_too_large;
    atomic_bool left; /* the client closed the connection while the answer was being made */
    const route *route;
    http_response response;
    double complete_at; /* when the last byte of the request arrived */
    work_item work;
} client;

struct http_server {
    app *app;
    uint64_t connections_most; /* --connections, or what the system allows */
    unsigned shed_most;        /* beyond them; they get a 503 */
    access_log *log;
    struct MHD_Daemon *daemon;
    workers *pools[PACES]; /* NULL: handled where the request was read */
    tls_files tls;
    pthread_mutex_t lock; /* of the list */
    client *clients;
};

static void set_stage(client *c, exchange_stage stage)
{
    atomic_store_explicit(&c->stage, (int)stage, memory_order_relaxed);
}

/* ---- sending ---- */

/* Nothing is loaded from other hosts, no inline script runs, and no other page may frame this one. */
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
    MHD_add_response_header(m, "Cross-Origin-Resource-Policy", "same-origin");
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

static enum MHD_Result send_response(client *c)
{
    http_response *r = &c->response;
    struct MHD_Response *m =
        r->owned != NULL
            ? MHD_create_response_from_buffer_with_free_callback(r->size, r->owned, pr_free)
            : MHD_create_response_from_buffer(r->size, (void *)(uintptr_t)r->body,
                                              MHD_RESPMEM_PERSISTENT);
    if (m == NULL)
        return MHD_NO;
    r->owned = NULL; /* now owned by m */
    add_headers(m, c);
    atomic_store_explicit(&c->sent_at, pr_now(), memory_order_relaxed);
    set_stage(c, STAGE_SENT);
    enum MHD_Result result = MHD_queue_response(c->connection, (unsigned)r->status, m);
    MHD_destroy_response(m);
    return result;
}

/* ---- answering ---- */

static void refuse_for_load(client *c, const char *why)
{
    atomic_fetch_add(&c->server->app->counts.shed, 1);
    answer_error(&c->response, 503, "overloaded", "%s", why);
    c->response.retry_after = 1;
}

static void handle_on_pool(work_item *work)
{
    client *c = (client *)((char *)work - offsetof(client, work));
    c->route->handle(c->server->app, &c->request, &c->response);
    route_await(c->server->app, c->route, &c->request, c->complete_at, &c->response);
    MHD_resume_connection(c->connection); /* exchange_continue is called again */
}

static void await_on_pool(work_item *work)
{
    client *c = (client *)((char *)work - offsetof(client, work));
    route_await(c->server->app, c->route, &c->request, c->complete_at, &c->response);
    MHD_resume_connection(c->connection);
}

/* Whether the body may ask for much: a batch of recommendations, or reasons, of which one request may have a
 * thousand. Meanwhile the thread that read it would not answer any other of its connections. The word may be
 * written with escapes. */
static bool may_take_long(pr_slice body)
{
    enum { QUICK_BODY = 8192 };
    static const char reasons[] = "explain";
    return body.size > QUICK_BODY || memchr(body.bytes, '\\', body.size) != NULL ||
           memmem(body.bytes, body.size, reasons, sizeof reasons - 1) != NULL;
}

static enum MHD_Result answer(client *c)
{
    workers *pool = c->server->pools[c->route->pace];
    c->complete_at = pr_now();
    c->request.body = (pr_slice){c->body != NULL ? c->body : "", c->request.body.size};
    c->work.run = handle_on_pool;
    if (pool == NULL && may_take_long(c->request.body))
        pool = c->server->pools[PACE_LARGE];
    if (pool == NULL) {
        c->route->handle(c->server->app, &c->request, &c->response);
        if (c->response.awaits == 0)
            return send_response(c);
        c->work.run = await_on_pool;
        pool = c->server->pools[PACE_AWAIT];
    }
    set_stage(c, STAGE_WORKING);
    MHD_suspend_connection(c->connection);
    if (!workers_submit(pool, &c->work)) {
        refuse_for_load(c, "Too many such requests are waiting; ask again soon.");
        MHD_resume_connection(c->connection);
    }
    return MHD_YES;
}

/* ---- reading ---- */

static const char *header(const client *c, const char *name)
{
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

static bool announces_too_much(const client *c)
{
    uint64_t bytes;
    const char *length = header(c, "Content-Length");
    return length != NULL && pr_parse_u64(pr_slice_of(length), &bytes) &&
           bytes > c->server->app->options->body_most;
}

typedef struct framing {
    unsigned hosts, lengths, codings;
    bool doubtful;
} framing;

/* libmicrohttpd keeps a space between name and colon as part of the name, and appends a folded line to
 * the name of an empty header. A proxy may have read another header than this one. */
static enum MHD_Result note_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    static const char length[] = "Content-Length", coding[] = "Transfer-Encoding";
    framing *f = context;
    (void)kind;
    bool is_length = strncasecmp(name, length, sizeof length - 1) == 0;
    bool is_coding = strncasecmp(name, coding, sizeof coding - 1) == 0;
    f->hosts += strcasecmp(name, "Host") == 0;
    f->lengths += is_length;
    f->codings += is_coding;
    f->doubtful |= (is_length && strlen(name) != sizeof length - 1) ||
                   (is_coding && strlen(name) != sizeof coding - 1) ||
                   (is_coding && (value == NULL || strcasecmp(value, "chunked") != 0)) ||
                   name[0] == '\0' || strpbrk(name, " \t") != NULL;
    return MHD_YES;
}

/* If the length of a body is given twice, a proxy in front may have used the other one, and have taken
 * for a body what is a request here (request smuggling). Likewise it may have looked at another Host than the
 * one that is looked at here. libmicrohttpd accepts such requests. */
static bool is_unambiguous(client *c, const char *version)
{
    framing f = {0};
    MHD_get_connection_values(c->connection, MHD_HEADER_KIND, note_framing, &f);
    /* HTTP/1.0 has no codings: a proxy of that time would not see where the body ends. */
    bool unknown_coding = f.codings > 0 && strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
    if (f.lengths + f.codings > 1 || f.doubtful || unknown_coding)
        answer_error(
            &c->response, 400, "bad_request",
            "Say the length of the body once: one Content-Length, or Transfer-Encoding: chunked.");
    else if (f.hosts > 1)
        answer_error(&c->response, 400, "bad_request", "Say once which Host is asked.");
    else
        return true;
    return false;
}

static void refuse_body(client *c)
{
    answer_error(&c->response, 413, "too_large", "A body may have at most %llu bytes.",
                 (unsigned long long)c->server->app->options->body_most);
}

/* Finds the route. False when the request is refused before its body is read; the response is set. */
static bool is_acceptable(client *c)
{
    const app *a = c->server->app;
    /* Not those who were here before the others came. */
    c->surplus =
        c->surplus && (uint64_t)atomic_load(&a->counts.connections) > c->server->connections_most;
    if (c->surplus) {
        refuse_for_load(c, "Too many connections are open; ask again soon.");
        return false;
    }
    if (c->verdict == TARGET_TOO_LONG)
        answer_error(&c->response, 414, "too_long", "The path or the query is too long.");
    else if (c->verdict == TARGET_BAD)
        answer_error(&c->response, 400, "bad_request",
                     "The path or the query is not valid: check %%XX and UTF-8.");
    if (c->verdict != TARGET_OK)
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

/* An answer before the body has been read closes the connection. Hence the body of a refused request is
 * read and dropped first, unless it is too large or the server is overloaded. */
static enum MHD_Result start(client *c, const char *method, const char *version)
{
    http_request *r = &c->request;
    c->complete_at = pr_now();
    r->method = http_method_of(method);
    r->authorization = header(c, "Authorization");
    r->host = header(c, "Host");
    r->origin = header(c, "Origin");
    r->fetch_site = header(c, "Sec-Fetch-Site");
    r->if_none_match = header(c, "If-None-Match");
    r->idempotency_key = header(c, "Idempotency-Key");
    http_trace_of(r->trace, header(c, "traceparent"));
    c->closing = !is_unambiguous(c, version);
    if (c->closing)
        return send_response(c);
    c->decided = !is_acceptable(c);
    if (c->decided && (announces_too_much(c) || c->response.status == 503))
        return send_response(c);
    set_stage(c, STAGE_BODY);
    return MHD_YES;
}

/* A body of unknown length may turn out too large; then the rest is dropped. */
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

/* ---- callbacks ---- */

static void *exchange_begin(void *server, const char *uri, struct MHD_Connection *connection)
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

static enum MHD_Result exchange_continue(void *server, struct MHD_Connection *connection,
                                         const char *url, const char *method, const char *version,
                                         const char *upload, size_t *upload_size, void **context)
{
    (void)server;
    (void)connection;
    (void)url;
    client *c = *context;
    if (c == NULL)
        return MHD_NO;
    switch ((exchange_stage)atomic_load_explicit(&c->stage, memory_order_relaxed)) {
    case STAGE_HEADERS:
        return start(c, method, version);
    case STAGE_BODY:
        if (*upload_size > 0) {
            take_piece(c, upload, *upload_size);
            *upload_size = 0;
            return MHD_YES;
        }
        if (!c->decided && !c->body_too_large)
            return answer(c);
        c->complete_at = pr_now();
        if (!c->decided)
            refuse_body(c);
        return send_response(c);
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
                                         .trace = r->trace,
                                     });
}

static void exchange_end(void *server, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode how)
{
    enum { BODY_KEPT = 16384 }; /* a larger buffer is freed; it was an unusual request */
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
    http_response_free(&c->response);
    if (c->body_capacity > BODY_KEPT) {
        pr_free(c->body);
        c->body = NULL;
        c->body_capacity = 0;
    }
    atomic_store_explicit(&c->waiting, now, memory_order_relaxed);
    set_stage(c, STAGE_IDLE);
    *context = NULL;
}

/* ---- the daemon ---- */

enum {
    HEADER_BYTES = 16384,   /* limit of a request line and its headers together */
    SEND_TIMES = 10,        /* a client may take 10 times --request-time to read its answer */
    SHED_CONNECTIONS = 256, /* beyond the limit that still get a 503; further ones are closed */
    OWN_FILES = 32,         /* that no connection may take */
    STORE_THREADS = 16,     /* wait for the disk; with more of them, more events share a commit */
    STORE_QUEUE = 1024,
    SLOW_THREADS = 16, /* wait for jobs */
    SLOW_QUEUE = 64,
    AWAIT_THREADS = 16, /* wait for events of other servers, each for two seconds at most */
    AWAIT_QUEUE = 1024,
    LARGE_QUEUE = 256, /* bodies of --body-most bytes; a thread for each that reads */
};

/* ---- connections ---- */

static void connected(http_server *s, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    client *c = pr_alloc_zero(1, sizeof *c);
    uint64_t others = (uint64_t)atomic_fetch_add(&s->app->counts.connections, 1);
    *context = c;
    if (c == NULL)
        return;
    c->server = s;
    c->surplus = others >= s->connections_most;
    c->connection = connection;
    c->fd = info != NULL ? info->connect_fd : -1;
    atomic_store(&c->waiting, pr_now());
    pthread_mutex_lock(&s->lock);
    c->after = s->clients;
    if (c->after != NULL)
        c->after->before = c;
    s->clients = c;
    pthread_mutex_unlock(&s->lock);
}

static void disconnected(http_server *s, client *c)
{
    atomic_fetch_sub(&s->app->counts.connections, 1);
    if (c == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    if (c->after != NULL)
        c->after->before = c->before;
    *(c->before != NULL ? &c->before->after : &s->clients) = c->after;
    pthread_mutex_unlock(&s->lock);
    http_response_free(&c->response);
    pr_free(c->body);
    pr_free(c);
}

static void on_connection(void *server, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        connected(server, connection, context);
    else
        disconnected(server, *context);
}

/* libmicrohttpd does not watch a suspended connection. */
static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* libmicrohttpd's own time limit starts again with every byte; this one does not. The list's lock keeps
 * a descriptor from being closed, and its number reused, meanwhile. */
void http_server_tend(http_server *s)
{
    double now = pr_now(), limit = (double)s->app->options->request_seconds;
    pthread_mutex_lock(&s->lock);
    for (client *c = s->clients; c != NULL; c = c->after) {
        int stage = atomic_load(&c->stage);
        bool reading = stage == STAGE_IDLE || stage == STAGE_HEADERS || stage == STAGE_BODY;
        bool slow = (reading && now - atomic_load(&c->waiting) > limit) ||
                    (stage == STAGE_SENT && now - atomic_load(&c->sent_at) > SEND_TIMES * limit);
        if (slow && c->fd >= 0) {
            shutdown(c->fd, SHUT_RDWR);
            c->fd = -1;
            atomic_fetch_add(&s->app->counts.cut, 1);
        }
        if (stage == STAGE_WORKING && c->fd >= 0 && has_left(c->fd))
            atomic_store(&c->left, true);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- starting ---- */

static parsrec_status read_text(char **out, const char *path, parsrec_error *err)
{
    pr_mapping file;
    if (path == NULL)
        return PARSREC_OK;
    PR_TRY(pr_file_map(&file, path, err));
    *out = pr_copy_string((const char *)file.bytes, file.size);
    pr_file_unmap(&file);
    return *out != NULL ? PARSREC_OK : pr_fail_memory(err);
}

/* For the daemon that tries certificate and key, and is never asked. */
static enum MHD_Result never_asked(void *context, struct MHD_Connection *connection,
                                   const char *url, const char *method, const char *version,
                                   const char *upload, size_t *upload_size, void **own)
{
    (void)context, (void)connection, (void)url, (void)method;
    (void)version, (void)upload, (void)upload_size, (void)own;
    return MHD_NO;
}

static parsrec_status try_pair(const tls_files *files, parsrec_error *err)
{
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return pr_fail(err, PARSREC_E_UNSUPPORTED, "this libmicrohttpd was built without TLS");
    struct MHD_Daemon *trial =
        MHD_start_daemon(MHD_USE_TLS | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, never_asked, NULL,
                         MHD_OPTION_HTTPS_MEM_CERT, files->certificate, MHD_OPTION_HTTPS_MEM_KEY,
                         files->key, MHD_OPTION_END);
    if (trial == NULL)
        return pr_fail(err, PARSREC_E_INPUT,
                       "the files of --tls-cert and --tls-key are not a pair in PEM");
    MHD_stop_daemon(trial);
    return PARSREC_OK;
}

parsrec_status tls_files_read(tls_files *out, const serve_options *options, parsrec_error *err)
{
    *out = (tls_files){0};
    if (options->tls_certificate == NULL && options->tls_key == NULL)
        return PARSREC_OK;
    if (options->tls_certificate == NULL || options->tls_key == NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "--tls-cert and --tls-key go together");
    parsrec_status status = read_text(&out->certificate, options->tls_certificate, err);
    if (status == PARSREC_OK)
        status = read_text(&out->key, options->tls_key, err);
    if (status == PARSREC_OK)
        status = try_pair(out, err);
    if (status != PARSREC_OK)
        tls_files_free(out);
    return status;
}

void tls_files_free(tls_files *files)
{
    pr_free(files->certificate);
    pr_free(files->key);
    *files = (tls_files){0};
}

/* Leaves descriptors for a new model, for the store and for what jobs open: clients who take all of them would
 * keep a database that was away from coming back. */
static void limit_connections(http_server *s)
{
    struct rlimit limit;
    s->connections_most = s->app->options->connections_most;
    s->shed_most = SHED_CONNECTIONS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    uint64_t allowed = limit.rlim_cur,
             spare = allowed > 2 * OWN_FILES ? allowed - OWN_FILES : OWN_FILES;
    if (spare >= s->connections_most + s->shed_most)
        return;
    s->shed_most = spare / 4 < SHED_CONNECTIONS ? (unsigned)spare / 4 : SHED_CONNECTIONS;
    if (spare - s->shed_most < s->connections_most) {
        s->connections_most = spare - s->shed_most;
        fprintf(stderr,
                "warning: %llu connections at most, because the system allows %llu open files "
                "(ulimit -n)\n",
                (unsigned long long)s->connections_most, (unsigned long long)allowed);
    }
}

static parsrec_status start_daemon(http_server *s, int fd, parsrec_error *err)
{
    const serve_options *o = s->app->options;
    bool tls = s->tls.certificate != NULL;
    unsigned threads = o->threads > 0 ? o->threads : pr_cores();
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     (tls ? MHD_USE_TLS : 0);
    s->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_continue, s, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)s->connections_most + s->shed_most, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)o->request_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, s, MHD_OPTION_NOTIFY_COMPLETED, exchange_end,
        s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, tls ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END,
        s->tls.certificate, MHD_OPTION_HTTPS_MEM_KEY, s->tls.key, MHD_OPTION_END);
    if (s->daemon == NULL)
        return pr_fail(err, PARSREC_E_IO,
                       "the server does not start: too few threads or descriptors");
    return PARSREC_OK;
}

static void server_free(http_server *s)
{
    for (size_t i = 0; i < PACES; i++)
        workers_free(s->pools[i]);
    pthread_mutex_destroy(&s->lock);
    tls_files_free(&s->tls);
    pr_free(s);
}

parsrec_status http_server_start(http_server **out, app *a, const listen_socket *socket,
                                 tls_files *tls, access_log *log, parsrec_error *err)
{
    http_server *s = pr_alloc_zero(1, sizeof *s);
    *out = NULL;
    if (s == NULL) {
        close(socket->fd);
        tls_files_free(tls);
        return pr_fail_memory(err);
    }
    s->app = a;
    s->log = log;
    s->tls = *tls;
    *tls = (tls_files){0};
    pthread_mutex_init(&s->lock, NULL);
    const serve_options *o = a->options;
    const unsigned threads = o->threads > 0 ? o->threads : pr_cores();
    parsrec_status status = workers_new(&s->pools[PACE_STORED], STORE_THREADS, STORE_QUEUE, err);
    if (status == PARSREC_OK)
        status = workers_new(&s->pools[PACE_SLOW], SLOW_THREADS, SLOW_QUEUE, err);
    if (status == PARSREC_OK)
        status = workers_new(&s->pools[PACE_AWAIT], AWAIT_THREADS, AWAIT_QUEUE, err);
    if (status == PARSREC_OK)
        status = workers_new(&s->pools[PACE_LARGE], threads, LARGE_QUEUE, err);
    limit_connections(s);
    if (status == PARSREC_OK)
        status = start_daemon(s, socket->fd, err);
    if (status == PARSREC_OK) {
        *out = s;
        return PARSREC_OK;
    }
    close(socket->fd);
    server_free(s);
    return status;
}

/* ---- stopping ---- */

void http_server_stop(http_server *s, double seconds)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    if (s == NULL)
        return;
    /* New clients are refused at once. The descriptor stays open until the daemon's threads, which may
     * still have it in their lists, have ended: another file could get its number. */
    int fd = MHD_quiesce_daemon(s->daemon);
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
    /* Requests on open connections are still answered, with the header that closes the connection. */
    double now = pr_now(), least = now + 0.1, most = now + seconds;
    for (; now < least || (now < most && atomic_load(&s->app->counts.in_flight) > 0);
         now = pr_now())
        nanosleep(&moment, NULL);
    /* Suspended connections must be resumed before the daemon ends. */
    for (size_t i = 0; i < PACES; i++)
        if (s->pools[i] != NULL)
            workers_finish(s->pools[i]);
    MHD_stop_daemon(s->daemon);
    if (fd >= 0)
        close(fd);
    server_free(s);
}

/* ---- the listening socket ---- */

enum { BACKLOG = 1024 };

typedef struct host_port {
    char host[256], port[8];
} host_port;

static parsrec_status split_address(host_port *out, const char *address, parsrec_error *err)
{
    const char *colon = strrchr(address, ':'), *host = address;
    size_t size = colon != NULL ? (size_t)(colon - address) : 0;
    uint64_t port;
    if (size >= 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    }
    if (size == 0 || size >= sizeof out->host || colon[1] == '\0' ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "'%s' is not an address to listen on; write 127.0.0.1:8080 or [::1]:8080",
                       address);
    if (!pr_parse_u64(pr_slice_of(colon + 1), &port) || port > UINT16_MAX)
        return pr_fail(err, PARSREC_E_ARGUMENT,
                       "cannot listen on %s: ports go from 1 to 65535, and 0 takes a free one",
                       address);
    memcpy(out->host, host, size);
    out->host[size] = '\0';
    snprintf(out->port, sizeof out->port, "%u", (unsigned)port); /* without zeros in front */
    return PARSREC_OK;
}

static int bind_to(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* The address that the socket is bound to. */
static void describe(listen_socket *s)
{
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    char host[64] = "", port[8] = "";
    getsockname(s->fd, (struct sockaddr *)&bound, &size);
    getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(s->address, sizeof s->address, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
             port);
    if (bound.ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)&bound;
        s->loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    } else {
        const struct sockaddr_in6 *v6 = (const void *)&bound;
        s->loopback = bound.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    }
}

parsrec_status listen_open(listen_socket *out, const char *address, parsrec_error *err)
{
    host_port words;
    struct addrinfo *found;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    out->fd = -1;
    PR_TRY(split_address(&words, address, err));
    int code = getaddrinfo(words.host, words.port, &hints, &found);
    if (code != 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "cannot listen on %s: %s", address,
                       gai_strerror(code));
    for (const struct addrinfo *i = found; i != NULL && out->fd < 0; i = i->ai_next)
        out->fd = bind_to(i);
    freeaddrinfo(found);
    if (out->fd < 0)
        return pr_fail_errno(err, PARSREC_E_IO, "cannot listen on %s", address);
    describe(out);
    return PARSREC_OK;
}
