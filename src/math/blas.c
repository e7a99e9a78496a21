/* The only wrapper around CBLAS. The library is loaded on the first product, so commands that only
 * read data do not pay for it, and any CBLAS implementation works. */
#include "math/blas.h"

#include <assert.h>
#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "math/wide.h"
#include "parsrec.h"

#ifdef PR_REAL_DOUBLE
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif
#define TEXT_OF(name)  #name
#define TEXT_OF_(name) TEXT_OF(name)

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

/* The kernels OpenBLAS should have chosen if it mistook this processor for a much older one; NULL
 * if its choice is right. */
static const char *better_core(const char *core)
{
#if defined(__x86_64__)
    if (core == NULL || !is_old_core(core))
        return NULL;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#else
    (void)core;
#endif
    return NULL;
}

static struct {
    const char *file; /* the name under which it was found */
    void *library;
    __typeof__(&GEMM) gemm; /* NULL: no library found */
    char *(*core_name)(void);
} blas;

static bool open_library(const char *name)
{
    void *library = name != NULL ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *gemm = library != NULL ? dlsym(library, TEXT_OF_(GEMM)) : NULL;
    if (gemm == NULL)
        return false;
    void *core = dlsym(library, "openblas_get_corename");
    blas.file = name;
    blas.library = library;
    memcpy(&blas.gemm, &gemm, sizeof gemm);
    memcpy(&blas.core_name, &core, sizeof core);
    return true;
}

/* OpenBLAS chooses its kernels when it is loaded and does not recognise processors newer than
 * itself. If it chose badly, it is loaded a second time with the right core name in its
 * environment. */
static void choose_kernels(const char *name)
{
    const char *better = blas.core_name != NULL ? better_core(blas.core_name()) : NULL;
    if (better == NULL || getenv("OPENBLAS_CORETYPE") != NULL)
        return;
    dlclose(blas.library);
    setenv("OPENBLAS_CORETYPE", better, 1);
    open_library(name); /* returns the same handle if the process has loaded it elsewhere */
    unsetenv("OPENBLAS_CORETYPE");
}

/* ---- address space ---- */

/* OpenBLAS allocates a work area when it is loaded and one for every thread that multiplies, and
 * retries forever if it cannot get one. Under an address-space limit (ulimit -v) space for these
 * areas is reserved at load time, and every thread releases its piece just before its first
 * product. If the space cannot be reserved, no library is loaded. */
enum { AREA_BYTES = 129 << 20, AREAS_MOST = 64 };

static struct {
    void *pieces[AREAS_MOST];
    atomic_uint left;
} kept;

static bool keep_room(void)
{
    struct rlimit limit;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned wanted = 1 + (cores > 0 && cores < AREAS_MOST ? (unsigned)cores : AREAS_MOST - 1),
             n = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    while (n < wanted) {
        void *piece = mmap(NULL, AREA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED)
            break;
        kept.pieces[n++] = piece;
    }
    bool enough = n == wanted;
    while (n > 0 && !enough)
        munmap(kept.pieces[--n], AREA_BYTES);
    atomic_store(&kept.left, n);
    return enough;
}

static void give_room(void)
{
    unsigned left = atomic_load(&kept.left);
    while (left > 0 && !atomic_compare_exchange_weak(&kept.left, &left, left - 1))
        ;
    if (left > 0)
        munmap(kept.pieces[left - 1], AREA_BYTES);
}

/* The library has its own thread pool, so OpenBLAS is set to one thread before it starts any. */
static void load(void)
{
    if (!keep_room())
        return;
    give_room();
    const char *names[] = {getenv("PARSREC_BLAS"), "libopenblas.so.0", "libblis.so.4",
                           "libcblas.so.3", "libblas.so.3"};
    bool given = getenv("OPENBLAS_NUM_THREADS") != NULL;
    if (!given)
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!open_library(names[i]))
            continue;
        choose_kernels(names[i]);
        break;
    }
    if (!given)
        unsetenv("OPENBLAS_NUM_THREADS");
}

bool pr_blas_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return blas.gemm != NULL;
}

const char *pr_blas_core(void)
{
    return pr_blas_load() && blas.core_name != NULL ? blas.core_name() : NULL;
}

