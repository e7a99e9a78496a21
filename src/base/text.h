/* Pieces of text that came from outside, and strict readings of them. */
#ifndef PR_TEXT_H
#define PR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

/* A view of bytes; not terminated. */
typedef struct pr_slice {
    const char *bytes;
    size_t size;
} pr_slice;

pr_slice pr_slice_of(const char *text);

/* Equal bytes. Names and numbers are short, for which two overlapping words are quicker than a
 * call. */
static inline bool pr_slice_equal(pr_slice a, pr_slice b)
{
    if (a.size != b.size)
        return false;
    if (a.size > 8)
        return memcmp(a.bytes, b.bytes, a.size) == 0;
    if (a.size >= 4) {
        uint32_t head[2], tail[2];
        memcpy(&head[0], a.bytes, 4);
        memcpy(&head[1], b.bytes, 4);
        memcpy(&tail[0], a.bytes + a.size - 4, 4);
        memcpy(&tail[1], b.bytes + b.size - 4, 4);
        return head[0] == head[1] && tail[0] == tail[1];
    }
    for (size_t i = 0; i < a.size; i++)
        if (a.bytes[i] != b.bytes[i])
            return false;
    return true;
}
bool pr_slice_is(pr_slice s, const char *text);
pr_slice pr_slice_trim(pr_slice s); /* without spaces and tabs at both ends */
/* A key as it is known: without no-break spaces at both ends either. Tables from databases have keys that are
 * filled up to a width; import removes that, and so does who is asked for one. */
pr_slice pr_key_trim(pr_slice key);

/* Lower case of ASCII letters in any locale; other bytes as they are. */
static inline char pr_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Whether two texts are alike but for upper and lower case, of Latin, Greek and Cyrillic letters in any locale. An
 * accent makes another letter. */
bool pr_text_alike(pr_slice a, pr_slice b);
/* Where the text has a part that is alike; SIZE_MAX if nowhere. */
size_t pr_text_find_alike(pr_slice text, pr_slice part);
/* The text in lower case, to[text.size]; its size, which is not larger. */
size_t pr_text_lower(char *to, pr_slice text);

/* The whole slice must be the number: no spaces, no rest, no overflow. */
bool pr_parse_i64(pr_slice s, int64_t *value);
bool pr_parse_u64(pr_slice s, uint64_t *value);
bool pr_parse_f64(pr_slice s, double *value); /* finite, '.' in any locale */

/* "30m", "2h", "1d", "45s" or plain seconds. */
bool pr_parse_duration(pr_slice s, int64_t *seconds);
/* A number of bytes such as 500M, 8G or 1.5T, in powers of 1024; at least 1. */
bool pr_parse_bytes(pr_slice text, uint64_t *bytes);

/* Characters of UTF-8 text: what a column of a terminal or table needs. */
int pr_text_width(const char *text);

/* Where to cut `size` bytes of UTF-8 to keep at most `most` bytes: never inside a character. */
size_t pr_utf8_cut(const char *bytes, size_t size, size_t most);
/* Where character number `n` of a text begins, or its end if it has fewer. */
const char *pr_utf8_at(const char *text, size_t n);
/* Whether a byte begins a character, so that a text can be cut before it. */
static inline bool pr_utf8_begins(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

/* 1234567 as "1,234,567". The result is hold->text. */
typedef struct pr_digits {
    char text[28];
} pr_digits;
const char *pr_digits_of(pr_digits *hold, uint64_t value);

/* For qsort. NaN has no place in an order: leave it out first. */
int pr_ascending_f64(const void *a, const void *b);
int pr_ascending_i32(const void *a, const void *b);

/* True for well-formed UTF-8; else *at is the first byte that is not. */
bool pr_utf8_valid(const char *bytes, size_t size, size_t *at);

/* The character at *at, which moves past it; 0 at the end. U+FFFD stands for a byte that is not
 * UTF-8. */
uint32_t pr_utf8_next(const char **at);
/* Characters that have an effect instead of a shape: C0 and C1 controls and DEL; or those that
 * override the direction of the text around them (U+202A..202E, U+2066..2069). */
bool pr_is_control(uint32_t character);
bool pr_is_direction_control(uint32_t character);
/* Makes a name fit to be shown in a line, in place: line breaks and tabs become spaces, other
 * controls '?'. Returns text. */
char *pr_text_clean(char *text);

/* A quoted, shortened form for messages: at most 40 bytes, cut between characters. The result
 * lives in *hold. */
typedef struct pr_excerpt {
    char text[48];
} pr_excerpt;
const char *pr_show(pr_excerpt *hold, pr_slice s);

/* ---- names made short enough for a column or a chart, and still different from each other ---- */

/* How much room a text takes, in the unit of the limit. */
typedef double (*pr_label_width)(void *context, const char *text);

/* out[i] becomes names[i], or as much of it as fits into the limit, with an ellipsis. Of a path of
 * categories first its end is tried; where two names then look the same, what follows the words that
 * it shares with another name; then both ends; then the beginning. Of other names the beginning is
 * tried first, then both ends, then the others. If nothing helps, the beginning and a number. Names
 * that are equal stay equal. `width` NULL counts characters. Free each of out[count] with pr_free, also on failure. */
parsrec_status pr_labels_fit(char **out, const char *const *names, size_t count, double limit,
                             pr_label_width width, void *context, parsrec_error *err);

/* ---- "did you mean ...?": the known words nearest to one that is not known ---- */

/* Offer every known word in turn, then ask for the sentence. A word counts as near when it is equal
 * but for case, begins with or contains the wanted one, or differs by few letters (one in four, at
 * most three; two letters exchanged count as one). The best three are kept in this order, the first
 * offered first among equals. Nothing is allocated, so this may be used while reporting an
 * error. */

enum { PR_SUGGESTIONS = 3 };

typedef struct pr_suggest {
    pr_slice wanted;
    size_t count;
    pr_excerpt near[PR_SUGGESTIONS]; /* best first, in quotes */
    unsigned distance[PR_SUGGESTIONS];
    char sentence[PR_SUGGESTIONS * (sizeof(pr_excerpt) + 4) + 24];
} pr_suggest;

/* `wanted` must live until the last offer. */
void pr_suggest_start(pr_suggest *suggest, pr_slice wanted);
void pr_suggest_offer(pr_suggest *suggest, pr_slice known);

/* " (did you mean 'A', 'B' or 'C'?)", or "" when nothing is near. Lives in *suggest. */
const char *pr_suggest_sentence(pr_suggest *suggest);

#endif
