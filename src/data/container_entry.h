/* One tensor as the header of a container describes it. */
#ifndef PR_CONTAINER_ENTRY_H
#define PR_CONTAINER_ENTRY_H

#include "base/json.h"
#include "data/container.h"

#define PR_METADATA_KEY "__metadata__"

enum {
    PR_HEADER_MAX = 16 << 20, /* bytes; JSON takes a multiple of it in memory */
    PR_TENSOR_NAME_MAX = 255, /* bytes */
    PR_ALIGNMENT = 64,        /* of the tensors we write */
};

typedef struct pr_container_entry {
    pr_tensor tensor;    /* the name belongs to the JSON */
    uint64_t begin, end; /* in the data area */
    void *copy;          /* holds the data when they are not aligned in the file */
} pr_container_entry;

/* Checks name, dtype, shape and offsets against each other; not yet against the file. */
parsrec_status pr_container_entry_read(pr_container_entry *entry, const char *name,
                                       const json_t *value, const char *path, parsrec_error *err);

/* True for pad.N tensors, which only align others. */
bool pr_container_entry_is_padding(const pr_container_entry *entry);

/* Points the tensor at its bytes, or at an aligned copy of them. */
parsrec_status pr_container_entry_place(pr_container_entry *entry, const unsigned char *data,
                                        parsrec_error *err);

#endif
