/* parsrec_machine_of: what products and loops use on this processor. */
#include <stdio.h>
#include <string.h>

#include "math/blas.h"
#include "math/wide.h"
#include "parsrec.h"

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
