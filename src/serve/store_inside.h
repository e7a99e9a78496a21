/* What a database does for the store. store.c sees to it that one thread at a time writes and one at a time
 * reads; both may happen together. */
#ifndef SERVE_STORE_INSIDE_H
#define SERVE_STORE_INSIDE_H

#include "serve/store.h"

typedef struct store_row {
    const char *user, *session; /* session may be NULL */
    const char *items;          /* a JSON list of keys; NULL: the user is to be forgotten */
    int64_t time;
} store_row;

/* Rows that are committed together. origin says which `store` they came through, number which of its
 * batches it is: a batch that is sent again is stored once. */
typedef struct store_batch {
    const store_row **rows;
    size_t count;
    int64_t origin, number;
} store_batch;

typedef parsrec_status store_take(void *context, uint64_t number, int64_t origin,
                                  const store_row *row, parsrec_error *err);

typedef struct store_backend {
    const char *prefix; /* of its URLs */
    parsrec_status (*open)(void **own, const char *url, parsrec_error *err);
    void (*close)(void *own);
    parsrec_status (*append)(void *own, const store_batch *batch, parsrec_error *err);
    /* Removes the rows of batch->rows[0]->user and adds that row. */
    parsrec_status (*forget)(void *own, const store_batch *batch, parsrec_error *err);
    parsrec_status (*read)(void *own, uint64_t after, store_take *take, void *context,
                           parsrec_error *err);
    parsrec_status (*check)(void *own, parsrec_error *err); /* reads */
} store_backend;

extern const store_backend store_sqlite, store_postgres;

#endif
