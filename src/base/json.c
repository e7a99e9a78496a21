/* Reading and writing JSON. */
#include "base/json.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- memory ---- */

/* Jansson 2.14 does not notice that the buffer of its lexer could not grow: it then aborts by an
 * assertion in a number and writes past the end of the heap block in a string. So that buffer must
 * never fail. While a text is read, a reserve stands by. From the first allocation that fails on, the
 * reserve serves requests that may be the lexer's, and all others get nothing; whatever comes out is
 * thrown away, and the text counts as not read for lack of memory.
 *
 * The lexer's buffer doubles from 16 bytes, so its requests are powers of two, of less than 4 bytes
 * in sum for each byte of text. Strings, their nodes and tables may have such sizes too: `"",` takes
 * 64 bytes at most. Nodes of numbers, arrays and objects have other sizes, so that a text stops
 * being read there. Nothing is written to the reserve before, so it costs no pages. */
enum { BYTES_PER_BYTE = 32, BYTES_FIRST = 4096, ALIGNED = 16 };

typedef struct reserve {
    unsigned char *bytes;
    size_t size, used;
    bool begun; /* an allocation has failed */
} reserve;

static _Thread_local reserve *standing_by;
static json_malloc_t take_below;
static json_free_t free_below;

static void *take(size_t size)
{
    reserve *r = standing_by;
    void *memory = NULL;
    if (r == NULL || !r->begun) /* by pr_alloc, which tests can make fail, if nobody set another */
        memory = take_below == malloc ? pr_alloc(size, 1) : take_below(size);
    if (memory != NULL || r == NULL)
        return memory;
    r->begun = true;
    size_t rounded = (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if ((size & (size - 1)) != 0 || rounded > r->size - r->used)
        return NULL;
    memory = r->bytes + r->used;
    r->used += rounded;
    return memory;
}

static void give_back(void *memory)
{
    const reserve *r = standing_by;
    uintptr_t at = (uintptr_t)memory;
    if (r == NULL || at < (uintptr_t)r->bytes || at >= (uintptr_t)r->bytes + r->size)
        free_below(memory);
}

/* A program that uses Jansson itself may have set functions of its own: they stay in use. */
static void stand_between(void)
{
    json_get_alloc_funcs(&take_below, &free_below);
    json_set_alloc_funcs(take, give_back);
}

static bool reserve_open(reserve *r, size_t text_size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t bytes;
    pthread_once(&once, stand_between);
    *r = (reserve){0};
    if (pr_mul_overflows(text_size, BYTES_PER_BYTE, &bytes) || bytes > SIZE_MAX - BYTES_FIRST)
        return false;
    r->size = bytes + BYTES_FIRST;
    r->bytes = pr_alloc(r->size, 1);
    standing_by = r;
    return r->bytes != NULL;
}

/* ---- reading ---- */

parsrec_status pr_json_parse(json_t **out, const char *bytes, size_t size, const char *origin,
                             parsrec_error *err)
{
    assert(bytes != NULL || size == 0);
    reserve spare;
    json_error_t what;
    *out = NULL;
    /* No JSON text has one. Jansson 2.14 passes over it behind a number and other tokens. */
    const char *zero = size > 0 ? memchr(bytes, '\0', size) : NULL;
    if (zero != NULL)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: not valid JSON: byte %zu is zero", origin,
                       (size_t)(zero - bytes));
    json_t *json = NULL;
    bool ready = reserve_open(&spare, size);
    if (ready)
        json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &what);
    if (spare.begun) {
        json_decref(json);
        json = NULL;
    }
    standing_by = NULL;
    pr_free(spare.bytes);
    if (!ready || spare.begun)
        return pr_fail_memory(err);
    if (json == NULL)
        return pr_fail(err, PARSREC_E_FORMAT, "%s:%d:%d: not valid JSON: %s", origin, what.line,
                       what.column, what.text);
    *out = json;
    return PARSREC_OK;
}

parsrec_status pr_json_load(json_t **out, const char *path, parsrec_error *err)
{
    *out = NULL;
    pr_mapping file;
    PR_TRY(pr_file_map(&file, path, err));
    parsrec_status status = pr_json_parse(out, (const char *)file.bytes, file.size, path, err);
    pr_file_unmap(&file);
    return status;
}

/* ---- writing ---- */

char *pr_json_text(const json_t *json)
{
    size_t flags = JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    size_t size = json_dumpb(json, NULL, 0, flags);
    char *text = size > 0 ? pr_alloc(size + 1, 1) : NULL;
    if (text == NULL)
        return NULL;
    if (json_dumpb(json, text, size, flags) != size) {
        pr_free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

json_t *pr_json_string(const char *text)
{
    size_t size = strlen(text), at;
    char *copy = pr_copy_string(text, size);
    if (copy == NULL)
        return NULL;
    while (!pr_utf8_valid(copy, size, &at))
        copy[at] = '?';
    json_t *json = json_stringn(copy, size);
    pr_free(copy);
    return json;
}

char *pr_json_indented(json_t *json)
{
    char *dumped = json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    char *text = dumped != NULL ? pr_copy_string(dumped, strlen(dumped)) : NULL;
    free(dumped);
    return text;
}

parsrec_status pr_json_write(pr_writer *out, json_t *json, parsrec_error *err)
{
    char *text = pr_json_indented(json);
    if (text == NULL)
        return pr_fail_memory(err);
    pr_write(out, "%s\n", text);
    pr_free(text);
    return PARSREC_OK;
}
