/* Strict numbers, durations, UTF-8, short labels, suggestions. */
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

pr_slice pr_slice_of(const char *text)
{
    return (pr_slice){text, strlen(text)};
}

bool pr_slice_is(pr_slice s, const char *text)
{
    size_t size = strlen(text);
    return s.size == size && memcmp(s.bytes, text, size) == 0;
}

pr_slice pr_slice_trim(pr_slice s)
{
    while (s.size > 0 && (s.bytes[0] == ' ' || s.bytes[0] == '\t'))
        s = (pr_slice){s.bytes + 1, s.size - 1};
    while (s.size > 0 && (s.bytes[s.size - 1] == ' ' || s.bytes[s.size - 1] == '\t'))
        s.size--;
    return s;
}

pr_slice pr_key_trim(pr_slice key)
{
    for (;;) {
        pr_slice k = pr_slice_trim(key);
        if (k.size >= 2 && memcmp(k.bytes, "\xC2\xA0", 2) == 0)
            k = (pr_slice){k.bytes + 2, k.size - 2};
        if (k.size >= 2 && memcmp(k.bytes + k.size - 2, "\xC2\xA0", 2) == 0)
            k.size -= 2;
        if (k.size == key.size)
            return key;
        key = k;
    }
}

bool pr_parse_u64(pr_slice s, uint64_t *value)
{
    uint64_t sum = 0;
    if (s.size == 0)
        return false;
    for (size_t i = 0; i < s.size; i++) {
        unsigned digit = (unsigned)(unsigned char)s.bytes[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

bool pr_parse_i64(pr_slice s, int64_t *value)
{
    bool negative = s.size > 0 && s.bytes[0] == '-';
    if (negative)
        s = (pr_slice){s.bytes + 1, s.size - 1};
    uint64_t size;
    if (!pr_parse_u64(s, &size) || size > (uint64_t)INT64_MAX)
        return false;
    *value = negative ? -(int64_t)size : (int64_t)size;
    return true;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool pr_parse_f64(pr_slice s, double *value)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char copy[64];
    /* Only what a plain decimal number is made of: no hexadecimal, no "inf", no spaces. */
    if (s.size == 0 || s.size >= sizeof copy)
        return false;
    memcpy(copy, s.bytes, s.size);
    copy[s.size] = '\0';
    if (strspn(copy, "0123456789+-.eE") != s.size)
        return false;
    pthread_once(&once, make_c_locale);
    char *end;
    double x = c_locale != (locale_t)0 ? strtod_l(copy, &end, c_locale) : strtod(copy, &end);
    if (end != copy + s.size || !isfinite(x))
        return false;
    *value = x;
    return true;
}

bool pr_parse_duration(pr_slice s, int64_t *seconds)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    int64_t factor = 1, n;
    for (size_t i = 0; s.size > 0 && i < sizeof units / sizeof *units; i++) {
        if (s.bytes[s.size - 1] == units[i].unit) {
            factor = units[i].seconds;
            s.size--;
            break;
        }
    }
    return pr_parse_i64(s, &n) && !__builtin_mul_overflow(n, factor, seconds);
}

bool pr_parse_bytes(pr_slice text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    double factor = 1, number;
    if (text.size > 0 && text.bytes[text.size - 1] == 'B')
        text.size--;
    const char *unit = text.size > 0 ? memchr(units, text.bytes[text.size - 1], 4) : NULL;
    for (const char *u = units; unit != NULL && u <= unit; u++)
        factor *= 1024;
    text.size -= unit != NULL;
    if (!pr_parse_f64(text, &number) || number * factor < 1 || number * factor > 1e18)
        return false;
    *bytes = (uint64_t)(number * factor);
    return true;
}

/* Length of the character at s, 0 if it is not well-formed (too long, surrogate, out of range). */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    unsigned char c = s[0];
    size_t n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((c == 0xE0 && s[1] < 0xA0) || (c == 0xED && s[1] > 0x9F) || (c == 0xF0 && s[1] < 0x90) ||
        (c == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

bool pr_utf8_valid(const char *bytes, size_t size, size_t *at)
{
    const unsigned char *s = (const unsigned char *)bytes;
    size_t i = 0;
    while (i < size) {
        uint64_t eight;
        if (size - i >= 8 && (memcpy(&eight, s + i, 8), (eight & 0x8080808080808080u) == 0)) {
            i += 8;
            continue;
        }
        size_t n = utf8_length(s + i, size - i);
        if (n == 0) {
            *at = i;
            return false;
        }
        i += n;
    }
    return true;
}

/* The character of `n` bytes, which utf8_length found. */
static uint32_t decode(const unsigned char *s, size_t n)
{
    switch (n) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    case 3:
        return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    default:
        return 0xFFFD;
    }
}

uint32_t pr_utf8_next(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    size_t n = s[0] != '\0' ? utf8_length(s, strnlen(*at, 4)) : 0;
    if (s[0] == '\0')
        return 0;
    *at += n > 0 ? n : 1;
    return decode(s, n);
}

/* ---- upper and lower case ---- */

/* Upper-case letters beyond ASCII whose lower case is `add` further, every one or every second of a range. The final
 * sigma of Greek counts as the upper case of the other. Turkish letters, whose case depends on the language, are not
 * among them. */
static uint32_t lower_of(uint32_t c)
{
    static const struct {
        uint16_t first, last, step;
        int16_t add;
    } capitals[] = {
        {0x00C0, 0x00D6, 1, 32},   {0x00D8, 0x00DE, 1, 32}, {0x0100, 0x012E, 2, 1},
        {0x0132, 0x0136, 2, 1},    {0x0139, 0x0147, 2, 1},  {0x014A, 0x0176, 2, 1},
        {0x0178, 0x0178, 1, -121}, {0x0179, 0x017D, 2, 1},  {0x01CD, 0x01DB, 2, 1},
        {0x01F8, 0x021E, 2, 1},    {0x0222, 0x0232, 2, 1},  {0x0386, 0x0386, 1, 38},
        {0x0388, 0x038A, 1, 37},   {0x038C, 0x038C, 1, 64}, {0x038E, 0x038F, 1, 63},
        {0x0391, 0x03A1, 1, 32},   {0x03A3, 0x03AB, 1, 32}, {0x03C2, 0x03C2, 1, 1},
        {0x0400, 0x040F, 1, 80},   {0x0410, 0x042F, 1, 32}, {0x0460, 0x0480, 2, 1},
        {0x048A, 0x04BE, 2, 1},    {0x04C0, 0x04C0, 1, 15}, {0x04C1, 0x04CD, 2, 1},
        {0x04D0, 0x052E, 2, 1},    {0x1E00, 0x1E94, 2, 1},  {0x1E9E, 0x1E9E, 1, -7615},
        {0x1EA0, 0x1EFE, 2, 1},
    };
    for (size_t i = 0; i < sizeof capitals / sizeof *capitals && c >= capitals[i].first; i++)
        if (c <= capitals[i].last && (c - capitals[i].first) % capitals[i].step == 0)
            return (uint32_t)((int32_t)c + capitals[i].add);
    return c;
}

/* The first character of a text that is not empty, in lower case; it is taken from the text. A byte that is not UTF-8 is like
 * itself alone. */
static uint32_t take_lower(pr_slice *text)
{
    enum { BEYOND_UNICODE = 0x110000 };
    const unsigned char *s = (const unsigned char *)text->bytes;
    uint32_t c = (unsigned char)pr_lower(text->bytes[0]);
    size_t n = 1;
    if (c >= 0x80) {
        n = utf8_length(s, text->size);
        c = n > 0 ? lower_of(decode(s, n)) : c + BEYOND_UNICODE;
        n += n == 0;
    }
    *text = (pr_slice){text->bytes + n, text->size - n};
    return c;
}

/* Whether the text begins like the part, which is taken from it. */
static bool take_alike(pr_slice *text, pr_slice part)
{
    while (part.size > 0)
        if (text->size == 0 || take_lower(text) != take_lower(&part))
            return false;
    return true;
}

bool pr_text_alike(pr_slice a, pr_slice b)
{
    return take_alike(&a, b) && a.size == 0;
}

size_t pr_text_find_alike(pr_slice text, pr_slice part)
{
    for (pr_slice rest = text;; rest = (pr_slice){rest.bytes + 1, rest.size - 1}) {
        pr_slice tried = rest;
        bool whole = rest.size == 0 || pr_utf8_begins(rest.bytes[0]);
        if (whole && take_alike(&tried, part))
            return text.size - rest.size;
        if (rest.size == 0)
            return SIZE_MAX;
    }
}

size_t pr_text_lower(char *to, pr_slice text)
{
    char *out = to;
    while (text.size > 0) {
        const char *was = text.bytes;
        uint32_t c = take_lower(&text);
        size_t n = (size_t)(text.bytes - was);
        if (c < 0x80) {
            *out++ = (char)c;
        } else if (n == 2 || n == 3) {
            if (c >= 0x800)
                *out++ = (char)(0xE0 | c >> 12);
            *out++ = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3F) : 0xC0 | c >> 6);
            *out++ = (char)(0x80 | (c & 0x3F));
        } else { /* a character without case, or not UTF-8 */
            memcpy(out, was, n);
            out += n;
        }
    }
    return (size_t)(out - to);
}

bool pr_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

bool pr_is_direction_control(uint32_t c)
{
    return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

char *pr_text_clean(char *text)
{
    char *out = text;
    for (const char *at = text, *from = text; *from != '\0'; from = at) {
        uint32_t c = pr_utf8_next(&at);
        if (c == '\n' || c == '\r' || c == '\t')
            *out++ = ' ';
        else if (pr_is_control(c) || pr_is_direction_control(c))
            *out++ = '?';
        else
            while (from < at)
                *out++ = *from++;
    }
    *out = '\0';
    return text;
}

const char *pr_show(pr_excerpt *hold, pr_slice s)
{
    enum { MOST = 40 };
    size_t n = pr_utf8_cut(s.bytes, s.size, MOST);
    bool cut = n < s.size;
    char *out = hold->text;
    *out++ = '\'';
    memcpy(out, s.bytes, n);
    out += n;
    if (cut) {
        memcpy(out, "...", 3);
        out += 3;
    }
    *out++ = '\'';
    *out = '\0';
    return hold->text;
}

int pr_text_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += pr_utf8_begins(*text);
    return width;
}

size_t pr_utf8_cut(const char *bytes, size_t size, size_t most)
{
    assert(bytes != NULL || size == 0);
    if (size <= most)
        return size;
    size_t n = most;
    while (n > 0 && !pr_utf8_begins(bytes[n]))
        n--;
    return n;
}

const char *pr_utf8_at(const char *text, size_t n)
{
    for (; n > 0 && *text != '\0'; n--)
        do
            text++;
        while (!pr_utf8_begins(*text));
    return text;
}

const char *pr_digits_of(pr_digits *hold, uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *out = hold->text;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return hold->text;
}

int pr_ascending_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    assert(x == x && y == y);
    return (x > y) - (x < y);
}

