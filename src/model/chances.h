/* From a model's scores to the chance of each item to come next, so that steps and models compare. */
#ifndef PR_CHANCES_H
#define PR_CHANCES_H

#include <stdint.h>

#include "model/model.h"

typedef struct pr_chances {
    double top, log_sum; /* of scores that are exponents */
    double sum;          /* of scores that are shares */
    bool shares;
} pr_chances;

/* Chances below this are taken for it: an item that a model of counts never saw has none at all, and
 * its logarithm would say nothing more. */
#define PR_CHANCE_LEAST 1e-6

/* Of scores[V]; items that cannot come score -INFINITY. */
pr_chances pr_chances_of(const pr_model *model, const pr_real *scores);
/* The logarithm of the chance of an item with that score. */
double pr_log_chance(const pr_chances *chances, pr_real score);

#endif
