/* Long tasks side by side, each on a thread of its own, while callbacks stay on the calling thread. */
#ifndef PR_CREW_H
#define PR_CREW_H

#include "base/status.h"

typedef struct pr_crew_plan {
    void *context;
    /* Does one task; its hooks are handed on to the caller's. Several are at work at the same time. */
    parsrec_status (*work)(void *context, size_t task, const parsrec_hooks *hooks,
                           parsrec_error *err);
    const char *(*name)(void *context, size_t task); /* for messages */
    size_t tasks;
    unsigned jobs;       /* at work at the same time, at least 1 */
    const char *stage;   /* as progress is told: "training 12 models" */
    const char *counted; /* the stage of a task whose progress is the task's: "training" */
} pr_crew_plan;

/* Tasks begin in order. Messages have the task's name in front, epochs bear it. When a task fails, or the
 * caller wants to stop, no more begin and those at work are asked to stop; the error is that of the first
 * task that failed by itself. */
parsrec_status pr_crew_run(const pr_crew_plan *plan, const parsrec_hooks *hooks,
                           parsrec_error *err);

/* How many jobs to have: as many as wanted or, with 0, one a thread as far as memory has room for as many
 * of the largest. */
unsigned pr_crew_jobs(unsigned wanted, unsigned threads, double bytes);

#endif
