/* Record batches of an Arrow stream as rows. The layouts are those of the Arrow columnar format; only
 * the structs of its C interface are used, no library.
 *
 * A field of text is a view into the producer's buffer. Numbers and times are written as text into
 * the column's own few bytes, so that import reads the same characters as from a CSV file; a value
 * equal to the one before is not written again. Only chosen columns are looked at. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dates.h"
#include "base/memory.h"
#include "import/rows.h"

/* ---- types ---- */

typedef enum cell_kind {
    CELL_UNKNOWN,
    CELL_NULL, /* no buffers: all fields are empty */
    CELL_TEXT, /* offsets of `width` bytes, and the characters */
    CELL_VIEW, /* 16 bytes per cell, with short texts inside and the place of long ones in a buffer */
    CELL_POINTER, /* the same with the address of long ones */
    CELL_SIGNED,  /* whole numbers of `width` bytes */
    CELL_UNSIGNED,
    CELL_FLOAT, /* 4 or 8 bytes */
    CELL_BOOLEAN,
    CELL_TIME, /* `width` bytes: `unit` ticks per second, or days if `unit` is 0 */
} cell_kind;

typedef struct cell_type {
    cell_kind kind;
    unsigned width;
    int64_t unit;
} cell_type;

static bool is_text(cell_kind kind)
{
    return kind == CELL_TEXT || kind == CELL_VIEW || kind == CELL_POINTER;
}

/* The type that a format string of the C data interface names. */
static cell_type type_of(const char *format)
{
    static const struct {
        const char *format;
        cell_type type;
    } types[] = {{"n", {CELL_NULL, 0, 0}},
                 {"u", {CELL_TEXT, 4, 0}},
                 {"U", {CELL_TEXT, 8, 0}},
                 {"vu", {CELL_VIEW, 16, 0}},
                 {PR_ARROW_CELLS, {CELL_POINTER, 16, 0}},
                 {"c", {CELL_SIGNED, 1, 0}},
                 {"s", {CELL_SIGNED, 2, 0}},
                 {"i", {CELL_SIGNED, 4, 0}},
                 {"l", {CELL_SIGNED, 8, 0}},
                 {"C", {CELL_UNSIGNED, 1, 0}},
                 {"S", {CELL_UNSIGNED, 2, 0}},
                 {"I", {CELL_UNSIGNED, 4, 0}},
                 {"L", {CELL_UNSIGNED, 8, 0}},
                 {"f", {CELL_FLOAT, 4, 0}},
                 {"g", {CELL_FLOAT, 8, 0}},
                 {"b", {CELL_BOOLEAN, 0, 0}},
                 {"tdD", {CELL_TIME, 4, 0}},
                 {"tdm", {CELL_TIME, 8, 1000}},
                 {"tss:", {CELL_TIME, 8, 1}},
                 {"tsm:", {CELL_TIME, 8, 1000}},
                 {"tsu:", {CELL_TIME, 8, 1000000}},
                 {"tsn:", {CELL_TIME, 8, 1000000000}}};
    for (size_t i = 0; format != NULL && i < sizeof types / sizeof *types; i++) {
        bool stamp = strncmp(format, "ts", 2) == 0; /* a time zone follows; values are UTC */
        if (stamp ? strncmp(format, types[i].format, 4) == 0 : strcmp(format, types[i].format) == 0)
            return types[i].type;
    }
    return (cell_type){CELL_UNKNOWN, 0, 0};
}

/* ---- cells of one array ---- */

typedef struct cells {
    cell_type type;
    const struct ArrowArray *array;
    int64_t first, count; /* places in the buffers that may be asked for */
    const uint8_t *valid; /* a bit per place; NULL: no nulls */
    bool suspect;         /* the text may hold a NUL or a byte that is not ASCII */
} cells;

typedef struct column {
    cells values; /* of the column, or of its dictionary */
    cells index;  /* into the dictionary; CELL_UNKNOWN: there is none */
    bool chosen;
    bool written; /* `text` is that of `last` */
    uint64_t last;
    size_t size;
    char text[40];
} column;

enum { WINDOW = 1024 };