int pr_ascending_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* ---- labels ---- */

typedef enum kept {
    KEPT_END,
    KEPT_DIFFERENT, /* from where it is unlike other names on */
    KEPT_BOTH,
    KEPT_BEGINNING,
    KEPT_WAYS,
} kept;

typedef struct cutting {
    pr_label_width width;
    void *context;
    int same; /* characters that another name begins with too, in whole words */
} cutting;

static const char dots[] = "…";

static double characters(void *context, const char *text)
{
    (void)context;
    return pr_text_width(text);
}

/* Keeps `keep` of the `all` characters of a text, leaving out up to `same` at its beginning
 * first. */
static void cut(char *out, const char *text, int all, int keep, int same, kept way)
{
    int first = way == KEPT_END || way == KEPT_DIFFERENT ? 0
                : way == KEPT_BOTH                       ? (keep + 1) / 2
                                                         : keep;
    const char *end = pr_utf8_at(text, (size_t)first),
               *rest = pr_utf8_at(text, (size_t)(all - (keep - first)));
    size_t size = (size_t)(end - text);
    if (way == KEPT_DIFFERENT && same == 0) { /* nothing is left out before it */
        cut(out, text, all, keep, 0, KEPT_BEGINNING);
        return;
    }
    memcpy(out, text, size);
    memcpy(out + size, dots, sizeof dots);
    out += size + sizeof dots - 1;
    if (way != KEPT_DIFFERENT || all - keep <= same) {
        strcpy(out, rest);
        return;
    }
    const char *begin = pr_utf8_at(text, (size_t)same);
    size = (size_t)(pr_utf8_at(begin, (size_t)keep) - begin);
    memcpy(out, begin, size);
    memcpy(out + size, dots, sizeof dots);
}

