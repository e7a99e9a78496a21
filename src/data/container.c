/* Containers: checksum, entries of the header, reading and writing. */
#include "data/container.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/container_checksum.h"
#include "data/file_kind.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors are used in place as little-endian numbers: this machine would need a conversion"
#endif

#define METADATA_KEY "__metadata__"

enum {
    HEADER_MAX = 16 << 20,  /* bytes; JSON takes a multiple of it in memory */
    NAME_MAX_BYTES = 255,   /* bytes */
    ALIGNMENT = 64,         /* of the tensors we write */
    WINDOW_BYTES = 1 << 24, /* of a file that are in memory during a pass over it */
    CACHED_BYTES = 1 << 20, /* that are summed and written one after the other */
    RELEASED_BYTES =
        1 << 28, /* files of this size and more do not stay in memory after their check */
};

typedef struct entry {
    pr_tensor tensor;    /* the name belongs to the JSON */
    uint64_t begin, end; /* in the data area */
    void *copy;          /* holds the data when they are not aligned in the file */
} entry;

/* ---- checksum ---- */

static size_t skip_space(const char *header, size_t size, size_t at)
{
    while (at < size &&
           (header[at] == ' ' || header[at] == '\t' || header[at] == '\n' || header[at] == '\r'))
        at++;
    return at;
}

/* Inside a JSON string every quote has a backslash before it, so `"checksum"` can only be a whole
 * string; a colon and a string behind it make it a key with a text. */
bool pr_checksum_find(const char *header, size_t size, size_t *at)
{
    static const char key[] = "\"checksum\"";
    const char *end = header + size, *p = header;
    while ((p = memmem(p, (size_t)(end - p), key, sizeof key - 1)) != NULL) {
        p += sizeof key - 1;
        size_t i = skip_space(header, size, (size_t)(p - header));
        if (i >= size || header[i] != ':')
            continue;
        i = skip_space(header, size, i + 1);
        if (size - i < PR_CHECKSUM_DIGITS + 2 || header[i] != '"' ||
            header[i + 1 + PR_CHECKSUM_DIGITS] != '"')
            continue;
        *at = i + 1;
        return true;
    }
    return false;
}

void pr_checksum_begin(XXH3_state_t *sum, const char *header, size_t size, size_t at)
{
    static const char zeros[] = "0000000000000000";
    XXH3_64bits_reset(sum);
    XXH3_64bits_update(sum, header, at);
    XXH3_64bits_update(sum, zeros, PR_CHECKSUM_DIGITS);
    at += PR_CHECKSUM_DIGITS;
    XXH3_64bits_update(sum, header + at, size - at);
}

void pr_checksum_finish(const XXH3_state_t *sum, char digits[PR_CHECKSUM_DIGITS + 1])
{
    snprintf(digits, PR_CHECKSUM_DIGITS + 1, "%016llx",
             (unsigned long long)XXH3_64bits_digest(sum));
}

/* ---- entries: one tensor as the header describes it ---- */

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
#define DTYPE(name, size) {#name, size},
    PR_DTYPES(DTYPE)
#undef DTYPE
};
enum { DTYPE_COUNT = sizeof dtypes / sizeof *dtypes };

size_t pr_dtype_size(pr_dtype dtype)
{
    assert((size_t)dtype < DTYPE_COUNT);
    return dtypes[dtype].size;
}

const char *pr_dtype_name(pr_dtype dtype)
{
    assert((size_t)dtype < DTYPE_COUNT);
    return dtypes[dtype].name;
}

uint64_t pr_tensor_count(const pr_tensor *tensor)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        count *= tensor->shape[i]; /* no overflow: checked when read, in memory when written */
    return count;
}

bool pr_tensor_finite(const pr_tensor *tensor)
{
    uint64_t count = pr_tensor_count(tensor);
    const float *single = tensor->data;
    const double *wide = tensor->data;
    for (uint64_t i = 0; i < count && tensor->dtype == PR_F32; i++)
        if (!isfinite(single[i]))
            return false;
    for (uint64_t i = 0; i < count && tensor->dtype == PR_F64; i++)
        if (!isfinite(wide[i]))
            return false;
    return true;
}

