/* The best next items of one open basket, out of those a caller allows. */
#ifndef PR_RECOMMEND_H
#define PR_RECOMMEND_H

#include "model/model.h"

/* Memory of one thread; nothing is allocated after it is made. */
typedef struct pr_recommender {
    pr_scorer *session; /* of one row */
    pr_real *scores;    /* [V]: of what is in best[] */
    int32_t *best;      /* [V] */
    uint8_t *barred;    /* [V]: not 0 where an item may not be recommended */
} pr_recommender;

enum { PR_MASK_BARRED = 1, PR_MASK_PLACED = 2 };

parsrec_status pr_recommender_init(pr_recommender *r, const pr_model *model, size_t capacity,
                                   parsrec_error *err);
void pr_recommender_free(pr_recommender *r); /* a zeroed one is fine */

/* Allows every item again. */
void pr_recommender_clear(pr_recommender *r);

/* Places the basket's items, each once, at most the capacity; then best[] holds up to k items that are
 * neither placed nor barred, best first, scores[] their scores. Returns how many. */
size_t pr_recommend(pr_recommender *r, const pr_start *start, const int32_t *basket, size_t n,
                    size_t k);
/* Another number of items for the same basket. */
size_t pr_recommend_more(pr_recommender *r, size_t k);

#endif
