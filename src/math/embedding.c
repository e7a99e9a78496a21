/* Gather and scatter-add. */
#include "math/embedding.h"

void pr_embedding_forward(pr_real *y, const pr_real *table, const int32_t *ids, size_t B, size_t D)
{
    for (size_t r = 0; r < B; r++)
        memcpy(y + r * D, table + (size_t)ids[r] * D, D * sizeof *y);
}

PR_INLINE void embedding_backward_any(pr_real *dtable, const pr_real *dy, const int32_t *ids,
                                      size_t B, size_t D)
{
    for (size_t r = 0; r < B; r++)
        pr_add_scaled(dtable + (size_t)ids[r] * D, dy + r * D, 1, D);
}
PR_LEVELS(void, pr_embedding_backward, embedding_backward_any,
          (pr_real * dtable, const pr_real *dy, const int32_t *ids, size_t B, size_t D),
          (dtable, dy, ids, B, D))

PR_INLINE void embedding_scores_any(pr_real *score, const pr_real *table, const int32_t *ids,
                                    const pr_real *o, size_t n, size_t D)
{
    for (size_t i = 0; i < n; i++)
        score[i] = pr_dot(table + (size_t)ids[i] * D, o, D);
}
PR_LEVELS(void, pr_embedding_scores, embedding_scores_any,
          (pr_real * score, const pr_real *table, const int32_t *ids, const pr_real *o, size_t n,
           size_t D),
          (score, table, ids, o, n, D))
