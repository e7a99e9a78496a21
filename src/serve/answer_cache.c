/* A short table, searched from end to end: finding takes nothing beside the seconds that it saves. */
#include "serve/answer_cache.h"

#include "base/memory.h"

void answer_cache_init(answer_cache *cache)
{
    *cache = (answer_cache){0};
    pthread_mutex_init(&cache->lock, NULL);
}

static void forget(cache_entry *entry)
{
    pr_free(entry->key);
    pr_free(entry->text);
    *entry = (cache_entry){0};
}

void answer_cache_free(answer_cache *cache)
{
    for (size_t i = 0; i < CACHE_ENTRIES; i++)
        forget(&cache->entries[i]);
    pthread_mutex_destroy(&cache->lock);
}

static cache_entry *find(answer_cache *cache, pr_slice key, uint64_t model)
{
    for (size_t i = 0; i < CACHE_ENTRIES; i++) {
        cache_entry *e = &cache->entries[i];
        if (e->text != NULL && e->model == model &&
            pr_slice_equal((pr_slice){e->key, e->key_size}, key))
            return e;
    }
    return NULL;
}

char *answer_cache_get(answer_cache *cache, pr_slice key, uint64_t model, size_t *size)
{
    char *copy = NULL;
    pthread_mutex_lock(&cache->lock);
    cache_entry *e = find(cache, key, model);
    if (e != NULL) {
        e->used = ++cache->calls;
        *size = e->text_size;
        copy = pr_copy_string(e->text, e->text_size);
    }
    pthread_mutex_unlock(&cache->lock);
    return copy;
}

static cache_entry *oldest(answer_cache *cache)
{
    cache_entry *old = &cache->entries[0];
    for (size_t i = 1; i < CACHE_ENTRIES; i++)
        if (cache->entries[i].used < old->used)
            old = &cache->entries[i];
    return old;
}

void answer_cache_put(answer_cache *cache, pr_slice key, uint64_t model, pr_slice text)
{
    cache_entry fresh = {.key_size = key.size, .text_size = text.size, .model = model};
    if (key.size + text.size > CACHE_ENTRY_BYTES)
        return;
    fresh.key = pr_copy_string(key.bytes, key.size);
    fresh.text = pr_copy_string(text.bytes, text.size);
    if (fresh.key == NULL || fresh.text == NULL) {
        forget(&fresh);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    cache_entry *place = find(cache, key, model);
    if (place == NULL)
        place = oldest(cache);
    forget(place);
    fresh.used = ++cache->calls;
    *place = fresh;
    pthread_mutex_unlock(&cache->lock);
}
