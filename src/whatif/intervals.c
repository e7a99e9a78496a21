/* Intervals by drawing users again, and models where there are several: the spread that other users, and
 * other trainings, would have given. What all models have in common they cannot show. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "eval/significance.h"
#include "whatif/answer.h"

/* Totals are sums over all lines: where those are many, fewer draws will do. */
enum {
    LINES_MOST = 40,
    TOTAL_RESAMPLES = 200,
    PURPOSE_USERS = 0x771F04,
    PURPOSE_MODELS = 0x771F05
};

static const size_t ALL = SIZE_MAX;

/* Sums are needed of some lines, and of baskets, in the ledgers that are used. */
typedef struct work {
    const pr_whatif_result *a;
    pr_rng users, models;
    size_t group, cells;
    size_t *lines;      /* [kept]: those that get intervals, or all for totals */
    size_t kept, width; /* width: kept + 1, the last is baskets */
    const pr_ledger **ledgers;
    bool *used;                 /* [ledgers] */
    size_t ledger_count, grown; /* grown: the first of those that stand behind all books */
    double *columns;            /* [ledgers that are used, width, cells] */
    double *hands;              /* [threads, cells + ledgers · width] */
    double *values;             /* [outcomes, resamples] */
    size_t outcomes, resamples;
    size_t scenario; /* of totals, which are drawn one scenario at a time; ALL: of lines */
    double *prices;  /* [2, kept]: totals, before and after */
    pr_rates *rates; /* [threads, kept]: totals */
} work;

/* ---- ledgers in a row ---- */

/* Of a book: before, after selection, after re-choice, refills. */
enum { BEFORE = -1, REFILL = PR_QUESTIONS, TABLES = PR_QUESTIONS + 1 };

static size_t ledger_at(const pr_whatif_result *a, size_t model, size_t e, size_t s, int table)
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
    double *column = w->columns;
    for (size_t i = 0; i < w->ledger_count; i++)
        for (size_t k = 0; k < w->width && w->used[i]; k++, column += w->cells) {
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
    const pr_whatif_result *a = w->a;
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
        .gone = a->scenarios.list[s].state[w->lines[k]] == PR_SHELF_NONE,
        .single = a->single[w->lines[k]],
    };
}

/* The estimate of a resample: the same as the one told, from other sums. */
static void outcome(const work *w, const double *sums, size_t task, size_t s, size_t q, size_t e,
                    size_t k, double *values)
{
    const pr_whatif_result *a = w->a;
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
    values[w->resamples] = before > 0 ? after / before - 1 : NAN;
}

static void add_up(const work *w, double *sums, double *times, size_t task)
{
    pr_stream draw =
        pr_stream_at(&w->users, (uint32_t)w->group, (uint32_t)task, (uint32_t)w->cells);
    memset(times, 0, w->cells * sizeof *times);
    for (size_t c = 0; c < w->cells; c++)
        times[pr_stream_below(&draw, (uint32_t)w->cells)]++;
    const double *column = w->columns;
    for (size_t i = 0; i < w->ledger_count * w->width; i++) {
        if (!w->used[i / w->width])
            continue;
        double sum = 0;
        for (size_t c = 0; c < w->cells; c++)
            sum += times[c] * column[c];
        sums[i] = sum;
        column += w->cells;
    }
}

static void resample(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    const pr_whatif_result *a = w->a;
    double *times = w->hands + worker * (w->cells + w->ledger_count * w->width);
    double *sums = times + w->cells, *values = w->values + task;
    add_up(w, sums, times, task);
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t k = 0; k < w->kept; k++, values += 2 * w->resamples)
                    outcome(w, sums, task, s, q, e, k, values);
}

/* ---- totals ---- */

/* After, change, money after, change of it: for a scenario and question. */
enum { TOTAL_NUMBERS = 4 };

typedef struct sum {
    double before, after, money_before, money_after;
} sum;

/* A new item that competes with everything has no bin that counts it. */
static bool in_total(const pr_whatif_result *a, size_t line)
{
    return line < a->lines.bins || (a->lines.by_item && a->lines.list[line].kind == PR_LINE_NEW);
}

static void add_to_total(const work *w, sum *t, size_t k, double before, double after)
{
    if (isnan(before) || isnan(after))
        return;
    t->before += before;
    t->after += after;
    t->money_before += before * w->prices[k];
    t->money_after += after * w->prices[w->kept + k];
}

/* What a whole basket becomes with these sums. Slots are filled anew: whatever the users are, refilled
 * baskets keep their size. */
