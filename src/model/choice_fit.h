/* Conditional logit: weights of features such that what was chosen scores above what was not.
 *
 * A case is one choice: alternatives with F features each, some of which were taken and share the
 * choice between them. The chance of alternative a is exp(w·x_a + offset_a) / sum of the same. The
 * weights maximise the sum over cases of the log chances, mean over those taken, less a ridge that
 * holds them near given ones: as strong as `prior` cases that speak for those. Newton's method: the
 * objective is concave, so a few steps find the one maximum.
 *
 * Alternatives may be a sample: an offset of log(1 / chance to be sampled) makes up for those left
 * out. */
#ifndef PR_CHOICE_FIT_H
#define PR_CHOICE_FIT_H

#include "base/threads.h"
#include "math/shapes.h"

enum { PR_CHOICE_FEATURES_MOST = 16 };

typedef struct pr_choices {
    size_t features; /* F, at most PR_CHOICE_FEATURES_MOST */
    size_t cases;    /* case c has alternatives starts[c] up to starts[c + 1]; ... */
    size_t *starts;  /* [cases + 1] */
    uint32_t *taken; /* [cases]: ... the first so many were taken, at least one */
    float *x;        /* [alternatives, F] */
    float *offset;   /* [alternatives] */
} pr_choices;

/* Replaces weights[F], which are the ones held to, by those that fit. `gain`, unless NULL, is the mean log
 * chance of a case above that of equal chances. The same bits at any number of threads. Without cases
 * the weights stay. */
parsrec_status pr_choice_fit(double *weights, double *gain, const pr_choices *choices, double prior,
                             pr_pool *pool, parsrec_error *err);

#endif