/* What is being read, for messages. */
typedef struct place {
    const char *path, *name;
    parsrec_error *err;
} place;

__attribute__((format(printf, 2, 3))) static parsrec_status refuse(const place *at,
                                                                   const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pr_excerpt hold;
    return pr_fail(at->err, PARSREC_E_FORMAT, "%s: tensor %s: %s", at->path,
                   pr_show(&hold, pr_slice_of(at->name)), text);
}

static parsrec_status read_dtype(entry *e, const json_t *value, const place *at)
{
    const char *text = json_string_value(value);
    if (text == NULL)
        return refuse(at, "has no dtype");
    for (unsigned i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(text, dtypes[i].name) == 0) {
            e->tensor.dtype = (pr_dtype)i;
            return PARSREC_OK;
        }
    }
    pr_excerpt hold;
    return refuse(at, "dtype %s is not known here", pr_show(&hold, pr_slice_of(text)));
}

static bool read_size(const json_t *value, uint64_t *size)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *size = (uint64_t)json_integer_value(value);
    return true;
}

static parsrec_status read_shape(entry *e, const json_t *value, const place *at)
{
    if (!json_is_array(value))
        return refuse(at, "has no shape");
    size_t rank = json_array_size(value);
    if (rank > PR_MAX_RANK)
        return refuse(at, "has %zu dimensions, %d are allowed", rank, PR_MAX_RANK);
    e->tensor.rank = (unsigned)rank;
    for (size_t i = 0; i < rank; i++)
        if (!read_size(json_array_get(value, i), &e->tensor.shape[i]))
            return refuse(at, "dimension %zu of its shape is not a count", i);
    return PARSREC_OK;
}

static parsrec_status read_offsets(entry *e, const json_t *value, const place *at)
{
    if (json_array_size(value) != 2 || !read_size(json_array_get(value, 0), &e->begin) ||
        !read_size(json_array_get(value, 1), &e->end))
        return refuse(at, "data_offsets are not two counts");
    if (e->begin > e->end)
        return refuse(at, "data_offsets begin at %llu, behind their end %llu",
                      (unsigned long long)e->begin, (unsigned long long)e->end);
    return PARSREC_OK;
}

/* A dimension of 0 makes an empty tensor, however large the others are. */
static bool byte_size(const pr_tensor *tensor, uint64_t *bytes)
{
    bool overflow = false;
    *bytes = pr_dtype_size(tensor->dtype);
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] == 0) {
            *bytes = 0;
            return true;
        }
        overflow |= __builtin_mul_overflow(*bytes, tensor->shape[i], bytes);
    }
    return !overflow;
}

static parsrec_status entry_read(entry *e, const char *name, const json_t *value, const char *path,
                                 parsrec_error *err)
{
    place at = {path, name, err};
    size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_BYTES)
        return refuse(&at, "a name has 1 to %d bytes", NAME_MAX_BYTES);
    e->tensor.name = name;
    if (!json_is_object(value) || json_object_size(value) != 3)
        return refuse(&at, "its entry is not dtype, shape and data_offsets");
    PR_TRY(read_dtype(e, json_object_get(value, "dtype"), &at));
    PR_TRY(read_shape(e, json_object_get(value, "shape"), &at));
    PR_TRY(read_offsets(e, json_object_get(value, "data_offsets"), &at));
    uint64_t bytes;
    if (!byte_size(&e->tensor, &bytes))
        return refuse(&at, "its shape has more elements than can be counted");
    if (bytes != e->end - e->begin)
        return refuse(&at, "its shape takes %llu bytes, its data_offsets hold %llu",
                      (unsigned long long)bytes, (unsigned long long)(e->end - e->begin));
    return PARSREC_OK;
}

static bool entry_is_padding(const entry *e)
{
    const char *name = e->tensor.name;
    return e->tensor.dtype == PR_U8 && strncmp(name, "pad.", 4) == 0 && name[4] != '\0' &&
           strspn(name + 4, "0123456789") == strlen(name + 4);
}

