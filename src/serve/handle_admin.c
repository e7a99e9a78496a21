/* POST /v1/admin/reload, and /openapi.json. */
#include "serve/handlers.h"
#include "serve/reload.h"

extern const unsigned char openapi_json[]; /* docs/openapi.json, put in by the build */
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
