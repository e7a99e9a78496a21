/* Cross effects: sums over drawn and past baskets that say, for each bin dropped in turn, what
 * becomes of every other bin, without asking the model again. They are independent of the
 * scenarios. pr_whatif_cross_effects (whatif.h) turns them into the effects that are reported. */
#ifndef PR_CROSS_EFFECTS_H
#define PR_CROSS_EFFECTS_H

#include "whatif/rollout.h"

enum { PR_DROPS_MOST = 200 }; /* bins that are dropped in turn: those sold most */

/* Sums over the drawn or over the past baskets. Every basket counts alike. */
typedef struct pr_pair_sums {
    double *baskets; /* [groups] */
    double *units;   /* [groups, bins] */
    double *with;    /* [groups, drops]: baskets with the dropped bin */
    double *joint;   /* [groups, drops, bins]: units in them */
} pr_pair_sums;

typedef struct pr_cross_sums {
    size_t drops, bins;
    size_t *drop;     /* [drops]: their bins, best sold first */
    int32_t *drop_of; /* [bins]: the index in `drop`, or -1 */
    pr_pair_sums drawn, past;
    double *refill; /* [groups, drops, bins]: units bought in place of the dropped bin, drawn */
} pr_cross_sums;

/* Drops those bins in turn that have the largest sales[bins], never "other items". The sums live in
 * the region of the lines. */
parsrec_status pr_cross_sums_init(pr_cross_sums *cross, const pr_lines *lines, size_t groups,
                                  const double *sales, parsrec_error *err);

/* Adds a drawn basket; or all past baskets of the same users. These end before the test session, as
 * the history that a drawn basket starts with does, whatever past_sales.c counts. */
void pr_cross_sums_drawn(pr_cross_sums *cross, const pr_cohort *cohort, const pr_lines *lines,
                         const pr_drawn *basket);
void pr_cross_sums_past(pr_cross_sums *cross, const pr_cohort *cohort, const pr_lines *lines,
                        const pr_dataset *data, size_t last);

#endif
