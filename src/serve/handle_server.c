/* What the server says of itself: /healthz, /readyz, /metrics, /v1/model, /v1/quality,
 * /v1/admin/reload, /openapi.json, and the page, which is part of the program: a path is looked up
 * in a table and never becomes the name of a file. */
#include <string.h>

#include "serve/event_flow.h"
#include "serve/routes.h"
#include "serve/web_files.h"

/* ---- health, readiness, metrics ---- */

void handle_health(app *a, const http_request *request, http_response *response)
{
    (void)a;
    (void)request;
    answer_json(response, 200, json_pack("{s:s}", "status", "ok"));
}

/* A load balancer stops sending requests if this is not 200. A server without its store still
 * recommends. If it answered 503, restarting a shared database would take out all servers. */
void handle_ready(app *a, const http_request *request, http_response *response)
{
    (void)request;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    if (atomic_load(&a->stopping))
        answer_error(response, 503, "stopping", "The server is about to stop.");
    else
        answer_json(response, 200,
                    json_pack("{s:s, s:s}", "status", "ready", "store", event_flow_state(a)));
    engine_drop(e);
}

static void route_name(size_t i, const char **method, const char **path)
{
    *method = http_method_name(routes[i].method);
    *path = routes[i].path;
}

void handle_counts(app *a, const http_request *request, http_response *response)
{
    (void)request;
    pr_writer out = {0};
    engine *e = engine_take(&a->engines);
    metrics_write(&out, &(metrics_view){
                            .counts = &a->counts,
                            .routes = route_count,
                            .name_of = route_name,
                            .model_loaded_at = e != NULL ? (double)e->loaded_at : 0,
                            .model_number = e != NULL ? e->number : 0,
                            .ready = e != NULL && !atomic_load(&a->stopping),
                        });
    engine_drop(e);
    size_t size = out.size;
    answer_owned(response, pr_writer_take(&out), size, "text/plain; version=0.0.4; charset=utf-8");
}

/* ---- the model and its quality ---- */

static json_t *count_json(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *settings_json(const parsrec_model *model)
{
    json_t *settings = json_object();
    parsrec_setting s;
    for (size_t i = 0; parsrec_model_setting(model, i, &s); i++)
        json_object_set_new(settings, s.key, pr_json_string(s.value));
    return settings;
}

static json_t *time_json(time_t when)
{
    char text[32];
    struct tm parts;
    gmtime_r(&when, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

static json_t *model_json(const app *a, const engine *e)
{
    parsrec_model_facts f;
    parsrec_data_stats s = {0};
    parsrec_model_describe(e->model, &f);
    if (parsrec_data_statistics(engine_data(e), &s, NULL) != PARSREC_OK)
        return NULL;
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:f, s:o, s:s}", "kind",
        f.kind, "parameters", count_json(f.parameters), "bytes", count_json(f.bytes), "users",
        count_json(f.users), "items", count_json(f.items), "categories", count_json(f.categories),
        "sessions", count_json(s.sessions), "actions", count_json(s.actions), "data_checksum",
        s.checksum, "synthetic", s.synthetic, "settings", settings_json(e->model), "number",
        count_json(e->number), "loaded_at", time_json(e->loaded_at), "load_seconds",
        e->load_seconds, "started_at", time_json(a->started_at), "version", parsrec_version());
}

void handle_model(app *a, const http_request *request, http_response *response)
{
    (void)request;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    answer_json(response, 200, model_json(a, e));
    engine_drop(e);
}

void handle_quality(app *a, const http_request *request, http_response *response)
{
    (void)request;
    answer_json(response, 200, quality_json(&a->quality));
}

/* ---- loading again, the description of the routes ---- */

extern const unsigned char openapi_json[]; /* docs/openapi.json, embedded by the build */
extern const size_t openapi_json_size;

void handle_reload(app *a, const http_request *request, http_response *response)
{
    parsrec_error err = {0};
    (void)request;
    if (reload(a, &err) != PARSREC_OK) {
        answer_error(response, 422, "model_refused", "The old model stays: %s", err.message);
        return;
    }
    engine *e = engine_take(&a->engines);
    answer_json(
        response, 200,
        json_pack("{s:I, s:f}", "number", (json_int_t)e->number, "load_seconds", e->load_seconds));
    engine_drop(e);
}

void handle_openapi(app *a, const http_request *request, http_response *response)
{
    (void)a;
    (void)request;
    http_response_free(response);
    *response = (http_response){.status = 200,
                                .type = "application/json",
                                .body = (const char *)openapi_json,
                                .size = openapi_json_size};
}

/* ---- the page ---- */

bool handle_page(const http_request *request, http_response *response)
{
    const char *path = request->target.text, *known = request->if_none_match;
    const web_file *f = web_files;
    if (strcmp(path, "/") == 0)
        path = "/index.html";
    while (f->path != NULL && strcmp(f->path, path) != 0)
        f++;
    if (f->path == NULL)
        return false;
    http_response_free(response);
    *response = (http_response){.status = 200,
                                .type = f->type,
                                .body = (const char *)f->bytes,
                                .size = f->size,
                                .etag = f->etag,
                                .page = true};
    /* "etag", possibly in a list, possibly with W/ in front */
    if (known != NULL && (strcmp(known, "*") == 0 || strstr(known, f->etag) != NULL)) {
        response->status = 304;
        response->size = 0;
    }
    return true;
}