static parsrec_status entry_place(entry *e, const unsigned char *data, parsrec_error *err)
{
    assert(e->begin <= e->end && e->copy == NULL);
    static const uint64_t nothing = 0;
    size_t bytes = (size_t)(e->end - e->begin);
    const unsigned char *in_file = data + e->begin;
    if (bytes == 0) {
        e->tensor.data = &nothing;
    } else if ((uintptr_t)in_file % pr_dtype_size(e->tensor.dtype) == 0) {
        e->tensor.data = in_file;
    } else {
        e->copy = pr_alloc_aligned(bytes, 1);
        if (e->copy == NULL)
            return pr_fail_memory(err);
        e->tensor.data = memcpy(e->copy, in_file, bytes);
    }
    return PARSREC_OK;
}

/* ---- reading: nothing is used before it has been checked against the size of the file ---- */

struct pr_container {
    char *path;
    pr_mapping mapping; /* empty over bytes of the caller */
    size_t size;        /* of the whole file */
    const char *header;
    size_t header_size;
    const unsigned char *data;
    size_t data_size;
    json_t *json;     /* owns the names and metadata */
    json_t *metadata; /* part of json, or NULL */
    entry *entries;
    size_t count;
    char checksum[PR_CHECKSUM_DIGITS + 1];
};

void pr_container_free(pr_container *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++)
        pr_free_aligned(c->entries[i].copy);
    pr_free(c->entries);
    json_decref(c->json);
    pr_file_unmap(&c->mapping);
    pr_free(c->path);
    pr_free(c);
}

static parsrec_status find_parts(pr_container *c, const unsigned char *bytes, parsrec_error *err)
{
    uint64_t length;
    if (c->size < sizeof length)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: %zu bytes are too few for a safetensors file; it is cut short or of "
                       "another kind",
                       c->path, c->size);
    memcpy(&length, bytes, sizeof length);
    size_t rest = c->size - sizeof length;
    if (length > HEADER_MAX || length > rest)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: the header length is %llu, but %zu bytes follow and %d are allowed; it "
                       "is cut short or not a safetensors file",
                       c->path, (unsigned long long)length, rest, HEADER_MAX);
    c->header = (const char *)bytes + sizeof length;
    c->header_size = (size_t)length;
    c->data = bytes + sizeof length + c->header_size;
    c->data_size = rest - c->header_size;
    return PARSREC_OK;
}

static parsrec_status read_header(pr_container *c, parsrec_error *err)
{
    char origin[512];
    snprintf(origin, sizeof origin, "%s: header", c->path);
    PR_TRY(pr_json_parse(&c->json, c->header, c->header_size, origin, err));
    if (!json_is_object(c->json))
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the header is not a JSON object", c->path);
    c->metadata = json_object_get(c->json, METADATA_KEY);
    if (c->metadata == NULL)
        return PARSREC_OK;
    if (!json_is_object(c->metadata))
        return pr_fail(err, PARSREC_E_FORMAT, "%s: %s is not a JSON object", c->path, METADATA_KEY);
    const char *key;
    json_t *value;
    json_object_foreach(c->metadata, key, value)
    {
        pr_excerpt hold;
        if (!json_is_string(value))
            return pr_fail(err, PARSREC_E_FORMAT, "%s: metadata %s is not a string", c->path,
                           pr_show(&hold, pr_slice_of(key)));
    }
    return PARSREC_OK;
}

static parsrec_status read_entries(pr_container *c, parsrec_error *err)
{
    c->entries = pr_alloc_zero(json_object_size(c->json), sizeof *c->entries);
    if (c->entries == NULL)
        return pr_fail_memory(err);
    const char *name;
    json_t *value;
    json_object_foreach(c->json, name, value)
    {
        if (strcmp(name, METADATA_KEY) != 0)
            PR_TRY(entry_read(&c->entries[c->count++], name, value, c->path, err));
    }
    return PARSREC_OK;
}

