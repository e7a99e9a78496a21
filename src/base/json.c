/* Reading and writing JSON. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

enum { BYTES_PER_BYTE = 32, BYTES_FIRST = 4096 };

/* Whether there is memory to read a text of this size. Jansson 2.14 does not notice that the buffer
 * of its lexer could not grow: it then aborts by an assertion in a number and writes past the end
 * of the heap block in a string. Every text is therefore tested for room before it is read. A value
 * takes at most about 30 bytes of memory for each byte of its text ("[0,0,0]"), so that Jansson
 * finds what it needs unless other threads take it meanwhile. Nothing is written to the block, so
 * it costs no pages. */
static bool room_for(size_t size)
{
    size_t bytes;
    if (pr_mul_overflows(size, BYTES_PER_BYTE, &bytes) || bytes > SIZE_MAX - BYTES_FIRST)
        return false;
    void *room = pr_alloc(bytes + BYTES_FIRST, 1);
    pr_free(room);
    return room != NULL;
}

parsrec_status pr_json_parse(json_t **out, const char *bytes, size_t size, const char *origin,
                             parsrec_error *err)
{
    json_error_t what;
    *out = NULL;
    if (!room_for(size))
        return pr_fail_memory(err);
    *out = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &what);
    if (*out != NULL)
        return PARSREC_OK;
    /* Jansson calls a string it has no memory for a wrong token. */
    if (json_error_code(&what) == json_error_out_of_memory || !room_for(size))
        return pr_fail_memory(err);
    return pr_fail(err, PARSREC_E_FORMAT, "%s:%d:%d: not valid JSON: %s", origin, what.line,
                   what.column, what.text);
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
