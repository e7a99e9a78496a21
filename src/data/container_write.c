/* Writing a container: layout, header, checksum, then all bytes in one go. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/container_checksum.h"
#include "data/container_entry.h"

typedef struct writer {
    const char *path;
    pr_container_entry *entries; /* in the order of the file */
    size_t count;
    json_t *json;
    char *head; /* length, header, spaces */
    size_t head_size;
} writer;

typedef parsrec_status sink(void *context, const void *bytes, size_t size, parsrec_error *err);

static uint64_t aligned(uint64_t at)
{
    return (at + PR_ALIGNMENT - 1) / PR_ALIGNMENT * PR_ALIGNMENT;
}

static int by_size_then_name(const void *left, const void *right)
{
    const pr_tensor *a = &((const pr_container_entry *)left)->tensor,
                    *b = &((const pr_container_entry *)right)->tensor;
    size_t of_a = pr_dtype_size(a->dtype), of_b = pr_dtype_size(b->dtype);
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : strcmp(a->name, b->name);
}

static parsrec_status check_text(const writer *w, const char *text, parsrec_error *err)
{
    size_t at;
    pr_excerpt hold;
    if (pr_utf8_valid(text, strlen(text), &at))
        return PARSREC_OK;
    return pr_fail(err, PARSREC_E_ARGUMENT, "%s: the text %s is not UTF-8", w->path,
                   pr_show(&hold, pr_slice_of(text)));
}

static parsrec_status lay_out(writer *w, const pr_tensor *tensors, parsrec_error *err)
{
    w->entries = pr_alloc_zero(w->count, sizeof *w->entries);
    if (w->entries == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < w->count; i++)
        w->entries[i].tensor = tensors[i];
    qsort(w->entries, w->count, sizeof *w->entries, by_size_then_name);
    uint64_t end = 0;
    for (size_t i = 0; i < w->count; i++) {
        pr_container_entry *e = &w->entries[i];
        e->begin = aligned(end);
        end = e->end = e->begin + pr_tensor_count(&e->tensor) * pr_dtype_size(e->tensor.dtype);
    }
    return PARSREC_OK;
}

/* Adds a member once; takes the value over. A NULL value means that memory ran out making it. */
static parsrec_status put(const writer *w, json_t *object, const char *name, json_t *value,
                          parsrec_error *err)
{
    pr_excerpt hold;
    parsrec_status status = check_text(w, name, err);
    if (status == PARSREC_OK && json_object_get(object, name) != NULL)
        status = pr_fail(err, PARSREC_E_ARGUMENT, "%s: %s would stand twice in the file", w->path,
                         pr_show(&hold, pr_slice_of(name)));
    if (status != PARSREC_OK) {
        json_decref(value);
        return status;
    }
    return json_object_set_new(object, name, value) == 0 ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status put_text(const writer *w, const char *key, const char *value,
                               parsrec_error *err)
{
    PR_TRY(check_text(w, value, err));
    return put(w, json_object_get(w->json, PR_METADATA_KEY), key, json_string(value), err);
}

static json_t *entry_json(const pr_tensor *tensor, uint64_t begin, uint64_t end)
{
    json_t *shape = json_array();
    for (unsigned i = 0; i < tensor->rank; i++)
        if (json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i])) != 0) {
            json_decref(shape);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:[I,I]}", "dtype", pr_dtype_name(tensor->dtype), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)end);
}

static parsrec_status put_tensors(const writer *w, parsrec_error *err)
{
    uint64_t end = 0;
    unsigned pads = 0;
    for (size_t i = 0; i < w->count; end = w->entries[i++].end) {
        const pr_container_entry *e = &w->entries[i];
        if (e->begin > end) {
            char name[32];
            snprintf(name, sizeof name, "pad.%u", pads++);
            pr_tensor pad = {name, PR_U8, 1, {e->begin - end}, NULL};
            PR_TRY(put(w, w->json, name, entry_json(&pad, end, e->begin), err));
        }
        PR_TRY(put(w, w->json, e->tensor.name, entry_json(&e->tensor, e->begin, e->end), err));
    }
    return PARSREC_OK;
}

