/* JSON in the shape of Jansson: values, a reader and a writer (include/json/jansson.h). */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { DEPTH_MOST = 2048 };

struct json_member {
    char *key; /* NULL in arrays */
    json_t *value;
};

/* ---- values ---- */

static json_t *make(json_type type)
{
    json_t *json = calloc(1, sizeof *json);
    if (json != NULL)
        *json = (json_t){.type = type, .refcount = 1};
    return json;
}

void json_delete(json_t *json)
{
    if (json->type == JSON_STRING)
        free(json->as.text);
    if (json->type == JSON_OBJECT || json->type == JSON_ARRAY) {
        for (size_t i = 0; i < json->size; i++) {
            free(json->as.members[i].key);
            json_decref(json->as.members[i].value);
        }
        free(json->as.members);
    }
    free(json);
}

json_t *json_object(void)
{
    return make(JSON_OBJECT);
}

json_t *json_array(void)
{
    return make(JSON_ARRAY);
}

json_t *json_true(void)
{
    return make(JSON_TRUE);
}

json_t *json_false(void)
{
    return make(JSON_FALSE);
}

json_t *json_null(void)
{
    return make(JSON_NULL);
}

json_t *json_integer(json_int_t value)
{
    json_t *json = make(JSON_INTEGER);
    if (json != NULL)
        json->as.whole = value;
    return json;
}

json_t *json_real(double value)
{
    json_t *json = isfinite(value) ? make(JSON_REAL) : NULL;
    if (json != NULL)
        json->as.real = value;
    return json;
}

