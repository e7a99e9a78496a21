/* The one container for every file that the library writes: data sets, models, checkpoints. It is a
 * safetensors file (a JSON header, then the bytes of the tensors) with a checksum and a format name
 * in its metadata; docs/format.md is the specification.
 *
 * Reading does not trust the file. pr_container_open maps it and checks, before anything is used:
 * the length of the header, each entry (name, dtype, shape, offsets), that the tensors cover the
 * data area without hole or overlap, and the checksum where there is one. Afterwards tensors are
 * views into the mapping, so opening costs one pass over the bytes and no copy, and everything read
 * from it must be released before the container.
 *
 * Writing is deterministic: equal arguments give equal bytes. Tensors are sorted by element size
 * and name and begin at multiples of 64 bytes (tensors called pad.N fill the gaps; readers never
 * see them). The file appears under its name complete or not at all (base/files.h). */
#ifndef PR_CONTAINER_H
#define PR_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* name, bytes of one element, safetensors' name */
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
bool pr_tensor_finite(const pr_tensor *tensor);    /* no NaN or infinity; true of whole numbers */

typedef struct pr_metadata {
    const char *key, *value;
} pr_metadata;

/* ---- reading ---- */

typedef struct pr_container pr_container;

/* Maps and checks a whole file: header, shapes, offsets without holes or overlaps, checksum when it
 * carries one. A tensor that is not aligned for its element type is copied. */
parsrec_status pr_container_open(pr_container **out, const char *path, parsrec_error *err);

/* The same over bytes that stay the caller's and must outlive the container. */
parsrec_status pr_container_parse(pr_container **out, const void *bytes, size_t size,
                                  const char *origin, parsrec_error *err);
void pr_container_free(pr_container *container); /* NULL is fine */

const char *pr_container_path(const pr_container *container); /* for messages */
uint64_t pr_container_bytes(const pr_container *container);
const char *pr_container_metadata(const pr_container *container, const char *key); /* or NULL */
const char *pr_container_checksum(const pr_container *container); /* 16 hex digits or "" */

size_t pr_container_tensors(const pr_container *container);
const pr_tensor *pr_container_at(const pr_container *container, size_t i);
const pr_tensor *pr_container_find(const pr_container *container, const char *name); /* or NULL */

/* The tensor of that name, type and rank, or a sentence that says what is missing. */
parsrec_status pr_container_need(const pr_container *container, const char *name, pr_dtype dtype,
                                 unsigned rank, const pr_tensor **out, parsrec_error *err);

/* Refuses a file of another format, or of a newer version than the reader knows. */
parsrec_status pr_container_expect(const pr_container *container, const char *format,
                                   uint32_t newest, uint32_t *version, parsrec_error *err);

/* ---- writing ---- */

/* Writes tensors (any order; they are sorted by element size, then name, and 64-byte aligned by
 * pad.N tensors) and metadata. `format` and `version` become metadata, a checksum is added. Equal
 * arguments give equal files. */
parsrec_status pr_container_write(const char *path, const char *format, uint32_t version,
                                  const pr_metadata *metadata, size_t metadata_count,
                                  const pr_tensor *tensors, size_t tensor_count,
                                  parsrec_error *err);

#endif
