/* Linear maps through matrix products. */
#include "math/linear.h"

#include "math/blas.h"

void pr_bias_spread(pr_real *y, const pr_real *b, size_t B, size_t O)
{
    for (size_t r = 0; r < B; r++)
        memcpy(y + r * O, b, O * sizeof *y);
}

PR_INLINE void add_any(pr_real *y, const pr_real *x, size_t n)
{
    pr_add_scaled(y, x, 1, n);
}
PR_LEVELS(void, pr_add, add_any, (pr_real * y, const pr_real *x, size_t n), (y, x, n))

PR_INLINE void bias_backward_any(pr_real *db, const pr_real *dy, size_t B, size_t O)
{
    for (size_t r = 0; r < B; r++)
        pr_add_scaled(db, dy + r * O, 1, O);
}
PR_LEVELS(void, pr_bias_backward, bias_backward_any,
          (pr_real * db, const pr_real *dy, size_t B, size_t O), (db, dy, B, O))

void pr_linear_forward(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b, size_t B,
                       size_t I, size_t O)
{
    pr_bias_spread(y, b, B, O);
    pr_gemm(y, O, pr_mat(x, I), pr_flip(w, I), 1, B, O, I);
}

void pr_linear_forward_plain(pr_real *y, const pr_real *x, const pr_real *w, const pr_real *b,
                             size_t B, size_t I, size_t O)
{
    pr_bias_spread(y, b, B, O);
    pr_gemm_plain(y, O, pr_mat(x, I), pr_flip(w, I), 1, B, O, I);
}

void pr_linear_backward(pr_real *dx, pr_real *dw, pr_real *db, const pr_real *dy, const pr_real *x,
                        const pr_real *w, size_t B, size_t I, size_t O)
{
    if (dx != NULL)
        pr_gemm(dx, I, pr_mat(dy, O), pr_mat(w, I), 1, B, I, O);
    if (dw != NULL)
        pr_gemm(dw, I, pr_flip(dy, O), pr_mat(x, I), 1, O, I, B);
    if (db != NULL)
        pr_bias_backward(db, dy, B, O);
}