/* The longest cut that fits. */
static void shorten(char *out, const char *text, double limit, const cutting *c, kept way)
{
    int all = pr_text_width(text), keep = all;
    strcpy(out, text);
    while (c->width(c->context, out) > limit && --keep >= 1)
        cut(out, text, all, keep, c->same, way);
}

/* Characters that a name begins with like the name most like it, back to the last space. */
static int same_beginning(const char *const *names, size_t count, size_t i)
{
    size_t same = 0;
    for (size_t j = 0; j < count; j++) {
        size_t n = 0;
        while (names[i][n] != '\0' && names[i][n] == names[j][n])
            n++;
        if (n > same && strcmp(names[i], names[j]) != 0)
            same = n;
    }
    while (same > 0 && names[i][same - 1] != ' ')
        same--;
    int letters = 0;
    for (size_t n = 0; n < same; n++)
        letters += pr_utf8_begins(names[i][n]);
    return letters;
}

/* The ways to cut a name, the best first. Paths of categories are told apart by their ends; other names
 * are read from their beginnings. */
static const kept *ways_of(const char *name)
{
    static const kept path[KEPT_WAYS] = {KEPT_END, KEPT_DIFFERENT, KEPT_BOTH, KEPT_BEGINNING},
                      plain[KEPT_WAYS] = {KEPT_BEGINNING, KEPT_BOTH, KEPT_DIFFERENT, KEPT_END};
    return strstr(name, " > ") != NULL ? path : plain;
}

