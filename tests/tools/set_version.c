/* set_version FROM TO VERSION: the same file as a later version of its format, with a right checksum. */
#include <stdio.h>
#include <stdlib.h>

#include "data/container.h"

enum { TENSORS_MOST = 512 };

static parsrec_status copy(const char *from, const char *to, uint32_t version, parsrec_error *err)
{
    static const char *const keys[] = {"model", "config", "data", "time_kind", "source"};
    pr_container *file;
    PR_TRY(pr_container_open(&file, from, err));
    pr_metadata metadata[sizeof keys / sizeof *keys];
    static pr_tensor tensors[TENSORS_MOST];
    size_t words = 0, count = pr_container_tensors(file);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = pr_container_metadata(file, keys[i]);
        if (value != NULL)
            metadata[words++] = (pr_metadata){keys[i], value};
    }
    if (count > TENSORS_MOST)
        count = TENSORS_MOST;
    for (size_t i = 0; i < count; i++)
        tensors[i] = *pr_container_at(file, i);
    parsrec_status status = pr_container_write(to, pr_container_metadata(file, "format"), version,
                                               metadata, words, tensors, count, err);
    pr_container_free(file);
    return status;
}

int main(int argc, char **argv)
{
    parsrec_error err;
    if (argc != 4) {
        fprintf(stderr, "usage: set_version FROM TO VERSION\n");
        return 2;
    }
    if (copy(argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 10), &err) == PARSREC_OK)
        return 0;
    fprintf(stderr, "set_version: %s\n", err.message);
    return 1;
}
