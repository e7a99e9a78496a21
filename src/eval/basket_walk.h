/* Some baskets side by side, from their first step to their last. */
#ifndef PR_BASKET_WALK_H
#define PR_BASKET_WALK_H

#include "base/writer.h"
#include "eval/candidates.h"
#include "eval/evaluation.h"

enum { PR_WALK_ROWS = 32 }; /* at most so many */

/* Memory of one thread. */
typedef struct pr_desk {
    pr_scorer *small, *large; /* for ordinary and for long walks; large may be NULL */
    pr_candidate_set candidates;
    bool *taken, *seen; /* [rows · largest] */
    int32_t *others;    /* [rows · negatives] */
    float *mine;        /* [largest] */
    float *theirs;      /* [negatives], or [rows · V] */
    pr_writer page;     /* of a dump: text on its way to the file */
} pr_desk;

/* Walks baskets, of which the first has the most steps, and fills their sums. `group` is their number
 * in the order of the dump, if there is one. */
void pr_walk_group(pr_evaluation *e, pr_desk *own, pr_scorer *session, pr_evaluated *baskets,
                   size_t rows, size_t group);

#endif