typedef struct arrow {
    pr_rows base;
    struct ArrowArrayStream *stream;
    struct ArrowSchema schema;
    struct ArrowArray batch; /* not there: release is NULL */
    int64_t at;              /* of the batch: its next row */
    bool follows;            /* the row before is in the batch too, and `fields` are its fields */
    int64_t seen;            /* of the batch: rows up to here have their `same` */
    uint64_t same[WINDOW];   /* of row n of the batch: number n % WINDOW, as in pr_row */
    uint64_t row;            /* rows given so far */
    pr_slice *names, *fields;
    column *columns;
    size_t *chosen, chosen_count;
    uint64_t not_chosen; /* pr_row_bit of the others */
} arrow;

static const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;

/* Only ASCII, and no NUL. A word of such bytes has no high bit, and none after 1 is taken from each. */
static inline bool is_plain(const char *bytes, size_t size)
{
    uint64_t odd = 0, word;
    if (size < sizeof word) {
        for (size_t i = 0; i < size; i++)
            odd |= (uint64_t)(bytes[i] <= 0);
        return odd == 0;
    }
    for (size_t i = 0; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        odd |= (word - ones) | word;
    }
    memcpy(&word, bytes + size - sizeof word, sizeof word);
    return ((odd | (word - ones) | word) & high) == 0;
}

static int64_t offset_at(const cells *c, int64_t place)
{
    const void *offsets = c->array->buffers[1];
    return c->type.width == 4 ? ((const int32_t *)offsets)[place]
                              : ((const int64_t *)offsets)[place];
}

/* The characters of all places lie between the first offset and the last. */
static bool text_is_suspect(const cells *c)
{
    int64_t from = offset_at(c, c->first), to = offset_at(c, c->first + c->count);
    const char *bytes = c->array->buffers[2];
    return from < 0 || to < from || (to > from && !is_plain(bytes + from, (size_t)(to - from)));
}

/* Points `c` at `count` places of an array after `skip`. False if the array is not of the type. */
static bool set_cells(cells *c, const struct ArrowArray *array, int64_t skip, int64_t count)
{
    int64_t buffers = c->type.kind == CELL_NULL                                ? 0
                      : c->type.kind == CELL_TEXT || c->type.kind == CELL_VIEW ? 3
                                                                               : 2;
    bool fits = array != NULL && skip >= 0 && count >= 0 && array->offset >= 0 &&
                array->length >= skip && array->length - skip >= count &&
                array->n_buffers >= buffers && (buffers == 0 || array->buffers != NULL) &&
                (buffers == 0 || count == 0 || array->buffers[1] != NULL);
    if (!fits)
        return false;
    c->array = array;
    c->first = array->offset + skip;
    c->count = count;
    c->valid = buffers > 0 && array->null_count != 0 ? array->buffers[0] : NULL;
    c->suspect = c->type.kind == CELL_VIEW || c->type.kind == CELL_POINTER ||
                 (c->type.kind == CELL_TEXT && count > 0 && text_is_suspect(c));
    return true;
}

static bool is_null(const cells *c, int64_t place)
{
    return c->type.kind == CELL_NULL ||
           (c->valid != NULL && (c->valid[place / 8] >> place % 8 & 1) == 0);
}

/* A whole number, a time or a dictionary's place, as 64 bits. */
static uint64_t whole_at(const cells *c, int64_t place)
{
    const void *values = c->array->buffers[1];
    bool sign = c->type.kind != CELL_UNSIGNED;
    switch (c->type.width) {
    case 1:
        return sign ? (uint64_t)((const int8_t *)values)[place] : ((const uint8_t *)values)[place];
    case 2:
        return sign ? (uint64_t)((const int16_t *)values)[place]
                    : ((const uint16_t *)values)[place];
    case 4:
        return sign ? (uint64_t)((const int32_t *)values)[place]
                    : ((const uint32_t *)values)[place];
    default:
        return ((const uint64_t *)values)[place];
    }
}

static double float_at(const cells *c, int64_t place)
{
    const void *values = c->array->buffers[1];
    return c->type.width == 4 ? (double)((const float *)values)[place]
                              : ((const double *)values)[place];
}

/* ---- text ---- */

/* False if the offsets are not those of a text. */
static bool text_at(const cells *c, int64_t place, pr_slice *text)
{
    int64_t from = offset_at(c, place), to = offset_at(c, place + 1);
    const char *bytes = c->array->buffers[2];
    if (from < 0 || to < from || (to > from && bytes == NULL))
        return false;
    *text = to > from ? (pr_slice){bytes + from, (size_t)(to - from)} : (pr_slice){"", 0};
    return true;
}

