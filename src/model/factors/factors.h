/* Factor models, learnt from what was bought and what was not (pairwise.h).
 *
 *   bpr    score = bias + user · item (Rendle and others, 2009)
 *   fpmc   the same + the mean over the items just before of last · next (Rendle and others, 2010)
 *   ncf    weighted products of user and item factors, and a network over both (He and others, 2017)
 *   hrm, transrec   user and items just before as one vector (joint.c)
 *
 * What is just before an item are the items placed before it or, for the first one, the user's last session. */
#ifndef PR_FACTORS_H
#define PR_FACTORS_H

#include "model/model.h"

extern const pr_model_kind pr_bpr, pr_fpmc, pr_ncf, pr_hrm, pr_transrec;

#endif