static sum total_of(const work *w, const double *sums, pr_rates *rates, size_t task, size_t q)
{
    const pr_whatif_result *a = w->a;
    size_t e = a->estimator, models = e == PARSREC_COUNTED ? 1 : a->model_count;
    pr_stream draw = pr_stream_at(&w->models, (uint32_t)task, 0, 0);
    sum all = {0};
    for (size_t m = 0; m < models; m++) {
        size_t pick = models > 1 ? pr_stream_below(&draw, (uint32_t)models) : m;
        pr_slots fill = {.size = a->sizes[2 * w->group],
                         .size_variance = a->sizes[2 * w->group + 1]};
        for (size_t k = 0; k < w->kept; k++)
            rates[k] = rates_of(w, sums, pick, e, w->scenario, q, k);
        pr_slots_sum(&fill, rates, a->lines.bins); /* bins are the first lines */
        for (size_t k = 0; k < w->kept; k++) {
            double before, after;
            if (!pr_estimator_tells(a, q, e, w->lines[k]))
                continue;
            rates[k].fill = &fill;
            pr_rates_estimate(&before, &after, &rates[k], a, q, e);
            add_to_total(w, &all, k, before / (double)models, after / (double)models);
        }
    }
    return all;
}

static void resample_totals(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    const pr_whatif_result *a = w->a;
    double *times = w->hands + worker * (w->cells + w->ledger_count * w->width);
    double *sums = times + w->cells, *values = w->values + task;
    add_up(w, sums, times, task);
    for (size_t q = 0; q < PR_QUESTIONS; q++, values += TOTAL_NUMBERS * w->resamples) {
        sum t = {0};
        if (a->asked[q])
            t = total_of(w, sums, w->rates + worker * w->kept, task, q);
        values[0] = t.after;
        values[w->resamples] = t.before > 0 ? t.after / t.before - 1 : NAN;
        values[2 * w->resamples] = t.money_after;
        values[3 * w->resamples] = t.money_before > 0 ? t.money_after / t.money_before - 1 : NAN;
    }
}

static pr_estimate estimate_of(const work *w, double before, double after, double *values)
{
    const pr_whatif_result *a = w->a;
    double change = before > 0 ? after / before - 1 : NAN;
    pr_interval level = pr_percentiles(after, values, w->resamples, a->interval);
    pr_interval moved = pr_percentiles(change, values + w->resamples, w->resamples, a->interval);
    bool known = !isnan(change);
    return (pr_estimate){before,
                         after,
                         level.low,
                         level.high,
                         change,
                         known ? moved.low : NAN,
                         known ? moved.high : NAN};
}

static void read_off_totals(work *w)
{
    const pr_whatif_result *a = w->a;
    static const pr_estimate unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    double *values = w->values;
    for (size_t q = 0; q < PR_QUESTIONS; q++, values += TOTAL_NUMBERS * w->resamples) {
        pr_total *to = pr_total_of(a, w->scenario, q, w->group);
        sum t = {0};
        for (size_t k = 0; k < w->kept; k++) {
            const pr_estimate *e =
                pr_estimate_of(a, w->scenario, q, a->estimator, w->group, w->lines[k]);
            add_to_total(w, &t, k, e->before, e->after);
        }
        *to = (pr_total){unknown, unknown};
        if (!a->asked[q] || !(t.before > 0))
            continue;
        to->units = estimate_of(w, t.before, t.after, values);
        if (a->price != NULL && t.money_before > 0)
            to->money = estimate_of(w, t.money_before, t.money_after, values + 2 * w->resamples);
    }
}

static void find_prices(work *w)
{
    const pr_whatif_result *a = w->a;
    for (size_t k = 0; k < w->kept; k++) {
        bool known = a->price != NULL;
        w->prices[k] = known ? pr_line_price(a, SIZE_MAX, w->group, w->lines[k]) : 0;
        w->prices[w->kept + k] = known ? pr_line_price(a, w->scenario, w->group, w->lines[k]) : 0;
    }
}

/* ---- all of them ---- */