static int by_place(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static int by_name(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    return strcmp(a->tensor.name, b->tensor.name);
}

/* In order of place each tensor begins where the one before ends, and the last ends the file: so
 * there is neither hole nor overlap, and nothing outside. */
static parsrec_status check_cover(pr_container *c, parsrec_error *err)
{
    qsort(c->entries, c->count, sizeof *c->entries, by_place);
    uint64_t end = 0;
    pr_excerpt hold;
    for (size_t i = 0; i < c->count; end = c->entries[i++].end) {
        const entry *e = &c->entries[i];
        if (e->end > c->data_size)
            return pr_fail(err, PARSREC_E_FORMAT,
                           "%s: tensor %s ends at byte %llu of %zu; the file is cut short", c->path,
                           pr_show(&hold, pr_slice_of(e->tensor.name)), (unsigned long long)e->end,
                           c->data_size);
        if (e->begin != end)
            return pr_fail(err, PARSREC_E_FORMAT,
                           "%s: tensor %s begins at byte %llu, %s byte %llu where it should",
                           c->path, pr_show(&hold, pr_slice_of(e->tensor.name)),
                           (unsigned long long)e->begin,
                           e->begin < end ? "inside another that ends at" : "behind a hole from",
                           (unsigned long long)end);
    }
    if (end != c->data_size)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: %llu bytes at the end belong to no tensor",
                       c->path, (unsigned long long)(c->data_size - end));
    return PARSREC_OK;
}

static parsrec_status check_sum(pr_container *c, parsrec_error *err)
{
    const char *said = pr_container_metadata(c, "checksum");
    if (said == NULL)
        return PARSREC_OK;
    size_t at;
    if (strlen(said) != PR_CHECKSUM_DIGITS ||
        strspn(said, "0123456789abcdef") != PR_CHECKSUM_DIGITS ||
        !pr_checksum_find(c->header, c->header_size, &at) ||
        memcmp(c->header + at, said, PR_CHECKSUM_DIGITS) != 0)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the checksum is not written as %d hex digits",
                       c->path, PR_CHECKSUM_DIGITS);
    XXH3_state_t sum;
    pr_checksum_begin(&sum, c->header, c->header_size, at);
    for (size_t at_byte = 0; at_byte < c->data_size;) {
        size_t size = c->data_size - at_byte < WINDOW_BYTES ? c->data_size - at_byte : WINDOW_BYTES;
        XXH3_64bits_update(&sum, c->data + at_byte, size);
        if (c->data_size > RELEASED_BYTES)
            pr_container_release(c, c->data + at_byte, size);
        at_byte += size;
    }
    pr_checksum_finish(&sum, c->checksum);
    if (memcmp(c->checksum, said, PR_CHECKSUM_DIGITS) != 0)
        return pr_fail(err, PARSREC_E_CHECKSUM,
                       "%s: checksum %s, but the file says %s; it was damaged or edited: take "
                       "another copy",
                       c->path, c->checksum, said);
    return PARSREC_OK;
}

/* Padding leaves the list, the rest is sorted by name and gets its bytes. */
static parsrec_status place_tensors(pr_container *c, parsrec_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++)
        if (!entry_is_padding(&c->entries[i]))
            c->entries[kept++] = c->entries[i];
    c->count = kept;
    qsort(c->entries, c->count, sizeof *c->entries, by_name);
    for (size_t i = 0; i < c->count; i++)
        PR_TRY(entry_place(&c->entries[i], c->data, err));
    return PARSREC_OK;
}

static parsrec_status read_all(pr_container *c, const unsigned char *bytes, size_t size,
                               parsrec_error *err)
{
    c->size = size;
    PR_TRY(pr_kind_expect_ours(bytes, size, c->path, err));
    PR_TRY(find_parts(c, bytes, err));
    PR_TRY(read_header(c, err));
    PR_TRY(read_entries(c, err));
    PR_TRY(check_cover(c, err));
    PR_TRY(check_sum(c, err));
    return place_tensors(c, err);
}

