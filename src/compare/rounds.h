/* The work of a comparison: every model trained, where it is missing, and evaluated. */
#ifndef PR_ROUNDS_H
#define PR_ROUNDS_H

#include "compare/contender.h"

/* Everything that can be wrong is found before the first training begins. Then comes one round a seed:
 * trainings side by side, at most `jobs` of them (0: as many as cores and memory allow), the evaluation,
 * and after every round the reports of what is known so far. */
parsrec_status pr_comparison_rounds(parsrec_comparison *c, const parsrec_data *data,
                                    const pr_recipe *recipe, unsigned jobs,
                                    const parsrec_hooks *hooks, parsrec_error *err);

#endif
