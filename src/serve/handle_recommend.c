/* POST /v1/recommend: one request, or many in one body. */
#include <string.h>

#include "serve/handlers.h"

enum { BATCH_MOST = 1000 };

void handle_recommend(app *a, const http_request *request, http_response *response)
{
    parsrec_error err = {0};
    parsrec_scratch *own;
    const char *answer;
    engine *e = handler_engine(a, response);
    if (e == NULL)
        return;
    parsrec_json_options options = {
        .live = e->live, .batch_most = BATCH_MOST, .error_code = failure_code};
    parsrec_status status = engine_borrow(e, &own, &err);
    if (status == PARSREC_OK) {
        status = parsrec_recommend_json(e->model, own, &options, request->body.bytes,
                                        request->body.size, &answer, &err);
        if (status == PARSREC_OK)
            answer_text(response, answer, strlen(answer));
        engine_give_back(e, own);
    }
    if (status != PARSREC_OK)
        answer_failure(response, &err);
    engine_drop(e);
}
