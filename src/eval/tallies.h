/* What each user adds to each measure, for intervals over users and for comparing models. */
#ifndef PR_TALLIES_H
#define PR_TALLIES_H

#include "eval/evaluation.h"
#include "eval/significance.h"

/* Measures in the order in which they are reported: each measure of the rule at each cutoff, or once
 * for one without cutoffs. */
size_t pr_tally_count(const pr_protocol *p);
/* Measure number i and the cutoff it stands at. */
pr_measure pr_tally_measure(const pr_protocol *p, size_t i, size_t *k);

/* The evaluated users of the last run, by number, and what each adds. Two evaluations of the same
 * protocol have the same users in the same order. The rows are the caller's to pr_free. */
parsrec_status pr_tallies_of(pr_tallies *out, const pr_evaluation *e, parsrec_error *err);

#endif
