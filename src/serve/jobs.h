/* Work that must not hold up those who read requests: a few threads and a queue that is never longer than
 * it may be. */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include "base/status.h"

/* Part of whatever the work is about. */
typedef struct job {
    void (*run)(struct job *self);
    struct job *next;
} job;

typedef struct jobs jobs;

parsrec_status jobs_new(jobs **out, unsigned threads, size_t longest_queue, parsrec_error *err);
/* False when the queue is full. */
bool jobs_submit(jobs *pool, job *work);
/* Runs what is queued and ends the threads; what is submitted from now on is refused. */
void jobs_finish(jobs *pool);
void jobs_free(jobs *pool); /* finishes first; NULL is fine */

#endif
