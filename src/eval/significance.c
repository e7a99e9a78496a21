/* Each resample is a task whose random numbers depend on its number alone. Its results go into a
 * table [measures · resamples], from which percentiles and p values are computed. */
#include "eval/significance.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"

enum {
    PURPOSE_DRAW = 0xB0075, /* keep these draws apart from all others of the same seed */
    PURPOSE_SWAP = 0x5A49,
    DRAWS = 256,      /* users drawn at a time; a multiple of 4 (draw_users) */
    SWAP_USERS = 4,   /* users that share one table of swaps */
    SWAP_CASES = 16,  /* entries of a table: each of the 4 is swapped or not */
    SWAP_TABLES = 32, /* tables per 128 random bits, one bit per user */
};

pr_resampling pr_resampling_default(void)
{
    return (pr_resampling){.resamples = 2000, .level = 0.95, .seed = 1};
}

typedef struct work {
    const pr_tallies *a, *b; /* b is NULL if there is one model only */
    pr_rng rng;
    size_t resamples;
    double *values;       /* [measures · resamples] */
    parsrec_share *drawn; /* [workers + 1, 2 · measures]: totals of a and b over the drawn users */
    parsrec_share *swaps; /* [measures · tables · 16]: what swapping moves from b to a */
    size_t tables;
    const parsrec_share *totals; /* [2 · measures]: the same over all users; the end of `drawn` */
} work;

static double ratio(parsrec_share t)
{
    return t.weight > 0 ? t.sum / t.weight : 0;
}

static void add_row(parsrec_share *totals, const pr_tallies *t, size_t user)
{
    const parsrec_share *row = t->rows + user * t->measures;
    for (size_t m = 0; m < t->measures; m++) {
        totals[m].sum += row[m].sum;
        totals[m].weight += row[m].weight;
    }
}

static void add_all(parsrec_share *totals, const pr_tallies *t)
{
    memset(totals, 0, t->measures * sizeof *totals);
    for (size_t u = 0; u < t->user_count; u++)
        add_row(totals, t, u);
}

/* ---- the bootstrap ---- */

/* Draws number first..first+count-1 of a resample, rounded up to a multiple of 4. Multiplying and
 * shifting favours some users by less than users / 2^32, far below what this number of resamples
 * can show. */
static void draw_users(uint32_t *out, const pr_rng *rng, uint32_t resample, size_t first,
                       size_t count, size_t users)
{
    for (size_t i = 0; i < count; i += 4) {
        pr_bits bits = pr_rng_at(rng, resample, (uint32_t)((first + i) / 4), 0, 0);
        for (size_t j = 0; j < 4; j++)
            out[i + j] = (uint32_t)((uint64_t)bits.word[j] * users >> 32);
    }
}

static void resample(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    size_t users = w->a->user_count, measures = w->a->measures;
    parsrec_share *a = w->drawn + worker * 2 * measures, *b = a + measures;
    uint32_t chosen[DRAWS];
    memset(a, 0, 2 * measures * sizeof *a);
    for (size_t first = 0; first < users; first += DRAWS) {
        size_t count = users - first < DRAWS ? users - first : DRAWS;
        draw_users(chosen, &w->rng, (uint32_t)task, first, count, users);
        for (size_t i = 0; i < count; i++)
            add_row(a, w->a, chosen[i]);
        for (size_t i = 0; i < count && w->b != NULL; i++)
            add_row(b, w->b, chosen[i]);
    }
    for (size_t m = 0; m < measures; m++) { /* without b, its totals and ratios are 0 */
        bool empty = a[m].weight <= 0 || (w->b != NULL && b[m].weight <= 0);
        w->values[m * w->resamples + task] = empty ? NAN : ratio(a[m]) - ratio(b[m]);
    }
}

/* The value below which a share of the values lies, interpolated between the two nearest. */
static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

