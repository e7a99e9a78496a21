/* Reading a container without trust: nothing is used before it has been checked against the size
 * of the file. The parts of one tensor's header entry are read in container_entry.c. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/container_checksum.h"
#include "data/container_entry.h"
#include "data/file_kind.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors are used in place as little-endian numbers: this machine would need a conversion"
#endif

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
    pr_container_entry *entries;
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
    if (length > PR_HEADER_MAX || length > rest)
        return pr_fail(err, PARSREC_E_FORMAT,
                       "%s: the header length is %llu, but %zu bytes follow and %d are allowed; it "
                       "is cut short or not a safetensors file",
                       c->path, (unsigned long long)length, rest, PR_HEADER_MAX);
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
    c->metadata = json_object_get(c->json, PR_METADATA_KEY);
    if (c->metadata == NULL)
        return PARSREC_OK;
    if (!json_is_object(c->metadata))
        return pr_fail(err, PARSREC_E_FORMAT, "%s: %s is not a JSON object", c->path,
                       PR_METADATA_KEY);
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
        if (strcmp(name, PR_METADATA_KEY) != 0)
            PR_TRY(pr_container_entry_read(&c->entries[c->count++], name, value, c->path, err));
    }
    return PARSREC_OK;
}

static int by_place(const void *left, const void *right)
{
    const pr_container_entry *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static int by_name(const void *left, const void *right)
{
    const pr_container_entry *a = left, *b = right;
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
        const pr_container_entry *e = &c->entries[i];
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
    XXH3_64bits_update(&sum, c->data, c->data_size);
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
        if (!pr_container_entry_is_padding(&c->entries[i]))
            c->entries[kept++] = c->entries[i];
    c->count = kept;
    qsort(c->entries, c->count, sizeof *c->entries, by_name);
    for (size_t i = 0; i < c->count; i++)
        PR_TRY(pr_container_entry_place(&c->entries[i], c->data, err));
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
    return &c->entries[i].tensor;
}

const pr_tensor *pr_container_find(const pr_container *c, const char *name)
{
    pr_container_entry key = {.tensor.name = name};
    const pr_container_entry *found =
        c->count > 0 ? bsearch(&key, c->entries, c->count, sizeof key, by_name) : NULL;
    return found != NULL ? &found->tensor : NULL;
}
