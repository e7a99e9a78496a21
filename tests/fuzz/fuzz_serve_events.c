/* Any bytes as the body of POST /v1/events: an answer that is JSON, or an error with a sentence. */
#include "support/serve_app.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    serve_app_post("/v1/events", data, size);
    return 0;
}
