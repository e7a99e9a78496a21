/* Threads for work that must not delay the threads that read requests, and a bounded queue in front
 * of them: when it is full, work is refused at once instead of piling up. */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include "base/status.h"

/* A member of the struct that holds the work. It stays the caller's and must live until `run` has
 * been called. */
typedef struct work_item {
    void (*run)(struct work_item *self);
    struct work_item *next; /* of the queue */
} work_item;

typedef struct workers workers;

/* Up to `threads` threads, as many as the system gives but at least one. */
parsrec_status workers_new(workers **out, unsigned threads, size_t longest_queue,
                           parsrec_error *err);
/* False when the queue is full or workers_finish was called. */
bool workers_submit(workers *w, work_item *work);
/* Runs what is queued and waits for it; later work is refused. */
void workers_finish(workers *w);
void workers_free(workers *w); /* finishes first; NULL is fine */

#endif
