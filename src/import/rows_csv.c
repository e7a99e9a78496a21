/* The CSV reader, in two layers: csv_scan finds the fields of a row in a buffer; csv fills the buffer,
 * reads the header, checks rows and continues after bad ones. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "data/file_kind.h"
#include "import/csv_mask.h"
#include "import/rows.h"

/* ---- the scanner ---- */

/* Finds rows by bit masks: 64 bytes are compared at once, and each special byte (delimiter, line end,
 * quote) is one bit. Knows nothing about files and messages. */

typedef struct csv_scan {
    char *buffer; /* `filled` bytes of text, and room for PR_CSV_BLOCK more behind them */
    size_t filled;
    size_t start; /* of the next row */
    bool last;    /* nothing follows the filled part */
    char delimiter;
    bool grow; /* keep every field; otherwise those beyond the capacity are only counted */

    /* Set by find_row. */
    pr_slice *fields;
    size_t capacity, count;
    size_t end;     /* where the row ends, its line end included */
    uint64_t lines; /* that the row covers, line ends inside quotes counted */
    bool escapes;   /* some field holds "" */
    size_t block;   /* internal: where `mask` begins */
    uint64_t mask;  /* internal: special bytes of the block that are still ahead */
} csv_scan;

typedef enum csv_result {
    CSV_ROW,         /* fields[0..count) are the row, without the quotes around them */
    CSV_MORE,        /* the row does not end in the buffer */
    CSV_OPEN_QUOTE,  /* the text ended inside a quoted field, number count */
    CSV_AFTER_QUOTE, /* text follows the closing quote of field number count */
    CSV_MEMORY,
} csv_result;

/* The mask of the block at `at`, bits before `at` and beyond the text cleared. */
static void load_block(csv_scan *s, size_t at)
{
    s->block = at / PR_CSV_BLOCK * PR_CSV_BLOCK;
    s->mask = 0;
    if (s->block >= s->filled)
        return;
    s->mask = pr_csv_mask(s->buffer + s->block, s->delimiter) & ~(uint64_t)0 << (at - s->block);
    size_t left = s->filled - s->block;
    if (left < PR_CSV_BLOCK)
        s->mask &= ((uint64_t)1 << left) - 1;
}

static void restart(csv_scan *s)
{
    load_block(s, s->start);
}

/* Consumes the next special byte and returns its position; `filled` when there is none. */
static inline size_t next_special(csv_scan *s)
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

static bool make_room(csv_scan *s)
{
    return !s->grow ||
           pr_grow(&s->fields, &s->capacity, s->count + 1, sizeof *s->fields, NULL) == PARSREC_OK;
}

static inline bool add_field(csv_scan *s, size_t from, size_t to)
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
static size_t closing_quote(csv_scan *s, size_t at)
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

/* A field that begins with a quote at `at`. On success *at is the delimiter or line end after it,
 * which has been consumed, or `filled`. */
static csv_result quoted_field(csv_scan *s, size_t *at)
{
    size_t from = *at + 1, close = closing_quote(s, from);
    if (close == SIZE_MAX)
        return s->last ? CSV_OPEN_QUOTE : CSV_MORE;
    size_t p = close + 1;
    if (p < s->filled && s->buffer[p] == '\r') {
        if (p + 1 == s->filled && !s->last)
            return CSV_MORE;
        if (p + 1 == s->filled || s->buffer[p + 1] == '\n')
            p++;
    }
    if (p == s->filled && !s->last)
        return CSV_MORE;
    if (p < s->filled && s->buffer[p] != s->delimiter && s->buffer[p] != '\n')
        return CSV_AFTER_QUOTE;
    s->lines += count_lines(s->buffer + from, s->buffer + close);
    if (!add_field(s, from, close))
        return CSV_MEMORY;
    load_block(s, p + 1);
    *at = p;
    return CSV_ROW;
}

/* A field without quotes around it; a quote inside is a byte like others. */
static csv_result plain_field(csv_scan *s, size_t *at)
{
    size_t from = *at, p = next_special(s);
    while (p < s->filled && s->buffer[p] == '"')
        p = next_special(s);
    if (p == s->filled && !s->last)
        return CSV_MORE;
    bool ends_row = p == s->filled || s->buffer[p] == '\n';
    size_t to = ends_row && p > from && s->buffer[p - 1] == '\r' ? p - 1 : p;
    *at = p;
    return add_field(s, from, to) ? CSV_ROW : CSV_MEMORY;
}