static char *copy_of(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

json_t *json_stringn_nocheck(const char *text, size_t size)
{
    json_t *json = make(JSON_STRING);
    char *copy = copy_of(text, size);
    if (json == NULL || copy == NULL) {
        free(json);
        free(copy);
        return NULL;
    }
    json->as.text = copy;
    json->size = size;
    return json;
}

json_t *json_stringn(const char *text, size_t size)
{
    size_t at;
    return text != NULL && pr_utf8_valid(text, size, &at) ? json_stringn_nocheck(text, size) : NULL;
}

json_t *json_string(const char *text)
{
    return text != NULL ? json_stringn(text, strlen(text)) : NULL;
}

const char *json_string_value(const json_t *json)
{
    return json_is_string(json) ? json->as.text : NULL;
}

size_t json_string_length(const json_t *json)
{
    return json_is_string(json) ? json->size : 0;
}

json_int_t json_integer_value(const json_t *json)
{
    return json_is_integer(json) ? json->as.whole : 0;
}

double json_real_value(const json_t *json)
{
    return json_is_real(json) ? json->as.real : 0;
}

double json_number_value(const json_t *json)
{
    return json_is_integer(json) ? (double)json->as.whole : json_real_value(json);
}

/* ---- arrays and objects ---- */

/* Takes over key and value; both are freed if there is no memory. */
static int append(json_t *json, char *key, json_t *value)
{
    if (json->size == json->capacity) {
        size_t more = json->capacity > 0 ? 2 * json->capacity : 8;
        struct json_member *grown = realloc(json->as.members, more * sizeof *grown);
        if (grown == NULL) {
            free(key);
            json_decref(value);
            return -1;
        }
        json->as.members = grown;
        json->capacity = more;
    }
    json->as.members[json->size++] = (struct json_member){key, value};
    return 0;
}

size_t json_array_size(const json_t *array)
{
    return json_is_array(array) ? array->size : 0;
}

json_t *json_array_get(const json_t *array, size_t i)
{
    return i < json_array_size(array) ? array->as.members[i].value : NULL;
}

int json_array_append_new(json_t *array, json_t *value)
{
    if (json_is_array(array) && value != NULL)
        return append(array, NULL, value);
    json_decref(value);
    return -1;
}

size_t json_object_size(const json_t *object)
{
    return json_is_object(object) ? object->size : 0;
}

static struct json_member *find(const json_t *object, const char *key)
{
    for (size_t i = 0; i < json_object_size(object); i++)
        if (strcmp(object->as.members[i].key, key) == 0)
            return &object->as.members[i];
    return NULL;
}

json_t *json_object_get(const json_t *object, const char *key)
{
    struct json_member *member = key != NULL ? find(object, key) : NULL;
    return member != NULL ? member->value : NULL;
}

int json_object_set_new(json_t *object, const char *key, json_t *value)
{
    if (!json_is_object(object) || key == NULL || value == NULL) {
        json_decref(value);
        return -1;
    }
    struct json_member *old = find(object, key);
    if (old != NULL) {
        json_decref(old->value);
        old->value = value;
        return 0;
    }
    char *copy = copy_of(key, strlen(key));
    if (copy != NULL)
        return append(object, copy, value);
    json_decref(value);
    return -1;
}

void *json_object_iter(json_t *object)
{
    return json_object_size(object) > 0 ? object->as.members : NULL;
}

void *json_object_iter_next(json_t *object, void *at)
{
    struct json_member *next = (struct json_member *)at + 1;
    return next < object->as.members + object->size ? next : NULL;
}

const char *json_object_iter_key(void *at)
{
    return ((struct json_member *)at)->key;
}

json_t *json_object_iter_value(void *at)
{
    return ((struct json_member *)at)->value;
}

/* ---- packing ---- */

static char next_letter(const char **format)
{
    while (**format == ' ' || **format == ',' || **format == ':')
        ++*format;
    return **format != '\0' ? *(*format)++ : '\0';
}

static json_t *pack(const char **format, va_list *args);

/* The members up to the closing letter. Values that are handed over are taken from the arguments
 * also after a failure, so that none is lost. */
static json_t *pack_list(json_t *list, char end, const char **format, va_list *args)
{
    bool bad = list == NULL;
    for (;;) {
        const char *here = *format;
        if (next_letter(&here) == end) {
            *format = here;
            break;
        }
        const char *key = NULL;
        if (end == '}') {
            next_letter(format); /* s */
            key = va_arg(*args, const char *);
        }
        json_t *value = pack(format, args);
        bad |= (end == '}' ? json_object_set_new(list, key, value)
                           : json_array_append_new(list, value)) != 0;
    }
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *pack(const char **format, va_list *args)
{
    switch (next_letter(format)) {
    case '{':
        return pack_list(json_object(), '}', format, args);
    case '[':
        return pack_list(json_array(), ']', format, args);
    case 's':
        return json_string(va_arg(*args, const char *));
    case 'o':
        return va_arg(*args, json_t *);
    case 'O':
        return json_incref(va_arg(*args, json_t *));
    case 'b':
        return json_boolean(va_arg(*args, int));
    case 'i':
        return json_integer(va_arg(*args, int));
    case 'I':
        return json_integer(va_arg(*args, json_int_t));
    case 'f':
        return json_real(va_arg(*args, double));
    default:
        return NULL;
    }
}

json_t *json_pack(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_t *json = pack(&format, &args);
    va_end(args);
    return json;
}

/* ---- reading ---- */

typedef struct reader {
    const char *start, *at, *end;
    size_t flags, depth;
    json_error_t *error;
} reader;

static json_t *stop(reader *r, const char *text)
{
    r->error->line = 1;
    const char *line = r->start;
    for (const char *p = r->start; p < r->at && p < r->end; p++)
        if (*p == '\n') {
            r->error->line++;
            line = p + 1;
        }
    r->error->column = (int)(r->at - line);
    snprintf(r->error->text, sizeof r->error->text, "%s", text);
    return NULL;
}

static json_t *stop_memory(reader *r)
{
    r->error->code = json_error_out_of_memory;
    return stop(r, "out of memory");
}

static void skip_space(reader *r)
{
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4) != NULL)
        r->at++;
}

static bool take(reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool read_hex(const char *p, const char *end, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, p++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF",
                   *d = p < end && *p != '\0' ? strchr(digits, *p) : NULL;
        if (d == NULL)
            return false;
        *code = *code << 4 | (uint32_t)((d - digits) % 16);
    }
    return true;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(first[more] | c >> (6 * more));
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> (6 * more) & 0x3F));
    return to;
}

/* After a backslash and u. NULL: a wrong escape. NUL is refused, as by Jansson. */
static char *read_code(reader *r, char *to)
{
    uint32_t code, low;
    if (!read_hex(r->at, r->end, &code))
        return NULL;
    r->at += 4;
    if (code >= 0xD800 && code < 0xDC00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u' ||
            !read_hex(r->at + 2, r->end, &low) || low < 0xDC00 || low > 0xDFFF)
            return NULL;
        r->at += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000)
        return NULL;
    return code != 0 ? put_utf8(to, code) : NULL;
}

