/* Two hashes that others compute too, so that their definitions are part of our formats. For tables in
 * memory and checksums of files, see xxh3.h. */
#ifndef PR_HASH_H
#define PR_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed hash. Without the key
 * it cannot be found out which text a hash belongs to, nor can two texts with one hash be made. */
enum { PR_SIPHASH_BYTES = 16 }; /* of the key and of the hash */
void pr_siphash(uint8_t hash[PR_SIPHASH_BYTES], const uint8_t key[PR_SIPHASH_BYTES],
                const void *bytes, size_t size);

/* MD5 (RFC 1321), the hash that every database and query engine has. It assigns users to shards
 * (docs/adr/0022-shards-by-md5.md) and protects nothing. */
enum { PR_MD5_BYTES = 16 };
void pr_md5(uint8_t hash[PR_MD5_BYTES], const void *bytes, size_t size);

#endif
