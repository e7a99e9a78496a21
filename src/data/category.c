/* The path of a category from the top, for people. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "data/dataset.h"

/* Appends what fits of `part`, cut between characters; returns the new length. */
static size_t append(char *buffer, size_t used, size_t size, pr_slice part)
{
    size_t n = pr_utf8_cut(part.bytes, part.size, size - 1 - used);
    memcpy(buffer + used, part.bytes, n);
    buffer[used + n] = '\0';
    return used + n;
}

char *pr_category_path(const pr_dataset *data, int32_t category, char *buffer, size_t size)
{
    int32_t chain[PR_CATEGORY_LEVELS];
    size_t levels = 0, used = 0;
    for (int32_t c = category; c >= 0 && levels < PR_CATEGORY_LEVELS; c = data->category_parent[c])
        chain[levels++] = c;
    buffer[0] = '\0';
    while (levels-- > 0) {
        used = append(buffer, used, size, pr_name(&data->category_names, (size_t)chain[levels]));
        if (levels > 0)
            used = append(buffer, used, size, pr_slice_of(" > "));
    }
    return buffer;
}
