/* One tensor's entry in the header, checked word by word, and the small facts about tensors. */
#include "data/container_entry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

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
    return dtypes[dtype].size;
}

const char *pr_dtype_name(pr_dtype dtype)
{
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

/* Where a reading stands: which tensor of which file, and who is told. */
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

static parsrec_status read_dtype(pr_container_entry *e, const json_t *value, const place *at)
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

static parsrec_status read_shape(pr_container_entry *e, const json_t *value, const place *at)
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

static parsrec_status read_offsets(pr_container_entry *e, const json_t *value, const place *at)
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

parsrec_status pr_container_entry_read(pr_container_entry *e, const char *name, const json_t *value,
                                       const char *path, parsrec_error *err)
{
    place at = {path, name, err};
    size_t length = strlen(name);
    if (length == 0 || length > PR_TENSOR_NAME_MAX)
        return refuse(&at, "a name has 1 to %d bytes", PR_TENSOR_NAME_MAX);
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

bool pr_container_entry_is_padding(const pr_container_entry *entry)
{
    const char *name = entry->tensor.name;
    return entry->tensor.dtype == PR_U8 && strncmp(name, "pad.", 4) == 0 && name[4] != '\0' &&
           strspn(name + 4, "0123456789") == strlen(name + 4);
}

parsrec_status pr_container_entry_place(pr_container_entry *e, const unsigned char *data,
                                        parsrec_error *err)
{
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
