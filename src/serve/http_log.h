/* What is recorded of every request: counters, as Prometheus reads them, and a line in the access
 * log. Counters are added to without locks. A line says when, what, how it ended and how long it
 * took; ids of users are left out unless --log-targets asks for them. */
#ifndef SERVE_HTTP_LOG_H
#define SERVE_HTTP_LOG_H

#include <stdatomic.h>

#include "base/status.h"
#include "base/writer.h"

/* ---- counts ---- */

enum { METRIC_ROUTES_MOST = 32, METRIC_CODES = 20, METRIC_BUCKETS = 16 };

/* One per route, and one for requests without a route. */
typedef struct route_metrics {
    atomic_uint_fast64_t codes[METRIC_CODES];
    atomic_uint_fast64_t buckets[METRIC_BUCKETS + 1]; /* the last: slower than all limits */
    atomic_uint_fast64_t nanoseconds;
} route_metrics;

typedef struct metrics {
    route_metrics routes[METRIC_ROUTES_MOST + 1];
    atomic_uint_fast64_t events, reloads, failed_reloads;
    atomic_uint_fast64_t shed; /* requests refused with 503 because of load */
    atomic_uint_fast64_t cut;  /* connections closed because a request came too slowly */
    atomic_int connections, in_flight;
} metrics;

void metrics_count(metrics *m, size_t route, int status, double seconds);

/* `name_of` returns method and path of a route. */
typedef struct metrics_view {
    const metrics *counts;
    size_t routes;
    void (*name_of)(size_t route, const char **method, const char **path);
    double model_loaded_at; /* seconds since 1970; 0: no model */
    uint64_t model_number;
    bool ready;
} metrics_view;

void metrics_write(pr_writer *out, const metrics_view *view);

/* ---- access log ---- */

typedef struct access_log access_log;

typedef struct access_line {
    const char *method, *target; /* the route's path, or the request's own */
    int status;
    size_t bytes;
    double seconds;
    const char *trace; /* id of its trace; "": none */
} access_line;

/* "-" is stdout. */
parsrec_status access_log_open(access_log **out, const char *path, parsrec_error *err);
void access_log_close(access_log *log); /* NULL is fine, here and below */
void access_log_write(access_log *log, const access_line *line);
void access_log_flush(access_log *log);  /* every second or so */
void access_log_reopen(access_log *log); /* after the file was moved away */

#endif
