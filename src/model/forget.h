/* A model without some of its users. */
#ifndef PR_FORGET_H
#define PR_FORGET_H

#include "model/model.h"

/* Without what it has of each user whose mark gone[users] is set, from a shop with them to one without;
 * everything else is the same. */
parsrec_status pr_model_without(pr_model **out, const pr_model *from, const bool *gone,
                                const pr_shop *before, const pr_shop *after, parsrec_error *err);

#endif
