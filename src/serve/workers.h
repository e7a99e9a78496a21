/* Work that must not hold up those who read requests: a few threads and a queue that is never longer than
 * it may be. */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include "base/status.h"

/* Part of whatever the work is about. */
typedef struct work_item {
    void (*run)(struct work_item *self);
    struct work_item *next;
} work_item;

typedef struct workers workers;

parsrec_status workers_new(workers **out, unsigned threads, size_t longest_queue,
                           parsrec_error *err);
/* False when the queue is full. */
bool workers_submit(workers *pool, work_item *work);
/* Runs what is queued and ends the threads; what is submitted from now on is refused. */
void workers_finish(workers *pool);
void workers_free(workers *pool); /* finishes first; NULL is fine */

#endif
