/* A model without some of its users. */
#ifndef PR_FORGET_H
#define PR_FORGET_H

#include "model/model.h"

/* A copy of `from` without the users marked in gone[users]; everything else is the same. `before`
 * and `after` are the shop with and without them. The caller frees *out. */
parsrec_status pr_model_without(pr_model **out, const pr_model *from, const bool *gone,
                                const pr_shop *before, const pr_shop *after, parsrec_error *err);

#endif
