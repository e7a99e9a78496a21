/* The part of Jansson's interface that the recommend path uses, for builds that have no Jansson
 * (web/wasm/json.c). Meaning and ownership are those of Jansson 2.14; a unit test compares the two.
 *
 * An object is a list in the order of insertion and is searched from its start: what is read here,
 * the header of a model file and a request, has tens of members. */
#ifndef JANSSON_H
#define JANSSON_H

#include <stddef.h>
#include <stdlib.h>

/* This reader notices that memory is missing, wherever it is: it needs no other functions. */
typedef void *(*json_malloc_t)(size_t size);
typedef void (*json_free_t)(void *memory);
static inline void json_get_alloc_funcs(json_malloc_t *take, json_free_t *give)
{
    *take = malloc;
    *give = free;
}
static inline void json_set_alloc_funcs(json_malloc_t take, json_free_t give)
{
    (void)take;
    (void)give;
}

typedef enum json_type {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_type;

typedef long long json_int_t;
#define JSON_INTEGER_FORMAT "lld"

typedef struct json_t {
    json_type type;
    size_t refcount;
    size_t size; /* bytes of a string, members of an object, elements of an array */
    size_t capacity;
    union {
        char *text;
        json_int_t whole;
        double real;
        struct json_member *members;
    } as;
} json_t;

enum json_error_code { json_error_unknown, json_error_out_of_memory };
typedef struct json_error_t {
    int line, column;
    enum json_error_code code;
    char text[80];
} json_error_t;
static inline enum json_error_code json_error_code(const json_error_t *error)
{
    return error->code;
}

#define JSON_INDENT(n)         ((n)&0x1F)
#define JSON_COMPACT           0x20
#define JSON_SORT_KEYS         0x80
#define JSON_ENCODE_ANY        0x200
#define JSON_REAL_PRECISION(n) (((n)&0x1F) << 11)
#define JSON_REJECT_DUPLICATES 0x1

json_t *json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error);
size_t json_dumpb(const json_t *json, char *bytes, size_t size, size_t flags);
char *json_dumps(const json_t *json, size_t flags); /* JSON_INDENT is not followed; free() it */

void json_delete(json_t *json);
static inline json_t *json_incref(json_t *json)
{
    if (json != NULL)
        json->refcount++;
    return json;
}
static inline void json_decref(json_t *json)
{
    if (json != NULL && --json->refcount == 0)
        json_delete(json);
}

json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *text); /* NULL if it is not UTF-8, as json_stringn */
json_t *json_stringn(const char *text, size_t size);
json_t *json_stringn_nocheck(const char *text, size_t size);
json_t *json_integer(json_int_t value);
json_t *json_real(double value);
json_t *json_true(void);
json_t *json_false(void);
json_t *json_null(void);
#define json_boolean(value) ((value) ? json_true() : json_false())
/* Of the format's letters: { } [ ] s o O b i I f. */
json_t *json_pack(const char *format, ...);

#define json_is_object(json)  ((json) != NULL && (json)->type == JSON_OBJECT)
#define json_is_array(json)   ((json) != NULL && (json)->type == JSON_ARRAY)
#define json_is_string(json)  ((json) != NULL && (json)->type == JSON_STRING)
#define json_is_integer(json) ((json) != NULL && (json)->type == JSON_INTEGER)
#define json_is_real(json)    ((json) != NULL && (json)->type == JSON_REAL)
#define json_is_number(json)  (json_is_integer(json) || json_is_real(json))
#define json_is_true(json)    ((json) != NULL && (json)->type == JSON_TRUE)
#define json_is_false(json)   ((json) != NULL && (json)->type == JSON_FALSE)
#define json_is_boolean(json) (json_is_true(json) || json_is_false(json))
#define json_is_null(json)    ((json) != NULL && (json)->type == JSON_NULL)

const char *json_string_value(const json_t *json);
size_t json_string_length(const json_t *json);
json_int_t json_integer_value(const json_t *json);
double json_real_value(const json_t *json);
double json_number_value(const json_t *json);

size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t i);
int json_array_append_new(json_t *array, json_t *value);
static inline int json_array_append(json_t *array, json_t *value)
{
    return json_array_append_new(array, json_incref(value));
}

size_t json_object_size(const json_t *object);
json_t *json_object_get(const json_t *object, const char *key);
int json_object_set_new(json_t *object, const char *key, json_t *value);
void *json_object_iter(json_t *object);
void *json_object_iter_next(json_t *object, void *at);
const char *json_object_iter_key(void *at);
json_t *json_object_iter_value(void *at);
#define json_object_foreach(object, key, value)                                                 \
    for (void *json_at = json_object_iter(object);                                              \
         json_at != NULL &&                                                                     \
         ((key) = json_object_iter_key(json_at), (value) = json_object_iter_value(json_at), 1); \
         json_at = json_object_iter_next(object, json_at))

#endif
