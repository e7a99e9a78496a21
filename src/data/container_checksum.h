/* The checksum of a container: XXH3 over the header, with the 16 digits of the checksum itself taken
 * as '0', and then over the tensor bytes. For container.c, and for tests that alter files. */
#ifndef PR_CONTAINER_CHECKSUM_H
#define PR_CONTAINER_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/xxh3.h"

enum { PR_CHECKSUM_DIGITS = 16 };

/* Finds where the digits begin in a header; false when it has no key "checksum" with 16 of them. */
bool pr_checksum_find(const char *header, size_t size, size_t *at);

/* Begins a sum with the header, whose digits are at `at`; the caller adds the tensor bytes with
 * XXH3_64bits_update. */
void pr_checksum_begin(XXH3_state_t *sum, const char *header, size_t size, size_t at);

/* The digits, lower case, terminated. */
void pr_checksum_finish(const XXH3_state_t *sum, char digits[PR_CHECKSUM_DIGITS + 1]);

#endif
