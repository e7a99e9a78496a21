/* From scores of items to chances of classes. */
#ifndef PR_CLASS_MASS_H
#define PR_CLASS_MASS_H

#include "explain/axis.h"
#include "math/shapes.h"

/* What stands for the chances of one step. Items of -INFINITY are no candidates. */
typedef struct pr_class_mass {
    double *mass; /* [count + 1]: sums over each class, the rest last */
    double all;   /* their sum */
    double top;   /* the largest score, by whose exponential all are divided */
    bool shares;  /* scores are shares, not exponents (pr_model_kind) */
} pr_class_mass;

/* Fills all but `mass` (where the sums go) and `shares`, which say where to and how. work[items]. */
void pr_class_mass_set(pr_class_mass *m, pr_real *work, const pr_real *scores, const pr_axis *axis);

/* The logarithm of the chance of an item with that score. */
double pr_class_mass_log(const pr_class_mass *m, pr_real score);

#endif
