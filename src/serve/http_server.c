/* The daemon of libmicrohttpd, its threads, and connections that come and go. */
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/threads.h"
#include "serve/http_inside.h"

enum {
    HEADER_BYTES = 16384,   /* of a request's line and headers together */
    SEND_TIMES = 10,        /* --request-time, for an answer to be taken */
    SHED_CONNECTIONS = 256, /* beyond the limit that still get a 503; further ones are closed */
    STORE_THREADS = 16,     /* that wait for the disk: more of them share one commit */
    STORE_QUEUE = 1024,
    SLOW_THREADS = 16, /* that wait for jobs */
    SLOW_QUEUE = 64,
};

/* ---- connections ---- */

static void connected(http_server *s, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    client *c = pr_alloc_zero(1, sizeof *c);
    atomic_fetch_add(&s->app->counts.connections, 1);
    *context = c;
    if (c == NULL)
        return;
    c->server = s;
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

/* While a connection is suspended libmicrohttpd does not look at it. */
static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* libmicrohttpd's own limit starts again with every byte; this one does not. The list's lock keeps the
 * descriptor from being closed, and given to somebody else, meanwhile. */
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

static parsrec_status start_daemon(http_server *s, int fd, parsrec_error *err)
{
    const serve_options *o = s->app->options;
    bool tls = s->certificate != NULL;
    unsigned threads = o->threads > 0 ? o->threads : pr_cores();
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     (tls ? MHD_USE_TLS : 0);
    if (tls && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return pr_fail(err, PARSREC_E_UNSUPPORTED, "this libmicrohttpd was built without TLS");
    s->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_go_on, s, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)o->connections_most + SHED_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)o->request_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, exchange_begin, s, MHD_OPTION_NOTIFY_COMPLETED, exchange_end,
        s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, tls ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END,
        s->certificate, MHD_OPTION_HTTPS_MEM_KEY, s->key, MHD_OPTION_END);
    if (s->daemon == NULL)
        return pr_fail(err, tls ? PARSREC_E_INPUT : PARSREC_E_IO,
                       tls ? "the server does not start; are certificate and key a pair in PEM?"
                           : "the server does not start: too few threads or descriptors");
    return PARSREC_OK;
}

static parsrec_status start_parts(http_server *s, int fd, parsrec_error *err)
{
    const serve_options *o = s->app->options;
    PR_TRY(read_text(&s->certificate, o->tls_certificate, err));
    PR_TRY(read_text(&s->key, o->tls_key, err));
    PR_TRY(workers_new(&s->pools[PACE_STORED], STORE_THREADS, STORE_QUEUE, err));
    PR_TRY(workers_new(&s->pools[PACE_SLOW], SLOW_THREADS, SLOW_QUEUE, err));
    return start_daemon(s, fd, err);
}

static void server_free(http_server *s)
{
    for (size_t i = 0; i < PACES; i++)
        workers_free(s->pools[i]);
    pthread_mutex_destroy(&s->lock);
    pr_free(s->certificate);
    pr_free(s->key);
    pr_free(s);
}

parsrec_status http_server_start(http_server **out, app *a, const listen_socket *socket,
                                 access_log *log, parsrec_error *err)
{
    http_server *s = pr_alloc_zero(1, sizeof *s);
    *out = NULL;
    if (s == NULL) {
        close(socket->fd);
        return pr_fail_memory(err);
    }
    s->app = a;
    s->log = log;
    pthread_mutex_init(&s->lock, NULL);
    parsrec_status status = start_parts(s, socket->fd, err);
    if (status == PARSREC_OK) {
        *out = s;
        return PARSREC_OK;
    }
    close(socket->fd);
    server_free(s);
    return status;
}

/* ---- stopping ---- */

static bool is_busy(const app *a)
{
    return atomic_load(&a->counts.in_flight) > 0;
}

/* Who has a connection may still ask, is answered and told to close it. */
static void let_finish(const http_server *s, double seconds)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    double now = pr_now(), least = now + 0.1, most = now + seconds;
    while (now < least || (now < most && is_busy(s->app))) {
        nanosleep(&moment, NULL);
        now = pr_now();
    }
}

void http_server_stop(http_server *s, double seconds)
{
    if (s == NULL)
        return;
    /* New clients are refused at once. The descriptor stays until the daemon's threads, which may still have to take
     * it off their lists, are gone: another file could get its number. */
    int fd = MHD_quiesce_daemon(s->daemon);
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
    let_finish(s, seconds);
    /* Those who wait elsewhere must be resumed before the daemon ends. */
    for (size_t i = 0; i < PACES; i++)
        if (s->pools[i] != NULL)
            workers_finish(s->pools[i]);
    MHD_stop_daemon(s->daemon);
    if (fd >= 0)
        close(fd);
    server_free(s);
}
