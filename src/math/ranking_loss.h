/* Losses of GRU4Rec and GRU4Rec+ (Hidasi and Karatzoglou, 2018): a target against sampled items that all rows share, each
 * weighted by its softmax among them, so that items which rank high count. */
#ifndef PR_RANKING_LOSS_H
#define PR_RANKING_LOSS_H

#include "math/wide.h"

enum { PR_RANKING_WORK = 5 };

/* Scores are kept transposed, score[N,B]; PR_BARRED (softmax_loss.h) excludes an item from a row. With t the
 * target's score, w the softmax of the row's scores and s the logistic function,
 *
 *   BPR-max    loss = factor · sum over rows of −log(sum of w · s(t − score)) + less · sum of w · score²
 *   TOP1-max   loss = factor · sum over rows of the sum of w · (s(score − t) + s(score²))
 *
 * Both return that sum without the factor; score[N,B] and t[B] become their gradients. work[PR_RANKING_WORK,B] is scratch.
 *                                                                    (docs/math.md, Drawn items) */
double pr_bpr_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real less, pr_real factor,
                           size_t N, size_t B);
/* Sampled cross entropy: loss = factor · sum over rows of log(exp(t) + sum of exp(score + more)) − t, where
 * `more` is the log of how many items each sampled one stands for. Otherwise as above. */
double pr_shared_softmax_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real more,
                                  pr_real factor, size_t N, size_t B);
double pr_top1_max_gradient(pr_real *score, pr_real *t, pr_real *work, pr_real factor, size_t N,
                            size_t B);

#endif
