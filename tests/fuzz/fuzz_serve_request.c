/* Any request to any path: a line "METHOD TARGET", lines "Name: value" of the headers that matter, an empty line,
 * the body. */
#include "support/serve_app.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next line, terminated in place; NULL after the last. */
static char *next_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *rest = end + 1;
    return line;
}

static void take_header(http_request *r, const char *line)
{
    const struct {
        const char *name;
        const char **place;
    } known[] = {{"Authorization: ", &r->authorization},
                 {"Host: ", &r->host},
                 {"Origin: ", &r->origin},
                 {"Sec-Fetch-Site: ", &r->fetch_site},
                 {"Idempotency-Key: ", &r->idempotency_key},
                 {"If-None-Match: ", &r->if_none_match}};
    static const char trace[] = "traceparent: ";
    if (strncmp(line, trace, sizeof trace - 1) == 0)
        http_trace_of(r->trace, line + sizeof trace - 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(line, known[i].name, strlen(known[i].name)) == 0)
            *known[i].place = line + strlen(known[i].name);
}

static void answer(char *text, size_t size)
{
    static http_request request;
    http_response response = {0};
    char *rest = text, *first = next_line(&rest), *line;
    char *space = first != NULL ? strchr(first, ' ') : NULL;
    if (space == NULL)
        return;
    *space = '\0';
    request = (http_request){.method = http_method_of(first)};
    if (http_target_parse(&request.target, space + 1) != TARGET_OK)
        return;
    while ((line = next_line(&rest)) != NULL && line[0] != '\0')
        take_header(&request, line);
    request.body = (pr_slice){rest, size - (size_t)(rest - text)};
    route_answer(serve_app(), &request, &response);
    serve_app_check(&response);
    http_response_free(&response);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    serve_app_token(size % 2 == 1); /* it matters in one of two */
    serve_app()->public_listen = size % 4 == 1;
    answer(text, size);
    free(text);
    return 0;
}
