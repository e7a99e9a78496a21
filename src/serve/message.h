/* A request as handlers see it and what they answer: plain memory, nothing of sockets, so that handlers are
 * tested and fuzzed without any.
 *
 * A target is taken apart once: path segments and query fields, with every %XX decoded once and nothing
 * guessed. A response owns its body or points to static memory; whoever sends or drops it frees it. Errors
 * have one form, {"error":{"code","message"}}, and one table maps the library's statuses to HTTP. */
#ifndef SERVE_MESSAGE_H
#define SERVE_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/text.h"

/* ---- target ---- */

enum {
    TARGET_BYTES_MOST = 2048, /* of a request line's target */
    TARGET_SEGMENTS_MOST = 8,
    TARGET_FIELDS_MOST = 16,
};

typedef struct target_field {
    const char *name, *value;
} target_field;

typedef struct http_target {
    /* The path as it was sent, then decoded pieces with their ends. */
    char text[2 * TARGET_BYTES_MOST + TARGET_SEGMENTS_MOST + 2 * TARGET_FIELDS_MOST + 2];
    const char *segments[TARGET_SEGMENTS_MOST];
    size_t segment_count;
    target_field fields[TARGET_FIELDS_MOST];
    size_t field_count;
} http_target;

typedef enum target_verdict {
    TARGET_OK,
    TARGET_BAD,      /* a broken %XX, a NUL, bytes that are not UTF-8, no '/' in front */
    TARGET_TOO_LONG, /* more bytes, segments or fields than there is room for */
} target_verdict;

/* "." and ".." are ordinary words here: there is no file system behind a path. */
target_verdict http_target_parse(http_target *target, const char *raw);

/* The value of a query field, the first of its name; NULL where it is missing. */
const char *http_target_field(const http_target *target, const char *name);

/* ---- requests and responses ---- */

typedef enum http_method {
    HTTP_GET, /* HEAD too */
    HTTP_POST,
    HTTP_DELETE,
    HTTP_OTHER,
} http_method;

http_method http_method_of(const char *word);
const char *http_method_name(http_method method); /* "GET" */

/* Header values are NULL where they are missing. */
typedef struct http_request {
    http_method method;
    http_target target;
    const char *authorization, *host, *origin, *if_none_match, *idempotency_key;
    pr_slice body;
    const atomic_bool *left; /* becomes true when the client closes the connection; may be NULL */
} http_request;

typedef struct http_response {
    int status;       /* 200 */
    const char *type; /* of the body; lives for ever */
    const char *body; /* static, or `owned` */
    size_t size;
    char *owned;       /* freed with pr_free by whoever sends or drops the response */
    const char *etag;  /* without quotes; NULL: none */
    const char *allow; /* of a 405; NULL: none */
    int retry_after;   /* seconds; 0: not said */
    bool page;         /* part of the page: it may be kept, and gets the page's security headers */
} http_response;

void http_response_free(http_response *response); /* a zeroed one is fine */

/* Answers with a value, which is taken over; NULL means that memory ran out. */
void answer_json(http_response *response, int status, json_t *json);
/* A copy of a text that is JSON already. */
void answer_text(http_response *response, const char *text, size_t size);
/* Takes over a text to be freed with pr_free; NULL means that memory ran out. */
void answer_owned(http_response *response, char *text, size_t size, const char *type);

/* {"error":{"code":"not_found","message":"One sentence."}} */
void answer_error(http_response *response, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for what the library says, with the HTTP status that its status means. */
void answer_failure(http_response *response, const parsrec_error *err);
const char *failure_code(parsrec_status status); /* "bad_request" */
/* The object inside "error", for answers that hold several; NULL when out of memory. */
json_t *failure_json(const parsrec_error *err);

/* The body as a JSON object: a new reference, or NULL and the response says what is wrong. */
json_t *read_body(const http_request *request, http_response *response);

#endif
