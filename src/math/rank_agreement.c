/* Ranks with ties, rank correlation and the area under the ROC curve. */
#include "math/rank_agreement.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct place {
    double value;
    size_t at;
} place;

static int by_value(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Ranks start at 1; equal values share the mean of their ranks. */
static parsrec_status midranks(double *rank, const double *values, size_t n, parsrec_error *err)
{
    place *order = pr_alloc(n, sizeof *order);
    if (order == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        order[i] = (place){values[i], i};
    qsort(order, n, sizeof *order, by_value);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && order[end].value == order[first].value; end++)
            ;
        for (size_t i = first; i < end; i++)
            rank[order[i].at] = (double)(first + end + 1) / 2;
    }
    pr_free(order);
    return PARSREC_OK;
}

static bool any_nan(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

/* The mean of n ranks is known, so one pass is accurate enough. 0 / 0 gives the NaN that the header
 * promises. */
static double correlation(const double *x, const double *y, size_t n)
{
    double mean = (double)(n + 1) / 2, xy = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

parsrec_status pr_spearman(double *rho, const double *a, const double *b, size_t n,
                           parsrec_error *err)
{
    *rho = NAN;
    if (n < 2 || any_nan(a, n) || any_nan(b, n))
        return PARSREC_OK;
    double *ranks = pr_alloc(2 * n, sizeof *ranks);
    parsrec_status status = ranks == NULL ? pr_fail_memory(err) : midranks(ranks, a, n, err);
    if (status == PARSREC_OK)
        status = midranks(ranks + n, b, n, err);
    if (status == PARSREC_OK)
        *rho = correlation(ranks, ranks + n, n);
    pr_free(ranks);
    return status;
}

/* The rank sum of the positive cases minus its minimum is the number of pairs they win. */
static double area_of(const double *ranks, const bool *positive, size_t n)
{
    double sum = 0;
    size_t cases = 0;
    for (size_t i = 0; i < n; i++) {
        sum += positive[i] ? ranks[i] : 0;
        cases += positive[i];
    }
    double p = (double)cases, q = (double)(n - cases);
    return p > 0 && q > 0 ? (sum - p * (p + 1) / 2) / (p * q) : NAN;
}

parsrec_status pr_auc(double *area, const double *scores, const bool *positive, size_t n,
                      parsrec_error *err)
{
    *area = NAN;
    if (n < 2 || any_nan(scores, n))
        return PARSREC_OK;
    double *ranks = pr_alloc(n, sizeof *ranks);
    parsrec_status status = ranks == NULL ? pr_fail_memory(err) : midranks(ranks, scores, n, err);
    if (status == PARSREC_OK)
        *area = area_of(ranks, positive, n);
    pr_free(ranks);
    return status;
}
