/* The one wrapper around CBLAS. OpenBLAS' own calls are weak, so that any CBLAS links. */
#include "math/blas.h"

#include <strings.h>

#include <assert.h>
#include <cblas.h>
#include <limits.h>

#include "math/wide.h"

#ifndef OPENBLAS_CONST
void openblas_set_num_threads(int threads);
char *openblas_get_corename(void);
#endif
#pragma weak openblas_set_num_threads
#pragma weak openblas_get_corename

void pr_blas_single_thread(void)
{
    if (openblas_set_num_threads != NULL)
        openblas_set_num_threads(1);
}

const char *pr_blas_core(void)
{
    return openblas_get_corename != NULL ? openblas_get_corename() : NULL;
}

static int narrow(size_t n)
{
    assert(n <= INT_MAX);
    return (int)n;
}

static enum CBLAS_TRANSPOSE way(pr_matrix m)
{
    return m.flip ? CblasTrans : CblasNoTrans;
}

/* c[N] = keep · c + a[K] · b. A product of matrices would first copy all of b, which costs more than
 * one row has to do. */
PR_INLINE void row_any(pr_real *c, const pr_real *a, pr_matrix b, pr_real keep, size_t N, size_t K)
{
    for (size_t j = 0; j < N; j++)
        c[j] = keep != 0 ? keep * c[j] : 0;
    if (b.flip)
        for (size_t j = 0; j < N; j++)
            c[j] += pr_dot(b.at + j * b.stride, a, K);
    else
        for (size_t k = 0; k < K; k++)
            pr_add_scaled(c, b.at + k * b.stride, a[k], N);
}
PR_LOCAL_LEVELS(void, multiply_row, row_any,
                (pr_real * c, const pr_real *a, pr_matrix b, pr_real keep, size_t N, size_t K),
                (c, a, b, keep, N, K))

void pr_gemm(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
             size_t N, size_t K)
{
    if (M == 0 || N == 0)
        return;
    if (M == 1 && !a.flip) {
        multiply_row(c, a.at, b, keep, N, K);
        return;
    }
#ifdef PR_REAL_DOUBLE
    cblas_dgemm(
#else
    cblas_sgemm(
#endif
        CblasRowMajor, way(a), way(b), narrow(M), narrow(N), narrow(K), 1, a.at, narrow(a.stride),
        b.at, narrow(b.stride), keep, c, narrow(c_stride));
}

static pr_real element(pr_matrix m, size_t row, size_t column)
{
    return m.flip ? m.at[column * m.stride + row] : m.at[row * m.stride + column];
}

void pr_gemm_plain(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
                   size_t N, size_t K)
{
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            pr_real sum = keep != 0 ? c[i * c_stride + j] : 0;
            for (size_t k = 0; k < K; k++)
                sum += element(a, i, k) * element(b, k, j);
            c[i * c_stride + j] = sum;
        }
}

/* Kernels without AVX2, by the names OpenBLAS gives them. */
static bool is_old_core(const char *name)
{
    static const char *const old[] = {
        "Prescott",    "Core2",   "Penryn", "Dunnington", "Nehalem", "Atom",      "Katmai",
        "Sandybridge", "Generic", "Banias", "Barcelona",  "Opteron", "Bulldozer", "Piledriver"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (strcasecmp(name, old[i]) == 0)
            return true;
    return false;
}

const char *pr_blas_better_core(void)
{
#if defined(__x86_64__)
    const char *core = pr_blas_core();
    if (core == NULL || !is_old_core(core))
        return NULL;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}