enum { VIEW_BYTES = 16, VIEW_INSIDE = 12 };

/* is_plain of a text inside a view, whose 12 bytes are there whatever the size: without a branch, since
 * sizes vary from row to row. */
static inline bool is_plain_inside(const char *view, size_t size)
{
    uint64_t head;
    uint32_t tail;
    memcpy(&head, view + 4, sizeof head);
    memcpy(&tail, view + 4 + sizeof head, sizeof tail);
    uint64_t last = tail | ones << 32;
    head |= size < 8 ? ones << size * 8 : 0; /* what lies behind the text counts as plain */
    head &= size < 8 ? ~(high << size * 8) : ~(uint64_t)0;
    last |= size < 12 ? ones << (size < 8 ? 0 : size - 8) * 8 : 0;
    last &= size < 12 ? ~(high << (size < 8 ? 0 : size - 8) * 8) : ~(uint64_t)0;
    return (((head - ones) | head | (last - ones) | last) & high) == 0;
}

/* A view is a length and 12 characters; or a length, 4 characters, and a buffer and an offset in it, or an
 * address. */
static bool view_at(const cells *c, int64_t place, pr_slice *text, bool *plain)
{
    const struct ArrowArray *a = c->array;
    const char *view = (const char *)a->buffers[1] + place * VIEW_BYTES;
    int32_t size, buffer, offset;
    memcpy(&size, view, sizeof size);
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    if (size < 0)
        return false;
    if (size <= VIEW_INSIDE) {
        *text = (pr_slice){view + 4, (size_t)size};
        *plain = is_plain_inside(view, (size_t)size);
        return true;
    }
    if (c->type.kind == CELL_POINTER) {
        const char *bytes;
        memcpy(&bytes, view + 8, sizeof bytes);
        *text = (pr_slice){bytes, (size_t)size};
        return true;
    }
    const int64_t *sizes = a->buffers[a->n_buffers - 1];
    if (buffer < 0 || buffer >= a->n_buffers - 3 || offset < 0 ||
        sizes[buffer] < (int64_t)offset + size)
        return false;
    *text = (pr_slice){(const char *)a->buffers[2 + buffer] + offset, (size_t)size};
    return true;
}

static parsrec_status check_text(const arrow *self, size_t i, pr_slice text, parsrec_error *err)
{
    size_t at;
    if (text.size > 0 && memchr(text.bytes, '\0', text.size) != NULL)
        return pr_rows_fail(&self->base, self->row, i, err, "a NUL byte; is this a text?");
    if (!pr_utf8_valid(text.bytes, text.size, &at))
        return pr_rows_fail(&self->base, self->row, i, err, "the text is not UTF-8");
    return PARSREC_OK;
}

/* ---- numbers and times as text ---- */

static size_t write_whole(char *text, uint64_t value, bool negative)
{
    char digits[20];
    size_t n = 0, used = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    if (negative)
        text[used++] = '-';
    while (n > 0)
        text[used++] = digits[--n];
    return used;
}

/* Whole numbers without a point, as a column of numbers with nulls holds the keys of pandas. */
static size_t write_float(char *text, size_t room, double value)
{
    if (isnan(value))
        return 0;
    if (fabs(value) < 9007199254740992.0 && value == floor(value))
        return write_whole(text, (uint64_t)fabs(value), value < 0);
    return (size_t)snprintf(text, room, "%.17g", value);
}

