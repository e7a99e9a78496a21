/* The interface of a database backend. store.c ensures that at most one thread writes and one
 * thread reads at a time; both may happen at once. */
#ifndef SERVE_STORE_INSIDE_H
#define SERVE_STORE_INSIDE_H

#include "serve/store.h"

enum { STORE_HASH_TEXT = 2 * PR_SIPHASH_BYTES + 1 }; /* in hexadecimal, with the terminator */

/* Items are a JSON list of keys, or of [key, quantity] if the quantity is not 1. A row without
 * items records that a user was forgotten: only the hash is stored. */
typedef struct store_row {
    const char *user, *session; /* session may be NULL; in a row that was read, so may user */
    const char *items;
    int64_t time;
    const char *type;                /* "buy" */
    char user_hash[STORE_HASH_TEXT]; /* when read: only for a forgotten user */
    char event_id[STORE_HASH_TEXT];  /* hash of user and id; "": none. Only written */
    bool duplicate;                  /* set by append: the id was already stored */
} store_row;

/* Rows that are committed together. `origin` identifies the `store` object, `number` the batch
 * within it: a batch that is sent twice is stored once. */
typedef struct store_batch {
    store_row **rows;
    size_t count;
    int64_t origin, number;
    uint64_t last; /* out: no row, or event that a row repeats, has a higher number */
} store_batch;

typedef parsrec_status store_take(void *context, uint64_t number, int64_t origin,
                                  const store_row *row, parsrec_error *err);

typedef struct store_backend {
    const char *prefix; /* of its URLs */
    /* On entry the identity for a new store, on return that of the store. */
    parsrec_status (*open)(void **own, const char *url, store_identity *identity,
                           parsrec_error *err);
    void (*close)(void *own);
    parsrec_status (*append)(void *own, store_batch *batch, parsrec_error *err);
    /* Removes all rows of the user of batch->rows[0] and adds that row. */
    parsrec_status (*forget)(void *own, store_batch *batch, parsrec_error *err);
    parsrec_status (*read)(void *own, uint64_t after, store_take *take, void *context,
                           parsrec_error *err);
    parsrec_status (*newest)(void *own, uint64_t *number, parsrec_error *err); /* reads */
    parsrec_status (*check)(void *own, parsrec_error *err);                    /* reads */
    /* As store_wait, which `wake` ends when it can be read. NULL: the database announces nothing
     * and is polled. Uses nothing that the other functions use. */
    parsrec_status (*wait)(void *own, int wake, int milliseconds, uint64_t *news,
                           parsrec_error *err);
} store_backend;

extern const store_backend store_sqlite, store_postgres;

/* For the databases: the hash of a key as text, and the secret as text and back. */
void store_hash_text(char out[STORE_HASH_TEXT], const store_identity *identity, const char *text,
                     size_t size);
void store_bytes_text(char out[STORE_HASH_TEXT], const uint8_t bytes[PR_SIPHASH_BYTES]);
bool store_text_bytes(uint8_t bytes[PR_SIPHASH_BYTES], const char *text);

#endif
