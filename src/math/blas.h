/* Matrix products, through whichever CBLAS is installed. Any thread may call these functions. */
#ifndef PR_BLAS_H
#define PR_BLAS_H

#include <stdbool.h>

#include "math/shapes.h"

/* An operand of a product. Rows are `stride` apart; `flip` means that the transpose is used. */
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

/* c[M,N] = a[M,K] · b[K,N] + keep * c; keep is 0 (the old c is ignored) or 1. Rows of c are
 * c_stride apart. The result depends only on the sizes and the values, not on the number of
 * threads. */
void pr_gemm(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
             size_t N, size_t K);
void pr_gemm_plain(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
                   size_t N, size_t K);

/* The same for a few rows of `a`, which must not be flipped. Each row gets exactly the bits it
 * would get in a product of its own. */
void pr_gemm_each(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
                  size_t N, size_t K);

/* Loads the library with its own threads switched off: the thread pool calls it. Returns false if
 * there is no library, or if a limit on address space leaves no room for it; products are then
 * correct but slow. The first product loads it too; call this at start-up to avoid that delay. */
bool pr_blas_load(void);

/* The name of the library that was loaded, or NULL if there is none. */
const char *pr_blas_file(void);
/* The processor that the BLAS tuned itself for, or NULL if unknown. */
const char *pr_blas_core(void);

#endif