/* A mark, then `count` digits; where they end. */
static char *put_digits(char *at, char mark, unsigned value, size_t count)
{
    *at++ = mark;
    for (size_t i = count; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + count;
}

/* Seconds since 1970 as ISO 8601 into text[20]. 0 if the year has more than four digits. Every session has a time:
 * printf would take a tenth of an import. */
static size_t write_time(char *text, int64_t value, int64_t unit)
{
    enum { DAY = 86400 };
    int64_t seconds = unit > 0 ? value / unit - (value % unit < 0) : 0;
    int64_t days = unit > 0 ? seconds / DAY - (seconds % DAY < 0) : value;
    if (days < -719528 || days > 2932896) /* 0000-01-01 to 9999-12-31 */
        return 0;
    pr_civil_date date = pr_civil_date_of(days);
    char all[24]; /* with a mark in front of the year */
    char *at = put_digits(all, ' ', (unsigned)date.year, 4);
    at = put_digits(at, '-', (unsigned)date.month, 2);
    at = put_digits(at, '-', (unsigned)date.day, 2);
    if (unit > 0) {
        unsigned second = (unsigned)(seconds - days * DAY);
        at = put_digits(at, 'T', second / 3600, 2);
        at = put_digits(at, ':', second / 60 % 60, 2);
        at = put_digits(at, ':', second % 60, 2);
    }
    size_t size = (size_t)(at - all) - 1;
    memcpy(text, all + 1, size);
    return size;
}

/* The text of a value that is not text, in c->text. False for a time that cannot be written. */
static bool write_value(column *c, int64_t place)
{
    const cells *v = &c->values;
    double real = 0;
    uint64_t value;
    if (v->type.kind == CELL_FLOAT) {
        real = float_at(v, place);
        memcpy(&value, &real, sizeof value);
    } else if (v->type.kind == CELL_BOOLEAN) {
        value = ((const uint8_t *)v->array->buffers[1])[place / 8] >> place % 8 & 1;
    } else {
        value = whole_at(v, place);
    }
    if (c->written && value == c->last)
        return true;
    c->written = false;
    bool negative = v->type.kind == CELL_SIGNED && (int64_t)value < 0;
    switch (v->type.kind) {
    case CELL_SIGNED:
    case CELL_UNSIGNED:
        c->size = write_whole(c->text, negative ? -value : value, negative);
        break;
    case CELL_FLOAT:
        c->size = write_float(c->text, sizeof c->text, real);
        break;
    case CELL_BOOLEAN:
        c->size = (size_t)snprintf(c->text, sizeof c->text, "%s", value != 0 ? "true" : "false");
        break;
    default:
        c->size = write_time(c->text, (int64_t)value, v->type.unit);
        if (c->size == 0)
            return false;
    }
    c->last = value;
    c->written = true;
    return true;
}

/* ---- rows ---- */

static parsrec_status read_field(arrow *self, size_t i, parsrec_error *err)
{
    column *c = &self->columns[i];
    const cells *v = &c->values;
    bool coded = c->index.type.kind != CELL_UNKNOWN, good = true, plain = !v->suspect;
    int64_t place = (coded ? c->index.first : v->first) + self->at;
    pr_slice *field = &self->fields[i];
    *field = (pr_slice){"", 0};
    if (coded && is_null(&c->index, place))
        return PARSREC_OK;
    if (coded) {
        uint64_t code = whole_at(&c->index, place);
        if (code >= (uint64_t)v->count)
            return pr_rows_fail(&self->base, self->row, i, err,
                                "code %" PRIu64 " is not in the dictionary of %" PRId64 " values",
                                code, v->count);
        place = v->first + (int64_t)code;
    }
    if (is_null(v, place))
        return PARSREC_OK;
    if (v->type.kind == CELL_TEXT)
        good = text_at(v, place, field);
    else if (v->type.kind == CELL_VIEW || v->type.kind == CELL_POINTER)
        good = view_at(v, place, field, &plain);
    else if (!write_value(c, place))
        return pr_rows_fail(&self->base, self->row, i, err,
                            "the time lies outside the years 0 to 9999");
    else
        *field = (pr_slice){c->text, c->size};
    if (!good)
        return pr_rows_fail(&self->base, self->row, i, err, "the offsets of the text are wrong");
    if (plain || is_plain(field->bytes, field->size))
        return PARSREC_OK;
    return check_text(self, i, *field, err);
}

static parsrec_status fail_stream(arrow *self, int code, const char *what, parsrec_error *err)
{
    const char *text =
        self->stream->get_last_error != NULL ? self->stream->get_last_error(self->stream) : NULL;
    return pr_fail(err, PARSREC_E_IO, "%s: %s: %s", self->base.name, what,
                   text != NULL && text[0] != '\0' ? text : strerror(code));
}

static void drop_batch(arrow *self)
{
    if (self->batch.release != NULL)
        self->batch.release(&self->batch);
    self->batch = (struct ArrowArray){0};
    self->at = self->seen = 0;
    self->follows = false;
}

/* The next batch that has rows; without one, batch.release is NULL. */
static parsrec_status next_batch(arrow *self, parsrec_error *err)
{
    do {
        drop_batch(self);
        int code = self->stream->get_next(self->stream, &self->batch);
        if (code != 0) {
            self->batch.release = NULL;
            return fail_stream(self, code, "reading rows failed", err);
        }
    } while (self->batch.release != NULL && self->batch.length == 0);
    if (self->batch.release == NULL)
        return PARSREC_OK;
    const struct ArrowArray *b = &self->batch;
    bool fits = b->n_children == self->schema.n_children && b->offset >= 0 && b->length > 0;
    for (size_t i = 0; fits && i < self->base.column_count; i++) {
        column *c = &self->columns[i];
        const struct ArrowArray *child = b->children[i];
        bool coded = c->index.type.kind != CELL_UNKNOWN;
        if (!c->chosen)
            continue;
        fits = set_cells(coded ? &c->index : &c->values, child, b->offset, b->length);
        if (fits && coded)
            fits = child->dictionary != NULL &&
                   set_cells(&c->values, child->dictionary, 0, child->dictionary->length);
    }
    if (!fits)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: a batch of the Arrow stream does not match its schema",
                       self->base.name);
    return PARSREC_OK;
}

