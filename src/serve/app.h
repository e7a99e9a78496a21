/* What all requests share: the engine of now, the store, limits and counts. Handlers get it with a request
 * and know nothing of sockets. */
#ifndef SERVE_APP_H
#define SERVE_APP_H

#include "serve/engine.h"
#include "serve/http_metrics.h"
#include "serve/jobs.h"
#include "serve/message.h"
#include "serve/quality.h"
#include "serve/serve.h"

typedef struct app {
    const serve_options *options;
    engine_slot engines;
    pthread_mutex_t reload_lock;
    struct store *store;           /* NULL: events are not taken */
    bool store_opened;             /* or found to be none */
    atomic_bool unread, unwritten; /* the store could not be read, or written, the last time */
    _Atomic double unwritten_at;   /* when that was found */
    pthread_rwlock_t order;        /* of events and new engines (event_flow.h) */
    pthread_t follower;
    bool follows;
    char *store_url;    /* as the file says that the options name; NULL: the options do */
    char *token;        /* NULL: there is none */
    bool public_listen; /* others than this machine can connect */
    atomic_bool stopping;
    jobs jobs;
    quality quality;
    metrics counts;
    time_t started_at;
} app;

parsrec_status app_init(app *a, const serve_options *options, parsrec_error *err);
void app_free(app *a); /* a zeroed one is fine */

#endif
