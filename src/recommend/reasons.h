/* Why an item is recommended: how its probability and rank change when an item of the basket, the
 * user's history or the user is left out. Every kind of model can answer that, because it needs
 * scores only. */
#ifndef PR_REASONS_H
#define PR_REASONS_H

#include "data/dataset.h"
#include "model/model.h"
#include "parsrec.h"

/* Why an item may not be recommended: a filter of the request, or it is in the basket. */
enum { PR_MASK_BARRED = 1, PR_MASK_PLACED = 2 };

/* Memory of one thread; nothing is allocated after it is made. */
typedef struct pr_reasons {
    pr_scorer *session; /* of several rows, in each of which something else is left out */
    pr_real *scores;    /* [rows,V] */
    pr_real *spare;     /* [V] */
    int32_t *order;     /* [V] */
    int32_t *basket;    /* [capacity]: for the caller: distinct items */
    pr_real *attention; /* [capacity] */
    pr_real *placed;    /* [capacity]: what each item of the basket adds to a score */
    bool begun;         /* the first rows of a question have been run */
} pr_reasons;

parsrec_status pr_reasons_init(pr_reasons *reasons, const pr_model *model, size_t capacity,
                               parsrec_error *err);
void pr_reasons_free(pr_reasons *reasons); /* a zeroed one is fine */

/* An open basket whose recommendations are explained. */
typedef struct pr_why_question {
    pr_start start;
    const int32_t *basket; /* each item once */
    size_t size;           /* at most the capacity */
    const uint8_t *barred; /* [V]: PR_MASK_*; 0 may be recommended */
} pr_why_question;

/* The best k items of a question that is explained next, with the same question: order[] has them,
 * scores[] their scores. Returns how many. */
size_t pr_reasons_best(pr_reasons *reasons, const pr_why_question *question, size_t k);
/* Sets all of whys[count] but the items, which are given and may be recommended. */
void pr_reasons_find(pr_reasons *reasons, const pr_why_question *question, parsrec_why *whys,
                     size_t count);

/* parsrec_why_sentence for the names of a data set. */
char *pr_reason_sentence(const pr_dataset *data, const parsrec_why *why, char *buffer, size_t size);

#endif
