/* Matrix products, through whatever CBLAS is there. */
#ifndef PR_BLAS_H
#define PR_BLAS_H

#include <stdbool.h>

#include "math/shapes.h"

/* A matrix as a product sees it: rows lie `stride` apart; flipped means its transpose is meant. */
typedef struct pr_matrix {
    const pr_real *at;
    size_t stride;
    bool flip;
} pr_matrix;

static inline pr_matrix pr_mat(const pr_real *at, size_t stride)
{
    return (pr_matrix){at, stride, false};
}

static inline pr_matrix pr_flip(const pr_real *at, size_t stride)
{
    return (pr_matrix){at, stride, true};
}

/* c[M,N] = a[M,K] · b[K,N] + keep * c; keep is 0 (c may hold anything) or 1. c's rows lie c_stride
 * apart. The result depends on the sizes and numbers alone, not on threads. */
void pr_gemm(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
             size_t N, size_t K);
void pr_gemm_plain(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
                   size_t N, size_t K);

/* The same for a few rows of `a`, which is not flipped, each with the very bits that it gets alone. */
void pr_gemm_each(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
                  size_t N, size_t K);

/* Loads the library, without threads of its own: our workers are the threads. False when there is
 * none, or a limit on address space leaves it no room; products are then right, but slow. Products load it by themselves; call this at the start
 * where the first one should not have to wait. */
bool pr_blas_load(void);

/* The processor the BLAS tuned itself for, or NULL if it does not say. */
const char *pr_blas_core(void);

#endif
