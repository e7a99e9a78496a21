/* SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed hash. Without the key
 * it cannot be found out which text a hash belongs to, nor can two texts with one hash be made. */
#ifndef PR_SIPHASH_H
#define PR_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { PR_SIPHASH_BYTES = 16 }; /* of the key and of the hash */

void pr_siphash(uint8_t hash[PR_SIPHASH_BYTES], const uint8_t key[PR_SIPHASH_BYTES],
                const void *bytes, size_t size);

#endif