static parsrec_status container_new(pr_container **out, const char *path, parsrec_error *err)
{
    pr_container *c = *out = pr_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return pr_fail_memory(err);
    c->path = pr_copy_string(path, strlen(path));
    return c->path != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static parsrec_status give(pr_container **out, pr_container *c, parsrec_status status)
{
    if (status != PARSREC_OK)
        pr_container_free(c);
    *out = status == PARSREC_OK ? c : NULL;
    return status;
}

parsrec_status pr_container_open(pr_container **out, const char *path, parsrec_error *err)
{
    pr_container *c = NULL;
    parsrec_status status = container_new(&c, path, err);
    if (status == PARSREC_OK)
        status = pr_file_map(&c->mapping, path, err);
    if (status == PARSREC_OK)
        status = read_all(c, c->mapping.bytes, c->mapping.size, err);
    return give(out, c, status);
}

parsrec_status pr_sealed_open(pr_container **out, const char *path, parsrec_error *err)
{
    PR_TRY(pr_container_open(out, path, err));
    if (pr_container_checksum(*out)[0] != '\0')
        return PARSREC_OK;
    pr_container_free(*out);
    *out = NULL;
    return pr_fail(err, PARSREC_E_CHECKSUM, "%s: has no checksum; it is damaged, or not ours",
                   path);
}

parsrec_status pr_container_parse(pr_container **out, const void *bytes, size_t size,
                                  const char *origin, parsrec_error *err)
{
    pr_container *c = NULL;
    parsrec_status status = container_new(&c, origin, err);
    if (status == PARSREC_OK)
        status = read_all(c, bytes, size, err);
    return give(out, c, status);
}

const char *pr_container_path(const pr_container *c)
{
    return c->path;
}

uint64_t pr_container_bytes(const pr_container *c)
{
    return c->size;
}

const void *pr_container_pages(const pr_container *c)
{
    return c->mapping.bytes;
}

void pr_container_release(const pr_container *c, const void *bytes, size_t size)
{
    if (c->mapping.bytes != NULL)
        pr_pages_release(bytes, size);
}

const char *pr_container_metadata(const pr_container *c, const char *key)
{
    return json_string_value(json_object_get(c->metadata, key));
}

const char *pr_container_checksum(const pr_container *c)
{
    return c->checksum;
}

size_t pr_container_tensors(const pr_container *c)
{
    return c->count;
}

const pr_tensor *pr_container_at(const pr_container *c, size_t i)
{
    assert(i < pr_container_tensors(c));
    assert(i < c->count);
    return &c->entries[i].tensor;
}

const pr_tensor *pr_container_find(const pr_container *c, const char *name)
{
    entry key = {.tensor.name = name};
    const entry *found =
        c->count > 0 ? bsearch(&key, c->entries, c->count, sizeof key, by_name) : NULL;
    return found != NULL ? &found->tensor : NULL;
}

parsrec_status pr_container_need(const pr_container *container, const char *name, pr_dtype dtype,
                                 unsigned rank, const pr_tensor **out, parsrec_error *err)
{
    const char *path = pr_container_path(container);
    pr_excerpt hold;
    const pr_tensor *tensor = *out = pr_container_find(container, name);
    if (tensor == NULL)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the tensor %s is missing", path,
                       pr_show(&hold, pr_slice_of(name)));
    if (tensor->dtype != dtype || tensor->rank != rank)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: tensor %s is %s with %u dimensions, expected %s with %u", path,
                       pr_show(&hold, pr_slice_of(name)), pr_dtype_name(tensor->dtype),
                       tensor->rank, pr_dtype_name(dtype), rank);
    return PARSREC_OK;
}

