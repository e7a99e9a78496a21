/* What was sold, by counting: in the sessions before the test, and in the test itself. */
#ifndef PR_PAST_SALES_H
#define PR_PAST_SALES_H

#include "whatif/books.h"

/* Enters every session of the cohort's users before their test sessions into `past`, the test sessions
 * into `test`: all of them before, by selection those without what is missing after. Re-choice is what
 * counting cannot tell; its ledgers stay empty. single[lines]: past baskets hold a line hardly ever
 * twice. */
parsrec_status pr_past_sales(pr_book *past, pr_book *test, bool *single, const pr_dataset *data,
                             const pr_cohort *cohort, const pr_lines *lines,
                             const pr_scenarios *scenarios, size_t last, parsrec_error *err);

#endif
