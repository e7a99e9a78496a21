/* Strict numbers, durations, UTF-8. */
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

uint32_t pr_utf8_next(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    size_t n = s[0] != '\0' ? utf8_length(s, strnlen(*at, 4)) : 0;
    if (s[0] == '\0')
        return 0;
    *at += n > 0 ? n : 1;
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
