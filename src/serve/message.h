/* Requests as handlers see them, and responses: plain memory without sockets, so that handlers can be
 * tested and fuzzed without a network.
 *
 * A target is parsed once into path segments and query fields; every %XX is decoded exactly once. A
 * response owns its body or points to static memory; whoever sends or drops the response frees it.
 * Errors have one form, {"error":{"code","message"}}, and one table maps the library's statuses to
 * HTTP. */
#ifndef SERVE_MESSAGE_H
#define SERVE_MESSAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    /* The path as it was sent, then the decoded parts, each terminated. */
    char text[2 * TARGET_BYTES_MOST + TARGET_SEGMENTS_MOST + 2 * TARGET_FIELDS_MOST + 2];
    const char *segments[TARGET_SEGMENTS_MOST];
    size_t segment_count;
    target_field fields[TARGET_FIELDS_MOST];
    size_t field_count;
} http_target;

typedef enum target_verdict {
    TARGET_OK,
    TARGET_BAD,      /* a broken %XX, a NUL, bytes that are not UTF-8, no '/' in front */
    TARGET_TOO_LONG, /* too many bytes, segments or fields */
} target_verdict;

/* "." and ".." are ordinary segments: there is no file system behind a path. */
target_verdict http_target_parse(http_target *target, const char *raw);

/* The value of the first query field of this name; NULL if there is none. */
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

/* The trace id of a header `traceparent` (W3C Trace Context): 32 digits. "" for NULL and for a header that
 * is not of the form version-trace-parent-flags or has an id of zeros. */
enum { HTTP_TRACE_TEXT = 33 };
void http_trace_of(char trace[HTTP_TRACE_TEXT], const char *traceparent);

/* Header values are NULL if the header is missing. */
typedef struct http_request {
    http_method method;
    http_target target;
    const char *authorization, *host, *origin, *if_none_match, *idempotency_key;
    const char *fetch_site;      /* Sec-Fetch-Site */
    char trace[HTTP_TRACE_TEXT]; /* id of the trace that the request belongs to; "": none */
    pr_slice body;
    const atomic_bool *left; /* becomes true when the client closes the connection; may be NULL */
} http_request;

typedef struct http_response {
    int status;       /* 200 */
    const char *type; /* of the body; static memory */
    const char *body; /* static, or `owned` */
    size_t size;
    char *owned;       /* freed with pr_free by whoever sends or drops the response */
    const char *etag;  /* without quotes; NULL: none */
    const char *allow; /* of a 405; NULL: none */
    int retry_after;   /* seconds; 0: no such header */
    bool page;         /* a file of the web page: may be cached, has its security headers */
    /* No response yet: it needs the store's events up to this number. The handler is to be called
     * again when they are here (route_await). 0: this is a response. */
    uint64_t awaits;
} http_response;

void http_response_free(http_response *response); /* a zeroed one is fine */

/* Answers with a value and takes ownership of it; NULL means out of memory. */
void answer_json(http_response *response, int status, json_t *json);
/* Answers with a copy of a text that is JSON. */
void answer_text(http_response *response, const char *text, size_t size);
/* Answers with a text from pr_alloc and takes ownership of it; NULL means out of memory. */
void answer_owned(http_response *response, char *text, size_t size, const char *type);

/* {"error":{"code":"not_found","message":"One sentence."}} */
void answer_error(http_response *response, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for an error of the library, with the HTTP status that fits. */
void answer_failure(http_response *response, const parsrec_error *err);
const char *failure_code(parsrec_status status); /* "bad_request" */
/* The object inside "error", for answers with several; NULL when out of memory. */
json_t *failure_json(const parsrec_error *err);

/* The body as a JSON object: a new reference, or NULL and the response is set. */
json_t *read_body(const http_request *request, http_response *response);
/* The first field of an object that is not in the list, which NULL ends; NULL if all are. */
const char *unknown_field(json_t *object, const char *const *known);

#endif
