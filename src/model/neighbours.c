/* Neighbour links between items: estimated by regression over users, and used to compute the
 * expected count of every item from a user's counts. */
#include "model/neighbours.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/wide.h"

/* Added to counts, so that the log of an unexpected item is finite. */
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
PR_LEVELS(void, pr_near_not_below, not_below_any, (pr_real * row, size_t n), (row, n))

PR_INLINE void logarithms_any(pr_real *row, size_t n)
{
    for (size_t v = 0; v < n; v++)
        row[v] = pr_ln(row[v]);
}
PR_LEVELS(void, pr_near_logarithms, logarithms_any, (pr_real * row, size_t n), (row, n))

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
    pr_near_not_below(row, near->items);
    for (size_t i = 0; i < n; i++)
        row[items[i]] += counts[i * stride];
    pr_near_logarithms(row, near->items);
}

void pr_near_expect_few(pr_near_few *few, int32_t *slots, const pr_near *near, const int32_t *items,
                        const pr_real *counts, size_t n)
{
    pr_real total = 0;
    for (size_t i = 0; i < n; i++) {
        total += counts[i];
        few->items[i] = items[i];
        slots[items[i]] = (int32_t)i + 1;
    }
    few->level = pr_sqrt(total);
    few->count = n;
    for (size_t i = 0; i < n; i++)
        few->values[i] = few->level * near->base[items[i]];
    for (size_t i = 0; i < n; i++) {
        size_t h = (size_t)items[i];
        pr_real x = pr_sqrt(counts[i]);
        for (uint32_t k = h > 0 ? near->ends[h - 1] : 0; k < near->ends[h]; k++) {
            int32_t to = (int32_t)near->to[k], *slot = &slots[to];
            if (*slot == 0) {
                few->items[few->count] = to;
                few->values[few->count] = few->level * near->base[to];
                *slot = (int32_t)++few->count;
            }
            few->values[*slot - 1] += near->weights[k] * x;
        }
    }
    pr_near_not_below(few->values, few->count);
    for (size_t i = 0; i < n; i++)
        few->values[i] += counts[i];
    pr_near_logarithms(few->values, few->count);
    for (size_t i = 0; i < few->count; i++)
        slots[few->items[i]] = 0;
}

void pr_near_expect_bases(pr_real *values, const pr_real *bases, pr_real level, size_t n)
{
    begin(values, bases, level, n);
    pr_near_not_below(values, n);
    pr_near_logarithms(values, n);
}

pr_real pr_near_expect_other(const pr_near *near, pr_real level, int32_t item)
{
    pr_real value = level * near->base[item];
    return pr_ln((value > 0 ? value : 0) + LITTLE);
}