static void read_off(work *w)
{
    const pr_whatif_result *a = w->a;
    double *values = w->values;
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t k = 0; k < w->kept; k++, values += 2 * w->resamples) {
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
static bool wants_interval(const pr_whatif_result *a, size_t line)
{
    bool wanted = a->lines.count <= LINES_MOST;
    for (size_t s = 0; s < a->scenarios.count; s++)
        wanted |= a->watched[s * a->lines.count + line];
    for (size_t n = a->lines.bins; n < a->lines.count; n++)
        wanted |= a->lines.list[n].kind == PR_LINE_NEW &&
                  (size_t)a->lines.bin_of[a->lines.list[n].items[0]] == line;
    return wanted;
}

static void list_ledgers(work *w)
{
    const pr_whatif_result *a = w->a;
    list_book(w, &a->past);
    for (size_t m = 0; m < a->model_count; m++)
        for (size_t e = 0; e < PR_ESTIMATORS - 1; e++)
            list_book(w, pr_book_of(a, m, e));
    w->grown = w->ledger_count;
    for (size_t s = 0; s < a->scenarios.count; s++)
        w->ledgers[w->ledger_count++] = &a->grown[s];
}

/* Totals take the past and the books of one estimator, of one scenario. */
static void choose_ledgers(work *w)
{
    const pr_whatif_result *a = w->a;
    size_t scenarios = a->scenarios.count, each = 1 + TABLES * scenarios;
    for (size_t i = 0; i < w->ledger_count; i++) {
        size_t book = i / each, table = i % each;
        bool behind = i >= w->grown;
        bool shown = book == 0 || (a->estimator != PARSREC_COUNTED &&
                                   (book - 1) % (PR_ESTIMATORS - 1) == (size_t)a->estimator);
        bool here = behind ? i - w->grown == w->scenario
                           : table == 0 || (table - 1) % scenarios == w->scenario;
        w->used[i] = w->scenario == ALL || ((behind || shown) && here);
    }
}

static parsrec_status reserve(work *w, unsigned threads, parsrec_error *err)
{
    bool totals = w->scenario != ALL;
    const pr_whatif_result *a = w->a;
    size_t scenarios = a->scenarios.count, books = 1 + a->model_count * (PR_ESTIMATORS - 1);
    size_t ledgers = books * (1 + TABLES * scenarios) + scenarios, most = 0, used = 0;
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        size_t cells = a->cohort.first_cell[g + 1] - a->cohort.first_cell[g];
        most = cells > most ? cells : most;
    }
    w->lines = pr_alloc(a->lines.count, sizeof *w->lines);
    w->ledgers = pr_alloc(ledgers, sizeof *w->ledgers);
    w->used = pr_alloc(ledgers, sizeof *w->used);
    if (w->lines == NULL || w->ledgers == NULL || w->used == NULL)
        return pr_fail_memory(err);
    for (size_t l = 0; l < a->lines.count; l++)
        if (totals ? in_total(a, l) : wants_interval(a, l))
            w->lines[w->kept++] = l;
    w->width = w->kept + 1;
    list_ledgers(w);
    choose_ledgers(w);
    for (size_t i = 0; i < w->ledger_count; i++)
        used += w->used[i];
    w->resamples = a->resamples;
    if (totals && w->kept > LINES_MOST && w->resamples > TOTAL_RESAMPLES)
        w->resamples = TOTAL_RESAMPLES;
    w->outcomes = totals ? PR_QUESTIONS * TOTAL_NUMBERS
                         : scenarios * PR_QUESTIONS * PR_ESTIMATORS * w->kept * 2;
    w->columns = pr_alloc(used * w->width, most * sizeof *w->columns);
    w->hands = pr_alloc(threads, (most + ledgers * w->width) * sizeof *w->hands);
    w->values = pr_alloc(w->outcomes, w->resamples * sizeof *w->values);
    w->prices = pr_alloc(w->kept, 2 * sizeof *w->prices);
    w->rates = pr_alloc(threads * w->kept, sizeof *w->rates);
    if (w->columns == NULL || w->hands == NULL || w->values == NULL || w->prices == NULL ||
        w->rates == NULL)
        return pr_fail_memory(err);
    return PARSREC_OK;
}

/* The lines of all scenarios, or the totals of one. */
static parsrec_status draw_again(pr_whatif_result *a, size_t scenario, pr_pool *pool,
                                 const parsrec_hooks *hooks, parsrec_error *err)
{
    work w = {.a = a,
              .scenario = scenario,
              .users = pr_rng_make(a->seed, PURPOSE_USERS),
              .models = pr_rng_make(a->seed, PURPOSE_MODELS)};
    bool totals = scenario != ALL;
    size_t groups = a->cohort.group_count, rounds = (1 + a->scenarios.count) * groups;
    size_t done = totals ? (1 + scenario) * groups : 0;
    parsrec_status status = reserve(&w, pr_pool_threads(pool), err);
    for (size_t g = 0; g < groups && status == PARSREC_OK; g++) {
        status = pr_progress(hooks, "drawing users again for intervals", "rounds", done + g, rounds,
                             err);
        if (status != PARSREC_OK)
            break;
        w.group = g;
        w.cells = a->cohort.first_cell[g + 1] - a->cohort.first_cell[g];
        fill_columns(&w);
        if (totals)
            find_prices(&w);
        pr_pool_run(pool, totals ? resample_totals : resample, &w, w.resamples);
        (totals ? read_off_totals : read_off)(&w);
    }
    pr_free(w.lines);
    pr_free(w.ledgers);
    pr_free(w.used);
    pr_free(w.columns);
    pr_free(w.hands);
    pr_free(w.values);
    pr_free(w.prices);
    pr_free(w.rates);
    return status;
}

parsrec_status pr_whatif_intervals(pr_whatif_result *a, pr_pool *pool, const parsrec_hooks *hooks,
                                   parsrec_error *err)
{
    PR_TRY(draw_again(a, ALL, pool, hooks, err));
    for (size_t s = 0; s < a->scenarios.count; s++)
        PR_TRY(draw_again(a, s, pool, hooks, err));
    return PARSREC_OK;
}
