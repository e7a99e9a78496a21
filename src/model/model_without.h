/* A model without some of its users. */
#ifndef PR_MODEL_WITHOUT_H
#define PR_MODEL_WITHOUT_H

#include "model/model.h"

/* Without what it has of each user whose mark gone[users] is set; everything else is the same. */
parsrec_status pr_model_without(pr_model **out, const pr_model *from, const bool *gone,
                                parsrec_error *err);

#endif