/* ---- fields that repeat ---- */

static inline void mark_cells(const char *cell, size_t width, size_t count, uint64_t bit,
                              uint64_t *same)
{
    for (size_t r = 0; r < count; r++, cell += width)
        same[r] |= memcmp(cell, cell - width, width) == 0 ? bit : 0;
}

/* Marks the cells from place `from` on that have the bits of the one above: then their texts are equal. The
 * other way round this is true of texts inside a view, and of numbers as far as it matters. Of cells that may
 * be null nothing is said. */
static void mark_repeats(const cells *v, int64_t from, size_t count, uint64_t bit, uint64_t *same)
{
    if (v->valid != NULL || v->type.width == 0 || v->type.kind == CELL_TEXT)
        return;
    const char *cell = (const char *)v->array->buffers[1] + from * (int64_t)v->type.width;
    switch (v->type.width) {
    case 1:
        mark_cells(cell, 1, count, bit, same);
        break;
    case 2:
        mark_cells(cell, 2, count, bit, same);
        break;
    case 4:
        mark_cells(cell, 4, count, bit, same);
        break;
    case 8:
        mark_cells(cell, 8, count, bit, same);
        break;
    default:
        mark_cells(cell, VIEW_BYTES, count, bit, same);
    }
}

/* Compares the next rows of the batch with those above them, column by column. */
static void look_ahead(arrow *self)
{
    int64_t left = self->batch.length - self->at;
    size_t count = left < WINDOW ? (size_t)left : WINDOW, first = self->at == 0;
    for (size_t r = 0; r < count; r++)
        self->same[r] = self->not_chosen;
    for (size_t k = 0; k < self->chosen_count; k++) {
        size_t i = self->chosen[k];
        const column *c = &self->columns[i];
        const cells *v = c->index.type.kind != CELL_UNKNOWN ? &c->index : &c->values;
        if (i < 63)
            mark_repeats(v, v->first + self->at + (int64_t)first, count - first, pr_row_bit(i),
                         self->same + first);
    }
    self->seen = self->at + (int64_t)count;
}

/* The same for those of which mark_repeats says nothing, by their texts. */
static bool repeats_text(const column *c, pr_slice above, pr_slice text)
{
    const cells *v = &c->values;
    return is_text(v->type.kind) &&
           (v->type.kind == CELL_TEXT || v->valid != NULL || text.size > VIEW_INSIDE) &&
           pr_slice_equal(above, text);
}

static parsrec_status arrow_next(pr_rows *base, pr_row *row, bool *end, parsrec_error *err)
{
    arrow *self = (arrow *)base;
    if (self->batch.release == NULL || self->at == self->batch.length)
        PR_TRY(next_batch(self, err));
    *end = self->batch.release == NULL;
    if (*end)
        return PARSREC_OK;
    self->row++;
    parsrec_status status = PARSREC_OK;
    if (self->at == self->seen)
        look_ahead(self);
    uint64_t same = self->same[self->at % WINDOW];
    if (!self->follows)
        same = self->row > 1 ? self->not_chosen : 0;
    for (size_t k = 0; k < self->chosen_count && status == PARSREC_OK; k++) {
        size_t i = self->chosen[k];
        pr_slice above = self->fields[i];
        if ((same & pr_row_bit(i)) != 0)
            continue;
        status = read_field(self, i, err);
        if (self->follows && i < 63 && repeats_text(&self->columns[i], above, self->fields[i]))
            same |= pr_row_bit(i);
    }
    self->follows = status == PARSREC_OK;
    self->at++;
    *row = (pr_row){self->fields, base->column_count, self->row, same};
    return status;
}

