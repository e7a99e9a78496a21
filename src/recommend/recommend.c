/* From an open basket to its best next items. */
#include "recommend/recommend.h"

#include <string.h>

#include "base/memory.h"

parsrec_status pr_recommender_init(pr_recommender *r, const pr_model *model, size_t capacity,
                                   parsrec_error *err)
{
    *r = (pr_recommender){0};
    PR_TRY(pr_scorer_new(&r->session, model, 1, capacity, err));
    r->scores = pr_alloc_aligned(model->items, sizeof *r->scores);
    r->best = pr_alloc(model->items, sizeof *r->best);
    r->barred = pr_alloc_zero(model->items, sizeof *r->barred);
    if (r->scores != NULL && r->best != NULL && r->barred != NULL)
        return PARSREC_OK;
    pr_recommender_free(r);
    return pr_fail_memory(err);
}

void pr_recommender_free(pr_recommender *r)
{
    pr_scorer_free(r->session);
    pr_free_aligned(r->scores);
    pr_free(r->best);
    pr_free(r->barred);
    *r = (pr_recommender){0};
}

void pr_recommender_clear(pr_recommender *r)
{
    memset(r->barred, 0, r->session->model->items);
}

size_t pr_recommend(pr_recommender *r, const pr_start *start, const int32_t *basket, size_t n,
                    size_t k)
{
    pr_scorer_start(r->session, start, 1);
    for (size_t i = 0; i < n; i++) {
        if ((r->barred[basket[i]] & PR_MASK_PLACED) != 0)
            continue; /* training baskets hold no item twice */
        pr_scorer_place(r->session, &basket[i]);
        r->barred[basket[i]] |= PR_MASK_PLACED;
    }
    return pr_recommend_more(r, k);
}

size_t pr_recommend_more(pr_recommender *r, size_t k)
{
    size_t items = r->session->model->items;
    return pr_scorer_best(r->session, r->barred, k < items ? k : items, r->best, r->scores);
}
