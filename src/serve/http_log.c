/* Counting, the text of /metrics, and the log of requests. */
#include "serve/http_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

/* ---- counts and the text of /metrics ---- */

/* The statuses that this server sends; the last stands for all others. */
static const int codes[METRIC_CODES] = {200, 204, 304, 400, 401, 403, 404, 405, 409, 413,
                                        414, 415, 421, 422, 500, 503, 504, 507, 431, 0};
static const double bounds[METRIC_BUCKETS] = {50e-6,  100e-6, 200e-6, 400e-6, 800e-6, 1.5e-3,
                                              3e-3,   6e-3,   12e-3,  25e-3,  50e-3,  100e-3,
                                              250e-3, 1.0,    5.0,    30.0};

void metrics_count(metrics *m, size_t route, int status, double seconds)
{
    route_metrics *r = &m->routes[route < METRIC_ROUTES_MOST ? route : METRIC_ROUTES_MOST];
    size_t code = 0, bucket = 0;
    while (code + 1 < METRIC_CODES && codes[code] != status)
        code++;
    while (bucket < METRIC_BUCKETS && seconds > bounds[bucket])
        bucket++;
    atomic_fetch_add_explicit(&r->codes[code], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->nanoseconds, (uint64_t)(seconds * 1e9), memory_order_relaxed);
}

static unsigned long long at(const atomic_uint_fast64_t *counter)
{
    return (unsigned long long)atomic_load_explicit(counter, memory_order_relaxed);
}

static void title(pr_writer *out, const char *name, const char *kind, const char *help)
{
    pr_write(out, "# HELP parsrec_%s %s\n# TYPE parsrec_%s %s\n", name, help, name, kind);
}

static void one(pr_writer *out, const char *name, const char *kind, const char *help, double value)
{
    title(out, name, kind, help);
    pr_write(out, "parsrec_%s %.17g\n", name, value);
}

/* ---- by route ---- */

typedef struct labels {
    char text[160];
} labels;

static const char *label(labels *hold, const metrics_view *v, size_t route)
{
    const char *method = "other", *path = "other";
    if (route < v->routes)
        v->name_of(route, &method, &path);
    snprintf(hold->text, sizeof hold->text, "method=\"%s\",route=\"%s\"", method, path);
    return hold->text;
}

static const route_metrics *counts_of(const metrics_view *v, size_t route)
{
    return &v->counts->routes[route < v->routes ? route : METRIC_ROUTES_MOST];
}

/* The time that requests of one route took; nothing for a route that nobody has asked. */
static void write_histogram(pr_writer *out, const route_metrics *m, const char *text)
{
    static const char name[] = "parsrec_http_request_seconds";
    unsigned long long all = 0, sum = 0;
    for (size_t b = 0; b <= METRIC_BUCKETS; b++)
        all += at(&m->buckets[b]);
    if (all == 0)
        return;
    for (size_t b = 0; b < METRIC_BUCKETS; b++) {
        sum += at(&m->buckets[b]);
        pr_write(out, "%s_bucket{%s,le=\"%g\"} %llu\n", name, text, bounds[b], sum);
    }
    sum += at(&m->buckets[METRIC_BUCKETS]);
    pr_write(out, "%s_bucket{%s,le=\"+Inf\"} %llu\n", name, text, sum);
    pr_write(out, "%s_sum{%s} %.9f\n", name, text, (double)at(&m->nanoseconds) * 1e-9);
    pr_write(out, "%s_count{%s} %llu\n", name, text, sum);
}

