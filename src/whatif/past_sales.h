/* What was sold, by counting: in the sessions before the test, and in the test itself. */
#ifndef PR_PAST_SALES_H
#define PR_PAST_SALES_H

#include "whatif/answer.h"

/* Enters every session of the groups' users into a->past, and the test sessions into a->test: all of them
 * before, by selection those without what is missing after. On synthetic data the test sessions are not
 * part of the past, so that estimates can be judged by them. Re-choice is what counting cannot tell; its
 * ledgers stay empty. Fills a->grown, a->sizes, a->single and a->sold too. */
parsrec_status pr_past_sales(pr_whatif_result *a, const pr_dataset *data, size_t last,
                             parsrec_error *err);

#endif
