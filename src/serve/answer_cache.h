/* Answers that took seconds to make, kept for those who ask the same of the same model again. */
#ifndef SERVE_ANSWER_CACHE_H
#define SERVE_ANSWER_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { CACHE_ENTRIES = 64, CACHE_ENTRY_BYTES = 1 << 20 };

typedef struct cache_entry {
    char *key, *text;
    size_t key_size, text_size;
    uint64_t model; /* whose answer it is */
    uint64_t used;  /* when, in calls */
} cache_entry;

typedef struct answer_cache {
    pthread_mutex_t lock;
    cache_entry entries[CACHE_ENTRIES];
    uint64_t calls;
} answer_cache;

void answer_cache_init(answer_cache *cache);
void answer_cache_free(answer_cache *cache);

/* A copy to be freed with pr_free, or NULL. */
char *answer_cache_get(answer_cache *cache, pr_slice key, uint64_t model, size_t *size);
/* Keeps copies, in the place of what was not asked for longest. What is too large is not kept. */
void answer_cache_put(answer_cache *cache, pr_slice key, uint64_t model, pr_slice text);

#endif
