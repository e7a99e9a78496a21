/* From a user's counts and the links between items to an expectation of every item. */
#include "model/neighbours.h"

#include <math.h>

#include "math/logarithm.h"

/* Stands for what is not foreseen at all. */
#define LITTLE ((pr_real)(1.0 / 64))

PR_INLINE void begin_any(pr_real *restrict row, const pr_real *restrict base, pr_real scale,
                         size_t n)
{
    for (size_t v = 0; v < n; v++)
        row[v] = scale * base[v];
}
PR_LOCAL_LEVELS(void, begin, begin_any,
                (pr_real *restrict row, const pr_real *restrict base, pr_real scale, size_t n),
                (row, base, scale, n))

PR_INLINE void not_below_any(pr_real *row, size_t n)
{
    for (size_t v = 0; v < n; v++)
        row[v] = (row[v] > 0 ? row[v] : 0) + LITTLE;
}
PR_LOCAL_LEVELS(void, not_below, not_below_any, (pr_real * row, size_t n), (row, n))

PR_INLINE void logarithms_any(pr_real *row, size_t n)
{
    for (size_t v = 0; v < n; v++)
        row[v] = pr_ln(row[v]);
}
PR_LOCAL_LEVELS(void, logarithms, logarithms_any, (pr_real * row, size_t n), (row, n))

void pr_near_expect(pr_real *row, const pr_near *near, const int32_t *items, const pr_real *counts,
                    size_t stride, size_t n)
{
    pr_real total = 0;
    for (size_t i = 0; i < n; i++)
        total += counts[i * stride];
    begin(row, near->base, pr_sqrt(total), near->items);
    for (size_t i = 0; i < n; i++) {
        size_t h = (size_t)items[i];
        pr_real x = pr_sqrt(counts[i * stride]);
        for (uint32_t k = h > 0 ? near->ends[h - 1] : 0; k < near->ends[h]; k++)
            row[near->to[k]] += near->weights[k] * x;
    }
    not_below(row, near->items);
    for (size_t i = 0; i < n; i++)
        row[items[i]] += counts[i * stride];
    logarithms(row, near->items);
}

parsrec_status pr_near_verify(const pr_near *near, size_t K, parsrec_error *err)
{
    uint32_t end = 0;
    for (size_t h = 0; h < near->items; h++) {
        if (near->ends[h] < end || near->ends[h] > near->items * K)
            return pr_fail(err, PARSREC_E_FORMAT, "the links of item %zu to others end nowhere", h);
        for (; end < near->ends[h]; end++)
            if (near->to[end] >= near->items)
                return pr_fail(err, PARSREC_E_FORMAT, "a link of item %zu leads to no item", h);
    }
    return PARSREC_OK;
}
