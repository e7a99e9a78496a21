/* Any bytes as a container, and then as a data set: every tensor that is handed out is read. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "data/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

/* Reads each byte through the pointer a user would have; UBSan sees a misaligned one. */
static void touch(const pr_tensor *tensor)
{
    size_t bytes = pr_tensor_count(tensor) * pr_dtype_size(tensor->dtype);
    const unsigned char *p = tensor->data;
    unsigned char sum = (unsigned char)((uintptr_t)p % pr_dtype_size(tensor->dtype));
    if (sum != 0)
        __builtin_trap();
    for (size_t i = 0; i < bytes; i++)
        sum = (unsigned char)(sum + p[i]);
    sink = sum;
}

static void use_dataset(pr_container *file)
{
    parsrec_error err;
    pr_dataset *d;
    parsrec_data_stats stats;
    if (pr_dataset_from(&d, file, &err) != PARSREC_OK)
        return;
    (void)parsrec_data_statistics(d, &stats, &err);
    char path[64];
    for (size_t i = 0; i < d->categories; i++)
        sink = (unsigned char)pr_category_path(d, (int32_t)i, path, 1 + i % sizeof path)[0];
    /* What was read can be written: the rules of both sides are the same. */
    if (pr_dataset_save(d, NULL, 0, "/dev/null", &err) != PARSREC_OK)
        __builtin_trap();
    pr_dataset_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parsrec_error err;
    pr_container *file;
    if (pr_container_parse(&file, data, size, "fuzz", &err) != PARSREC_OK) {
        if (err.message[0] == '\0')
            __builtin_trap();
        return 0;
    }
    for (size_t i = 0; i < pr_container_tensors(file); i++)
        touch(pr_container_at(file, i));
    use_dataset(file);
    return 0;
}
