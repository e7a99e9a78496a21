/* Seconds that only go forward, for measuring how long things take. */
#ifndef PR_CLOCK_H
#define PR_CLOCK_H

#include <time.h>

static inline double pr_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of processor time of the calling thread: what other programs do does not count. */
static inline double pr_thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
