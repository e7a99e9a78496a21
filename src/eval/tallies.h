/* What each user adds to each measure, so that intervals and comparisons can be made from it. */
#ifndef PR_TALLIES_H
#define PR_TALLIES_H

#include "eval/evaluation.h"
#include "eval/significance.h"

/* Measures of a protocol in the order in which they are reported: those of its rule, each at every
 * cutoff, or once where it has none. */
size_t pr_protocol_measures(const pr_eval_protocol *p);
/* Measure number i and the cutoff it stands at. */
pr_measure_id pr_protocol_measure(const pr_eval_protocol *p, size_t i, size_t *k);

/* Users in the order of their numbers: the same in every evaluation by one protocol. */
typedef struct pr_user_tallies {
    pr_tally *rows;  /* [count · measures] */
    uint32_t *users; /* [count] */
    size_t count, measures;
} pr_user_tallies;

/* After a run. Free with pr_user_tallies_free, also on failure. */
parsrec_status pr_user_tallies_make(pr_user_tallies *out, const pr_evaluation *e, pr_aspect aspect,
                                    parsrec_error *err);
void pr_user_tallies_free(pr_user_tallies *tallies); /* a zeroed one is fine */

#endif
