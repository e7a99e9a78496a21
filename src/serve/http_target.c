/* Taking a request target apart. */
#include "serve/http_target.h"

#include <string.h>

#include "base/text.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Where decoded pieces go, one after the other. */
typedef struct pieces {
    char *next;
    bool plus_is_space; /* as browsers write forms; in a query alone */
} pieces;

/* NULL for what cannot be decoded. */
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

/* The part up to `end` or the text's end; *rest goes behind it, or becomes NULL after the last. */
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

/* The text holds the raw target and behind it what is decoded, which is never longer but for the end of
 * each piece. */
target_verdict http_target_parse(http_target *target, const char *raw)
{
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
