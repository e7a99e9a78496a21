/* The checksum of a container: XXH3 over the header, its own 16 digits counted as '0', and then
 * over the tensor bytes. Reader and writer share it. */
#ifndef PR_CONTAINER_CHECKSUM_H
#define PR_CONTAINER_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/xxh3.h"

enum { PR_CHECKSUM_DIGITS = 16 };

/* Where the digits are in a header, found by the key before them. False when the header has
 * no such place. */
bool pr_checksum_find(const char *header, size_t size, size_t *at);

/* Begins a sum with the header whose digits are at `at`; tensor bytes follow by
 * XXH3_64bits_update. */
void pr_checksum_begin(XXH3_state_t *sum, const char *header, size_t size, size_t at);

/* The digits, lower case, terminated. */
void pr_checksum_finish(const XXH3_state_t *sum, char digits[PR_CHECKSUM_DIGITS + 1]);

#endif
