/* Models that count instead of learning: their tables, and the popularity that all of them lean on.
 * docs/models.md has the formulas. */
#ifndef PR_COUNTING_H
#define PR_COUNTING_H

#include "data/counted.h"
#include "model/model.h"

extern const pr_model_kind pr_random, pr_pop, pr_personal, pr_recent, pr_markov, pr_mix, pr_oracle;

/* The parameter popularity [1,V]: how often each item was bought. Layout first; counting takes the
 * weights' memory, so all parameters must have their sizes by then. */
parsrec_status pr_popularity_layout(pr_model *model, parsrec_error *err);
parsrec_status pr_popularity_count(pr_model *model, const pr_counted *from, parsrec_error *err);
const pr_real *pr_popularity(const pr_model *model);

/* Scores for values in an order, order[0] the best of them: a value, or the next larger number where that
 * is not above the score of the one before. Where tie is given, equal values with equal ties keep equal
 * scores. All but order are indexed by what is in it. */
void pr_settle_ties(pr_real *scores, const int32_t *order, const pr_real *values,
                    const pr_real *tie, size_t n);

/* For kinds whose scores do not depend on what is in the basket. */
void pr_place_nothing(pr_scorer *session, const int32_t *items);

#endif