parsrec_status pr_container_expect(const pr_container *container, const char *format,
                                   uint32_t newest, uint32_t *version, parsrec_error *err)
{
    const char *path = pr_container_path(container);
    const char *is = pr_container_metadata(container, "format");
    const char *number = pr_container_metadata(container, "version");
    uint64_t value;
    if (is == NULL)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: a safetensors file without the metadata 'format', so not %s", path,
                       format);
    if (!pr_slice_is(pr_slice_of(is), format))
        return pr_kind_fail_other(path, is, format, err);
    if (number == NULL || !pr_parse_u64(pr_slice_of(number), &value) || value == 0 ||
        value > UINT32_MAX)
        return pr_fail(err, PARSREC_E_FORMAT, "%s: the metadata 'version' is not a number from 1",
                       path);
    if (value > newest)
        return pr_fail(err, PARSREC_E_VERSION,
                       "%s: %s version %llu, this parsrec reads up to %u; take a newer parsrec",
                       path, format, (unsigned long long)value, newest);
    *version = (uint32_t)value;
    return PARSREC_OK;
}

/* ---- writing: layout, header, all bytes, then the checksum into the header ---- */

typedef struct writer {
    const char *path;
    entry *entries; /* in the order of the file */
    size_t count;
    json_t *json;
    char *head; /* length, header, spaces */
    size_t head_size;
    pr_apart apart;
} writer;

/* Where bytes go: into a sum, a file or both. */
typedef struct sink {
    XXH3_state_t *sum;
    pr_atomic_file *file;
} sink;

static parsrec_status pour(const sink *into, const void *bytes, size_t size, parsrec_error *err)
{
    if (into->sum != NULL)
        XXH3_64bits_update(into->sum, bytes, size);
    return into->file != NULL && size > 0 ? pr_atomic_write(into->file, bytes, size, err)
                                          : PARSREC_OK;
}

