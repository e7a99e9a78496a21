/* Intervals by drawing users again, and models where there are several: the spread that other users, and
 * other trainings, would have given. What all models have in common they cannot show. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "eval/significance.h"
#include "whatif/answer.h"

enum { LINES_MOST = 40, PURPOSE_USERS = 0x771F04, PURPOSE_MODELS = 0x771F05 };

/* Sums are needed of so many lines, and of baskets, in every ledger. */
typedef struct work {
    const pr_answer *a;
    pr_rng users, models;
    size_t group, cells;
    size_t *lines;      /* [kept]: those that get intervals */
    size_t kept, width; /* width: kept + 1, the last is baskets */
    const pr_ledger **ledgers;
    size_t ledger_count, grown; /* grown: the first of those that stand behind all books */
    double *columns;            /* [ledgers, width, cells] */
    double *hands;              /* [threads, cells + ledgers · width] */
    double *values;             /* [outcomes, resamples] */
    size_t outcomes;            /* scenarios · questions · estimators · kept · 2 */
} work;

/* ---- ledgers in a row ---- */

/* Of a book: before, after selection, after re-choice, refills. */
enum { BEFORE = -1, REFILL = PR_QUESTIONS, TABLES = PR_QUESTIONS + 1 };

static size_t ledger_at(const pr_answer *a, size_t model, size_t e, size_t s, int table)
{
    size_t scenarios = a->scenarios.count, each = 1 + TABLES * scenarios;
    size_t place = table == BEFORE ? 0 : 1 + (size_t)table * scenarios + s;
    return (e == PARSREC_COUNTED ? 0 : each * (1 + model * (PR_ESTIMATORS - 1) + e)) + place;
}

static void list_book(work *w, const pr_book *book)
{
    w->ledgers[w->ledger_count++] = &book->before;
    for (size_t q = 0; q < PR_QUESTIONS; q++)
        for (size_t s = 0; s < w->a->scenarios.count; s++)
            w->ledgers[w->ledger_count++] = &book->after[q][s];
    for (size_t s = 0; s < w->a->scenarios.count; s++)
        w->ledgers[w->ledger_count++] = &book->refill[s];
}

static void fill_columns(work *w)
{
    size_t first = w->a->cohort.first_cell[w->group];
    for (size_t i = 0; i < w->ledger_count; i++)
        for (size_t k = 0; k < w->width; k++) {
            double *column = w->columns + (i * w->width + k) * w->cells;
            const pr_ledger *ledger = w->ledgers[i];
            for (size_t c = 0; c < w->cells; c++)
                column[c] = k < w->kept ? ledger->units[(first + c) * ledger->lines + w->lines[k]]
                                        : ledger->baskets[first + c];
        }
}

/* ---- one resample ---- */

static double baskets(const work *w, const double *sums, size_t ledger)
{
    return sums[ledger * w->width + w->kept];
}

static double units(const work *w, const double *sums, size_t ledger, size_t k, double by)
{
    return by > 0 ? sums[ledger * w->width + k] / by : NAN;
}

static double rate(const work *w, const double *sums, size_t ledger, size_t k)
{
    return units(w, sums, ledger, k, baskets(w, sums, ledger));
}

static size_t kept_place(const work *w, size_t line)
{
    size_t k = 0;
    while (k < w->kept && w->lines[k] != line)
        k++;
    return k;
}

static double like_ratio(const work *w, const double *sums, size_t before, size_t k)
{
    const pr_line *l = &w->a->lines.list[w->lines[k]];
    if (l->kind != PR_LINE_NEW)
        return 0;
    size_t bin = kept_place(w, (size_t)w->a->lines.bin_of[l->items[0]]);
    double model = bin < w->kept ? rate(w, sums, before, bin) : 0;
    double past = bin < w->kept ? rate(w, sums, 0, bin) : 0;
    return model > 0 && past > 0 ? past / model : 1;
}

static pr_rates rates_of(const work *w, const double *sums, size_t m, size_t e, size_t s, size_t q,
                         size_t k)
{
    const pr_answer *a = w->a;
    size_t first = ledger_at(a, m, e, s, BEFORE), kept = ledger_at(a, m, e, s, PARSREC_SELECTION);
    size_t past_kept = ledger_at(a, 0, PARSREC_COUNTED, s, PARSREC_SELECTION);
    double past = baskets(w, sums, 0), model = baskets(w, sums, first);
    return (pr_rates){
        .past = units(w, sums, 0, k, past),
        .past_kept = units(w, sums, past_kept, k, past),
        .past_share = baskets(w, sums, past_kept) / past,
        .past_baskets = past,
        .before = units(w, sums, first, k, model),
        .kept = units(w, sums, kept, k, model),
        .share = baskets(w, sums, kept) / model,
        .after = rate(w, sums, ledger_at(a, m, e, s, (int)q), k),
        .refill = units(w, sums, ledger_at(a, m, e, s, REFILL), k, model),
        .like = like_ratio(w, sums, first, k),
        .grown = units(w, sums, w->grown + s, k, past),
        .fill = pr_slots_of(a, m, s, w->group),
        .whole = !pr_line_dropped(a, s, w->lines[k]),
        .single = a->single[w->lines[k]],
    };
}

