/* Intervals and trends, counted; and the times of a history. */
#include "model/purchase_times.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

static const int64_t day_seconds = 86400;

int64_t pr_history_now(const pr_history *h)
{
    size_t n = h->session_count;
    if (h->times == NULL || n < 2 || h->now != PR_NO_TIME)
        return h->now;
    return h->times[n - 1] + (h->times[n - 1] - h->times[0]) / (int64_t)(n - 1);
}

pr_real pr_days_since(const pr_history *h, size_t s, int64_t now)
{
    assert(h->times != NULL && s < h->session_count && now != PR_NO_TIME);
    return now > h->times[s] ? (pr_real)((double)(now - h->times[s]) / (double)day_seconds) : 0;
}

const pr_real *pr_trends_at(const pr_purchase_times *times, int64_t now)
{
    double period = PR_PERIODS - 1;
    if (now != PR_NO_TIME) {
        double day = floor((double)now / (double)day_seconds);
        double at = floor((day - (double)times->calendar[0]) / (double)times->calendar[1]);
        period = at < 0 ? 0 : at < period ? at : period;
    }
    return times->trends + (size_t)period * times->items;
}

/* ---- counting ---- */

typedef struct study {
    const pr_dataset *data;
    size_t V;
    double *sum;     /* [V] of intervals, in days */
    uint32_t *count; /* [V] */
    int64_t *last;   /* [V]: the session that an item was last bought in */
    uint32_t *sold;  /* [V] */
} study;

static int64_t day_of(const pr_dataset *data, int64_t session)
{
    int64_t t = data->times[session];
    return t / day_seconds - (t % day_seconds < 0);
}

/* An item that is seldom bought again is drawn to the mean of all. */
static void count_intervals(const pr_purchase_times *out, study *s, const pr_counted *from)
{
    enum { PRIOR = 5, DEFAULT_DAYS = 30 };
    const pr_dataset *d = s->data;
    for (size_t i = 0; i < s->V; i++)
        s->last[i] = -1;
    double sum = 0, count = 0;
    for (size_t u = 0; u < d->users; u++) {
        int64_t first = d->user_offsets[u], end = pr_counted_end(from, u);
        for (int64_t session = first; session < end; session++)
            for (int64_t a = d->session_offsets[session]; a < d->session_offsets[session + 1];
                 a++) {
                int32_t item = d->action_items[a];
                if (s->last[item] >= first) {
                    s->sum[item] +=
                        (double)(d->times[session] - d->times[s->last[item]]) / (double)day_seconds;
                    s->count[item]++;
                }
                s->last[item] = session;
            }
    }
    for (size_t i = 0; i < s->V; i++) {
        sum += s->sum[i];
        count += s->count[i];
    }
    double mean = count > 0 ? sum / count : DEFAULT_DAYS;
    for (size_t i = 0; i < s->V; i++)
        out->intervals[i] = (pr_real)((s->sum[i] + PRIOR * mean) / (s->count[i] + PRIOR));
}

/* From the first to the last day that is counted. */
static void set_calendar(const pr_purchase_times *out, const pr_counted *from)
{
    const pr_dataset *d = from->data;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t u = 0; u < d->users; u++) {
        int64_t begin = d->user_offsets[u], end = pr_counted_end(from, u);
        if (begin == end)
            continue;
        first = day_of(d, begin) < first ? day_of(d, begin) : first;
        last = day_of(d, end - 1) > last ? day_of(d, end - 1) : last;
    }
    int64_t days = first <= last ? last - first + 1 : 1;
    out->calendar[0] = (pr_real)(first <= last ? first : 0);
    out->calendar[1] = (pr_real)((days + PR_PERIODS - 2) / (PR_PERIODS - 1));
}

/* Adds each sale to the periods that it is recent for: those that start after its day, but no more
 * than PR_RECENT_DAYS after it. */
static void count_sales(const pr_purchase_times *out, study *s, const pr_counted *from)
{
    const pr_dataset *d = s->data;
    int64_t first = (int64_t)out->calendar[0], length = (int64_t)out->calendar[1];
    memset(out->trends, 0, PR_PERIODS * s->V * sizeof *out->trends);
    for (size_t u = 0; u < d->users; u++) {
        int64_t end = pr_counted_end(from, u);
        for (int64_t session = d->user_offsets[u]; session < end; session++) {
            int64_t day = day_of(d, session) - first;
            int64_t from_period = day / length + 1, to = (day + PR_RECENT_DAYS) / length;
            to = to < from_period ? from_period : to; /* long periods: the one before counts */
            for (int64_t a = d->session_offsets[session]; a < d->session_offsets[session + 1];
                 a++) {
                s->sold[d->action_items[a]]++;
                for (int64_t p = from_period; p <= to && p < PR_PERIODS; p++)
                    out->trends[(size_t)p * s->V + (size_t)d->action_items[a]] += 1;
            }
        }
    }
}

static void compare_sales(const pr_purchase_times *out, const study *s)
{
    static const double prior = 5; /* sales as expected */
    double all = 0;
    for (size_t i = 0; i < s->V; i++)
        all += s->sold[i];
    for (size_t p = 0; p < PR_PERIODS; p++) {
        pr_real *row = out->trends + p * s->V;
        double total = 0;
        for (size_t i = 0; i < s->V; i++)
            total += (double)row[i];
        for (size_t i = 0; i < s->V; i++) {
            double expected = all > 0 ? total * s->sold[i] / all : 0;
            row[i] = (pr_real)log(((double)row[i] + prior) / (expected + prior));
        }
    }
}

parsrec_status pr_purchase_times_count(const pr_purchase_times *out, const pr_counted *from,
                                       parsrec_error *err)
{
    const pr_dataset *data = from->data;
    assert(data->time_kind == PARSREC_TIME_UNIX && out->items == data->items);
    study s = {.data = data, .V = data->items};
    s.sum = pr_alloc_zero(s.V, sizeof *s.sum);
    s.count = pr_alloc_zero(s.V, sizeof *s.count);
    s.last = pr_alloc(s.V, sizeof *s.last);
    s.sold = pr_alloc_zero(s.V, sizeof *s.sold);
    bool taken = s.sum != NULL && s.count != NULL && s.last != NULL && s.sold != NULL;
    if (taken) {
        count_intervals(out, &s, from);
        set_calendar(out, from);
        count_sales(out, &s, from);
        compare_sales(out, &s);
    }
    pr_free(s.sum);
    pr_free(s.count);
    pr_free(s.last);
    pr_free(s.sold);
    return taken ? PARSREC_OK : pr_fail_memory(err);
}
