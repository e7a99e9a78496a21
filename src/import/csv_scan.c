/* Rows by bit masks: 64 bytes are compared at once, then each special byte is one bit to pass. */
#include "import/csv_scan.h"

#include <string.h>

#include "base/memory.h"
#include "import/csv_mask.h"

/* The mask of the block at `at`, bits before `at` and beyond the text cleared. */
static void load_block(pr_csv_scan *s, size_t at)
{
    s->block = at / PR_CSV_BLOCK * PR_CSV_BLOCK;
    s->mask_filled = s->filled;
    s->mask = 0;
    if (s->block >= s->filled)
        return;
    s->mask = pr_csv_mask(s->buffer + s->block, s->delimiter) & ~(uint64_t)0 << (at - s->block);
    size_t left = s->filled - s->block;
    if (left < PR_CSV_BLOCK)
        s->mask &= ((uint64_t)1 << left) - 1;
}

void pr_csv_scan_restart(pr_csv_scan *s)
{
    load_block(s, s->start);
}

/* Position of the next special byte, `filled` when there is none; passes it. */
static inline size_t next_special(pr_csv_scan *s)
{
    while (s->mask == 0) {
        if (s->block + PR_CSV_BLOCK >= s->filled)
            return s->filled;
        load_block(s, s->block + PR_CSV_BLOCK);
    }
    size_t at = s->block + (size_t)__builtin_ctzll(s->mask);
    s->mask &= s->mask - 1;
    return at;
}

static bool make_room(pr_csv_scan *s)
{
    return !s->grow ||
           pr_grow(&s->fields, &s->capacity, s->count + 1, sizeof *s->fields, NULL) == PARSREC_OK;
}

static inline bool add_field(pr_csv_scan *s, size_t from, size_t to)
{
    if (s->count >= s->capacity && !make_room(s))
        return false;
    if (s->count < s->capacity)
        s->fields[s->count] = (pr_slice){s->buffer + from, to - from};
    s->count++;
    return true;
}

static size_t count_lines(const char *from, const char *to)
{
    size_t lines = 0;
    while ((from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        from++;
        lines++;
    }
    return lines;
}

/* The closing quote of a field whose text begins at `at`; SIZE_MAX when the text ends first. */
static size_t closing_quote(pr_csv_scan *s, size_t at)
{
    for (;;) {
        const char *q = memchr(s->buffer + at, '"', s->filled - at);
        if (q == NULL)
            return SIZE_MAX;
        size_t p = (size_t)(q - s->buffer);
        if (p + 1 == s->filled && !s->last)
            return SIZE_MAX; /* perhaps the first half of "" */
        if (p + 1 == s->filled || s->buffer[p + 1] != '"')
            return p;
        s->escapes = true;
        at = p + 2;
    }
}

/* A field that begins with a quote at `at`. On success *at is the delimiter or line end behind it
 * (or `filled`), which has been passed. */
static pr_csv_result quoted_field(pr_csv_scan *s, size_t *at)
{
    size_t from = *at + 1, close = closing_quote(s, from);
    if (close == SIZE_MAX)
        return s->last ? PR_CSV_OPEN_QUOTE : PR_CSV_MORE;
    size_t p = close + 1;
    if (p < s->filled && s->buffer[p] == '\r') {
        if (p + 1 == s->filled && !s->last)
            return PR_CSV_MORE;
        if (p + 1 == s->filled || s->buffer[p + 1] == '\n')
            p++;
    }
    if (p == s->filled && !s->last)
        return PR_CSV_MORE;
    if (p < s->filled && s->buffer[p] != s->delimiter && s->buffer[p] != '\n')
        return PR_CSV_AFTER_QUOTE;
    s->lines += count_lines(s->buffer + from, s->buffer + close);
    if (!add_field(s, from, close))
        return PR_CSV_MEMORY;
    load_block(s, p + 1);
    *at = p;
    return PR_CSV_ROW;
}

/* A field without quotes around it; a quote inside is a byte like others. */
static pr_csv_result plain_field(pr_csv_scan *s, size_t *at)
{
    size_t from = *at, p = next_special(s);
    while (p < s->filled && s->buffer[p] == '"')
        p = next_special(s);
    if (p == s->filled && !s->last)
        return PR_CSV_MORE;
    bool ends_row = p == s->filled || s->buffer[p] == '\n';
    size_t to = ends_row && p > from && s->buffer[p - 1] == '\r' ? p - 1 : p;
    *at = p;
    return add_field(s, from, to) ? PR_CSV_ROW : PR_CSV_MEMORY;
}

pr_csv_result pr_csv_scan_row(pr_csv_scan *s)
{
    size_t at = s->start;
    s->count = 0;
    s->lines = 1;
    s->escapes = false;
    for (;;) {
        bool quoted = at < s->filled && s->buffer[at] == '"';
        pr_csv_result result = quoted ? quoted_field(s, &at) : plain_field(s, &at);
        if (result != PR_CSV_ROW) {
            pr_csv_scan_restart(s);
            return result;
        }
        if (at == s->filled || s->buffer[at] == '\n') {
            s->end = at < s->filled ? at + 1 : at;
            return PR_CSV_ROW;
        }
        at++;
    }
}

static size_t unescape_field(char *text, size_t size)
{
    size_t to = 0;
    for (size_t from = 0; from < size; from++) {
        text[to++] = text[from];
        if (text[from] == '"')
            from++;
    }
    return to;
}

void pr_csv_unescape(pr_csv_scan *s)
{
    size_t kept = s->count < s->capacity ? s->count : s->capacity;
    for (size_t i = 0; s->escapes && i < kept; i++) {
        size_t from = (size_t)(s->fields[i].bytes - s->buffer);
        /* Only a quoted field has a quote before it. */
        if (from > s->start && s->buffer[from - 1] == '"')
            s->fields[i].size = unescape_field(s->buffer + from, s->fields[i].size);
    }
}
