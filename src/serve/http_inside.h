/* What the files of the HTTP server share. */
#ifndef SERVE_HTTP_INSIDE_H
#define SERVE_HTTP_INSIDE_H

#include <microhttpd.h>

#include "serve/http_server.h"
#include "serve/routes.h"
#include "serve/workers.h"

/* How far a request is. */
typedef enum exchange_stage {
    STAGE_IDLE,    /* none has begun */
    STAGE_HEADERS, /* the request line is there */
    STAGE_BODY,
    STAGE_WORKING, /* a thread elsewhere makes the answer */
    STAGE_SENT,
} exchange_stage;

/* A connection, with the request that is on it now. Its memory serves one request after the other. */
typedef struct client {
    struct http_server *server;
    struct client *before, *after; /* in the server's list */
    struct MHD_Connection *connection;
    int fd;
    atomic_int stage;       /* exchange_stage */
    _Atomic double waiting; /* since when the next request is waited for */
    _Atomic double sent_at; /* when the answer was ready to be sent */

    http_request request;
    target_verdict verdict;
    char *body;
    size_t body_capacity;
    bool decided; /* the answer is known before the body */
    bool closing; /* the connection ends with the answer */
    bool body_too_large;
    atomic_bool left; /* the client closed the connection while the answer was being made */
    const route *route;
    http_response response;
    double complete_at; /* when the last byte of the request was there */
    work_item work;
} client;

struct http_server {
    app *app;
    access_log *log;
    struct MHD_Daemon *daemon;
    workers *pools[PACES]; /* none for the quick */
    char *certificate, *key;
    pthread_mutex_t lock; /* of the list */
    client *clients;
};

/* Callbacks of libmicrohttpd. */
void *exchange_begin(void *server, const char *uri, struct MHD_Connection *connection);
enum MHD_Result exchange_go_on(void *server, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **context);
void exchange_end(void *server, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode how);

#endif
