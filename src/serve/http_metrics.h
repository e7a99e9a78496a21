/* What the server counts, as Prometheus reads it. Counters are added to without locks. */
#ifndef SERVE_HTTP_METRICS_H
#define SERVE_HTTP_METRICS_H

#include <stdatomic.h>

#include "base/writer.h"

enum { METRIC_ROUTES_MOST = 32, METRIC_CODES = 20, METRIC_BUCKETS = 16 };

/* One for each route, and one for what has none. */
typedef struct route_metrics {
    atomic_uint_fast64_t codes[METRIC_CODES];
    atomic_uint_fast64_t buckets[METRIC_BUCKETS + 1]; /* the last: slower than all */
    atomic_uint_fast64_t nanoseconds;
} route_metrics;

typedef struct metrics {
    route_metrics routes[METRIC_ROUTES_MOST + 1];
    atomic_uint_fast64_t events, reloads, failed_reloads, shed, cut;
    atomic_int connections, in_flight;
} metrics;

void metrics_count(metrics *m, size_t route, int status, double seconds);

/* `name_of` gives method and path of a route. */
typedef struct metrics_view {
    const metrics *counts;
    size_t routes;
    void (*name_of)(size_t route, const char **method, const char **path);
    double model_loaded_at; /* seconds since 1970; 0: no model */
    uint64_t model_number;
    bool ready;
} metrics_view;

void metrics_write(pr_writer *out, const metrics_view *view);

#endif
