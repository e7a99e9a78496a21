/* Growing text with a failure that sticks. */
#include "base/writer.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

static bool make_room(pr_writer *w, size_t more)
{
    if (!w->failed && pr_grow(&w->text, &w->capacity, w->size + more + 1, 1, NULL) != PARSREC_OK)
        w->failed = true;
    return !w->failed;
}

void pr_write(pr_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !make_room(w, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(w->text + w->size, (size_t)n + 1, format, args);
    va_end(args);
    w->size += (size_t)n;
}

void pr_write_bytes(pr_writer *w, const char *bytes, size_t size)
{
    assert(bytes != NULL || size == 0);
    if (!make_room(w, size))
        return;
    memcpy(w->text + w->size, bytes, size);
    w->size += size;
    w->text[w->size] = '\0';
}

/* ---- text of pages and pictures ---- */

/* Letters of Hebrew, Arabic and the other scripts that run from right to left. */
static bool runs_leftward(uint32_t c)
{
    return (c >= 0x0590 && c <= 0x08FF) || (c >= 0xFB1D && c <= 0xFDFF) ||
           (c >= 0xFE70 && c <= 0xFEFC) || (c >= 0x10800 && c <= 0x10FFF) ||
           (c >= 0x1E800 && c <= 0x1EFFF);
}

/* Where a run from right to left ends: after its last letter, over spaces, digits and signs between
 * its words. */
static const char *leftward_end(const char *text)
{
    const char *end = text;
    for (uint32_t c; (c = pr_utf8_next(&text)) != 0;) {
        if (runs_leftward(c))
            end = text;
        else if (c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
            break;
    }
    return end;
}

static void write_character(pr_writer *w, uint32_t c, const char *bytes, size_t size)
{
    switch (c) {
    case '&':
        pr_write_bytes(w, "&amp;", 5);
        break;
    case '<':
        pr_write_bytes(w, "&lt;", 4);
        break;
    case '>':
        pr_write_bytes(w, "&gt;", 4);
        break;
    case '"':
        pr_write_bytes(w, "&quot;", 6);
        break;
    case '\'':
        pr_write_bytes(w, "&#39;", 5);
        break;
    default:
        if (c == 0xFFFD || pr_is_direction_control(c) ||
            (pr_is_control(c) && c != '\n' && c != '\t'))
            pr_write_bytes(w, "\xEF\xBF\xBD", 3); /* U+FFFD; no such character is allowed in XML */
        else
            pr_write_bytes(w, bytes, size);
    }
}

/* Text from right to left is isolated (U+2068 ... U+2069), or the numbers and signs beside it would
 * change their places with it. */
void pr_write_escaped(pr_writer *w, const char *text)
{
    static const char isolate[] = "\xE2\x81\xA8", pop[] = "\xE2\x81\xA9";
    const char *end = NULL; /* of the isolated run */
    for (const char *at = text, *from = text; *from != '\0'; from = at) {
        uint32_t c = pr_utf8_next(&at);
        if (end == NULL && runs_leftward(c)) {
            end = leftward_end(from);
            pr_write_bytes(w, isolate, 3);
        }
        write_character(w, c, from, (size_t)(at - from));
        if (at == end) {
            pr_write_bytes(w, pop, 3);
            end = NULL;
        }
    }
}

/* ---- CSV ---- */

void pr_write_csv_bytes(pr_writer *w, const char *bytes, size_t size)
{
    static const char starts[] = "=+-@\t\r\n", quoted[] = ",\"\r\n";
    bool formula = size > 0 && memchr(starts, bytes[0], sizeof starts - 1) != NULL;
    bool plain = true;
    for (size_t i = 0; i < size && plain; i++)
        plain = memchr(quoted, bytes[i], sizeof quoted - 1) == NULL;
    if (!plain)
        pr_write_bytes(w, "\"", 1);
    if (formula)
        pr_write_bytes(w, "'", 1);
    if (plain) {
        pr_write_bytes(w, bytes, size);
        return;
    }
    for (size_t i = 0; i < size; i++)
        pr_write_bytes(w, bytes[i] == '"' ? "\"\"" : &bytes[i], bytes[i] == '"' ? 2 : 1);
    pr_write_bytes(w, "\"", 1);
}

void pr_write_csv(pr_writer *w, const char *text)
{
    pr_write_csv_bytes(w, text, strlen(text));
}

/* ---- JSON ---- */

/* Bytes of a JSON string that must be escaped. */
static bool needs_escape(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

static void write_escape(pr_writer *w, char c)
{
    static const char letters[] = "b\bf\fn\nr\rt\t\"\"\\\\"; /* how it is written, what it is */
    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if (letters[i + 1] == c) {
            pr_write_bytes(w, (const char[]){'\\', letters[i]}, 2);
            return;
        }
    pr_write(w, "\\u%04X", (unsigned)(unsigned char)c);
}

void pr_write_quoted(pr_writer *w, const char *bytes, size_t size)
{
    pr_write_bytes(w, "\"", 1);
    for (size_t i = 0; i < size;) {
        size_t plain = i;
        while (plain < size && !needs_escape(bytes[plain]))
            plain++;
        pr_write_bytes(w, bytes + i, plain - i);
        i = plain;
        if (i < size)
            write_escape(w, bytes[i++]);
    }
    pr_write_bytes(w, "\"", 1);
}

/* ---- numbers ---- */

enum { DECIMALS = 7, DECIMAL_ONE = 10000000, DIGITS_MOST = 24 };

/* Digits from the last to the first, before `end`; at least `least` of them. Returns where they
 * begin. */
static char *digits_before(char *end, uint64_t value, size_t least)
{
    char *at = end;
    while (value > 0 || (size_t)(end - at) < least) {
        *--at = (char)('0' + value % 10);
        value /= 10;
    }
    return at;
}

void pr_write_count(pr_writer *w, uint64_t value)
{
    char hold[DIGITS_MOST], *end = hold + sizeof hold, *begin = digits_before(end, value, 1);
    pr_write_bytes(w, begin, (size_t)(end - begin));
}

/* Digits with a point before the last `decimals` of them, without zeros at the end. */
static void write_digits(pr_writer *w, bool negative, uint64_t whole, size_t decimals, uint64_t one)
{
    char hold[DIGITS_MOST], *end = hold + sizeof hold;
    char *begin = digits_before(end, whole % one, decimals);
    *--begin = '.';
    begin = digits_before(begin, whole / one, 1);
    if (negative && whole > 0)
        *--begin = '-';
    while (end[-1] == '0' && end[-2] != '.')
        end--;
    pr_write_bytes(w, begin, (size_t)(end - begin));
}

void pr_write_decimal(pr_writer *w, double value)
{
    if (!isfinite(value))
        pr_write_bytes(w, "null", 4);
    else if (fabs(value) >= 1e9)
        pr_write(w, "%.0f.0", value);
    else
        write_digits(w, value < 0, (uint64_t)llround(fabs(value) * DECIMAL_ONE), DECIMALS,
                     DECIMAL_ONE);
}

/* Nine digits distinguish every float from its neighbours. */
static void write_float_slowly(pr_writer *w, float value)
{
    char digits[32];
    int size = snprintf(digits, sizeof digits, "%.9g", (double)value);
    bool real = false;
    for (int i = 0; i < size; i++) {
        if (strchr("0123456789+-e", digits[i]) == NULL)
            digits[i] = '.'; /* in any locale */
        real = real || digits[i] == '.' || digits[i] == 'e';
    }
    pr_write_bytes(w, digits, (size_t)size);
    if (!real)
        pr_write_bytes(w, ".0", 2);
}

void pr_write_grouped(pr_writer *writer, uint64_t value)
{
    if (value >= 1000) {
        pr_write_grouped(writer, value / 1000);
        pr_write(writer, ",%03llu", (unsigned long long)(value % 1000));
    } else {
        pr_write(writer, "%llu", (unsigned long long)value);
    }
}

/* The quick way is taken where its digits, read back, give the number again. */
void pr_write_float(pr_writer *w, float value)
{
    double size = fabs((double)value);
    uint64_t one = 100000000;
    size_t decimals = 8; /* nine digits in all */
    if (!isfinite(value)) {
        pr_write_bytes(w, "null", 4);
        return;
    }
    for (double next = 10; size >= next && decimals > 1; next *= 10, decimals--)
        one /= 10;
    uint64_t whole = size < 1e8 ? (uint64_t)llround(size * (double)one) : 0;
    if (size < 1e8 && (float)((double)whole / (double)one) == (float)size)
        write_digits(w, value < 0, whole, decimals, one);
    else
        write_float_slowly(w, value);
}

/* ---- the whole ---- */

void pr_write_wrapped(pr_writer *w, pr_writer *words, int width)
{
    assert(width > 0);
    char *text = pr_writer_take(words), *rest = NULL;
    int column = 0;
    w->failed |= text == NULL;
    for (char *word = text != NULL ? strtok_r(text, " ", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        bool fits = column == 0 || column + 1 + pr_text_width(word) <= width;
        pr_write(w, "%s%s", column == 0 ? "" : fits ? " " : "\n", word);
        column = (fits && column > 0 ? column + 1 : 0) + pr_text_width(word);
    }
    pr_write(w, "\n");
    pr_free(text);
}

char *pr_writer_take(pr_writer *w)
{
    if (!make_room(w, 0)) {
        pr_writer_free(w);
        return NULL;
    }
    char *text = w->text;
    text[w->size] = '\0';
    *w = (pr_writer){0};
    return text;
}

static parsrec_status save(const pr_writer *w, const char *path, parsrec_error *err)
{
    pr_atomic_file *file;
    if (w->failed)
        return pr_fail_memory(err);
    PR_TRY(pr_atomic_open(&file, path, err));
    parsrec_status status = pr_atomic_write(file, w->text, w->size, err);
    if (status == PARSREC_OK)
        return pr_atomic_commit(file, err);
    pr_atomic_abort(file);
    return status;
}

parsrec_status pr_writer_save(pr_writer *w, const char *path, parsrec_error *err)
{
    parsrec_status status = save(w, path, err);
    pr_writer_free(w);
    return status;
}

void pr_writer_free(pr_writer *w)
{
    pr_free(w->text);
    *w = (pr_writer){0};
}

/* ---- the ordered file: the task whose turn it is has the file to itself ---- */

struct pr_ordered_file {
    pr_atomic_file *file;
    parsrec_error failure; /* like the file, of the task whose turn it is */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    size_t turn; /* guarded by the lock */
};

parsrec_status pr_ordered_open(pr_ordered_file **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    pr_ordered_file *f = pr_alloc_zero(1, sizeof *f);
    if (f == NULL)
        return pr_fail_memory(err);
    parsrec_status status = pr_atomic_open(&f->file, path, err);
    if (status != PARSREC_OK) {
        pr_free(f);
        return status;
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->turned, NULL);
    *out = f;
    return PARSREC_OK;
}

void pr_ordered_write(pr_ordered_file *f, size_t task, pr_writer *text, bool last)
{
    pthread_mutex_lock(&f->lock);
    assert(f->turn <= task); /* a task hands in its last piece once */
    while (f->turn != task)
        pthread_cond_wait(&f->turned, &f->lock);
    pthread_mutex_unlock(&f->lock);
    if (f->failure.status == PARSREC_OK) {
        if (text->failed)
            pr_fail_memory(&f->failure);
        else if (text->size > 0)
            pr_atomic_write(f->file, text->text, text->size, &f->failure);
    }
    text->size = 0;
    text->failed = false;
    if (!last)
        return;
    pthread_mutex_lock(&f->lock);
    f->turn++;
    pthread_cond_broadcast(&f->turned);
    pthread_mutex_unlock(&f->lock);
}

parsrec_status pr_ordered_check(const pr_ordered_file *f, parsrec_error *err)
{
    if (f->failure.status == PARSREC_OK)
        return PARSREC_OK;
    return pr_fail(err, f->failure.status, "%s", f->failure.message);
}

/* Frees all but the file itself. */
static void clear(pr_ordered_file *f)
{
    pthread_cond_destroy(&f->turned);
    pthread_mutex_destroy(&f->lock);
    pr_free(f);
}

parsrec_status pr_ordered_commit(pr_ordered_file *f, parsrec_error *err)
{
    parsrec_status status = pr_ordered_check(f, err);
    if (status == PARSREC_OK)
        status = pr_atomic_commit(f->file, err);
    else
        pr_atomic_abort(f->file);
    clear(f);
    return status;
}

void pr_ordered_abort(pr_ordered_file *f)
{
    if (f == NULL)
        return;
    pr_atomic_abort(f->file);
    clear(f);
}