pr_interval pr_percentiles(double value, double *values, size_t count, double level)
{
    assert(level > 0 && level < 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[kept++] = values[i];
    count = kept;
    if (count == 0)
        return (pr_interval){value, value, value};
    qsort(values, count, sizeof *values, pr_ascending_f64);
    return (pr_interval){value, quantile(values, count, (1 - level) / 2),
                         quantile(values, count, (1 + level) / 2)};
}

/* ---- swapped models ---- */

/* The table of four users and one measure: entry i is what moves from b to a when the users whose
 * bits are set in i are swapped. Users after the last one move nothing. */
static void fill_table(parsrec_share *table, const work *w, size_t first, size_t measure)
{
    size_t measures = w->a->measures;
    table[0] = (parsrec_share){0};
    for (size_t bit = 0; bit < SWAP_USERS; bit++) {
        parsrec_share moved = {0};
        if (first + bit < w->a->user_count) {
            const parsrec_share *x = &w->a->rows[(first + bit) * measures + measure];
            const parsrec_share *y = &w->b->rows[(first + bit) * measures + measure];
            moved = (parsrec_share){y->sum - x->sum, y->weight - x->weight};
        }
        size_t half = (size_t)1 << bit;
        for (size_t i = 0; i < half; i++)
            table[half + i] =
                (parsrec_share){table[i].sum + moved.sum, table[i].weight + moved.weight};
    }
}

static void fill_tables(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    (void)worker;
    for (size_t m = 0; m < w->a->measures; m++)
        fill_table(w->swaps + (m * w->tables + task) * SWAP_CASES, w, task * SWAP_USERS, m);
}

/* What moves from b to a in one measure when each user is swapped or not by a random bit. */
static parsrec_share random_swap(const work *w, uint32_t resample, size_t measure)
{
    const parsrec_share *table = w->swaps + measure * w->tables * SWAP_CASES;
    parsrec_share moved = {0};
    for (size_t first = 0; first < w->tables; first += SWAP_TABLES) {
        pr_bits bits = pr_rng_at(&w->rng, resample, (uint32_t)(first / SWAP_TABLES), 0, 0);
        size_t count = w->tables - first < SWAP_TABLES ? w->tables - first : SWAP_TABLES;
        for (size_t i = 0; i < count; i++, table += SWAP_CASES) {
            const parsrec_share *t =
                &table[bits.word[i / 8] >> i % 8 * SWAP_USERS & (SWAP_CASES - 1)];
            moved.sum += t->sum;
            moved.weight += t->weight;
        }
    }
    return moved;
}

/* A task is one resample of one measure. All resamples of a measure come before those of the next,
 * so that its tables stay in the cache. */
static void swap_task(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    (void)worker;
    size_t m = task / w->resamples;
    parsrec_share moved = random_swap(w, (uint32_t)(task % w->resamples), m);
    parsrec_share a = w->totals[m], b = w->totals[w->a->measures + m];
    w->values[task] = ratio((parsrec_share){a.sum + moved.sum, a.weight + moved.weight}) -
                      ratio((parsrec_share){b.sum - moved.sum, b.weight - moved.weight});
}

/* The share of differences that are at least as large, this one included. Sums in another order may
 * differ in their last digits, which must not make an equal difference look smaller. */
static double p_value(double difference, const double *values, size_t count)
{
    double least = fabs(difference) * (1 - 1e-9) - 1e-12;
    size_t larger = 1;
    for (size_t i = 0; i < count; i++)
        larger += fabs(values[i]) >= least;
    return (double)larger / (double)(count + 1);
}

/* ---- both ---- */

static parsrec_status prepare(work *w, const pr_resampling *how, pr_pool *pool, parsrec_error *err)
{
    size_t measures = w->a->measures;
    assert(how->resamples > 0 && how->resamples <= UINT32_MAX && w->a->user_count <= UINT32_MAX);
    assert(how->level > 0 && how->level < 1);
    w->resamples = how->resamples;
    w->values = pr_alloc(measures * how->resamples, sizeof *w->values);
    w->drawn = pr_alloc((pr_pool_threads(pool) + 1) * 2 * measures, sizeof *w->drawn);
    if (w->values == NULL || w->drawn == NULL)
        return pr_fail_memory(err);
    parsrec_share *totals = w->drawn + pr_pool_threads(pool) * 2 * measures;
    memset(totals, 0, 2 * measures * sizeof *totals);
    add_all(totals, w->a);
    if (w->b != NULL)
        add_all(totals + measures, w->b);
    w->totals = totals;
    return PARSREC_OK;
}

static void clear(work *w)
{
    pr_free(w->values);
    pr_free(w->drawn);
    pr_free(w->swaps);
}

static void draw_all(work *w, const pr_resampling *how, pr_pool *pool)
{
    w->rng = pr_rng_make(how->seed, PURPOSE_DRAW);
    pr_pool_run(pool, resample, w, w->resamples);
}

parsrec_status pr_bootstrap(pr_interval *out, const pr_tallies *tallies, const pr_resampling *how,
                            pr_pool *pool, parsrec_error *err)
{
    work w = {.a = tallies};
    parsrec_status status = PARSREC_OK;
    PR_TRY_GOTO(prepare(&w, how, pool, err));
    draw_all(&w, how, pool);
    for (size_t m = 0; m < tallies->measures; m++)
        out[m] =
            pr_percentiles(ratio(w.totals[m]), w.values + m * w.resamples, w.resamples, how->level);
done:
    clear(&w);
    return status;
}

static parsrec_status swap_all(work *w, const pr_resampling *how, pr_pool *pool, parsrec_error *err)
{
    w->tables = (w->a->user_count + SWAP_USERS - 1) / SWAP_USERS;
    w->swaps = pr_alloc(w->a->measures * w->tables * SWAP_CASES, sizeof *w->swaps);
    if (w->swaps == NULL)
        return pr_fail_memory(err);
    pr_pool_run(pool, fill_tables, w, w->tables);
    w->rng = pr_rng_make(how->seed, PURPOSE_SWAP);
    pr_pool_run(pool, swap_task, w, w->a->measures * w->resamples);
    return PARSREC_OK;
}

parsrec_status pr_paired(pr_contrast *out, const pr_tallies *a, const pr_tallies *b,
                         const pr_resampling *how, pr_pool *pool, parsrec_error *err)
{
    assert(a->user_count == b->user_count && a->measures == b->measures);
    work w = {.a = a, .b = b};
    size_t measures = a->measures;
    parsrec_status status = PARSREC_OK;
    PR_TRY_GOTO(prepare(&w, how, pool, err));
    draw_all(&w, how, pool);
    for (size_t m = 0; m < measures; m++)
        out[m].difference = pr_percentiles(ratio(w.totals[m]) - ratio(w.totals[measures + m]),
                                           w.values + m * w.resamples, w.resamples, how->level);
    PR_TRY_GOTO(swap_all(&w, how, pool, err));
    for (size_t m = 0; m < measures; m++)
        out[m].p = p_value(out[m].difference.value, w.values + m * w.resamples, w.resamples);
done:
    clear(&w);
    return status;
}

/* ---- several tests at once ---- */

/* How many tests have a p below `than`. */
static size_t count_smaller(const double *p, size_t count, double than)
{
    size_t smaller = 0;
    for (size_t i = 0; i < count; i++)
        smaller += p[i] < than;
    return smaller;
}

/* The smallest p is multiplied by the number of tests, the next by one less, and so on; a corrected
 * p is never below that of a smaller p. Comparisons with NaN are false, so that NaNs are not
 * counted. */
void pr_holm(double *corrected, const double *p, size_t count)
{
    size_t tests = count_smaller(p, count, INFINITY);
    for (size_t i = 0; i < count; i++) {
        corrected[i] = p[i];
        for (size_t other = 0; !isnan(p[i]) && other < count; other++)
            if (p[other] <= p[i])
                corrected[i] =
                    fmin(1, fmax(corrected[i],
                                 p[other] * (double)(tests - count_smaller(p, count, p[other]))));
    }
}

/* ---- Student's t ---- */

/* The probability that |t| with that many degrees of freedom is at most sqrt(degrees) · tan(angle).
 * For whole degrees it is a finite sum of even or odd powers of the cosine. */
static double covered(double angle, size_t degrees)
{
    bool odd = degrees % 2 == 1;
    double cosine = cos(angle), term = odd ? cosine : 1, sum = 0;
    for (size_t k = odd ? 3 : 2; k <= degrees; k += 2) {
        sum += term;
        term *= cosine * cosine * (double)(k - 1) / (double)k;
    }
    return odd ? (angle + sin(angle) * sum) * M_2_PI : sin(angle) * sum;
}

double pr_student_quantile(double level, size_t degrees)
{
    assert(level > 0 && level < 1 && degrees > 0);
    double low = 0, high = M_PI_2;
    for (int i = 0; i < 60; i++) { /* bisection down to the last bit of the angle */
        double middle = (low + high) / 2;
        if (covered(middle, degrees) < level)
            low = middle;
        else
            high = middle;
    }
    return sqrt((double)degrees) * tan(low);
}

/* The mean; sets *error to its standard error, NaN for one number. */
static double mean_of(const double *values, size_t count, double *error)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    *error = count < 2 ? NAN : sqrt(squares / (double)(count - 1) / (double)count);
    return mean;
}

pr_interval pr_student(const double *values, size_t count, double level)
{
    assert(level > 0 && level < 1);
    double error, mean = mean_of(values, count, &error);
    if (count < 2)
        return (pr_interval){mean, NAN, NAN};
    double reach = pr_student_quantile(level, count - 1) * error;
    return (pr_interval){mean, mean - reach, mean + reach};
}

double pr_student_p(const double *values, size_t count)
{
    double error, mean = mean_of(values, count, &error);
    if (count < 2)
        return NAN;
    if (mean == 0 || error == 0)
        return mean == 0 ? 1 : 0;
    double angle = atan(fabs(mean) / error / sqrt((double)(count - 1)));
    return fmax(0, 1 - covered(angle, count - 1));
}
