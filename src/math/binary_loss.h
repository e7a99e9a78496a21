/* Right or wrong, item by item: the binary cross entropy of a target against drawn items. */
#ifndef PR_BINARY_LOSS_H
#define PR_BINARY_LOSS_H

#include "math/wide.h"

/* ids[B,N]: the first of each row is right, the others wrong. With s = o·table[id], loss = factor ·
 * sum of log(1 + exp(-s)) for the right and log(1 + exp(s)) for the others: returns that sum without
 * the factor, sets do_[B,D], adds into dtable.               (docs/math.md, Binary cross entropy) */
double pr_binary_gradient(pr_real *do_, pr_real *dtable, const pr_real *o, const pr_real *table,
                          const int32_t *ids, pr_real factor, size_t B, size_t N, size_t D);

#endif
