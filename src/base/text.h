/* Pieces of text that came from outside, and strict readings of them. */
#ifndef PR_TEXT_H
#define PR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that belong to somebody else; not terminated. */
typedef struct pr_slice {
    const char *bytes;
    size_t size;
} pr_slice;

pr_slice pr_slice_of(const char *text);
bool pr_slice_is(pr_slice s, const char *text);
pr_slice pr_slice_trim(pr_slice s); /* without spaces and tabs at both ends */

/* The whole slice must be the number: no spaces, no rest, no overflow. */
bool pr_parse_i64(pr_slice s, int64_t *value);
bool pr_parse_u64(pr_slice s, uint64_t *value);
bool pr_parse_f64(pr_slice s, double *value); /* finite, '.' whatever the locale */

/* "30m", "2h", "1d", "45s" or plain seconds. */
bool pr_parse_duration(pr_slice s, int64_t *seconds);

/* True for well-formed UTF-8; else *at is the first byte that is not. */
bool pr_utf8_valid(const char *bytes, size_t size, size_t *at);

/* A quoted, shortened form for messages: at most 40 bytes, cut between characters. The result
 * lives in *hold. */
typedef struct pr_excerpt {
    char text[48];
} pr_excerpt;
const char *pr_show(pr_excerpt *hold, pr_slice s);

#endif
