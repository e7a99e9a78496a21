/* What a request line asks for, taken apart: path segments and query fields, with every %XX decoded once
 * and nothing guessed. */
#ifndef SERVE_HTTP_TARGET_H
#define SERVE_HTTP_TARGET_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
