/* What all requests share: the engine in use, the store, limits and counts. Handlers get it with a
 * request and know nothing of sockets.
 *
 * Life of a request. http_server.c reads it with libmicrohttpd's threads (one per core), routes.c
 * finds its route and checks token, Host and Origin (access.c). A quick route is answered on the
 * thread that read it; routes that wait for a disk or a job suspend the connection and run on the
 * pools of http_server.c, so that slow ones never keep recommendations waiting. A handler fills an
 * http_response (message.h); the thread that finishes it resumes the connection. http_log.c counts
 * it and writes a line.
 *
 * Engine (engine.h): model, live histories and scratches of threads, counted. Handlers take the
 * current one from the slot and drop it; a reload loads and verifies another beside it, brings it
 * to the end of the store, and puts it into the slot between two requests. The old one goes with
 * its last user. So no request sees two models, and none fails because of a reload.
 *
 * Events (event_flow.h) go into the store first and from there into live histories, in the store's
 * order; hence a restarted server and others on the same store reach the same histories.
 *
 * Locks, in the order in which they may be held together: reload_lock (one reload at a time), order
 * (many who add events or one who swaps the engine), an engine's sync_lock (events enter its
 * histories one after the other), then the short ones: the jobs' and within it the slot's,
 * idle_lock, the quality's, the connections', news_lock. The short ones are never held while something is
 * computed, read or written. */
#ifndef SERVE_APP_H
#define SERVE_APP_H

#include "serve/engine.h"
#include "serve/http_log.h"
#include "serve/jobs.h"
#include "serve/message.h"
#include "serve/quality.h"
#include "serve/serve.h"

typedef struct app {
    const serve_options *options;
    engine_slot engines;
    pthread_mutex_t reload_lock;
    struct store *store;           /* NULL: events are not accepted */
    bool store_opened;             /* or found that there is no store */
    atomic_bool unread, unwritten; /* the last read, or write, of the store failed */
    _Atomic double unwritten_at;   /* when it failed */
    pthread_rwlock_t order;        /* of events and new engines (event_flow.h) */
    pthread_t follower;
    bool follows;
    atomic_bool unfollow; /* ends that thread, after the last request: some wait for it */
    pthread_mutex_t news_lock;
    pthread_cond_t news; /* the engine has more of the store's events, or all there are */
    /* Requests wait for entries of other servers (event_flow_await): how many have asked the follower
     * for a replay so far, and how many of these had asked before the last replay began. */
    uint64_t asked, answered;
    char *store_url;    /* read from the file named in the options; NULL: as in the options */
    char *token;        /* NULL: no token */
    bool public_listen; /* other machines can connect */
    atomic_bool stopping;
    jobs jobs;
    quality quality;
    metrics counts;
    time_t started_at;
} app;

parsrec_status app_init(app *a, const serve_options *options, parsrec_error *err);
void app_free(app *a); /* a zeroed one is fine */

/* Loads and verifies the model file and replaces the engine; no request fails. On failure the old
 * engine stays. One call at a time, others wait. */
parsrec_status reload(app *a, parsrec_error *err);

#endif
