/* The one container for every file that the library writes: data sets, models, checkpoints. It is a
 * safetensors file (a JSON header, then the bytes of the tensors) with a checksum and a format name
 * in its metadata; docs/format.md is the specification.
 *
 * Reading does not trust the file. pr_container_open maps it and checks, before anything is used:
 * the length of the header, each entry (name, dtype, shape, offsets), that the tensors cover the
 * data area without gaps or overlaps, and the checksum if the file has one. Afterwards tensors are
 * views into the mapping, so opening costs one pass over the bytes and no copy, and the container
 * must outlive everything read from it.
 *
 * Writing is deterministic: equal arguments give equal bytes. Tensors are sorted by element size,
 * largest first, then by name, and begin at multiples of 64 bytes; tensors called pad.N fill the
 * gaps, and the reading functions below hide them. The file appears under its name complete or not at all (base/files.h). */
#ifndef PR_CONTAINER_H
#define PR_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files.h"
#include "base/status.h"

/* safetensors' name, bytes of one element */
#define PR_DTYPES(X) \
    X(U8, 1)         \
    X(I32, 4)        \
    X(I64, 8)        \
    X(F32, 4)        \
    X(F64, 8)        \
    X(BOOL, 1)       \
    X(I8, 1)         \
    X(I16, 2)        \
    X(U16, 2)        \
    X(F16, 2)        \
    X(BF16, 2)       \
    X(U32, 4)        \
    X(U64, 8)

typedef enum pr_dtype {
#define PR_DTYPE_ENUM(name, size) PR_##name,
    PR_DTYPES(PR_DTYPE_ENUM)
#undef PR_DTYPE_ENUM
} pr_dtype;

size_t pr_dtype_size(pr_dtype dtype);
const char *pr_dtype_name(pr_dtype dtype);

enum { PR_MAX_RANK = 4 };

typedef struct pr_tensor {
    const char *name;
    pr_dtype dtype;
    unsigned rank;
    uint64_t shape[PR_MAX_RANK];
    const void *data; /* aligned for the element; never NULL, even when empty */
} pr_tensor;

uint64_t pr_tensor_count(const pr_tensor *tensor); /* elements */
bool pr_tensor_finite(const pr_tensor *tensor);    /* no NaN or infinity; always true of integers */

typedef struct pr_metadata {
    const char *key, *value;
} pr_metadata;

/* ---- reading ---- */

typedef struct pr_container pr_container;

/* Maps and checks a whole file, as said above. A tensor that is not aligned for its element type is
 * copied. */
parsrec_status pr_container_open(pr_container **out, const char *path, parsrec_error *err);
/* The same for a file of ours, which has a checksum; E_CHECKSUM if it has none. */
parsrec_status pr_sealed_open(pr_container **out, const char *path, parsrec_error *err);

/* The same for bytes in memory, which the caller owns and which must outlive the container. */
parsrec_status pr_container_parse(pr_container **out, const void *bytes, size_t size,
                                  const char *origin, parsrec_error *err);
void pr_container_free(pr_container *container); /* NULL is fine */

const char *pr_container_path(const pr_container *container); /* for messages */
uint64_t pr_container_bytes(const pr_container *container);
/* The pages of the mapped file, pr_container_bytes of them; NULL if it is no file. */
const void *pr_container_pages(const pr_container *container);
/* Gives back the pages of these bytes of it after a pass over them. */
void pr_container_release(const pr_container *container, const void *bytes, size_t size);
const char *pr_container_metadata(const pr_container *container, const char *key); /* or NULL */
const char *pr_container_checksum(const pr_container *container); /* 16 hex digits or "" */

/* Tensors in order of their names. */
size_t pr_container_tensors(const pr_container *container);
const pr_tensor *pr_container_at(const pr_container *container, size_t i);
const pr_tensor *pr_container_find(const pr_container *container, const char *name); /* or NULL */

/* The tensor of that name, type and rank; E_FORMAT if there is none. */
parsrec_status pr_container_need(const pr_container *container, const char *name, pr_dtype dtype,
                                 unsigned rank, const pr_tensor **out, parsrec_error *err);

/* Refuses a file of another format with E_FORMAT, and one newer than version `newest` with
 * E_VERSION. */
parsrec_status pr_container_expect(const pr_container *container, const char *format,
                                   uint32_t newest, uint32_t *version, parsrec_error *err);

/* ---- writing ---- */

/* Writes tensors, in any order, and metadata; adds the metadata `format`, `version` and `checksum`.
 * E_ARGUMENT for a name that occurs twice or is not UTF-8. */
parsrec_status pr_container_write(const char *path, const char *format, uint32_t version,
                                  const pr_metadata *metadata, size_t metadata_count,
                                  const pr_tensor *tensors, size_t tensor_count,
                                  parsrec_error *err);
/* Bytes of a tensor that are not all in memory: `next` gives them in order, some at a time, once. */
typedef struct pr_tensor_source {
    const void *data; /* of the tensor, which tells it from others and is not looked at */
    void *context;
    parsrec_status (*next)(void *context, const void **bytes, size_t *size, parsrec_error *err);
} pr_tensor_source;

/* What is not kept in memory while it is written: tensors whose data begin where the view of a file begins,
 * and those with a source. */
typedef struct pr_apart {
    const pr_mapping *views;
    size_t view_count;
    const pr_tensor_source *sources;
    size_t source_count;
} pr_apart;

/* The same where some tensors are larger than the memory. With sources, into a plain file alone. */
parsrec_status pr_container_write_apart(const char *path, const char *format, uint32_t version,
                                        const pr_metadata *metadata, size_t metadata_count,
                                        const pr_tensor *tensors, size_t tensor_count,
                                        const pr_apart *apart, parsrec_error *err);

#endif