static bool looks_like_another(const char *const *cuts, const char *const *names, size_t count,
                               size_t i)
{
    for (size_t j = 0; j < count; j++)
        if (strcmp(cuts[i], cuts[j]) == 0 && strcmp(names[i], names[j]) != 0)
            return true;
    return false;
}

/* A number for a name that no cut makes unique; equal names have the same. */
static size_t number_of(const size_t *numbers, const char *const *names, size_t i)
{
    size_t most = 0;
    for (size_t j = 0; j < i; j++) {
        if (numbers[j] > 0 && strcmp(names[i], names[j]) == 0)
            return numbers[j];
        most = numbers[j] > most ? numbers[j] : most;
    }
    return most + 1;
}

parsrec_status pr_labels_fit(char **out, const char *const *names, size_t count, double limit,
                             pr_label_width width, void *context, parsrec_error *err)
{
    pr_region region = {0};
    char **cuts = pr_region_take(&region, KEPT_WAYS * count, sizeof *cuts);
    size_t *numbers = pr_region_take(&region, count, sizeof *numbers);
    parsrec_status status = pr_region_check(&region, err);
    cutting c = {width != NULL ? width : characters, context, 0};
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(names[i]) + 2 * sizeof dots + 24;
        out[i] = pr_alloc(bytes, 1);
        c.same = same_beginning(names, count, i);
        for (size_t way = 0; way < KEPT_WAYS && status == PARSREC_OK; way++) {
            char *cut_name = cuts[way * count + i] = pr_region_take(&region, bytes, 1);
            if (cut_name == NULL || out[i] == NULL)
                status = pr_fail_memory(err);
            else
                shorten(cut_name, names[i], limit, &c, ways_of(names[i])[way]);
        }
    }
    for (size_t i = 0; i < count && status == PARSREC_OK; i++) {
        size_t way = 0;
        const char *const *list = (const char *const *)cuts;
        while (way < KEPT_WAYS && looks_like_another(list + way * count, names, count, i))
            way++;
        if (way < KEPT_WAYS) {
            strcpy(out[i], cuts[way * count + i]);
            continue;
        }
        char number[24];
        numbers[i] = number_of(numbers, names, i);
        snprintf(number, sizeof number, " (%zu)", numbers[i]);
        shorten(out[i], names[i], limit - c.width(context, number), &c, KEPT_BEGINNING);
        strcat(out[i], number);
    }
    pr_region_free(&region);
    return status;
}

