/* Why an item is recommended: how its probability and rank change when an item of the basket, the
 * user's history or the user is left out. Every kind of model can answer that, because it needs
 * scores only.
 *
 * A pr_reasons explains questions of one model, one at a time: pr_reasons_find explains items that
 * were recommended before; pr_reasons_best followed by pr_reasons_find recommends and explains with
 * less work. */
#ifndef PR_REASONS_H
#define PR_REASONS_H

#include "data/directory.h"
#include "model/model.h"
#include "parsrec.h"

/* Bits that say why an item may not be recommended: a filter of the request, or it is in the
 * basket. */
enum { PR_MASK_BARRED = 1, PR_MASK_PLACED = 2 };

/* Memory of one thread; nothing is allocated after it is made. */
typedef struct pr_reasons {
    pr_scorer *scorer;  /* with several rows, each of which leaves out something else */
    pr_real *scores;    /* [rows,V] */
    pr_real *allowed;   /* [V]: scores of the first row, -INFINITY for barred items */
    int32_t *best;      /* [V]: items, best first, as many as pr_reasons_best found */
    int32_t *basket;    /* [capacity]: for the caller, whose question may point here */
    pr_real *attention; /* [capacity]: of the basket's items, in the first row */
    pr_real *placed;    /* [capacity]: what each item of the basket adds to a score */
} pr_reasons;

/* For baskets of up to `capacity` items. */
parsrec_status pr_reasons_init(pr_reasons *reasons, const pr_model *model, size_t capacity,
                               parsrec_error *err);
void pr_reasons_free(pr_reasons *reasons); /* a zeroed one is fine */

/* An open basket whose recommendations are explained. */
typedef struct pr_why_question {
    pr_start start;
    const int32_t *basket; /* each item once */
    size_t size;           /* at most the capacity */
    const uint8_t *barred; /* [V]: PR_MASK_*; 0 may be recommended */
    bool started; /* set by pr_reasons_best: the scorer has the first rows of this question */
} pr_why_question;

/* Sets best[] to the best k items of a question that are not barred, and scores[item] of each.
 * Returns how many. A pr_reasons_find with the same question does not run the first rows again, so
 * no other call with this memory may come between the two. */
size_t pr_reasons_best(pr_reasons *reasons, pr_why_question *question, size_t k);
/* Explains whys[count]: whys[i].item is given and may be recommended, the rest is set. */
void pr_reasons_find(pr_reasons *reasons, const pr_why_question *question, parsrec_why *whys,
                     size_t count);

/* parsrec_why_sentence for the names of a data set. */
char *pr_reason_sentence(const pr_directory *directory, const parsrec_why *why, char *buffer,
                         size_t size);

#endif
