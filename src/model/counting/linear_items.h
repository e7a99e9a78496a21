/* EASE: a linear model that predicts each item of a user from the user's others (Steck, WWW 2019).
 *
 * With X the users' items as 0 and 1 and P = (XᵀX + λI)⁻¹, the weight of item i for item j is
 * −P[i,j] / P[j,j]. P is dense: V² numbers and V³ operations. So only the most popular items take part,
 * as many as the setting `ease.items` says; of each row the weights of largest size are kept. */
#ifndef PR_LINEAR_ITEMS_H
#define PR_LINEAR_ITEMS_H

#include "model/counting/transitions.h"

/* The weights as links; free with pr_links_free, also on failure. */
parsrec_status pr_linear_items(pr_links *out, const pr_counted *from, const pr_config *config,
                               parsrec_error *err);

/* a[n,n], symmetric and positive definite, becomes its inverse. The pool may be NULL; bits do not depend
 * on its threads. E_CONFIG when a is not positive definite. */
parsrec_status pr_invert(pr_real *a, size_t n, pr_pool *pool, const parsrec_hooks *hooks,
                         parsrec_error *err);

#endif
