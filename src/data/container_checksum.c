/* The checksum of a container. */
#include "data/container_checksum.h"

#include <stdio.h>
#include <string.h>

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