void metrics_write(pr_writer *out, const metrics_view *v)
{
    const metrics *m = v->counts;
    labels hold;
    title(out, "http_requests_total", "counter", "Requests answered.");
    for (size_t r = 0; r <= v->routes; r++)
        for (size_t c = 0; c < METRIC_CODES; c++)
            if (at(&counts_of(v, r)->codes[c]) > 0)
                pr_write(out, "parsrec_http_requests_total{%s,code=\"%d\"} %llu\n",
                         label(&hold, v, r), codes[c], at(&counts_of(v, r)->codes[c]));
    title(out, "http_request_seconds", "histogram",
          "From a complete request to its answer, waiting included.");
    for (size_t r = 0; r <= v->routes; r++)
        write_histogram(out, counts_of(v, r), label(&hold, v, r));
    one(out, "http_requests_in_flight", "gauge", "Requests being answered.",
        atomic_load(&m->in_flight));
    one(out, "http_connections", "gauge", "Open connections.", atomic_load(&m->connections));
    one(out, "http_shed_total", "counter", "Requests refused because of load.",
        (double)at(&m->shed));
    one(out, "http_cut_total", "counter",
        "Connections cut because a request took too long to come.", (double)at(&m->cut));
    one(out, "events_stored_total", "counter", "Events stored by this server.",
        (double)at(&m->events));
    one(out, "model_reloads_total", "counter", "Models swapped in.", (double)at(&m->reloads));
    one(out, "model_reload_failures_total", "counter", "Models that were refused.",
        (double)at(&m->failed_reloads));
    one(out, "model_loaded_timestamp_seconds", "gauge", "When the served model was loaded.",
        v->model_loaded_at);
    one(out, "model_number", "gauge", "Loads since the start, the served one included.",
        (double)v->model_number);
    one(out, "ready", "gauge", "1 while requests are served.", v->ready ? 1 : 0);
    one(out, "resident_memory_bytes", "gauge", "Memory in use.", (double)pr_memory_resident());
}

/* ---- access log ---- */

struct access_log {
    pthread_mutex_t lock;
    FILE *file;
    char *path;
};

static FILE *open_file(const char *path)
{
    return strcmp(path, "-") == 0 ? stdout : fopen(path, "ae");
}

parsrec_status access_log_open(access_log **out, const char *path, parsrec_error *err)
{
    access_log *log = pr_alloc_zero(1, sizeof *log);
    *out = NULL;
    if (log == NULL)
        return pr_fail_memory(err);
    pthread_mutex_init(&log->lock, NULL);
    log->path = pr_copy_string(path, strlen(path));
    log->file = open_file(path);
    if (log->path != NULL && log->file != NULL) {
        *out = log;
        return PARSREC_OK;
    }
    parsrec_status status =
        log->path == NULL ? pr_fail_memory(err) : pr_fail_errno(err, PARSREC_E_IO, "%s", path);
    access_log_close(log);
    return status;
}

void access_log_close(access_log *log)
{
    if (log == NULL)
        return;
    if (log->file != NULL && log->file != stdout)
        fclose(log->file);
    else
        fflush(stdout);
    pthread_mutex_destroy(&log->lock);
    pr_free(log->path);
    pr_free(log);
}

/* Control characters and line breaks are shown as '?'. Written in pieces and not by putc, which
 * would interleave with other writers to stdout. */
static void write_target(FILE *file, const char *text)
{
    char piece[256];
    while (*text != '\0') {
        size_t n = 0;
        for (; n < sizeof piece && text[n] != '\0'; n++)
            piece[n] = (unsigned char)text[n] <= 0x20 || text[n] == 0x7f ? '?' : text[n];
        fwrite(piece, 1, n, file);
        text += n;
    }
}

void access_log_write(access_log *log, const access_line *line)
{
    struct timeval now;
    struct tm parts;
    char when[32];
    if (log == NULL)
        return;
    gettimeofday(&now, NULL);
    gmtime_r(&now.tv_sec, &parts);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &parts);
    pthread_mutex_lock(&log->lock);
    fprintf(log->file, "%s.%03ldZ %s ", when, (long)now.tv_usec / 1000, line->method);
    write_target(log->file, line->target);
    fprintf(log->file, " %d %zu %.6f%s%s\n", line->status, line->bytes, line->seconds,
            line->trace[0] != '\0' ? " trace=" : "", line->trace);
    pthread_mutex_unlock(&log->lock);
}

void access_log_flush(access_log *log)
{
    if (log == NULL)
        return;
    pthread_mutex_lock(&log->lock);
    fflush(log->file);
    pthread_mutex_unlock(&log->lock);
}

void access_log_reopen(access_log *log)
{
    if (log == NULL || log->file == stdout)
        return;
    FILE *fresh = open_file(log->path);
    if (fresh == NULL)
        return; /* lines still go to the old file, which is better than losing them */
    pthread_mutex_lock(&log->lock);
    FILE *old = log->file;
    log->file = fresh;
    pthread_mutex_unlock(&log->lock);
    fclose(old);
}
