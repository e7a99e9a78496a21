/* Numbers of short names seen lately, in front of a pr_intern: a name of up to 8 bytes is one word
 * to compare, where the table takes a hash and three dependent reads. Names hold no NUL. Each name
 * has one place: names chosen to share it cost a look into the table each, and no search. */
#ifndef PR_NAME_CACHE_H
#define PR_NAME_CACHE_H

#include "base/intern.h"

enum { PR_NAME_CACHE_BITS = 15 };

typedef struct pr_name_cache {
    uint64_t word[1 << PR_NAME_CACHE_BITS]; /* 0: empty */
    uint32_t number[1 << PR_NAME_CACHE_BITS];
} pr_name_cache;

/* The name's 1 to 8 bytes, then zeros. */
static inline uint64_t pr_name_word(pr_slice name)
{
    const char *s = name.bytes;
    size_t n = name.size;
    if (n >= 4) {
        uint32_t head, tail;
        memcpy(&head, s, 4);
        memcpy(&tail, s + n - 4, 4);
        return head | (uint64_t)tail << (n - 4) * 8;
    }
    uint64_t first = (unsigned char)s[0], middle = (unsigned char)s[n / 2];
    return first | middle << n / 2 * 8 | (uint64_t)(unsigned char)s[n - 1] << (n - 1) * 8;
}

/* As pr_intern_add, for a name that is not empty. */
static inline parsrec_status pr_name_number(pr_name_cache *cache, pr_intern *table, pr_slice name,
                                            uint32_t *number, parsrec_error *err)
{
    if (name.size > 8)
        return pr_intern_add(table, name, number, err);
    uint64_t word = pr_name_word(name);
    size_t at = (size_t)(word * 0x9E3779B97F4A7C15u >> (64 - PR_NAME_CACHE_BITS));
    if (cache->word[at] == word) {
        *number = cache->number[at];
        return PARSREC_OK;
    }
    parsrec_status status = pr_intern_add(table, name, number, err);
    if (status == PARSREC_OK) {
        cache->word[at] = word;
        cache->number[at] = *number;
    }
    return status;
}

#endif