static void arrow_position(const pr_rows *base, uint64_t *done, uint64_t *total)
{
    *done = ((const arrow *)base)->row;
    *total = 0;
}

static void arrow_free(pr_rows *base)
{
    arrow *self = (arrow *)base;
    drop_batch(self);
    if (self->schema.release != NULL)
        self->schema.release(&self->schema);
    pr_free(self->names);
    pr_free(self->fields);
    pr_free(self->columns);
    pr_free(self->chosen);
    pr_free(self);
}

/* ---- opening ---- */

static parsrec_status arrow_choose(pr_rows *base, const size_t *columns, size_t count,
                                   parsrec_error *err)
{
    arrow *self = (arrow *)base;
    assert(self->row == 0);
    for (size_t i = 0; i < count; i++) {
        column *c = &self->columns[columns[i]];
        const struct ArrowSchema *s = self->schema.children[columns[i]];
        if (c->values.type.kind == CELL_UNKNOWN)
            return pr_fail(err, PARSREC_E_INPUT,
                           "%s: column '%.*s' has the Arrow type '%s', which is not read; make it "
                           "text, a number or a timestamp",
                           base->name, (int)base->columns[columns[i]].size,
                           base->columns[columns[i]].bytes,
                           s->dictionary != NULL ? s->dictionary->format : s->format);
        if (!c->chosen)
            self->chosen[self->chosen_count++] = columns[i];
        self->not_chosen &= ~pr_row_bit(columns[i]);
        c->chosen = true;
    }
    return PARSREC_OK;
}

static void describe_column(arrow *self, size_t i)
{
    const struct ArrowSchema *s = self->schema.children[i];
    column *c = &self->columns[i];
    self->names[i] = pr_slice_of(s->name != NULL ? s->name : "");
    self->fields[i] = (pr_slice){"", 0};
    if (s->dictionary == NULL) {
        c->values.type = type_of(s->format);
        return;
    }
    c->index.type = type_of(s->format);
    if (c->index.type.kind == CELL_SIGNED || c->index.type.kind == CELL_UNSIGNED)
        c->values.type = type_of(s->dictionary->format);
}

static parsrec_status read_schema(arrow *self, parsrec_error *err)
{
    int code = self->stream->get_schema(self->stream, &self->schema);
    if (code != 0) {
        self->schema.release = NULL;
        return fail_stream(self, code, "the schema cannot be read", err);
    }
    const struct ArrowSchema *s = &self->schema;
    if (s->release == NULL || s->format == NULL || strcmp(s->format, "+s") != 0 ||
        s->n_children <= 0)
        return pr_fail(err, PARSREC_E_INPUT,
                       "%s: the Arrow stream has no named columns; give a table or record batches",
                       self->base.name);
    size_t count = (size_t)s->n_children;
    self->names = pr_alloc(count, sizeof *self->names);
    self->fields = pr_alloc(count, sizeof *self->fields);
    self->columns = pr_alloc_zero(count, sizeof *self->columns);
    self->chosen = pr_alloc(count, sizeof *self->chosen);
    if (self->names == NULL || self->fields == NULL || self->columns == NULL ||
        self->chosen == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        describe_column(self, i);
    self->base.columns = self->names;
    self->base.column_count = count;
    self->not_chosen = ~pr_row_bit(PR_NO_COLUMN);
    return PARSREC_OK;
}

parsrec_status pr_arrow_open(pr_rows **out, const char *name, struct ArrowArrayStream *stream,
                             parsrec_error *err)
{
    assert(name != NULL && stream != NULL && stream->release != NULL);
    *out = NULL;
    arrow *self = pr_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return pr_fail_memory(err);
    self->stream = stream;
    self->base = (pr_rows){.name = name,
                           .choose = arrow_choose,
                           .next = arrow_next,
                           .position = arrow_position,
                           .free = arrow_free};
    parsrec_status status = read_schema(self, err);
    if (status != PARSREC_OK)
        arrow_free(&self->base);
    else
        *out = &self->base;
    return status;
}
