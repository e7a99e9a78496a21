/* The truth of a group, and pairs of categories in order of a map and of that truth. */
#include "explain/recovery.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/rank_agreement.h"

/* ---- the truth of a group: its covariance as it was set, and the lift of new trips ---- */

enum { TASKS = 64 }; /* whatever the number of threads */

/* Trips beyond those of the data set: other draws of the same users. */
#define FIRST_TRIP (UINT64_C(1) << 30)

typedef struct trips {
    const pr_truth *truth;
    const pr_user_group *group;
    pr_choice choice;
    pr_shopper *shoppers; /* [threads] */
    uint64_t *both;       /* [TASKS,C,C] */
    uint64_t made[TASKS];
    size_t each; /* trips of a user */
} trips;

/* Every TASKS-th user of the group. */
static void make_trips(void *context, size_t task, unsigned worker)
{
    trips *t = context;
    size_t C = t->truth->categories, list[PR_SYNTH_BASKET_MOST];
    pr_shopper *shopper = &t->shoppers[worker];
    for (size_t i = task; i < t->group->count; i += TASKS) {
        size_t user = (size_t)t->group->users[i];
        pr_shopper_become(shopper, &t->choice, user, (size_t)t->truth->group[user],
                          t->truth->base_utility + user * t->truth->items);
        for (size_t k = 0; k < t->each; k++) {
            size_t n = pr_shopper_list(list, shopper, &t->choice, FIRST_TRIP + k, NULL);
            uint64_t *both = t->both + task * C * C;
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                    both[list[a] * C + list[b]]++;
            t->made[task] += n > 0;
        }
    }
}

static parsrec_status simulate(double *lift, trips *t, pr_pool *pool, parsrec_error *err)
{
    size_t C = t->truth->categories, threads = pr_pool_threads(pool);
    PR_TRY(pr_truth_choice(&t->choice, t->truth, err));
    t->both = pr_alloc_zero(TASKS * C * C, sizeof *t->both);
    t->shoppers = pr_alloc_zero(threads, sizeof *t->shoppers);
    if (t->both == NULL || t->shoppers == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < threads; i++)
        PR_TRY(pr_shopper_init(&t->shoppers[i], &t->choice, err));
    pr_pool_run(pool, make_trips, t, TASKS);
    for (size_t k = 1; k < TASKS; k++) {
        t->made[0] += t->made[k];
        for (size_t i = 0; i < C * C; i++)
            t->both[i] += t->both[k * C * C + i];
    }
    for (size_t i = 0; i < C; i++)
        for (size_t j = 0; j < C; j++) {
            double each = (double)t->both[i * C + i] * (double)t->both[j * C + j];
            lift[i * C + j] = each > 0 ? (double)t->both[i * C + j] * (double)t->made[0] / each : 0;
        }
    return PARSREC_OK;
}

parsrec_status pr_group_truth_init(pr_group_truth *out, const pr_truth *truth,
                                   const pr_user_group *group, size_t count, pr_pool *pool,
                                   parsrec_error *err)
{
    size_t cells = truth->categories * truth->categories, threads = pr_pool_threads(pool);
    *out = (pr_group_truth){pr_alloc(cells, sizeof(double)), pr_alloc(cells, sizeof(double))};
    if (out->sigma == NULL || out->lift == NULL)
        return pr_fail_memory(err);
    assert(group->count > 0);
    memset(out->sigma, 0, cells * sizeof *out->sigma);
    for (size_t i = 0; i < group->count; i++) {
        const double *own = truth->sigma + (size_t)truth->group[group->users[i]] * cells;
        for (size_t k = 0; k < cells; k++)
            out->sigma[k] += own[k] / (double)group->count;
    }
    trips t = {.truth = truth, .group = group};
    t.each = (count + group->count - 1) / group->count;
    parsrec_status status = simulate(out->lift, &t, pool, err);
    for (size_t i = 0; t.shoppers != NULL && i < threads; i++)
        pr_shopper_free(&t.shoppers[i]);
    pr_free(t.shoppers);
    pr_free(t.both);
    pr_choice_free(&t.choice);
    return status;
}

void pr_group_truth_free(pr_group_truth *truth)
{
    pr_free(truth->sigma);
    pr_free(truth->lift);
    *truth = (pr_group_truth){0};
}

/* ---- pairs of categories ---- */

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

/* to[k] = the log of the true lift of each pair, by the mean of its two cells; NaN where nobody bought
 * both. */
static void fill_log_lift(double *to, const double *lift, size_t C)
{
    fill(to, lift, C);
    for (size_t k = 0; k < C * (C - 1) / 2; k++)
        to[k] = to[k] > 0 ? log(to[k]) : NAN;
}

/* Least squares of y on x, over pairs that have both; NaN where all x are alike. */
static double slope_of(const double *y, const double *x, size_t n)
{
    double count = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (size_t k = 0; k < n; k++)
        if (isfinite(x[k]) && isfinite(y[k])) {
            count++;
            double off = x[k] - mean_x;
            mean_x += off / count;
            mean_y += (y[k] - mean_y) / count;
            xx += off * (x[k] - mean_x);
            xy += off * (y[k] - mean_y);
        }
    return xx > 0 ? xy / xx : NAN;
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
    PR_TRY(pr_auc(&out->related, p->map, p->yes, p->count, err));
    fill_log_lift(p->truth, truth->lift, C);
    out->slope = slope_of(p->map, p->truth, p->count);
    return PARSREC_OK;
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

static parsrec_status score_difference(pr_difference_recovery *out, pairs *p, const pairs *b,
                                       parsrec_error *err)
{
    for (size_t k = 0; k < p->count; k++) {
        p->map[k] -= b->map[k];
        p->truth[k] -= b->truth[k];
    }
    out->pairs = p->count;
    PR_TRY(pr_spearman(&out->rank, p->map, p->truth, p->count, err));
    for (size_t k = 0; k < p->count; k++) {
        p->map[k] = fabs(p->map[k]);
        p->truth[k] = fabs(p->truth[k]);
    }
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
        fill(p.map, map_a, C);
        fill_log_lift(p.truth, a->lift, C);
        fill_log_lift(q.truth, b->lift, C);
        for (size_t k = 0; k < p.count; k++) {
            p.map[k] -= q.map[k];
            p.truth[k] -= q.truth[k];
        }
        out->slope = slope_of(p.map, p.truth, p.count);
    }
    pairs_free(&p);
    pairs_free(&q);
    return status;
}