static uint64_t aligned(uint64_t at)
{
    return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int by_size_then_name(const void *left, const void *right)
{
    const pr_tensor *a = &((const entry *)left)->tensor, *b = &((const entry *)right)->tensor;
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
        entry *e = &w->entries[i];
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
        status = pr_fail(err, PARSREC_E_ARGUMENT, "%s: %s would occur twice in the file", w->path,
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
    return put(w, json_object_get(w->json, METADATA_KEY), key, json_string(value), err);
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
        const entry *e = &w->entries[i];
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
    PR_TRY(put(w, w->json, METADATA_KEY, json_object(), err));
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
    } else if (w->head_size > HEADER_MAX) {
        status =
            pr_fail(err, PARSREC_E_LIMIT, "%s: the header would have %zu bytes, %d are allowed",
                    w->path, w->head_size, HEADER_MAX);
    } else {
        uint64_t length = w->head_size - sizeof length;
        memcpy(w->head, &length, sizeof length);
        memset(w->head + sizeof length, ' ', (size_t)length);
        memcpy(w->head + sizeof length, text, size);
    }
    pr_free(text);
    return status;
}

static bool is_view(const writer *w, const void *data)
{
    for (size_t i = 0; i < w->apart.view_count; i++)
        if (data == w->apart.views[i].bytes)
            return true;
    return false;
}

static const pr_tensor_source *source_of(const writer *w, const void *data)
{
    for (size_t i = 0; i < w->apart.source_count; i++)
        if (data == w->apart.sources[i].data)
            return &w->apart.sources[i];
    return NULL;
}

static parsrec_status pour_source(const pr_tensor_source *from, uint64_t left, const sink *into,
                                  parsrec_error *err)
{
    while (left > 0) {
        const void *bytes;
        size_t size;
        PR_TRY(from->next(from->context, &bytes, &size, err));
        assert(size > 0 && size <= left);
        PR_TRY(pour(into, bytes, size, err));
        left -= size;
    }
    return PARSREC_OK;
}

/* The bytes of a tensor, in windows, so that sum and file find them in the cache. Those of a mapped file
 * are not kept in memory. */
static parsrec_status pour_tensor(const writer *w, const entry *e, const sink *into,
                                  parsrec_error *err)
{
    const unsigned char *bytes = e->tensor.data;
    const pr_tensor_source *from = source_of(w, bytes);
    bool mapped = is_view(w, bytes);
    if (from != NULL)
        return pour_source(from, e->end - e->begin, into, err);
    for (uint64_t left = e->end - e->begin; left > 0;) {
        size_t most = mapped ? WINDOW_BYTES : CACHED_BYTES,
               size = left < most ? (size_t)left : most;
        PR_TRY(pour(into, bytes, size, err));
        if (mapped)
            pr_pages_release(bytes, size);
        bytes += size;
        left -= size;
    }
    return PARSREC_OK;
}

/* Every byte behind the header, in order. */
static parsrec_status pour_data(const writer *w, const sink *into, parsrec_error *err)
{
    static const unsigned char zeros[ALIGNMENT];
    uint64_t end = 0;
    for (size_t i = 0; i < w->count; end = w->entries[i++].end) {
        const entry *e = &w->entries[i];
        PR_TRY(pour(into, zeros, (size_t)(e->begin - end), err));
        PR_TRY(pour_tensor(w, e, into, err));
    }
    return PARSREC_OK;
}

/* One pass: the sum of what is written is known at its end, and then goes into the header. What cannot be
 * written twice, such as a pipe, takes a pass for the sum before. */
static parsrec_status fill_file(writer *w, pr_atomic_file *file, parsrec_error *err)
{
    char *header = w->head + sizeof(uint64_t), digits[PR_CHECKSUM_DIGITS + 1];
    size_t size = w->head_size - sizeof(uint64_t), at;
    bool direct = pr_atomic_temporary(file) == NULL;
    XXH3_state_t sum;
    if (!pr_checksum_find(header, size, &at)) /* cannot be: put_metadata wrote it */
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: no place for the checksum", w->path);
    pr_checksum_begin(&sum, header, size, at);
    if (direct && w->apart.source_count > 0)
        return pr_fail(err, PARSREC_E_ARGUMENT, "%s: must be a plain file", w->path);
    if (direct) {
        PR_TRY(pour_data(w, &(sink){.sum = &sum}, err));
        pr_checksum_finish(&sum, digits);
        memcpy(header + at, digits, PR_CHECKSUM_DIGITS);
    }
    PR_TRY(pr_atomic_write(file, w->head, w->head_size, err));
    PR_TRY(pour_data(w, &(sink){direct ? NULL : &sum, file}, err));
    if (direct)
        return PARSREC_OK;
    pr_checksum_finish(&sum, digits);
    return pr_atomic_overwrite(file, sizeof(uint64_t) + at, digits, PR_CHECKSUM_DIGITS, err);
}

static parsrec_status write_file(writer *w, parsrec_error *err)
{
    pr_atomic_file *file;
    PR_TRY(pr_atomic_open(&file, w->path, err));
    parsrec_status status = fill_file(w, file, err);
    if (status == PARSREC_OK)
        return pr_atomic_commit(file, err);
    pr_atomic_abort(file);
    return status;
}

parsrec_status pr_container_write(const char *path, const char *format, uint32_t version,
                                  const pr_metadata *metadata, size_t metadata_count,
                                  const pr_tensor *tensors, size_t tensor_count, parsrec_error *err)
{
    return pr_container_write_apart(path, format, version, metadata, metadata_count, tensors,
                                    tensor_count, &(pr_apart){0}, err);
}

parsrec_status pr_container_write_apart(const char *path, const char *format, uint32_t version,
                                        const pr_metadata *metadata, size_t metadata_count,
                                        const pr_tensor *tensors, size_t tensor_count,
                                        const pr_apart *apart, parsrec_error *err)
{
    writer w = {.path = path, .count = tensor_count, .apart = *apart};
    parsrec_status status;
    PR_TRY_GOTO(lay_out(&w, tensors, err));
    PR_TRY_GOTO(put_metadata(&w, format, version, metadata, metadata_count, err));
    PR_TRY_GOTO(put_tensors(&w, err));
    PR_TRY_GOTO(make_head(&w, err));
    PR_TRY_GOTO(write_file(&w, err));
done:
    pr_free(w.head);
    json_decref(w.json);
    pr_free(w.entries);
    return status;
}
