/* GET /v1/model: what is being served. */
#include "serve/handlers.h"

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
