/* Matrix products, through whatever CBLAS is linked. */
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

/* Our workers are the threads: tells the BLAS to start none of its own. Call once at start. */
void pr_blas_single_thread(void);

/* The processor the BLAS tuned itself for, or NULL if it does not say. */
const char *pr_blas_core(void);

/* The processor that OpenBLAS should be told to tune itself for (its OPENBLAS_CORETYPE, read when the
 * program is loaded), when it has mistaken this one for a much older; NULL when nothing is better.
 * Releases older than a processor do so: half of its vector units then stay idle, or more. */
const char *pr_blas_better_core(void);

#endif