/* After the opening quote. The text is never longer than what stands for it. */
static char *read_text(reader *r, size_t *size)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *close = r->at;
    while (close < r->end && *close != '"')
        close += *close == '\\' && r->end - close > 1 ? 2 : 1;
    char *text = malloc((size_t)(close - r->at) + 1), *to = text;
    if (text == NULL) {
        stop_memory(r);
        return NULL;
    }
    while (to != NULL && r->at < r->end && *r->at != '"' && (unsigned char)*r->at >= 0x20) {
        char c = *r->at++;
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        const char *name = r->at < r->end && *r->at != '\0' ? strchr(names, *r->at) : NULL;
        if (name != NULL) {
            *to++ = meant[name - names];
            r->at++;
        } else if (r->at < r->end && *r->at == 'u') {
            r->at++;
            to = read_code(r, to);
        } else
            to = NULL;
    }
    size_t bad;
    *size = to != NULL ? (size_t)(to - text) : 0;
    if (to == NULL || r->at == r->end || *r->at != '"' || !pr_utf8_valid(text, *size, &bad)) {
        free(text);
        stop(r, "invalid string");
        return NULL;
    }
    r->at++;
    *to = '\0';
    return text;
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static json_t *read_number(reader *r)
{
    const char *p = r->at, *from;
    bool real = false;
    p += p < r->end && *p == '-';
    from = p;
    p = digits(p, r->end);
    if (p == from || (*from == '0' && p - from > 1))
        return stop(r, "invalid token");
    if (p < r->end && *p == '.') {
        real = true;
        from = ++p;
        p = digits(p, r->end);
        if (p == from)
            return stop(r, "invalid token");
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        real = true;
        p++;
        p += p < r->end && (*p == '+' || *p == '-');
        from = p;
        p = digits(p, r->end);
        if (p == from)
            return stop(r, "invalid token");
    }
    char *copy = copy_of(r->at, (size_t)(p - r->at));
    if (copy == NULL)
        return stop_memory(r);
    errno = 0;
    double number = real ? strtod(copy, NULL) : 0;
    json_int_t whole = real ? 0 : strtoll(copy, NULL, 10);
    bool over = real ? !isfinite(number) : errno == ERANGE;
    free(copy);
    if (over)
        return stop(r, real ? "real number overflow" : "too big integer");
    r->at = p;
    json_t *json = real ? json_real(number) : json_integer(whole);
    return json != NULL ? json : stop_memory(r);
}

static json_t *read_value(reader *r);

static json_t *read_word(reader *r, const char *word, json_t *(*make_value)(void))
{
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
        return stop(r, "invalid token");
    r->at += size;
    /* "nullx" is one wrong word, not null followed by something. */
    if (r->at < r->end && ((*r->at | 0x20) >= 'a' && (*r->at | 0x20) <= 'z'))
        return stop(r, "invalid token");
    json_t *json = make_value();
    return json != NULL ? json : stop_memory(r);
}

/* The next member of an object or array; false with the error set. */
static bool read_member(reader *r, json_t *list)
{
    char *key = NULL;
    if (list->type == JSON_OBJECT) {
        size_t size;
        if (!take(r, '"'))
            return stop(r, "string or '}' expected"), false;
        key = read_text(r, &size);
        if (key == NULL)
            return false;
        const char *wrong = strlen(key) != size ? "NUL byte in object key not supported"
                            : (r->flags & JSON_REJECT_DUPLICATES) && find(list, key) != NULL
                                ? "duplicate object key"
                            : !take(r, ':') ? "':' expected"
                                            : NULL;
        if (wrong != NULL) {
            free(key);
            return stop(r, wrong), false;
        }
    }
    json_t *value = read_value(r);
    if (value == NULL) {
        free(key);
        return false;
    }
    if (append(list, key, value) != 0)
        return stop_memory(r), false;
    return true;
}

static json_t *read_list(reader *r, json_t *list, char end)
{
    if (list == NULL)
        return stop_memory(r);
    r->at++;
    bool good = r->depth++ < DEPTH_MOST;
    if (!good)
        stop(r, "maximum parsing depth reached");
    bool open = good && !take(r, end);
    while (open && good) {
        good = read_member(r, list);
        if (!good || !take(r, ','))
            break;
    }
    if (open && good && !take(r, end))
        good = stop(r, end == '}' ? "'}' expected" : "']' expected") != NULL;
    r->depth--;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *read_value(reader *r)
{
    skip_space(r);
    switch (r->at < r->end ? *r->at : '\0') {
    case '{':
        return read_list(r, json_object(), '}');
    case '[':
        return read_list(r, json_array(), ']');
    case '"': {
        size_t size;
        r->at++;
        char *text = read_text(r, &size);
        json_t *json = text != NULL ? json_stringn_nocheck(text, size) : NULL;
        free(text);
        return json != NULL || text == NULL ? json : stop_memory(r);
    }
    case 't':
        return read_word(r, "true", json_true);
    case 'f':
        return read_word(r, "false", json_false);
    case 'n':
        return read_word(r, "null", json_null);
    default:
        return read_number(r);
    }
}

json_t *json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error)
{
    reader r = {.start = bytes, .at = bytes, .end = bytes + size, .flags = flags, .error = error};
    *error = (json_error_t){0};
    skip_space(&r);
    if (r.at == r.end || (*r.at != '{' && *r.at != '['))
        return stop(&r, "'[' or '{' expected");
    json_t *json = read_value(&r);
    skip_space(&r);
    if (json == NULL || r.at == r.end)
        return json;
    json_decref(json);
    return stop(&r, "end of file expected");
}

