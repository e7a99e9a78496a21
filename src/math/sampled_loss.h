/* Losses of a target against sampled items (negative sampling). */
#ifndef PR_SAMPLED_LOSS_H
#define PR_SAMPLED_LOSS_H

#include "math/wide.h"

/* ---- each row has its own items: binary cross entropy ---- */

/* ids[B,N]: the first item of each row is the target, the others are negatives. With s =
 * o·table[id], loss = factor · sum of log(1 + exp(-s)) for targets and log(1 + exp(s)) for the
 * negatives. Returns that sum without the factor, sets do_[B,D], adds into dtable.
 *                                                           (docs/math.md, Binary cross entropy) */
double pr_binary_gradient(pr_real *do_, pr_real *dtable, const pr_real *o, const pr_real *table,
                          const int32_t *ids, pr_real factor, size_t B, size_t N, size_t D);

/* ---- all rows share the sampled items, so that their scores are one product ----
 *
 * Scores are kept transposed, score[N,B], as in softmax_loss.h. PR_BARRED excludes an item from a
 * row. */

/* top[B] = the largest score of each row. */
void pr_drawn_top(pr_real *top, const pr_real *score, size_t N, size_t B);

/* A part of a softmax: top[B], which is the largest score of a row elsewhere on entry, becomes the
 * largest of all score + more, where more[N] corrects for the items that were not drawn; score becomes
 * exp(score + more - top), and sum[B] the sum of these.              (docs/math.md, Drawn items) */
void pr_drawn_exponentials(pr_real *score, pr_real *top, pr_real *sum, const pr_real *more,
                           size_t N, size_t B);
/* score[n,r] *= by[r] */
void pr_drawn_scale(pr_real *score, const pr_real *by, size_t N, size_t B);

/* loss = factor · sum over rows of the mean of log(1 + exp(score - t)) over the items that are not
 * barred, each weighted by times[N], how often it was drawn. Otherwise as above. */
double pr_pairwise_gradient(pr_real *score, pr_real *t, pr_real *work, const pr_real *times,
                            pr_real factor, size_t N, size_t B);

#endif
