/* Parsing of targets, JSON answers and errors. */
#include "serve/message.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/writer.h"

static const char text_json[] = "application/json";
static const char *const methods[] = {"GET", "POST", "DELETE"};

http_method http_method_of(const char *word)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(word, methods[i]) == 0)
            return (http_method)i;
    return strcmp(word, "HEAD") == 0 ? HTTP_GET : HTTP_OTHER;
}

const char *http_method_name(http_method method)
{
    return method < HTTP_OTHER ? methods[method] : "other";
}

/* Whether the next `count` characters are digits of a hexadecimal number in small letters, and not all
 * zero. */
static bool is_id(const char *text, size_t count)
{
    bool zero = true;
    for (size_t i = 0; i < count; i++) {
        if ((text[i] < '0' || text[i] > '9') && (text[i] < 'a' || text[i] > 'f'))
            return false;
        zero = zero && text[i] == '0';
    }
    return !zero;
}

void http_trace_of(char trace[HTTP_TRACE_TEXT], const char *traceparent)
{
    enum { TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, LENGTH = 55 };
    trace[0] = '\0';
    if (traceparent == NULL || strlen(traceparent) < LENGTH)
        return;
    const char *t = traceparent;
    bool version_0 = strncmp(t, "00-", TRACE_AT) == 0 && t[LENGTH] == '\0';
    bool later =
        t[0] != 'f' && is_id(t, 2) && t[2] == '-' && (t[LENGTH] == '\0' || t[LENGTH] == '-');
    if ((version_0 || later) && is_id(t + TRACE_AT, 32) && t[PARENT_AT - 1] == '-' &&
        is_id(t + PARENT_AT, 16) && t[FLAGS_AT - 1] == '-') {
        memcpy(trace, t + TRACE_AT, HTTP_TRACE_TEXT - 1);
        trace[HTTP_TRACE_TEXT - 1] = '\0';
    }
}

void http_response_free(http_response *response)
{
    pr_free(response->owned);
    *response = (http_response){0};
}

/* ---- bodies ---- */

void answer_owned(http_response *response, char *text, size_t size, const char *type)
{
    static const char no_memory[] =
        "{\"error\":{\"code\":\"out_of_memory\",\"message\":\"The server is out of memory.\"}}";
    assert(type != NULL);
    http_response_free(response);
    if (text != NULL)
        *response =
            (http_response){.status = 200, .type = type, .body = text, .size = size, .owned = text};
    else
        *response = (http_response){.status = 503,
                                    .type = text_json,
                                    .body = no_memory,
                                    .size = sizeof no_memory - 1,
                                    .retry_after = 1};
}

void answer_text(http_response *response, const char *text, size_t size)
{
    answer_owned(response, pr_copy_string(text, size), size, text_json);
}

static int append(const char *bytes, size_t size, void *context)
{
    pr_write_bytes(context, bytes, size);
    return 0;
}

