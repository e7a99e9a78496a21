/* What the dates of sessions say about items: after how many days users buy an item again, and what
 * sold more than usual before a session. Counted from the training sessions of all users, for data
 * with dates (docs/math.md, Times). */
#ifndef PR_PURCHASE_TIMES_H
#define PR_PURCHASE_TIMES_H

#include "data/batch.h"
#include "data/split.h"
#include "math/shapes.h"

enum {
    PR_PERIODS = 52, /* that the time of the data is cut into */
    PR_RECENT_DAYS = 28,
};

/* Views of a model's tensors; all NULL for a model that looks at no dates. */
typedef struct pr_purchase_times {
    size_t items;
    pr_real *intervals; /* [V]: mean days from a purchase of an item to the user's next one */
    pr_real *calendar; /* [2]: the day (since 1970) on which period 0 starts, and days per period */
    pr_real *trends;   /* [PR_PERIODS,V]: log of sales in the PR_RECENT_DAYS before a period over
                         * what the item's share of all sales leads to expect */
} pr_purchase_times;

/* Counts into the tensors. The data must have dates. */
parsrec_status pr_purchase_times_count(const pr_purchase_times *out, const pr_counted *from,
                                       parsrec_error *err);

/* The trends of all items for a basket at this time; those of the last period if it is PR_NO_TIME. */
const pr_real *pr_trends_at(const pr_purchase_times *times, int64_t now);

/* The time of the open basket. Where it is not known, the user is expected back after the mean
 * interval between the sessions so far. PR_NO_TIME without two dated sessions. */
int64_t pr_history_now(const pr_history *history);
/* Days from session s to `now`, at least 0. */
pr_real pr_days_since(const pr_history *history, size_t s, int64_t now);

/* The days after which a user buys an item again: `span` days lie between the first and the last of
 * `times` purchases. The fewer there are, the more the interval over all users counts. */
static inline pr_real pr_usual_days(pr_real span, pr_real times, pr_real everybody)
{
    enum { PRIOR = 2 };
    return (span + PRIOR * everybody) / (times - 1 + PRIOR);
}

#endif
