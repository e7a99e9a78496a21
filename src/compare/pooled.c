/* Several trainings of one model as one row: means, sums over users, and how far seeds lie apart. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "compare/comparison.h"

/* ---- the report ---- */

static void add_measure(parsrec_measure *to, const parsrec_measure *from, double share)
{
    to->value += share * from->value;
    to->random += share * from->random;
    to->repeat += share * from->repeat;
    to->fresh += share * from->fresh;
    to->low += share * from->low;
    to->high += share * from->high;
}

/* The mean of the reports that stand at an offset of each attempt. */
static void pool_report(parsrec_eval_report *out, const pr_contender *r, size_t offset)
{
    const char *first = (const char *)r->attempts + offset;
    *out = *(const parsrec_eval_report *)(const void *)first;
    for (size_t m = 0; r->judged > 1 && m < out->measure_count; m++) {
        parsrec_measure *mean = &out->measures[m];
        mean->value = mean->random = mean->repeat = mean->fresh = mean->low = mean->high = 0;
    }
    for (size_t i = 0; r->judged > 1 && i < r->judged; i++) {
        const parsrec_eval_report *one =
            (const parsrec_eval_report *)(const void *)(first + i * sizeof *r->attempts);
        out->seconds += i > 0 ? one->seconds : 0;
        for (size_t m = 0; m < out->measure_count; m++)
            add_measure(&out->measures[m], &one->measures[m], 1 / (double)r->judged);
    }
}

/* ---- users and seeds ---- */

static parsrec_status pool_tallies(pr_contender *r, size_t users, parsrec_error *err)
{
    size_t count = users * r->report.measure_count;
    pr_free(r->tallies);
    r->tallies = pr_alloc_zero(count, sizeof *r->tallies);
    if (r->tallies == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < r->judged; i++)
        for (size_t at = 0; at < count; at++) {
            r->tallies[at].sum += r->attempts[i].tallies[at].sum;
            r->tallies[at].weight += r->attempts[i].tallies[at].weight;
        }
    return PARSREC_OK;
}

static parsrec_status pool_spread(pr_contender *r, double level, parsrec_error *err)
{
    double *values = pr_alloc(r->judged, sizeof *values);
    pr_free(r->spread);
    r->spread = pr_alloc(r->report.measure_count, sizeof *r->spread);
    if (values == NULL || r->spread == NULL) {
        pr_free(values);
        return pr_fail_memory(err);
    }
    for (size_t m = 0; m < r->report.measure_count; m++) {
        for (size_t i = 0; i < r->judged; i++)
            values[i] = r->attempts[i].report.measures[m].value;
        r->spread[m] = pr_student(values, r->judged, level);
    }
    pr_free(values);
    return PARSREC_OK;
}

/* ---- learning ---- */

/* The mean curve ends where the shortest does. */
static parsrec_status pool_learning(pr_contender *r, parsrec_error *err)
{
    size_t count = r->attempts[0].record.epoch_count;
    for (size_t i = 1; i < r->judged; i++)
        if (r->attempts[i].record.epoch_count < count)
            count = r->attempts[i].record.epoch_count;
    pr_free(r->learning.epoch);
    pr_free(r->learning.value);
    r->learning.epoch = pr_alloc_zero(count, sizeof *r->learning.epoch);
    r->learning.value = pr_alloc_zero(count, sizeof *r->learning.value);
    r->learning.count = count;
    r->learning.seconds = 0;
    if (r->learning.epoch == NULL || r->learning.value == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < r->judged; i++) {
        const pr_run_record *run = &r->attempts[i].record;
        r->learning.seconds += run->seconds;
        for (size_t at = 0; at < count; at++) {
            r->learning.epoch[at] = (double)(at + 1);
            r->learning.value[at] +=
                pr_validation_value(&run->epochs[at], pr_validation_measures[0]) /
                (double)r->judged;
        }
    }
    return PARSREC_OK;
}

parsrec_status pr_contender_pool(pr_contender *r, size_t users, double level, parsrec_error *err)
{
    pool_report(&r->report, r, offsetof(pr_attempt, report));
    for (size_t i = 0; i < PR_OTHER_PROTOCOLS; i++)
        pool_report(&r->others[i], r,
                    offsetof(pr_attempt, others) + i * sizeof(parsrec_eval_report));
    PR_TRY(pool_tallies(r, users, err));
    PR_TRY(pool_spread(r, level, err));
    return pool_learning(r, err);
}

void pr_contender_clear(pr_contender *r)
{
    for (size_t i = 0; i < r->attempt_count; i++) {
        pr_free(r->attempts[i].tallies);
        pr_run_record_free(&r->attempts[i].record);
    }
    pr_free(r->attempts);
    pr_free(r->tallies);
    pr_free(r->intervals);
    pr_free(r->spread);
    pr_free(r->learning.epoch);
    pr_free(r->learning.value);
}