static csv_result find_row(csv_scan *s)
{
    size_t at = s->start;
    s->count = 0;
    s->lines = 1;
    s->escapes = false;
    for (;;) {
        bool quoted = at < s->filled && s->buffer[at] == '"';
        csv_result result = quoted ? quoted_field(s, &at) : plain_field(s, &at);
        if (result != CSV_ROW) {
            restart(s);
            return result;
        }
        if (at == s->filled || s->buffer[at] == '\n') {
            s->end = at < s->filled ? at + 1 : at;
            return CSV_ROW;
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

static void unescape(csv_scan *s)
{
    size_t kept = s->count < s->capacity ? s->count : s->capacity;
    for (size_t i = 0; s->escapes && i < kept; i++) {
        size_t from = (size_t)(s->fields[i].bytes - s->buffer);
        /* Only a quoted field has a quote before it. */
        if (from > s->start && s->buffer[from - 1] == '"')
            s->fields[i].size = unescape_field(s->buffer + from, s->fields[i].size);
    }
}

/* ---- the reader ---- */

enum { FIRST_CAPACITY = 1 << 18 };

typedef struct csv {
    pr_rows base;
    pr_bytes *bytes;
    csv_scan scan;
    size_t capacity;        /* of the buffer, the block behind it not counted */
    uint64_t line;          /* of scan.start */
    uint64_t rows;          /* given so far */
    bool suspect;           /* the buffer holds a byte that is not plain ASCII text, or a NUL */
    bool ragged, skip_line; /* skip_line: this line belongs to a row that was refused */
    char *names;            /* of the columns, one after the other */
    pr_slice *columns;
} csv;

/* ---- the buffer ---- */

/* True when some byte is NUL or has its high bit set. */
static bool has_unusual(const char *bytes, size_t size)
{
    unsigned char high = 0;
    for (size_t i = 0; i < size; i++)
        high |= (unsigned char)bytes[i];
    return high >= 0x80 || memchr(bytes, '\0', size) != NULL;
}

static parsrec_status set_capacity(csv *self, size_t capacity, parsrec_error *err)
{
    char *buffer = pr_realloc(self->scan.buffer, capacity + PR_CSV_BLOCK, 1);
    if (buffer == NULL)
        return pr_fail_memory(err);
    memset(buffer + self->scan.filled, 0, capacity + PR_CSV_BLOCK - self->scan.filled);
    self->scan.buffer = buffer;
    self->capacity = capacity;
    return PARSREC_OK;
}

/* Moves the begun row to the front and fills the rest of the buffer, enlarging it for a row that
 * fills it by itself. */
static parsrec_status refill(csv *self, parsrec_error *err)
{
    csv_scan *s = &self->scan;
    size_t kept = s->filled - s->start, got;
    memmove(s->buffer, s->buffer + s->start, kept);
    s->start = 0;
    s->filled = kept;
    if (kept == self->capacity)
        PR_TRY(set_capacity(self, self->capacity * 2, err));
    PR_TRY(pr_bytes_fill(self->bytes, s->buffer + kept, self->capacity - kept, &got, err));
    s->filled += got;
    s->last = s->filled < self->capacity;
    self->suspect = has_unusual(s->buffer, s->filled);
    restart(s);
    return PARSREC_OK;
}

/* ---- continuing after a bad row ---- */

/* Moves past the next line end, even inside quotes, so that a quote left open costs one line and not
 * the rest of the file. */
static parsrec_status pass_line(csv *self, parsrec_error *err)
{
    csv_scan *s = &self->scan;
    for (;;) {
        char *end = memchr(s->buffer + s->start, '\n', s->filled - s->start);
        s->start = end != NULL ? (size_t)(end - s->buffer) + 1 : s->filled;
        if (end != NULL || s->last)
            break;
        PR_TRY(refill(self, err));
    }
    self->line++;
    self->skip_line = false;
    restart(s);
    return PARSREC_OK;
}

static void pass_row(csv *self)
{
    self->scan.start = self->scan.end;
    self->line += self->scan.lines;
}

static uint64_t place_of(const csv *self)
{
    return self->base.lines ? self->line : self->rows + 1;
}

static parsrec_status too_long(csv *self, parsrec_error *err)
{
    self->skip_line = true;
    return pr_rows_fail(&self->base, place_of(self), PR_NO_COLUMN, err,
                        "the row is longer than 1 MiB; is a quote left open?");
}

static parsrec_status bad_quote(csv *self, csv_result result, parsrec_error *err)
{
    self->skip_line = true;
    return pr_rows_fail(&self->base, place_of(self), self->scan.count, err,
                        result == CSV_OPEN_QUOTE
                            ? "a quote is left open to the end of the file; close it"
                            : "text follows the closing quote; write \"\" for a quote inside");
}

/* ---- rows ---- */

/* Scans the row at scan.start and refills the buffer as needed. */
static parsrec_status scan_row(csv *self, parsrec_error *err)
{
    csv_scan *s = &self->scan;
    for (;;) {
        csv_result result = find_row(s);
        if (result == CSV_ROW)
            break;
        if (result == CSV_MEMORY)
            return pr_fail_memory(err);
        bool unended = result == CSV_MORE || result == CSV_OPEN_QUOTE;
        if (unended && s->filled - s->start > PR_CSV_LONGEST_ROW)
            return too_long(self, err);
        if (result != CSV_MORE)
            return bad_quote(self, result, err);
        PR_TRY(refill(self, err));
    }
    return s->end - s->start > PR_CSV_LONGEST_ROW ? too_long(self, err) : PARSREC_OK;
}

static size_t field_at(const csv *self, size_t position)
{
    const csv_scan *s = &self->scan;
    size_t kept = s->count < s->capacity ? s->count : s->capacity, i = 0;
    while (i + 1 < kept && s->fields[i + 1].bytes <= s->buffer + position)
        i++;
    return i;
}

static parsrec_status check_bytes(csv *self, parsrec_error *err)
{
    csv_scan *s = &self->scan;
    const char *row = s->buffer + s->start;
    size_t size = s->end - s->start, at;
    const char *nul = memchr(row, '\0', size);
    if (nul != NULL)
        return pr_rows_fail(&self->base, place_of(self), field_at(self, (size_t)(nul - s->buffer)),
                            err, "a NUL byte; is this a text file?");
    if (!pr_utf8_valid(row, size, &at))
        return pr_rows_fail(&self->base, place_of(self), field_at(self, s->start + at), err,
                            "byte 0x%02X is not UTF-8; for ISO 8859-1 or Windows-1252 add "
                            "--encoding latin1",
                            (unsigned)(unsigned char)row[at]);
    return PARSREC_OK;
}

static parsrec_status check_row(csv *self, parsrec_error *err)
{
    const csv_scan *s = &self->scan;
    if (self->suspect)
        PR_TRY(check_bytes(self, err));
    if (s->count == self->base.column_count || self->ragged)
        return PARSREC_OK;
    const char *hint = s->count < self->base.column_count
                           ? "is the line cut?"
                           : "does a value hold the delimiter without quotes?";
    return pr_rows_fail(&self->base, place_of(self),
                        s->count < self->base.column_count ? s->count - 1 : self->base.column_count,
                        err, "%zu fields where the header has %zu; %s", s->count,
                        self->base.column_count, hint);
}

static bool is_blank(const csv_scan *s)
{
    return s->count == 1 && s->fields[0].size == 0 && s->buffer[s->start] != '"';
}

/* Accepts the scanned row: it stays in the buffer until the next call. */
static void give_row(csv *self, pr_row *row)
{
    csv_scan *s = &self->scan;
    *row = (pr_row){s->fields, s->count, place_of(self), 0};
    if (s->escapes)
        unescape(s);
    self->rows++;
    pass_row(self);
}

static parsrec_status csv_next(pr_rows *base, pr_row *row, bool *end, parsrec_error *err)
{
    csv *self = (csv *)base;
    csv_scan *s = &self->scan;
    *end = false;
    if (self->skip_line)
        PR_TRY(pass_line(self, err));
    for (;;) {
        if (s->start == s->filled && s->last) {
            *end = true;
            return PARSREC_OK;
        }
        PR_TRY(scan_row(self, err));
        if (s->start == s->filled || !is_blank(s))
            break;
        pass_row(self);
    }
    if (s->start == s->filled) {
        *end = true;
        return PARSREC_OK;
    }
    parsrec_status status = check_row(self, err);
    if (status == PARSREC_OK)
        give_row(self, row);
    else
        pass_row(self);
    return status;
}

static void csv_position(const pr_rows *base, uint64_t *done, uint64_t *total)
{
    const csv *self = (const csv *)base;
    pr_bytes_position(self->bytes, done, total);
}

static void csv_free(pr_rows *base)
{
    csv *self = (csv *)base;
    pr_bytes_free(self->bytes);
    pr_free(self->scan.buffer);
    pr_free(self->scan.fields);
    pr_free(self->names);
    pr_free(self->columns);
    pr_free(self);
}

/* ---- the header ---- */

/* The delimiter that the first line has most often outside quotes; a comma when it has none. */
static char guess_delimiter(const csv_scan *s)
{
    static const char delimiters[] = {',', '\t', ';', '|'};
    size_t counts[sizeof delimiters] = {0}, best = 0;
    bool quoted = false;
    for (const char *c = s->buffer + s->start; c < s->buffer + s->filled; c++) {
        if (*c == '\n' && !quoted)
            break;
        quoted = quoted != (*c == '"');
        for (size_t i = 0; i < sizeof delimiters && !quoted; i++)
            counts[i] += *c == delimiters[i];
    }
    for (size_t i = 1; i < sizeof delimiters; i++)
        if (counts[i] > counts[best])
            best = i;
    return delimiters[best];
}

static parsrec_status begin_text(csv *self, const pr_csv_options *options, parsrec_error *err)
{
    csv_scan *s = &self->scan;
    PR_TRY(set_capacity(self, options->buffer > 0 ? options->buffer : FIRST_CAPACITY, err));
    PR_TRY(refill(self, err));
    if (self->base.lines)
        PR_TRY(pr_kind_expect_table(s->buffer, s->filled, self->base.name, err));
    if (s->filled - s->start >= 3 && memcmp(s->buffer + s->start, "\xEF\xBB\xBF", 3) == 0)
        s->start = 3;
    s->delimiter = options->delimiter != 0 ? options->delimiter : guess_delimiter(s);
    self->base.delimiter = self->base.lines ? s->delimiter : 0;
    restart(s);
    return PARSREC_OK;
}

static parsrec_status copy_names(csv *self, parsrec_error *err)
{
    const csv_scan *s = &self->scan;
    size_t bytes = 0;
    for (size_t i = 0; i < s->count; i++)
        bytes += s->fields[i].size;
    self->names = pr_alloc(bytes, 1);
    self->columns = pr_alloc(s->count, sizeof *self->columns);
    if (self->names == NULL || self->columns == NULL)
        return pr_fail_memory(err);
    char *to = self->names;
    for (size_t i = 0; i < s->count; i++) {
        pr_slice name = pr_slice_trim(s->fields[i]);
        memcpy(to, name.bytes, name.size);
        self->columns[i] = (pr_slice){to, name.size};
        to += name.size;
    }
    self->base.columns = self->columns;
    self->base.column_count = s->count;
    return PARSREC_OK;
}

/* Without a line feed all of the file is the header. */
static parsrec_status check_line_ends(const csv *self, parsrec_error *err)
{
    for (size_t i = 0; self->base.lines && i < self->base.column_count; i++) {
        pr_slice name = self->base.columns[i];
        for (size_t at = 0; at + 1 < name.size; at++)
            if (name.bytes[at] == '\r' && name.bytes[at + 1] != '\n')
                return pr_fail(err, PARSREC_E_INPUT,
                               "%s: the lines end with a carriage return alone, as in the CSV "
                               "(Macintosh) of Excel; save it as CSV UTF-8",
                               self->base.name);
    }
    return PARSREC_OK;
}

static parsrec_status read_header(csv *self, const pr_csv_options *options, parsrec_error *err)
{
    pr_row row;
    bool end;
    PR_TRY(begin_text(self, options, err));
    self->scan.grow = self->ragged = true;
    PR_TRY(csv_next(&self->base, &row, &end, err));
    if (end)
        return pr_fail(err, PARSREC_E_INPUT, "%s: is empty; the first line must name the columns",
                       self->base.name);
    PR_TRY(copy_names(self, err));
    PR_TRY(check_line_ends(self, err));
    self->rows = 0;
    self->scan.grow = self->ragged = false;
    return PARSREC_OK;
}

void pr_csv_allow_ragged(pr_rows *base)
{
    csv *self = (csv *)base;
    self->scan.grow = self->ragged = true;
}

parsrec_status pr_csv_open(pr_rows **out, pr_bytes *bytes, const pr_csv_options *options,
                           parsrec_error *err)
{
    assert(options->buffer == 0 || options->buffer >= 3);
    *out = NULL;
    csv *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL) {
        pr_bytes_free(bytes);
        return pr_fail_memory(err);
    }
    self->base = (pr_rows){.name = bytes->name,
                           .lines = !options->database,
                           .next = csv_next,
                           .position = csv_position,
                           .free = csv_free};
    self->bytes = bytes;
    self->line = 1;
    parsrec_status status = read_header(self, options, err);
    if (status != PARSREC_OK)
        csv_free(&self->base);
    else
        *out = &self->base;
    return status;
}
