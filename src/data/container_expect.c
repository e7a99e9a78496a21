/* What a reader asks of a container: this format and version, this tensor. */
#include "base/text.h"
#include "data/container.h"
#include "data/file_kind.h"

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
