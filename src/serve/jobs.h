/* Work that takes seconds or minutes: what-if and relations. A job has an unguessable id, waits in
 * a short queue and runs on threads of low priority. Its result is cached.
 *
 * Equal requests to the same model share one job, whether they come from POST /v1/jobs or from the
 * routes that wait for the answer. A job is wanted while a request waits for it or a client has
 * asked about it during the last `left_seconds`. A job that is no longer wanted is cancelled at the
 * next progress report of the work. The table of finished jobs is the cache of results: bounded in
 * bytes, least recently used first out. A result of an older model never answers a new request.
 *
 * A running job holds a reference to its engine. A waiting job does not, so that a full queue keeps
 * no old models in memory. */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include "base/json.h"
#include "base/threads.h"
#include "serve/engine.h"

enum {
    JOB_RUNNERS = 2,       /* jobs that run at the same time; each uses all cores */
    JOB_QUEUE = 16,        /* jobs in the queue */
    JOBS_MOST = 128,       /* including finished jobs */
    JOB_ID_BYTES = 32 + 1, /* 128 random bits in hexadecimal */
};

/* What the two kinds of jobs do; each in the file of its route. */
typedef struct job_kind {
    const char *name; /* "whatif" */
    /* Checks a request before it is queued. */
    parsrec_status (*check)(const engine *e, json_t *request, parsrec_error *err);
    /* The answer as JSON, to be freed with pr_free. */
    parsrec_status (*run)(char **text, const engine *e, json_t *request, const parsrec_hooks *hooks,
                          parsrec_error *err);
    /* How many times the progress of `run` goes from 0 to its total. */
    size_t (*stages)(const json_t *request);
} job_kind;

extern const job_kind job_whatif;    /* handle_whatif.c */
extern const job_kind job_relations; /* handle_relations.c */

typedef enum job_status { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED } job_status;

const char *job_status_name(job_status status); /* "queued" */

/* A snapshot of a job. Free with job_view_free. */
typedef struct job_view {
    char id[JOB_ID_BYTES];
    job_status status;
    double progress; /* 0 to 1 */
    char phase[64];  /* "drawing baskets" */
    char *text;      /* the result, if done */
    size_t size;
    parsrec_error err; /* the reason, if failed */
} job_view;

void job_view_free(job_view *view); /* a zeroed one is fine */

typedef struct jobs {
    engine_slot *engines;
    const atomic_bool *stopping;
    double left_seconds; /* a job that no client has asked about for this long is cancelled */
    size_t bytes_most;   /* limit for all cached results */
    pthread_mutex_t lock;
    pthread_cond_t queued, changed;
    struct job *all[JOBS_MOST];
    size_t count, waiting;
    uint64_t calls;   /* a counter that orders the queue and the uses of results */
    pr_pool *runners; /* started with the first job */
    bool ending;
} jobs;

void jobs_init(jobs *table, engine_slot *engines, const atomic_bool *stopping);
void jobs_free(jobs *table); /* cancels running jobs and waits for them */

typedef enum jobs_verdict {
    JOBS_TAKEN,
    JOBS_FULL,    /* the queue is full; try again later */
    JOBS_REFUSED, /* the error says why */
} jobs_verdict;

/* Queues the request or joins an equal one. The caller wants the job for the next
 * `left_seconds`. */
jobs_verdict jobs_submit(jobs *table, const job_kind *kind, json_t *request, job_view *view,
                         parsrec_error *err);
/* Reads the state of a job, which keeps it wanted. False if there is no job with this id. */
bool jobs_look(jobs *table, const char *id, job_view *view);
/* One client that submitted the job no longer wants it. The job is cancelled when all of them have
 * called this and no request waits. False if there is no job with this id. */
bool jobs_cancel(jobs *table, const char *id, job_view *view);

/* Submits, and waits until the job is finished, `deadline` has passed or `left` is true. The view
 * then has its state. A client that left no longer wants the job; after the deadline the job stays
 * wanted as if the client had just asked about it. */
jobs_verdict jobs_ask(jobs *table, const job_kind *kind, json_t *request, double deadline,
                      const atomic_bool *left, job_view *view, parsrec_error *err);

#endif
