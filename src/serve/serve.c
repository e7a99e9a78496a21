/* The server as a process: the state that requests share, loading the model, start, signals, periodic
 * work once per second, stop; and notices to a service manager such as systemd (sd_notify(3)): a
 * datagram to the socket that NOTIFY_SOCKET names. */
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/threads.h"
#include "serve/access.h"
#include "serve/event_flow.h"
#include "serve/http_server.h"
#include "serve/serve.h"

/* ---- the service manager ---- */

/* "READY=1", "STOPPING=1"; does nothing without a service manager. */
static void notify_service_manager(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path != NULL ? strlen(path) : 0;
    if (length < 2 || length >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* an abstract socket, not in the file system */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent =
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    (void)sent; /* if the manager does not listen, nothing is lost */
    close(fd);
}

/* ---- options ---- */

serve_options serve_default(void)
{
    return (serve_options){
        .listen = "127.0.0.1:8080",
        .body_most = 1 << 20,
        .basket_most = 256,
        .k_most = 1000,
        .connections_most = 4096,
        .request_seconds = 15,
        .work_seconds = 120,
        .stop_seconds = 20,
    };
}

/* ---- the shared state ---- */

parsrec_status app_init(app *a, const serve_options *options, parsrec_error *err)
{
    *a = (app){.options = options, .started_at = time(NULL)};
    engine_slot_init(&a->engines);
    jobs_init(&a->jobs, &a->engines, &a->stopping);
    quality_init(&a->quality);
    pthread_mutex_init(&a->reload_lock, NULL);
    event_flow_init(a);
    if (options->store != NULL && options->store_path != NULL)
        return pr_fail(err, PARSREC_E_ARGUMENT, "--store and --store-file exclude each other");
    if (options->store_path != NULL)
        PR_TRY(serve_read_store_file(&a->store_url, options->store_path, err));
    return options->token_path != NULL ? token_read(&a->token, options->token_path, err)
                                       : PARSREC_OK;
}

void app_free(app *a)
{
    event_flow_close(a);
    jobs_free(&a->jobs);
    quality_free(&a->quality);
    engine_slot_free(&a->engines);
    pthread_mutex_destroy(&a->reload_lock);
    pr_free(a->token);
    pr_free(a->store_url);
    a->token = a->store_url = NULL;
}

/* Loads the model, the first time and again. */
static parsrec_status load(app *a, parsrec_error *err)
{
    const serve_options *o = a->options;
    const engine_files files = {.model = o->model_path,
                                .data = o->data_path,
                                .limits = {(size_t)o->basket_most, (size_t)o->k_most}};
    engine *fresh;
    PR_TRY(engine_load(&fresh, &files, err));
    parsrec_status status = event_flow_open(a, err); /* not until there is a model to serve */
    if (status != PARSREC_OK) {
        engine_drop(fresh);
        return status;
    }
    engine *before = engine_take(&a->engines);
    atomic_fetch_add(&fresh->users, 1); /* it may be replaced as soon as it is in the slot */
    status = event_flow_put(a, fresh, err);
    if (status != PARSREC_OK) {
        engine_drop(fresh);
        engine_drop(before);
    } else {
        if (!o->no_quality)
            quality_start(&a->quality, fresh); /* which abandons work on the previous model */
        engine_retire(before);
    }
    engine_drop(fresh);
    return status;
}

parsrec_status reload(app *a, parsrec_error *err)
{
    pthread_mutex_lock(&a->reload_lock);
    parsrec_status status = load(a, err);
#ifdef __GLIBC__
    malloc_trim(1 << 20); /* returns the heap memory of the previous engine to the system */
#endif
    pthread_mutex_unlock(&a->reload_lock);
    atomic_fetch_add(status == PARSREC_OK ? &a->counts.reloads : &a->counts.failed_reloads, 1);
    return status;
}

/* ---- limits of the process ---- */

/* Each connection takes a descriptor. Most systems allow more than the default limit. */
static void allow_descriptors(uint64_t connections)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections + 512;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Makes malloc return the memory of replaced models to the system: large blocks are mapped one by one
 * instead of staying in the heap of the thread that loaded them, and the many threads that wait for the
 * store share a few heaps instead of fragmenting one each. */
static void keep_heap_small(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
    mallopt(M_ARENA_MAX, 2 * (int)pr_cores());
#endif
}

/* ---- signals: blocked in all threads, received by this one ---- */

static sigset_t own_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

/* Returns on SIGINT or SIGTERM. */
static void wait_for_stop(app *a, http_server *server, access_log *log)
{
    const sigset_t set = own_signals();
    const struct timespec second = {.tv_sec = 1};
    for (;;) {
        int signal_number = sigtimedwait(&set, NULL, &second);
        if (signal_number == SIGINT || signal_number == SIGTERM)
            return;
        if (signal_number == SIGHUP) {
            parsrec_error err = {0};
            access_log_reopen(log);
            if (reload(a, &err) == PARSREC_OK) {
                engine *e = engine_take(&a->engines);
                fprintf(stderr, "loaded %s again in %.2f s\n", a->options->model_path,
                        e->load_seconds);
                engine_drop(e);
            } else {
                fprintf(stderr, "warning: the old model stays: %s\n", err.message);
            }
        }
        http_server_tend(server);
        access_log_flush(log);
    }
}

/* ---- running ---- */

static parsrec_status serve_on(app *a, const listen_socket *socket, tls_files *tls, access_log *log,
                               parsrec_error *err)
{
    http_server *server;
    const serve_options *o = a->options;
    a->public_listen = !socket->loopback;
    PR_TRY(http_server_start(&server, a, socket, tls, log, err));
    printf("%s://%s\n", o->tls_certificate != NULL ? "https" : "http", socket->address);
    fflush(stdout);
    if (!socket->loopback && o->tls_certificate == NULL)
        fprintf(stderr, "warning: without --tls-cert the token and all answers cross the network "
                        "as plain text\n");
    fprintf(stderr, "serving %s; SIGHUP loads it again, Ctrl-C stops\n", o->model_path);
    notify_service_manager("READY=1");
    wait_for_stop(a, server, log);
    notify_service_manager("STOPPING=1");
    atomic_store(&a->stopping, true);
    http_server_stop(server, (double)o->stop_seconds);
    return PARSREC_OK;
}

static parsrec_status run(app *a, parsrec_error *err)
{
    const serve_options *o = a->options;
    listen_socket socket;
    access_log *log = NULL;
    tls_files tls = {0};
    PR_TRY(app_init(a, o, err));
    PR_TRY(listen_open(&socket, o->listen, err));
    parsrec_status status = PARSREC_OK;
    if (!socket.loopback && a->token == NULL)
        status = pr_fail(err, PARSREC_E_ARGUMENT,
                         "other machines could connect to %s: pass --token-file FILE, or listen on "
                         "127.0.0.1",
                         socket.address);
    /* What can fail without a store comes before it, so that a mistake leaves no new store behind. */
    if (status == PARSREC_OK)
        status = tls_files_read(&tls, o, err);
    if (status == PARSREC_OK && o->access_log != NULL)
        status = access_log_open(&log, o->access_log, err);
    if (status == PARSREC_OK) {
        warn_if_readable(o->token_path);
        warn_if_readable(o->tls_key);
        status = reload(a, err);
    }
    if (status == PARSREC_OK)
        status = event_flow_follow(a, err);
    if (status == PARSREC_OK)
        status = serve_on(a, &socket, &tls, log, err);
    else
        close(socket.fd);
    tls_files_free(&tls);
    access_log_close(log);
    return status;
}

parsrec_status serve_run(const serve_options *options, parsrec_error *err)
{
    static app shared; /* large; one server runs at a time */
    sigset_t set = own_signals(), before;
    allow_descriptors(options->connections_most);
    keep_heap_small();
    pthread_sigmask(SIG_BLOCK, &set, &before);
    shared.options = options;
    parsrec_status status = run(&shared, err);
    app_free(&shared);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