void pr_near_expect_all(pr_real *row, const pr_near *near, const pr_near_few *few)
{
    pr_near_expect_bases(row, near->base, few->level, near->items);
    for (size_t i = 0; i < few->count; i++)
        row[few->items[i]] = few->values[i];
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

/* ---- estimating the links ----
 *
 * For each item a small ridge regression of users' counts of it on their counts of the items most
 * often bought with it. Square roots of counts are used, so that a few users who buy a lot do not
 * dominate and results from long histories also hold for short ones. Memory grows with the number
 * of items, not with the number of pairs. */

enum {
    WIDTH = 64,  /* co-purchased items per item whose covariance is stored */
    MOST = 2048, /* distinct items per user: users with more say little about pairs and cost much */
    NOT_HERE = -1, /* no such item */
};
static const double ridge = 200; /* equivalent to this many users without any relation */

/* Roots of counts, by user and by item. */
typedef struct matrix {
    size_t *start;  /* [lines + 1] */
    int32_t *other; /* item of a user, or user of an item */
    float *root;
} matrix;

typedef struct study {
    const pr_counted *from;
    size_t V, K;
    matrix by_user, by_item;
    double *level;    /* [V]: a user's expected root, as a multiple of the root of the user's
                       * actions */
    double *variance; /* [V] */
    double scales;    /* sum of all users' actions */
    int32_t *with;    /* [V,WIDTH]: the items that go with an item most, NOT_HERE after the last */
    double *together; /* [V,WIDTH]: their covariance */
    double *sums;     /* [workers,V], zero between items */
    int32_t *touched; /* [workers,V] */
    pr_real *found;   /* [V,K]: weights of the first K of `with` */
} study;

static void free_matrix(matrix *m)
{
    pr_free(m->start);
    pr_free(m->other);
    pr_free(m->root);
}

static void free_study(study *s)
{
    free_matrix(&s->by_user);
    free_matrix(&s->by_item);
    pr_free(s->level);
    pr_free(s->variance);
    pr_free(s->with);
    pr_free(s->together);
    pr_free(s->sums);
    pr_free(s->touched);
    pr_free(s->found);
}

static bool take_matrix(matrix *m, size_t lines, size_t entries)
{
    m->start = pr_alloc_zero(lines + 1, sizeof *m->start);
    m->other = pr_alloc(entries, sizeof *m->other);
    m->root = pr_alloc(entries, sizeof *m->root);
    return m->start != NULL && m->other != NULL && m->root != NULL;
}

static parsrec_status take_study(study *s, parsrec_error *err)
{
    const pr_dataset *data = s->from->data;
    size_t workers = pr_pool_threads(s->from->pool);
    bool taken = take_matrix(&s->by_user, data->users, data->actions) &&
                 take_matrix(&s->by_item, data->items, data->actions);
    s->level = pr_alloc_zero(s->V, sizeof *s->level);
    s->variance = pr_alloc_zero(s->V, sizeof *s->variance);
    s->with = pr_alloc(s->V * WIDTH, sizeof *s->with);
    s->together = pr_alloc(s->V * WIDTH, sizeof *s->together);
    s->sums = pr_alloc_zero(workers * s->V, sizeof *s->sums);
    s->touched = pr_alloc(workers * s->V, sizeof *s->touched);
    s->found = pr_alloc_zero(s->V * s->K, sizeof *s->found);
    taken = taken && s->level != NULL && s->variance != NULL && s->with != NULL &&
            s->together != NULL && s->sums != NULL && s->touched != NULL && s->found != NULL;
    return taken ? PARSREC_OK : pr_fail_memory(err);
}

/* ---- counting ---- */

/* Fills one user's line, using the first worker's sums. Returns how many distinct items it has. */
static size_t count_user(study *s, size_t user)
{
    const pr_dataset *data = s->from->data;
    matrix *m = &s->by_user;
    size_t at = m->start[user], n = 0;
    int64_t end = data->session_offsets[pr_counted_end(s->from, user)];
    for (int64_t a = data->session_offsets[data->user_offsets[user]]; a < end; a++) {
        int32_t item = data->action_items[a];
        if (s->sums[item] == 0)
            m->other[at + n++] = item;
        s->sums[item] += 1;
    }
    for (size_t i = 0; i < n; i++) {
        m->root[at + i] = (float)sqrt(s->sums[m->other[at + i]]);
        s->sums[m->other[at + i]] = 0;
    }
    return n <= MOST ? n : 0;
}

static void count_users(study *s)
{
    for (size_t u = 0; u < s->from->data->users; u++)
        s->by_user.start[u + 1] = s->by_user.start[u] + count_user(s, u);
}

static void turn(study *s)
{
    const matrix *m = &s->by_user;
    matrix *out = &s->by_item;
    size_t users = s->from->data->users, entries = m->start[users];
    for (size_t i = 0; i < entries; i++)
        out->start[m->other[i] + 1]++;
    for (size_t v = 0; v < s->V; v++)
        out->start[v + 1] += out->start[v];
    for (size_t u = 0; u < users; u++)
        for (size_t i = m->start[u]; i < m->start[u + 1]; i++) {
            size_t to = out->start[m->other[i]]++;
            out->other[to] = (int32_t)u;
            out->root[to] = m->root[i];
        }
    memmove(out->start + 1, out->start, s->V * sizeof *out->start);
    out->start[0] = 0;
}

static void measure(study *s)
{
    const matrix *m = &s->by_user;
    for (size_t u = 0; u < s->from->data->users; u++) {
        double actions = 0;
        for (size_t i = m->start[u]; i < m->start[u + 1]; i++)
            actions += (double)m->root[i] * (double)m->root[i];
        s->scales += actions;
        for (size_t i = m->start[u]; i < m->start[u + 1]; i++) {
            s->level[m->other[i]] += sqrt(actions) * (double)m->root[i];
            s->variance[m->other[i]] += (double)m->root[i] * (double)m->root[i];
        }
    }
    for (size_t v = 0; v < s->V && s->scales > 0; v++) {
        s->level[v] /= s->scales;
        double rest = s->variance[v] - s->level[v] * s->level[v] * s->scales;
        s->variance[v] = rest > 0 ? rest : 0;
    }
}

/* ---- items that go with an item ---- */

/* Inserts item h into the list of items that go with v. The list is sorted by strength; equals by
 * index. */
static void file(study *s, double *strength, size_t v, int32_t h, double covariance)
{
    int32_t *with = s->with + v * WIDTH;
    double *together = s->together + v * WIDTH;
    double mine = fabs(covariance) / sqrt(s->variance[h] + ridge);
    size_t at = WIDTH;
    while (at > 0 && (with[at - 1] == NOT_HERE || strength[at - 1] < mine ||
                      (strength[at - 1] == mine && with[at - 1] > h)))
        at--;
    if (at == WIDTH)
        return;
    size_t behind = WIDTH - 1 - at;
    memmove(with + at + 1, with + at, behind * sizeof *with);
    memmove(together + at + 1, together + at, behind * sizeof *together);
    memmove(strength + at + 1, strength + at, behind * sizeof *strength);
    with[at] = h;
    together[at] = covariance;
    strength[at] = mine;
}

static void look_around(void *context, size_t task, unsigned worker)
{
    study *s = context;
    size_t v = task, count = 0;
    double *sums = s->sums + worker * s->V, strength[WIDTH];
    int32_t *touched = s->touched + worker * s->V;
    for (size_t i = s->by_item.start[v]; i < s->by_item.start[v + 1]; i++) {
        size_t user = (size_t)s->by_item.other[i];
        double root = (double)s->by_item.root[i];
        for (size_t k = s->by_user.start[user]; k < s->by_user.start[user + 1]; k++) {
            int32_t h = s->by_user.other[k];
            if (sums[h] == 0)
                touched[count++] = h;
            sums[h] += root * (double)s->by_user.root[k];
        }
    }
    for (size_t i = 0; i < WIDTH; i++)
        s->with[v * WIDTH + i] = NOT_HERE;
    for (size_t i = 0; i < count; i++) {
        int32_t h = touched[i];
        if ((size_t)h != v)
            file(s, strength, v, h, sums[h] - s->level[h] * s->level[v] * s->scales);
        sums[h] = 0;
    }
}

/* ---- the regression ---- */

static const double *remembered(const study *s, size_t a, size_t b)
{
    for (size_t i = 0; i < WIDTH && s->with[a * WIDTH + i] != NOT_HERE; i++)
        if ((size_t)s->with[a * WIDTH + i] == b)
            return &s->together[a * WIDTH + i];
    return NULL;
}

/* The covariance of two items; pairs that are not stored count as unrelated. */
static double covariance(const study *s, size_t a, size_t b)
{
    const double *found = remembered(s, a, b);
    found = found != NULL ? found : remembered(s, b, a);
    return found != NULL ? *found : 0;
}

/* Solves (m + extra·1) x = y by Cholesky; returns false if the matrix is not positive definite. */
static bool solve(double *x, const double *y, const double *m, double extra, size_t n)
{
    double l[WIDTH * WIDTH];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = m[i * n + j] + (i == j ? extra : 0);
            for (size_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0))
                return false;
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    for (size_t i = 0; i < n; i++) {
        x[i] = y[i];
        for (size_t k = 0; k < i; k++)
            x[i] -= l[i * n + k] * x[k];
        x[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= l[k * n + i] * x[k];
        x[i] /= l[i * n + i];
    }
    return true;
}

static size_t links(const study *s, size_t v)
{
    size_t n = 0;
    while (n < s->K && s->with[v * WIDTH + n] != NOT_HERE)
        n++;
    return n;
}

static void regress(void *context, size_t task, unsigned worker)
{
    (void)worker;
    study *s = context;
    size_t v = task, n = links(s, v);
    const int32_t *with = s->with + v * WIDTH;
    double m[WIDTH * WIDTH], x[WIDTH], extra = ridge;
    for (size_t i = 0; i < n; i++) {
        m[i * n + i] = s->variance[with[i]];
        for (size_t j = 0; j < i; j++)
            m[i * n + j] = m[j * n + i] = covariance(s, (size_t)with[i], (size_t)with[j]);
    }
    while (!solve(x, s->together + v * WIDTH, m, extra, n))
        extra *= 2; /* the stored covariances alone need not be positive definite */
    for (size_t i = 0; i < n; i++)
        s->found[v * s->K + i] = (pr_real)x[i];
}

/* ---- the whole estimate ---- */

/* Turns the links to each item into the links from each item. */
static void write_links(const study *s, const pr_near *near)
{
    memset(near->ends, 0, s->V * sizeof *near->ends);
    memset(near->to, 0, s->V * s->K * sizeof *near->to);
    memset(near->weights, 0, s->V * s->K * sizeof *near->weights);
    for (size_t v = 0; v < s->V; v++)
        for (size_t i = 0; i < links(s, v); i++)
            near->ends[s->with[v * WIDTH + i]]++;
    uint32_t at = 0;
    for (size_t h = 0; h < s->V; h++) { /* start offsets first, which filling moves to the ends */
        uint32_t n = near->ends[h];
        near->ends[h] = at;
        at += n;
    }
    for (size_t v = 0; v < s->V; v++) {
        double base = s->level[v];
        for (size_t i = 0; i < links(s, v); i++) {
            int32_t h = s->with[v * WIDTH + i];
            near->to[near->ends[h]] = (uint32_t)v;
            near->weights[near->ends[h]++] = s->found[v * s->K + i];
            base -= (double)s->found[v * s->K + i] * s->level[h];
        }
        near->base[v] = (pr_real)base;
    }
}

static parsrec_status run_study(study *s, const pr_near *near, parsrec_error *err)
{
    PR_TRY(take_study(s, err));
    count_users(s);
    turn(s);
    measure(s);
    pr_pool_run(s->from->pool, look_around, s, s->V);
    pr_pool_run(s->from->pool, regress, s, s->V);
    write_links(s, near);
    return PARSREC_OK;
}

parsrec_status pr_near_count(const pr_near *near, size_t K, const pr_counted *from,
                             parsrec_error *err)
{
    study s = {.from = from, .V = near->items, .K = K};
    parsrec_status status = run_study(&s, near, err);
    free_study(&s);
    return status;
}
