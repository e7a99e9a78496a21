/* A shop in memory whose customers have habits that can be learnt: sessions of any sizes, all keys
 * there, so that models of it can be saved. */
#ifndef TOY_SHOP_H
#define TOY_SHOP_H

#include <stdio.h>
#include <stdlib.h>

#include "data/dataset.h"

typedef struct toy_shop {
    pr_dataset data;
    int64_t *user_offsets, *session_offsets, *user_key_offsets, *item_key_offsets;
    int32_t *items;
    char *user_keys, *item_keys;
} toy_shop;

/* Sizes of a shop. User u has least + u % spread sessions; session s has 1 + s % sizes items, or
 * `fixed` of them if that is not 0. */
typedef struct toy_sizes {
    int users, items, least, spread, sizes, fixed;
} toy_sizes;

enum { TOY_KEY_BYTES = 6 }; /* "u00042" */

static inline void toy_keys(char *bytes, int64_t *offsets, char letter, int count)
{
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%c%05d", letter, i);
        for (int k = 0; k < TOY_KEY_BYTES; k++)
            bytes[i * TOY_KEY_BYTES + k] = key[k];
        offsets[i + 1] = (int64_t)(i + 1) * TOY_KEY_BYTES;
    }
}

/* Items of a basket stand near each other and near the user's own corner of the catalogue. */
static inline toy_shop toy_make(toy_sizes z)
{
    size_t sessions = (size_t)z.users * (size_t)(z.least + z.spread);
    size_t largest = (size_t)(z.fixed > 0 ? z.fixed : z.sizes);
    toy_shop t = {.user_offsets = calloc((size_t)z.users + 1, sizeof(int64_t)),
                  .session_offsets = calloc(sessions + 1, sizeof(int64_t)),
                  .user_key_offsets = calloc((size_t)z.users + 1, sizeof(int64_t)),
                  .item_key_offsets = calloc((size_t)z.items + 1, sizeof(int64_t)),
                  .items = calloc(sessions * largest, sizeof(int32_t)),
                  .user_keys = calloc((size_t)z.users, TOY_KEY_BYTES),
                  .item_keys = calloc((size_t)z.items, TOY_KEY_BYTES)};
    int64_t s = 0, a = 0;
    for (int u = 0; u < z.users; u++) {
        for (int k = 0; k < z.least + u % z.spread; k++, s++) {
            int size = z.fixed > 0 ? z.fixed : 1 + (int)(s % z.sizes);
            for (int i = 0; i < size; i++)
                t.items[a++] = (u * 3 + (k * k + u) % 5 + i) % z.items;
            t.session_offsets[s + 1] = a;
        }
        t.user_offsets[u + 1] = s;
    }
    toy_keys(t.user_keys, t.user_key_offsets, 'u', z.users);
    toy_keys(t.item_keys, t.item_key_offsets, 'i', z.items);
    t.data = (pr_dataset){.users = (size_t)z.users,
                          .sessions = (size_t)s,
                          .items = (size_t)z.items,
                          .actions = (size_t)a,
                          .user_offsets = t.user_offsets,
                          .session_offsets = t.session_offsets,
                          .action_items = t.items,
                          .user_keys = {t.user_keys, t.user_key_offsets, (size_t)z.users},
                          .item_keys = {t.item_keys, t.item_key_offsets, (size_t)z.items},
                          .source = ""};
    return t;
}

static inline void toy_free(toy_shop *t)
{
    free(t->user_offsets);
    free(t->session_offsets);
    free(t->user_key_offsets);
    free(t->item_key_offsets);
    free(t->items);
    free(t->user_keys);
    free(t->item_keys);
}

#endif
