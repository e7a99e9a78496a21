/* Pairs of categories, in order of a map and of the truth. */
#include "explain/recovery.h"

#include <math.h>

#include "base/memory.h"
#include "math/rank_agreement.h"

typedef struct pairs {
    double *map, *truth;
    bool *yes;
    size_t count;
} pairs;

static parsrec_status pairs_init(pairs *p, size_t C, parsrec_error *err)
{
    p->count = C * (C - 1) / 2;
    p->map = pr_alloc(p->count, sizeof *p->map);
    p->truth = pr_alloc(p->count, sizeof *p->truth);
    p->yes = pr_alloc(p->count, sizeof *p->yes);
    return p->map != NULL && p->truth != NULL && p->yes != NULL ? PARSREC_OK : pr_fail_memory(err);
}

static void pairs_free(pairs *p)
{
    pr_free(p->map);
    pr_free(p->truth);
    pr_free(p->yes);
}

static void fill(double *to, const double *matrix, size_t C)
{
    for (size_t i = 0; i < C; i++)
        for (size_t j = 0; j < i; j++)
            *to++ = (matrix[i * C + j] + matrix[j * C + i]) / 2;
}

static size_t mark_above(pairs *p, double limit)
{
    size_t count = 0;
    for (size_t k = 0; k < p->count; k++)
        count += p->yes[k] = p->truth[k] > limit;
    return count;
}

static parsrec_status score(pr_recovery *out, pairs *p, const double *map,
                            const pr_group_truth *truth, size_t C, parsrec_error *err)
{
    fill(p->map, map, C);
    fill(p->truth, truth->sigma, C);
    out->pairs = p->count;
    PR_TRY(pr_spearman(&out->rank, p->map, p->truth, p->count, err));
    out->positives = mark_above(p, 0);
    PR_TRY(pr_auc(&out->positive, p->map, p->yes, p->count, err));
    fill(p->truth, truth->lift, C);
    out->relateds = mark_above(p, PR_RELATED_LIFT);
    return pr_auc(&out->related, p->map, p->yes, p->count, err);
}

parsrec_status pr_recovery_score(pr_recovery *out, const double *map, const pr_group_truth *truth,
                                 size_t C, parsrec_error *err)
{
    pairs p = {0};
    *out = (pr_recovery){0};
    parsrec_status status = pairs_init(&p, C, err);
    if (status == PARSREC_OK)
        status = score(out, &p, map, truth, C, err);
    pairs_free(&p);
    return status;
}

/* ---- differences ---- */

static void subtract(double *a, const double *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        a[k] -= b[k];
}

static void make_absolute(double *a, size_t n)
{
    for (size_t k = 0; k < n; k++)
        a[k] = fabs(a[k]);
}

static parsrec_status score_difference(pr_difference_recovery *out, pairs *p, const pairs *b,
                                       parsrec_error *err)
{
    subtract(p->map, b->map, p->count);
    subtract(p->truth, b->truth, p->count);
    out->pairs = p->count;
    PR_TRY(pr_spearman(&out->rank, p->map, p->truth, p->count, err));
    make_absolute(p->map, p->count);
    make_absolute(p->truth, p->count);
    out->differents = mark_above(p, PR_DIFFERENT_SIGMA);
    return pr_auc(&out->different, p->map, p->yes, p->count, err);
}

parsrec_status pr_recovery_difference(pr_difference_recovery *out, const double *map_a,
                                      const double *map_b, const pr_group_truth *a,
                                      const pr_group_truth *b, size_t C, parsrec_error *err)
{
    pairs p = {0}, q = {0};
    *out = (pr_difference_recovery){0};
    parsrec_status status = pairs_init(&p, C, err);
    if (status == PARSREC_OK)
        status = pairs_init(&q, C, err);
    if (status == PARSREC_OK) {
        fill(p.map, map_a, C);
        fill(q.map, map_b, C);
        fill(p.truth, a->sigma, C);
        fill(q.truth, b->sigma, C);
        status = score_difference(out, &p, &q, err);
    }
    pairs_free(&p);
    pairs_free(&q);
    return status;
}
