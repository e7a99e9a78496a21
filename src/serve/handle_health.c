/* Whether the server is alive, whether it serves, and what it counted. */
#include "serve/event_flow.h"
#include "serve/handlers.h"

void handle_health(app *a, const http_request *request, http_response *response)
{
    (void)a;
    (void)request;
    answer_json(response, 200, json_pack("{s:s}", "status", "ok"));
}

/* A balancer stops sending requests when this is not 200. A server whose store is gone still recommends: if it
 * said 503, the restart of a database that all servers share would take out all of them. */
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
