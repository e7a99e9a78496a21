/* MD5 (RFC 1321), the hash that every database and query engine has. It deals users to shards
 * (docs/adr/0022-shards-by-md5.md) and protects nothing. */
#ifndef PR_MD5_H
#define PR_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { PR_MD5_BYTES = 16 };

void pr_md5(uint8_t hash[PR_MD5_BYTES], const void *bytes, size_t size);

#endif
