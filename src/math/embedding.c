/* Rows of a table: looked up, added to, and summed in bags. */
#include "math/embedding.h"

#include "math/blas.h"

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

/* ---- bags: by looking up rows, or by one product with a dense matrix of weights ---- */

/* A looked-up row costs about as much as four columns of the product (measured, D = 128). */
enum { LOOKUP_COST = 4 };

static bool product_pays(const pr_bags *bags, const pr_real *dense, size_t B, size_t V)
{
    return dense != NULL && (bags->offsets[B] - bags->offsets[0]) * LOOKUP_COST > B * V;
}

static void spread(pr_real *dense, const pr_bags *bags, size_t B, size_t V)
{
    memset(dense, 0, B * V * sizeof *dense);
    for (size_t r = 0; r < B; r++)
        for (size_t i = bags->offsets[r]; i < bags->offsets[r + 1]; i++)
            dense[r * V + (size_t)bags->items[i]] += bags->weights[i];
}

PR_INLINE void look_up_any(pr_real *y, const pr_real *table, const pr_bags *bags, size_t B,
                           size_t D)
{
    memset(y, 0, B * D * sizeof *y);
    for (size_t r = 0; r < B; r++)
        for (size_t i = bags->offsets[r]; i < bags->offsets[r + 1]; i++)
            pr_add_scaled(y + r * D, table + (size_t)bags->items[i] * D, bags->weights[i], D);
}
PR_LOCAL_LEVELS(void, look_up, look_up_any,
                (pr_real * y, const pr_real *table, const pr_bags *bags, size_t B, size_t D),
                (y, table, bags, B, D))

PR_INLINE void give_back_any(pr_real *dtable, const pr_real *dy, const pr_bags *bags, size_t B,
                             size_t D)
{
    for (size_t r = 0; r < B; r++)
        for (size_t i = bags->offsets[r]; i < bags->offsets[r + 1]; i++)
            pr_add_scaled(dtable + (size_t)bags->items[i] * D, dy + r * D, bags->weights[i], D);
}
PR_LOCAL_LEVELS(void, give_back, give_back_any,
                (pr_real * dtable, const pr_real *dy, const pr_bags *bags, size_t B, size_t D),
                (dtable, dy, bags, B, D))

void pr_bag_forward(pr_real *y, const pr_real *table, const pr_bags *bags, pr_real *dense, size_t B,
                    size_t V, size_t D)
{
    if (!product_pays(bags, dense, B, V)) {
        look_up(y, table, bags, B, D);
        return;
    }
    spread(dense, bags, B, V);
    pr_gemm(y, D, pr_mat(dense, V), pr_mat(table, D), 0, B, D, V);
}

void pr_bag_backward(pr_real *dtable, const pr_real *dy, const pr_bags *bags, pr_real *dense,
                     size_t B, size_t V, size_t D)
{
    if (!product_pays(bags, dense, B, V)) {
        give_back(dtable, dy, bags, B, D);
        return;
    }
    spread(dense, bags, B, V);
    pr_gemm(dtable, D, pr_flip(dense, V), pr_mat(dy, D), 1, V, D, B);
}
