/* A server without sockets around one small model, made once and kept: what handlers are tested and fuzzed
 * with. */
#ifndef SERVE_APP_TEST_H
#define SERVE_APP_TEST_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "model/model_file.h"
#include "serve/routes.h"
#include "support/sample_data.h"

static inline parsrec_status serve_app_save(const sample *s, const char *path, parsrec_error *err)
{
    pr_config config = pr_config_default();
    pr_model *made;
    config.dim_user = config.dim_item = 4;
    PR_TRY(pr_model_new(&made, "parsrec", &config, SAMPLE_USERS, SAMPLE_ITEMS, 1, err));
    parsrec_status status = pr_model_save(made, &s->data, path, err);
    pr_model_free(made);
    return status;
}

/* A model of the sample, from a file that is gone again. */
static inline parsrec_model *serve_app_model_of(const sample *s)
{
    char path[] = "/tmp/parsrec-served.XXXXXX";
    parsrec_error err = {0};
    parsrec_model *model = NULL;
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0 || serve_app_save(s, path, &err) != PARSREC_OK ||
        parsrec_model_load(&model, path, &err) != PARSREC_OK || unlink(path) != 0)
        abort();
    return model;
}

static inline parsrec_model *serve_app_model(void)
{
    sample s;
    sample_make(&s);
    return serve_app_model_of(&s);
}

static inline engine *serve_app_engine(void)
{
    parsrec_error err;
    engine *e;
    if (engine_new(&e, serve_app_model(), (engine_limits){8, 20}, &err) != PARSREC_OK)
        abort();
    return e;
}

static inline app *serve_app(void)
{
    static app shared;
    static serve_options options;
    parsrec_error err;
    if (options.listen != NULL)
        return &shared;
    options = serve_default();
    options.store = "none";
    options.model_path = "sample";
    if (app_init(&shared, &options, &err) != PARSREC_OK)
        abort();
    engine_put(&shared.engines, serve_app_engine());
    return &shared;
}

/* With the token 0123456789abcdef, or without any. */
static inline void serve_app_token(bool given)
{
    app *a = serve_app();
    pr_free(a->token);
    a->token = given ? pr_copy_string("0123456789abcdef", 16) : NULL;
}

/* Whatever was asked: a status, and for JSON a body that is JSON, with a sentence when it is an error. */
static inline void serve_app_check(const http_response *r)
{
    if (r->status < 200 || r->status > 599 || r->type == NULL || (r->size > 0 && r->body == NULL))
        abort();
    if (strcmp(r->type, "application/json") != 0)
        return;
    json_t *json = json_loadb(r->body, r->size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *error = json_object_get(json, "error");
    if (json == NULL || (r->status >= 400) != (error != NULL))
        abort();
    if (error != NULL && (json_string_length(json_object_get(error, "code")) == 0 ||
                          json_string_length(json_object_get(error, "message")) < 8))
        abort();
    json_decref(json);
}

/* A body to one path. */
static inline int serve_app_post(const char *path, const uint8_t *body, size_t size)
{
    static http_request request;
    http_response response = {0};
    request = (http_request){.method = HTTP_POST, .body = {(const char *)body, size}};
    if (http_target_parse(&request.target, path) != TARGET_OK)
        abort();
    route_answer(serve_app(), &request, &response);
    serve_app_check(&response);
    int status = response.status;
    http_response_free(&response);
    return status;
}

#endif