static parsrec_status put_metadata(writer *w, const char *format, uint32_t version,
                                   const pr_metadata *metadata, size_t count, parsrec_error *err)
{
    char number[16];
    snprintf(number, sizeof number, "%u", version);
    w->json = json_object();
    PR_TRY(put(w, w->json, PR_METADATA_KEY, json_object(), err));
    PR_TRY(put_text(w, "format", format, err));
    PR_TRY(put_text(w, "version", number, err));
    PR_TRY(put_text(w, "checksum", "0000000000000000", err));
    for (size_t i = 0; i < count; i++)
        PR_TRY(put_text(w, metadata[i].key, metadata[i].value, err));
    return PARSREC_OK;
}

/* The spaces at the end let the tensors begin at a multiple of the alignment. */
static parsrec_status make_head(writer *w, parsrec_error *err)
{
    char *text = pr_json_text(w->json);
    size_t size = text != NULL ? strlen(text) : 0;
    w->head_size = (size_t)aligned(sizeof(uint64_t) + size);
    w->head = text != NULL ? pr_alloc(w->head_size, 1) : NULL;
    parsrec_status status = PARSREC_OK;
    if (w->head == NULL) {
        status = pr_fail_memory(err);
    } else if (w->head_size > PR_HEADER_MAX) {
        status =
            pr_fail(err, PARSREC_E_LIMIT, "%s: the header would have %zu bytes, %d are allowed",
                    w->path, w->head_size, PR_HEADER_MAX);
    } else {
        uint64_t length = w->head_size - sizeof length;
        memcpy(w->head, &length, sizeof length);
        memset(w->head + sizeof length, ' ', (size_t)length);
        memcpy(w->head + sizeof length, text, size);
    }
    pr_free(text);
    return status;
}

/* Every byte behind the header, in order. */
static parsrec_status pour_data(const writer *w, sink *into, void *context, parsrec_error *err)
{
    static const unsigned char zeros[PR_ALIGNMENT];
    uint64_t end = 0;
    for (size_t i = 0; i < w->count; end = w->entries[i++].end) {
        const pr_container_entry *e = &w->entries[i];
        PR_TRY(into(context, zeros, (size_t)(e->begin - end), err));
        PR_TRY(into(context, e->tensor.data, (size_t)(e->end - e->begin), err));
    }
    return PARSREC_OK;
}

static parsrec_status into_sum(void *context, const void *bytes, size_t size, parsrec_error *err)
{
    (void)err;
    XXH3_64bits_update(context, bytes, size);
    return PARSREC_OK;
}

static parsrec_status into_file(void *context, const void *bytes, size_t size, parsrec_error *err)
{
    return size > 0 ? pr_atomic_write(context, bytes, size, err) : PARSREC_OK;
}

static parsrec_status put_checksum(writer *w, parsrec_error *err)
{
    char *header = w->head + sizeof(uint64_t), digits[PR_CHECKSUM_DIGITS + 1];
    size_t size = w->head_size - sizeof(uint64_t), at;
    if (!pr_checksum_find(header, size, &at)) /* cannot be: put_metadata wrote it */
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: no place for the checksum", w->path);
    XXH3_state_t sum;
    pr_checksum_begin(&sum, header, size, at);
    PR_TRY(pour_data(w, into_sum, &sum, err));
    pr_checksum_finish(&sum, digits);
    memcpy(header + at, digits, PR_CHECKSUM_DIGITS);
    return PARSREC_OK;
}

static parsrec_status write_file(const writer *w, parsrec_error *err)
{
    pr_atomic_file *file;
    PR_TRY(pr_atomic_open(&file, w->path, err));
    parsrec_status status = pr_atomic_write(file, w->head, w->head_size, err);
    if (status == PARSREC_OK)
        status = pour_data(w, into_file, file, err);
    if (status == PARSREC_OK)
        return pr_atomic_commit(file, err);
    pr_atomic_abort(file);
    return status;
}

parsrec_status pr_container_write(const char *path, const char *format, uint32_t version,
                                  const pr_metadata *metadata, size_t metadata_count,
                                  const pr_tensor *tensors, size_t tensor_count, parsrec_error *err)
{
    writer w = {.path = path, .count = tensor_count};
    parsrec_status status;
    PR_TRY_GOTO(lay_out(&w, tensors, err));
    PR_TRY_GOTO(put_metadata(&w, format, version, metadata, metadata_count, err));
    PR_TRY_GOTO(put_tensors(&w, err));
    PR_TRY_GOTO(make_head(&w, err));
    PR_TRY_GOTO(put_checksum(&w, err));
    PR_TRY_GOTO(write_file(&w, err));
done:
    pr_free(w.head);
    json_decref(w.json);
    pr_free(w.entries);
    return status;
}
