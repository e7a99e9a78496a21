/* Why an item is recommended: what becomes of its chance and rank when an item of the basket, the
 * user's history or the user is left out. Every kind of model can be asked that. */
#ifndef PR_REASONS_H
#define PR_REASONS_H

#include "parsrec.h"
#include "recommend/recommend.h"

/* Memory of one thread; nothing is allocated after it is made. */
typedef struct pr_reasons {
    pr_scorer *session; /* of several rows, in each of which something else is left out */
    pr_real *scores;    /* [rows,V] */
    pr_real *spare;     /* [V] */
    int32_t *order;     /* [V] */
    int32_t *basket;    /* [capacity]: for the caller: each item once */
    pr_real *attention; /* [capacity] */
    pr_real *placed;    /* [capacity]: what each item of the basket adds to a score */
    bool begun;         /* the first rows of a question have been run */
} pr_reasons;

parsrec_status pr_reasons_init(pr_reasons *reasons, const pr_model *model, size_t capacity,
                               parsrec_error *err);
void pr_reasons_free(pr_reasons *reasons); /* a zeroed one is fine */

/* An open basket whose recommendations are to be explained. */
typedef struct pr_why_question {
    pr_start start;
    const int32_t *basket; /* each item once */
    size_t size;           /* at most the capacity */
    const uint8_t *barred; /* [V]: what may not be recommended, and why (model/recommend.h) */
} pr_why_question;

/* The best k items of a question that is about to be explained: order[] has them, scores[] their scores. Returns how
 * many. */
size_t pr_reasons_best(pr_reasons *reasons, const pr_why_question *question, size_t k);
/* Sets all of whys[count] but the items, which are given and may be recommended. */
void pr_reasons_find(pr_reasons *reasons, const pr_why_question *question, parsrec_why *whys,
                     size_t count);

#endif