const char *pr_blas_file(void)
{
    return pr_blas_load() ? blas.file : NULL;
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

/* c[N] = keep · c + a[K] · b. A matrix product would first copy all of b, which costs more than the
 * work for one row. */
PR_INLINE void row_any(pr_real *c, const pr_real *a, pr_matrix b, pr_real keep, size_t N, size_t K)
{
    for (size_t j = 0; j < N; j++)
        c[j] = keep != 0 ? keep * c[j] : 0;
    for (size_t k = 0; k < K && !b.flip; k++)
        pr_add_scaled(c, b.at + k * b.stride, a[k], N);
    size_t j = 0;
    for (pr_real dots[PR_DOTS]; j + PR_DOTS <= N && b.flip; j += PR_DOTS) {
        pr_dot_eight(dots, b.at + j * b.stride, b.stride, a, K);
        for (size_t r = 0; r < PR_DOTS; r++)
            c[j + r] += dots[r];
    }
    for (; j < N && b.flip; j++)
        c[j] += pr_dot(b.at + j * b.stride, a, K);
}
PR_LOCAL_LEVELS(void, multiply_row, row_any,
                (pr_real * c, const pr_real *a, pr_matrix b, pr_real keep, size_t N, size_t K),
                (c, a, b, keep, N, K))

/* A few rows of b at a time are used for all rows of a while they are in cache. */
PR_INLINE void rows_any(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep,
                        size_t M, size_t N, size_t K)
{
    size_t j = 0;
    for (pr_real dots[PR_DOTS]; j + PR_DOTS <= N; j += PR_DOTS)
        for (size_t i = 0; i < M; i++) {
            pr_real *row = c + i * c_stride + j;
            pr_dot_eight(dots, b.at + j * b.stride, b.stride, a.at + i * a.stride, K);
            for (size_t r = 0; r < PR_DOTS; r++)
                row[r] = (keep != 0 ? keep * row[r] : 0) + dots[r];
        }
    for (; j < N; j++)
        for (size_t i = 0; i < M; i++) {
            pr_real *at = c + i * c_stride + j;
            *at =
                (keep != 0 ? keep * *at : 0) + pr_dot(b.at + j * b.stride, a.at + i * a.stride, K);
        }
}
PR_LOCAL_LEVELS(void, multiply_rows, rows_any,
                (pr_real * c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
                 size_t N, size_t K),
                (c, c_stride, a, b, keep, M, N, K))

void pr_gemm_each(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
                  size_t N, size_t K)
{
    if (M > 1 && b.flip && !a.flip) {
        multiply_rows(c, c_stride, a, b, keep, M, N, K);
        return;
    }
    for (size_t i = 0; i < M; i++)
        pr_gemm(c + i * c_stride, c_stride, pr_mat(a.at + i * a.stride, a.stride), b, keep, 1, N,
                K);
}

void pr_gemm(pr_real *c, size_t c_stride, pr_matrix a, pr_matrix b, pr_real keep, size_t M,
             size_t N, size_t K)
{
    if (M == 0 || N == 0)
        return;
    if (M == 1 && !a.flip) {
        multiply_row(c, a.at, b, keep, N, K);
        return;
    }
    if (!pr_blas_load()) {
        pr_gemm_plain(c, c_stride, a, b, keep, M, N, K);
        return;
    }
    static _Thread_local bool entered;
    if (!entered) {
        entered = true;
        give_room();
    }
    blas.gemm(CblasRowMajor, way(a), way(b), narrow(M), narrow(N), narrow(K), 1, a.at,
              narrow(a.stride), b.at, narrow(b.stride), keep, c, narrow(c_stride));
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

/* ---- what products and loops use on this processor ---- */

#if defined(__x86_64__)
#define FEATURES(X) \
    X("sse4.2") X("avx") X("avx2") X("fma") X("avx512f") X("avx512bw") X("avx512vnni")
#else
#define FEATURES(X)
#endif

parsrec_machine parsrec_machine_of(void)
{
    parsrec_machine m = {.level = "base", .blas = pr_blas_file(), .blas_kernels = pr_blas_core()};
    size_t used = 0;
#define ADD(name)                                                                        \
    if (__builtin_cpu_supports(name))                                                    \
        used += (size_t)snprintf(m.features + used, sizeof m.features - used, "%s" name, \
                                 used > 0 ? " " : "");
    FEATURES(ADD)
#undef ADD
    (void)used;
#ifdef PR_HAS_AVX512
    m.level = PR_HAS_AVX512 ? "avx512" : PR_HAS_AVX2 ? "avx2" : "base";
#endif
    return m;
}
