/* Work that takes seconds or minutes: what-if and relations. A job has an unguessable name, waits in a short
 * queue, runs on threads of low priority, and its result is kept.
 *
 * Equal questions to the same model share one job, whether they come from POST /v1/jobs or from the routes
 * that wait for the answer. A job lives as long as somebody wants it: a request that waits, or a client that
 * has asked about it during the last `left_seconds`. When nobody does it is cancelled, at the next progress
 * report of the work. The table of finished jobs is the cache of results: bounded in bytes, least recently
 * used goes first, and what an older model said is never handed to a new question.
 *
 * A running job holds its engine; one that waits does not, so that a queue full of jobs keeps no old models in
 * memory. */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include "base/json.h"
#include "base/threads.h"
#include "serve/engine.h"

enum {
    JOB_RUNNERS = 2,       /* jobs that run together; each uses all cores */
    JOB_QUEUE = 16,        /* jobs that wait */
    JOBS_MOST = 128,       /* with those that are finished */
    JOB_ID_BYTES = 32 + 1, /* 128 random bits in hexadecimal */
};

/* What the two kinds of jobs do; each in the file of its route. */
typedef struct job_kind {
    const char *name; /* "whatif" */
    /* What is wrong with a request, before it is queued. */
    parsrec_status (*check)(const engine *e, json_t *request, parsrec_error *err);
    /* The answer as JSON, to be freed with pr_free. */
    parsrec_status (*run)(char **text, const engine *e, json_t *request, const parsrec_hooks *hooks,
                          parsrec_error *err);
    /* How often the progress of `run` goes from nothing to everything. */
    size_t (*stages)(const json_t *request);
} job_kind;

extern const job_kind job_whatif;    /* handle_whatif.c */
extern const job_kind job_relations; /* handle_relations.c */

typedef enum job_status { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED } job_status;

const char *job_status_name(job_status status); /* "queued" */

/* A job at one moment. Free with job_view_free. */
typedef struct job_view {
    char id[JOB_ID_BYTES];
    job_status status;
    double progress; /* 0 to 1 */
    char phase[64];  /* "drawing baskets" */
    char *text;      /* the result of one that is done */
    size_t size;
    parsrec_error err; /* of one that failed */
} job_view;

void job_view_free(job_view *view); /* a zeroed one is fine */

typedef struct jobs {
    engine_slot *engines;
    const atomic_bool *stopping;
    double left_seconds; /* a job that no client has asked about for this long is cancelled */
    size_t bytes_most;   /* of all results that are kept */
    pthread_mutex_t lock;
    pthread_cond_t queued, changed;
    struct job *all[JOBS_MOST];
    size_t count, waiting;
    uint64_t calls;   /* orders the queue, and what was used */
    pr_pool *runners; /* started with the first job */
    bool ending;
} jobs;

void jobs_init(jobs *table, engine_slot *engines, const atomic_bool *stopping);
void jobs_free(jobs *table); /* cancels what runs, and waits for it */

typedef enum jobs_verdict {
    JOBS_TAKEN,
    JOBS_FULL,    /* the queue is; try again later */
    JOBS_REFUSED, /* the error says why */
} jobs_verdict;

/* Queues the request or joins an equal one. The caller wants the job for the next `left_seconds`. */
jobs_verdict jobs_submit(jobs *table, const job_kind *kind, json_t *request, job_view *view,
                         parsrec_error *err);
/* Looks at a job, which keeps it wanted. False when there is none of that name. */
bool jobs_look(jobs *table, const char *id, job_view *view);
/* One client that submitted it no longer wants it; it is cancelled when all of them have said so and no
 * request waits. */
bool jobs_cancel(jobs *table, const char *id, job_view *view);

/* Submits, and waits until the job is finished, `deadline` has passed or `left` is true. The view then says how
 * far it is. A client who left does not want the job any more; after the deadline it stays wanted as if
 * somebody had asked about it. */
jobs_verdict jobs_ask(jobs *table, const job_kind *kind, json_t *request, double deadline,
                      const atomic_bool *left, job_view *view, parsrec_error *err);

#endif