/* ---- writing ---- */

/* Counts what does not fit, so that a first call with no room gives the size. */
typedef struct writer {
    char *bytes;
    size_t room, size, flags;
} writer;

static void put(writer *w, const char *bytes, size_t size)
{
    if (w->size <= w->room && size <= w->room - w->size && size > 0)
        memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static void put_text(writer *w, const char *text, size_t size)
{
    static const char acting[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    put(w, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        const char *known = text[i] != '\0' ? strchr(acting, text[i]) : NULL;
        char code[8] = {'\\'};
        if (known != NULL) {
            code[1] = names[known - acting];
            put(w, code, 2);
        } else if ((unsigned char)text[i] < 0x20) {
            snprintf(code, sizeof code, "\\u%04X", (unsigned)text[i]);
            put(w, code, 6);
        } else
            put(w, text + i, 1);
    }
    put(w, "\"", 1);
}

static void put_real(writer *w, double real)
{
    char text[64];
    int precision = (int)(w->flags >> 11 & 0x1F);
    int size = snprintf(text, sizeof text, "%.*g", precision > 0 ? precision : 17, real);
    if (strpbrk(text, ".e") == NULL)
        size += snprintf(text + size, sizeof text - (size_t)size, ".0");
    /* Jansson writes 1e5 and 1e-5 where printf has 1e+05 and 1e-05. */
    char *e = strchr(text, 'e');
    if (e != NULL) {
        char *from = e + 1, *to = e + 1;
        if (*from == '-')
            to++;
        from++;
        while (*from == '0')
            from++;
        memmove(to, from, strlen(from) + 1);
        size = (int)strlen(text);
    }
    put(w, text, (size_t)size);
}

static int by_key(const void *a, const void *b)
{
    const struct json_member *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static bool put_value(writer *w, const json_t *json);

static bool put_list(writer *w, const json_t *list)
{
    bool object = list->type == JSON_OBJECT, good = true;
    const struct json_member *members = list->as.members;
    struct json_member *sorted = NULL;
    if (object && (w->flags & JSON_SORT_KEYS) && list->size > 1) {
        sorted = malloc(list->size * sizeof *sorted);
        if (sorted == NULL)
            return false;
        memcpy(sorted, members, list->size * sizeof *sorted);
        qsort(sorted, list->size, sizeof *sorted, by_key);
        members = sorted;
    }
    bool compact = (w->flags & JSON_COMPACT) != 0;
    put(w, object ? "{" : "[", 1);
    for (size_t i = 0; i < list->size && good; i++) {
        if (i > 0)
            put(w, ", ", compact ? 1 : 2);
        if (object) {
            put_text(w, members[i].key, strlen(members[i].key));
            put(w, ": ", compact ? 1 : 2);
        }
        good = put_value(w, members[i].value);
    }
    put(w, object ? "}" : "]", 1);
    free(sorted);
    return good;
}

static bool put_value(writer *w, const json_t *json)
{
    char text[32];
    switch (json->type) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return put_list(w, json);
    case JSON_STRING:
        put_text(w, json->as.text, json->size);
        break;
    case JSON_INTEGER:
        put(w, text, (size_t)snprintf(text, sizeof text, "%lld", json->as.whole));
        break;
    case JSON_REAL:
        put_real(w, json->as.real);
        break;
    case JSON_TRUE:
        put(w, "true", 4);
        break;
    case JSON_FALSE:
        put(w, "false", 5);
        break;
    case JSON_NULL:
        put(w, "null", 4);
        break;
    }
    return true;
}

size_t json_dumpb(const json_t *json, char *bytes, size_t size, size_t flags)
{
    writer w = {.bytes = bytes, .room = size, .flags = flags};
    return put_value(&w, json) ? w.size : 0;
}

char *json_dumps(const json_t *json, size_t flags)
{
    size_t size = json_dumpb(json, NULL, 0, flags);
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (text == NULL || json_dumpb(json, text, size, flags) != size) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}
