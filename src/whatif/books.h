/* All ledgers of one question sheet: what each estimator says was sold before, and is sold after each
 * scenario under each question. */
#ifndef PR_BOOKS_H
#define PR_BOOKS_H

#include "whatif/sales.h"
#include "whatif/scenario.h"

enum { PR_QUESTIONS = 2, PR_ESTIMATORS = 4 };

/* Of one estimator with one model. A ledger without lines is one that the estimator cannot fill. */
typedef struct pr_book {
    pr_ledger before;
    pr_ledger *after[PR_QUESTIONS]; /* [scenarios] */
    pr_ledger *refill; /* [scenarios]: of re-choice, what comes where something is missing */
} pr_book;

parsrec_status pr_book_init(pr_book *book, const pr_cohort *cohort, size_t lines, size_t scenarios,
                            parsrec_error *err);
void pr_book_free(pr_book *book, size_t scenarios); /* a zeroed one is fine */

#endif
