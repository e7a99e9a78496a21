/* The truth about synthetic data: test sets simulated from what the generator saved, with
 * everything on the shelf and, by the same draws, without what is missing. */
#ifndef PR_TRUE_SALES_H
#define PR_TRUE_SALES_H

#include "base/hooks.h"
#include "base/threads.h"
#include "synth/truth.h"
#include "whatif/sales.h"

/* Units per basket; [groups, lines], or [scenarios, groups, lines]. */
typedef struct pr_true_sales {
    size_t sets; /* test sets made; 0: nothing is known */
    size_t groups, lines;
    double *before;
    double *after[PR_QUESTIONS];
    /* The mean error of one test set of this size, as a share: the error of an estimator that knows
     * the expected sales. */
    double *floor[PR_QUESTIONS];
} pr_true_sales;

/* E_NOT_FOUND when the data are not synthetic. Lives in the region of the lines. */
parsrec_status pr_true_sales_init(pr_true_sales *out, const pr_dataset *data,
                                  const pr_cohort *cohort, const pr_lines *lines,
                                  const pr_scenarios *scenarios, size_t sets, size_t last,
                                  pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err);

static inline size_t pr_true_at(const pr_true_sales *t, size_t scenario, size_t group, size_t line)
{
    return (scenario * t->groups + group) * t->lines + line;
}

#endif