/* The estimate of a resample: the same as the one told, from other sums. */
static void outcome(const work *w, const double *sums, size_t task, size_t s, size_t q, size_t e,
                    size_t k, double *values)
{
    const pr_answer *a = w->a;
    size_t models = e == PARSREC_COUNTED ? 1 : a->model_count;
    double before = 0, after = 0;
    pr_stream draw = pr_stream_at(&w->models, (uint32_t)task, 0, 0);
    for (size_t m = 0; m < models; m++) {
        double one, other;
        size_t pick = models > 1 ? pr_stream_below(&draw, (uint32_t)models) : m;
        pr_rates r = rates_of(w, sums, pick, e, s, q, k);
        pr_rates_estimate(&one, &other, &r, a, q, e);
        before += one / (double)models;
        after += other / (double)models;
    }
    values[0] = after;
    values[a->resamples] = before > 0 ? after / before - 1 : NAN;
}

static void add_up(const work *w, double *sums, double *times, size_t task)
{
    pr_stream draw =
        pr_stream_at(&w->users, (uint32_t)w->group, (uint32_t)task, (uint32_t)w->cells);
    memset(times, 0, w->cells * sizeof *times);
    for (size_t c = 0; c < w->cells; c++)
        times[pr_stream_below(&draw, (uint32_t)w->cells)]++;
    for (size_t i = 0; i < w->ledger_count * w->width; i++) {
        const double *column = w->columns + i * w->cells;
        double sum = 0;
        for (size_t c = 0; c < w->cells; c++)
            sum += times[c] * column[c];
        sums[i] = sum;
    }
}

static void resample(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    const pr_answer *a = w->a;
    double *times = w->hands + worker * (w->cells + w->ledger_count * w->width);
    double *sums = times + w->cells, *values = w->values + task;
    add_up(w, sums, times, task);
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t k = 0; k < w->kept; k++, values += 2 * a->resamples)
                    outcome(w, sums, task, s, q, e, k, values);
}

/* ---- all of them ---- */

static void read_off(work *w)
{
    const pr_answer *a = w->a;
    double *values = w->values;
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t k = 0; k < w->kept; k++, values += 2 * a->resamples) {
                    pr_estimate *to = pr_estimate_of(a, s, q, e, w->group, w->lines[k]);
                    if (isnan(to->after))
                        continue;
                    pr_interval i = pr_percentiles(to->after, values, a->resamples, a->interval);
                    pr_interval c = pr_percentiles(to->change, values + a->resamples, a->resamples,
                                                   a->interval);
                    to->low = i.low;
                    to->high = i.high;
                    to->change_low = isnan(to->change) ? NAN : c.low;
                    to->change_high = isnan(to->change) ? NAN : c.high;
                }
}

/* All lines where they are few, else those watched, and the bins that new items join. */
static void choose_lines(work *w)
{
    const pr_answer *a = w->a;
    for (size_t l = 0; l < a->lines.count; l++) {
        bool wanted = a->lines.count <= LINES_MOST;
        for (size_t s = 0; s < a->scenarios.count; s++)
            wanted |= a->watched[s * a->lines.count + l];
        for (size_t n = a->lines.bins; n < a->lines.count; n++)
            wanted |= a->lines.list[n].kind == PR_LINE_NEW &&
                      (size_t)a->lines.bin_of[a->lines.list[n].items[0]] == l;
        if (wanted)
            w->lines[w->kept++] = l;
    }
    w->width = w->kept + 1;
}

static parsrec_status reserve(work *w, unsigned threads, parsrec_error *err)
{
    const pr_answer *a = w->a;
    size_t books = 1 + a->model_count * (PR_ESTIMATORS - 1), most = 0;
    size_t ledgers = books * (1 + TABLES * a->scenarios.count) + a->scenarios.count;
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        size_t cells = a->cohort.first_cell[g + 1] - a->cohort.first_cell[g];
        most = cells > most ? cells : most;
    }
    w->lines = pr_alloc(a->lines.count, sizeof *w->lines);
    if (w->lines == NULL)
        return pr_fail_memory(err);
    choose_lines(w);
    w->outcomes = a->scenarios.count * PR_QUESTIONS * PR_ESTIMATORS * w->kept * 2;
    w->ledgers = pr_alloc(ledgers, sizeof *w->ledgers);
    w->columns = pr_alloc(ledgers * w->width, most * sizeof *w->columns);
    w->hands = pr_alloc(threads, (most + ledgers * w->width) * sizeof *w->hands);
    w->values = pr_alloc(w->outcomes, a->resamples * sizeof *w->values);
    if (w->ledgers == NULL || w->columns == NULL || w->hands == NULL || w->values == NULL)
        return pr_fail_memory(err);
    list_book(w, &a->past);
    for (size_t m = 0; m < a->model_count; m++)
        for (size_t e = 0; e < PR_ESTIMATORS - 1; e++)
            list_book(w, pr_book_of(a, m, e));
    w->grown = w->ledger_count;
    for (size_t s = 0; s < a->scenarios.count; s++)
        w->ledgers[w->ledger_count++] = &a->grown[s];
    return PARSREC_OK;
}

parsrec_status pr_answer_intervals(pr_answer *a, pr_pool *pool, parsrec_error *err)
{
    work w = {.a = a,
              .users = pr_rng_make(a->seed, PURPOSE_USERS),
              .models = pr_rng_make(a->seed, PURPOSE_MODELS)};
    parsrec_status status = reserve(&w, pr_pool_threads(pool), err);
    for (size_t g = 0; g < a->cohort.group_count && status == PARSREC_OK; g++) {
        w.group = g;
        w.cells = a->cohort.first_cell[g + 1] - a->cohort.first_cell[g];
        fill_columns(&w);
        pr_pool_run(pool, resample, &w, a->resamples);
        read_off(&w);
    }
    pr_free(w.lines);
    pr_free(w.ledgers);
    pr_free(w.columns);
    pr_free(w.hands);
    pr_free(w.values);
    return status;
}