/* ---- suggestions ---- */

enum { LONGEST = 64, FAR = 1000 }; /* longer words are compared by their beginnings */

static bool begins(pr_slice text, size_t at, pr_slice part)
{
    for (size_t i = 0; i < part.size; i++)
        if (pr_lower(text.bytes[at + i]) != pr_lower(part.bytes[i]))
            return false;
    return true;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters to insert, remove or replace, or neighbours to exchange, that turn one into the other
 * (the restricted Damerau-Levenshtein distance), row by row. */
static unsigned edits(pr_slice a, pr_slice b)
{
    unsigned rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b.size; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a.size; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b.size; j++) {
            bool equal = pr_lower(a.bytes[i - 1]) == pr_lower(b.bytes[j - 1]);
            now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + !equal);
            if (i > 1 && j > 1 && pr_lower(a.bytes[i - 1]) == pr_lower(b.bytes[j - 2]) &&
                pr_lower(a.bytes[i - 2]) == pr_lower(b.bytes[j - 1]))
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a.size % 3][b.size];
}

/* 0 equal but for case, 1 begins with, 2 contains, 3 and more: letters that differ; FAR
 * otherwise. */
static unsigned distance(pr_slice wanted, pr_slice known)
{
    if (wanted.size == 0 || known.size == 0)
        return FAR;
    if (known.size >= wanted.size && begins(known, 0, wanted))
        return known.size == wanted.size ? 0 : 1;
    for (size_t at = 1; wanted.size > 2 && at + wanted.size <= known.size; at++)
        if (begins(known, at, wanted))
            return 2;
    size_t longer = wanted.size > known.size ? wanted.size : known.size;
    size_t shorter = wanted.size + known.size - longer;
    unsigned allowed = least((unsigned)(longer + 3) / 4, 3);
    if (longer > LONGEST || longer - shorter > allowed)
        return FAR;
    unsigned n = edits(wanted, known);
    return n <= allowed && n < longer ? n + 2 : FAR;
}

void pr_suggest_start(pr_suggest *suggest, pr_slice wanted)
{
    suggest->wanted = wanted;
    suggest->count = 0;
    suggest->sentence[0] = '\0';
}

void pr_suggest_offer(pr_suggest *suggest, pr_slice known)
{
    assert(suggest->count <= PR_SUGGESTIONS);
    unsigned d = distance(suggest->wanted, known);
    if (d == FAR ||
        (suggest->count == PR_SUGGESTIONS && d >= suggest->distance[suggest->count - 1]))
        return;
    pr_excerpt shown;
    pr_show(&shown, known);
    for (size_t i = 0; i < suggest->count; i++)
        if (strcmp(suggest->near[i].text, shown.text) == 0)
            return;
    size_t at = suggest->count < PR_SUGGESTIONS ? suggest->count++ : PR_SUGGESTIONS - 1;
    for (; at > 0 && suggest->distance[at - 1] > d; at--) {
        suggest->distance[at] = suggest->distance[at - 1];
        suggest->near[at] = suggest->near[at - 1];
    }
    suggest->distance[at] = d;
    suggest->near[at] = shown;
}

const char *pr_suggest_sentence(pr_suggest *suggest)
{
    size_t used = 0;
    for (size_t i = 0; i < suggest->count; i++)
        used += (size_t)snprintf(suggest->sentence + used, sizeof suggest->sentence - used, "%s%s",
                                 i == 0                   ? " (did you mean "
                                 : i + 1 < suggest->count ? ", "
                                                          : " or ",
                                 suggest->near[i].text);
    if (used > 0)
        snprintf(suggest->sentence + used, sizeof suggest->sentence - used, "?)");
    return suggest->sentence;
}
