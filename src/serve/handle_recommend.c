/* POST /v1/recommend: one request, or many in one body. */
#include <string.h>

#include "base/memory.h"
#include "base/writer.h"
#include "serve/handlers.h"

enum { DEFAULT_K = 10, BATCH_MOST = 1000 };

typedef struct asking {
    engine *engine;
    parsrec_scratch *own;
} asking;

static parsrec_status ask(const asking *who, pr_slice request, const char **answer,
                          parsrec_error *err)
{
    return parsrec_live_recommend_json(who->engine->live, who->own, request.bytes, request.size,
                                       DEFAULT_K, answer, err);
}

static void answer_one(const asking *who, pr_slice body, http_response *response)
{
    parsrec_error err = {0};
    const char *answer;
    if (ask(who, body, &answer, &err) == PARSREC_OK)
        answer_text(response, answer, strlen(answer));
    else
        answer_failure(response, &err);
}

/* ---- many ---- */

static int append(const char *bytes, size_t size, void *context)
{
    pr_write_bytes(context, bytes, size);
    return 0;
}

static void write_failure(pr_writer *out, const parsrec_error *err)
{
    json_t *json = json_pack("{s:o}", "error", failure_json(err));
    if (json == NULL || json_dump_callback(json, append, out, JSON_COMPACT) != 0)
        out->failed = true;
    json_decref(json);
}

/* Each request is written out again for the library, which reads texts. */
static void answer_member(const asking *who, const json_t *member, pr_writer *request,
                          pr_writer *out)
{
    parsrec_error err = {0};
    const char *answer;
    request->size = 0;
    if (json_dump_callback(member, append, request, JSON_COMPACT | JSON_ENCODE_ANY) != 0 ||
        request->failed)
        out->failed = true;
    else if (ask(who, (pr_slice){request->text, request->size}, &answer, &err) == PARSREC_OK)
        pr_write_bytes(out, answer, strlen(answer));
    else
        write_failure(out, &err);
}

static void answer_many(const asking *who, const json_t *requests, http_response *response)
{
    pr_writer out = {0}, request = {0};
    if (!json_is_array(requests) || json_array_size(requests) > BATCH_MOST) {
        answer_error(response, 400, "bad_request", "requests must be a list of at most %d.",
                     BATCH_MOST);
        return;
    }
    pr_write(&out, "{\"answers\":[");
    for (size_t i = 0; i < json_array_size(requests) && !out.failed; i++) {
        if (i > 0)
            pr_write_bytes(&out, ",", 1);
        answer_member(who, json_array_get(requests, i), &request, &out);
    }
    pr_write(&out, "]}");
    size_t size = out.size;
    pr_writer_free(&request);
    answer_owned(response, pr_writer_take(&out), size, "application/json");
}

/* Bodies that hold many are read twice, which only those pay for. */
static bool may_hold_many(pr_slice body)
{
    static const char key[] = "\"requests\"";
    return memmem(body.bytes, body.size, key, sizeof key - 1) != NULL;
}

static void answer_body(const asking *who, const http_request *request, http_response *response)
{
    if (!may_hold_many(request->body)) {
        answer_one(who, request->body, response);
        return;
    }
    json_t *json = read_body(request, response);
    const json_t *requests = json_object_get(json, "requests");
    if (requests != NULL && json_object_size(json) == 1)
        answer_many(who, requests, response);
    else if (json != NULL)
        answer_one(who, request->body, response);
    json_decref(json);
}

void handle_recommend(app *a, const http_request *request, http_response *response)
{
    parsrec_error err = {0};
    asking who = {.engine = handler_engine(a, response)};
    if (who.engine == NULL)
        return;
    if (engine_borrow(who.engine, &who.own, &err) == PARSREC_OK) {
        answer_body(&who, request, response);
        engine_give_back(who.engine, who.own);
    } else {
        answer_failure(response, &err);
    }
    engine_drop(who.engine);
}
