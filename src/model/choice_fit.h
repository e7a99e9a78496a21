/* Conditional logit: feature weights that make chosen alternatives score above the others.
 *
 * A case is one choice among alternatives with F features each. Some of them were taken and share
 * the choice. The probability of alternative a is exp(w·x_a + offset_a) / sum of the same. The
 * weights maximise the sum over cases of the mean log probability of the alternatives taken, minus
 * a ridge penalty that pulls them towards given weights with the strength of `prior` cases. The
 * objective is concave, so a few Newton steps find its maximum.
 *
 * Alternatives may be a sample: an offset of log(1 / sampling probability) corrects for those left
 * out. */
#ifndef PR_CHOICE_FIT_H
#define PR_CHOICE_FIT_H

#include "base/threads.h"
#include "math/shapes.h"

enum { PR_CHOICE_FEATURES_MOST = 16 };

typedef struct pr_choices {
    size_t features; /* F, at most PR_CHOICE_FEATURES_MOST */
    size_t cases;    /* case c has alternatives starts[c] up to starts[c + 1] - 1; ... */
    size_t *starts;  /* [cases + 1] */
    uint32_t *taken; /* [cases]: ... the first taken[c] of them were taken, at least one */
    float *x;        /* [alternatives, F] */
    float *offset;   /* [alternatives] */
} pr_choices;

/* On entry weights[F] are the prior's centre; on return they are the fitted weights. `gain`, unless
 * NULL, is the mean log probability of a case minus that of uniform probabilities. The result has
 * the same bits with any number of threads. Without cases the weights do not change. */
parsrec_status pr_choice_fit(double *weights, double *gain, const pr_choices *choices, double prior,
                             pr_pool *pool, parsrec_error *err);

#endif