void answer_json(http_response *response, int status, json_t *json)
{
    pr_writer text = {0};
    bool bad = json == NULL ||
               json_dump_callback(json, append, &text, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0;
    size_t size = text.size;
    json_decref(json);
    char *taken = pr_writer_take(&text);
    if (bad) {
        pr_free(taken);
        taken = NULL;
    }
    answer_owned(response, taken, size, text_json);
    if (taken != NULL)
        response->status = status;
}

/* ---- errors ---- */

static json_t *error_json(const char *code, const char *message)
{
    return json_pack("{s:s, s:o}", "code", code, "message", pr_json_string(message));
}

void answer_error(http_response *response, int status, const char *code, const char *format, ...)
{
    assert(status >= 400 && code != NULL);
    char message[sizeof((parsrec_error *)0)->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    answer_json(response, status, json_pack("{s:o}", "error", error_json(code, message)));
}

/* The library's statuses in HTTP. */
static const struct {
    parsrec_status status;
    int http;
    const char *code;
} meanings[] = {
    {PARSREC_E_ARGUMENT, 400, "bad_request"}, {PARSREC_E_INPUT, 400, "bad_request"},
    {PARSREC_E_CONFIG, 400, "bad_request"},   {PARSREC_E_NOT_FOUND, 404, "not_found"},
    {PARSREC_E_LIMIT, 413, "too_large"},      {PARSREC_E_UNSUPPORTED, 422, "unsupported"},
    {PARSREC_E_MEMORY, 503, "out_of_memory"}, {PARSREC_E_STOPPED, 503, "stopped"},
    {PARSREC_E_IO, 503, "store_unavailable"},
};

static size_t meaning_of(parsrec_status status)
{
    size_t i = 0;
    while (i < sizeof meanings / sizeof *meanings && meanings[i].status != status)
        i++;
    return i;
}

const char *failure_code(parsrec_status status)
{
    size_t i = meaning_of(status);
    return i < sizeof meanings / sizeof *meanings ? meanings[i].code : "internal";
}

/* A message from a database or the system may contain an address or a path: it goes to the log, not to
 * clients. event_flow.c logs the loss of a store once. */
static const char *message_of(const parsrec_error *err)
{
    if (err->status == PARSREC_E_IO)
        return "The store does not answer; send it again soon.";
    if (meaning_of(err->status) < sizeof meanings / sizeof *meanings)
        return err->message;
    fprintf(stderr, "warning: a request failed: %s\n", err->message);
    return "The server failed; its log has the reason.";
}

json_t *failure_json(const parsrec_error *err)
{
    return error_json(failure_code(err->status), message_of(err));
}

void answer_failure(http_response *response, const parsrec_error *err)
{
    size_t i = meaning_of(err->status);
    int status = i < sizeof meanings / sizeof *meanings ? meanings[i].http : 500;
    answer_error(response, status, failure_code(err->status), "%s", message_of(err));
    if (status == 503)
        response->retry_after = 1;
}

/* ---- bodies of requests ---- */

json_t *read_body(const http_request *request, http_response *response)
{
    json_t *json;
    parsrec_error err = {0};
    parsrec_status status =
        pr_json_parse(&json, request->body.bytes, request->body.size, "body", &err);
    if (status == PARSREC_E_FORMAT)
        err.status = PARSREC_E_INPUT;
    if (status == PARSREC_OK && json_is_object(json))
        return json;
    if (status == PARSREC_OK) {
        json_decref(json);
        answer_error(response, 400, "bad_request", "The body must be a JSON object.");
    } else {
        answer_failure(response, &err);
    }
    return NULL;
}

/* ---- targets ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decoded parts are written here, one after the other. */
typedef struct pieces {
    char *next;
    bool plus_is_space; /* as in forms of browsers; only in a query */
} pieces;

/* NULL if it cannot be decoded. */
static const char *decode(pieces *p, pr_slice raw)
{
    char *begin = p->next, *out = p->next;
    size_t at;
    for (size_t i = 0; i < raw.size; i++) {
        char c = raw.bytes[i];
        if (c == '%') {
            int high = i + 2 < raw.size ? hex_digit(raw.bytes[i + 1]) : -1;
            int low = i + 2 < raw.size ? hex_digit(raw.bytes[i + 2]) : -1;
            if (high < 0 || low < 0 || high + low == 0)
                return NULL;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && p->plus_is_space) {
            c = ' ';
        }
        *out++ = c;
    }
    *out = '\0';
    p->next = out + 1;
    return pr_utf8_valid(begin, (size_t)(out - begin), &at) ? begin : NULL;
}

/* The part up to `end` or the end of the text; *rest moves behind it, or becomes NULL after the last
 * part. */
static pr_slice cut(const char **rest, char end)
{
    const char *begin = *rest, *stop = strchr(begin, end);
    *rest = stop != NULL ? stop + 1 : NULL;
    return (pr_slice){begin, stop != NULL ? (size_t)(stop - begin) : strlen(begin)};
}

static target_verdict parse_path(http_target *t, pieces *p, const char *path)
{
    const char *rest = path + 1;
    while (rest != NULL) {
        pr_slice raw = cut(&rest, '/');
        if (t->segment_count == TARGET_SEGMENTS_MOST)
            return TARGET_TOO_LONG;
        const char *segment = decode(p, raw);
        if (segment == NULL)
            return TARGET_BAD;
        t->segments[t->segment_count++] = segment;
    }
    return TARGET_OK;
}

static target_verdict parse_query(http_target *t, pieces *p, const char *query)
{
    const char *rest = query;
    while (rest != NULL) {
        pr_slice raw = cut(&rest, '&');
        if (raw.size == 0)
            continue;
        if (t->field_count == TARGET_FIELDS_MOST)
            return TARGET_TOO_LONG;
        const char *equals = memchr(raw.bytes, '=', raw.size);
        size_t length = equals != NULL ? (size_t)(equals - raw.bytes) : raw.size;
        pr_slice value = {raw.bytes + raw.size, 0};
        if (equals != NULL)
            value = (pr_slice){equals + 1, raw.size - length - 1};
        target_field *field = &t->fields[t->field_count++];
        field->name = decode(p, (pr_slice){raw.bytes, length});
        field->value = field->name != NULL ? decode(p, value) : NULL;
        if (field->value == NULL)
            return TARGET_BAD;
    }
    return TARGET_OK;
}

/* The buffer holds the raw target and behind it the decoded parts, which are never longer apart from
 * their terminators. */
target_verdict http_target_parse(http_target *target, const char *raw)
{
    assert(raw != NULL);
    size_t size = strlen(raw);
    target->segment_count = target->field_count = 0;
    target->text[0] = '\0';
    if (size > TARGET_BYTES_MOST)
        return TARGET_TOO_LONG;
    if (raw[0] != '/')
        return TARGET_BAD;
    memcpy(target->text, raw, size + 1);
    pieces p = {target->text + size + 1, false};
    char *query = strchr(target->text, '?');
    if (query != NULL)
        *query = '\0';
    target_verdict verdict = parse_path(target, &p, target->text);
    p.plus_is_space = true;
    return verdict == TARGET_OK && query != NULL ? parse_query(target, &p, query + 1) : verdict;
}

const char *http_target_field(const http_target *target, const char *name)
{
    for (size_t i = 0; i < target->field_count; i++)
        if (strcmp(target->fields[i].name, name) == 0)
            return target->fields[i].value;
    return NULL;
}

const char *unknown_field(json_t *object, const char *const *known)
{
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], json_object_iter_key(at)) != 0)
            i++;
        if (known[i] == NULL)
            return json_object_iter_key(at);
    }
    return NULL;
}
