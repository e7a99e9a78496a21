/* The server: answers over HTTP until a signal stops it. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "parsrec.h"

/* Strings are borrowed during the call; NULL means none, unless stated otherwise. */
typedef struct serve_options {
    const char *model_path, *data_path;
    const char *listen; /* "127.0.0.1:8080" */
    const char
        *store; /* "sqlite:FILE", "postgresql://...", "none"; NULL: a file beside the model */
    const char *store_path; /* a file whose first line is the store, in place of `store` */
    const char *token_path;
    const char *tls_certificate, *tls_key;
    const char *access_log; /* "-" is stdout */
    const char *host; /* a host name of this server that clients may use; NULL: its address only */
    bool log_targets; /* the access log shows paths with user ids, and queries */
    bool no_quality;  /* the model is not evaluated in the background */
    uint64_t body_most, basket_most, k_most, connections_most;
    int64_t request_seconds; /* limit for a request to arrive, and for an idle connection */
    int64_t work_seconds;    /* limit for relations and what-if */
    int64_t stop_seconds;    /* limit for requests to finish when the server stops */
    unsigned threads;
} serve_options;

serve_options serve_default(void);

/* The store in the first line of a file, for pr_free; warns on stderr if others may read the file. */
parsrec_status serve_read_store_file(char **store, const char *path, parsrec_error *err);

/* An export of a store's events: what to write (in), what was written (out). */
typedef struct serve_export {
    const char *store, *output; /* output "-" is stdout */
    bool types[3];              /* buy, cart, view: which to write */
    uint64_t events, rows;      /* out: written */
    char id[40];                /* out: of the store */
    uint64_t through;           /* out: the number of its last event */
} serve_export;

/* Writes the events as CSV that `parsrec import` reads: user,session,time,item,quantity,type. */
parsrec_status serve_export_events(serve_export *x, parsrec_error *err);

/* Folding of a store's events into a file beside the model: what of (in), what was written (out). */
typedef struct serve_fold {
    const char *model_path, *data_path; /* as in serve_options */
    const char *store, *store_path;     /* likewise */
    char output[4096];                  /* out: the file */
    uint64_t entries, fresh;           /* out: entries of the store in it; those not there before */
    uint64_t through;                  /* out: the number of the last one */
    uint64_t users, sessions, actions; /* out */
    char id[40];                       /* out: of the store */
} serve_fold;

/* Writes the histories that a server with this model would have after a replay of the store to
 * MODEL.histories. A server that starts later reads them and replays only what came after. A file that
 * is there already and fits is continued. Servers may run meanwhile. */
parsrec_status serve_fold_events(serve_fold *f, parsrec_error *err);

/* What is known of a store without changing it. */
typedef struct serve_store_look {
    bool made;         /* a server has used it */
    uint64_t events;   /* stored so far */
    char version[160]; /* of the database: "SQLite 3.40.1", "PostgreSQL 15.3" */
} serve_store_look;

/* Connects to "sqlite:FILE" or "postgresql://..." for reading; fails if it cannot be reached. */
parsrec_status serve_look_at_store(const char *url, serve_store_look *look, parsrec_error *err);
/* Asks a server at "127.0.0.1:8080" whether it is ready (GET /readyz over plain HTTP); fails if it does not
 * answer within five seconds or is not ready. */
parsrec_status serve_ask_ready(const char *address, parsrec_error *err);
/* "libmicrohttpd 0.9.75". */
const char *serve_http_version(void);

/* Serves until SIGINT or SIGTERM; SIGHUP loads the model again. The address is printed to stdout,
 * messages to stderr. */
parsrec_status serve_run(const serve_options *options, parsrec_error *err);

#endif
