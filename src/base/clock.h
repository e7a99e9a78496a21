/* Seconds that only go forward, for measuring how long things take. */
#ifndef PR_CLOCK_H
#define PR_CLOCK_H

double pr_now(void);

#endif
