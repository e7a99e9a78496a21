/* What hangs on what: sums over baskets, drawn and past, from which the going of every bin can be
 * followed to every other without asking the model again. */
#ifndef PR_SPILL_H
#define PR_SPILL_H

#include "whatif/rollout.h"

enum { PR_HUBS_MOST = 200 }; /* bins whose going is followed: those sold most */

/* Of the drawn or of the past baskets. */
typedef struct pr_pairs {
    double *baskets; /* [groups] */
    double *units;   /* [groups, bins] */
    double *with;    /* [groups, hubs]: baskets with the hub */
    double *joint;   /* [groups, hubs, bins]: units in them */
} pr_pairs;

typedef struct pr_spill {
    size_t hubs, bins;
    size_t *hub;     /* [hubs]: their bins */
    int32_t *hub_of; /* [bins]: -1 for others */
    pr_pairs drawn, past;
    double *refill; /* [groups, hubs, bins]: units that come where the hub is missing, drawn */
} pr_spill;

/* `sales`[bins] decides who is a hub; "other items" are none. Free also on failure. */
parsrec_status pr_spill_init(pr_spill *spill, const pr_lines *lines, size_t groups,
                             const double *sales, parsrec_error *err);
void pr_spill_free(pr_spill *spill); /* a zeroed one is fine */

/* Enters a drawn basket, or all past ones. */
void pr_spill_drawn(pr_spill *spill, const pr_cohort *cohort, const pr_lines *lines,
                    const pr_drawn *basket);
void pr_spill_past(pr_spill *spill, const pr_cohort *cohort, const pr_lines *lines,
                   const pr_dataset *data, size_t last);

#endif
