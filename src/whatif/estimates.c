/* From sums to sales per basket, and intervals by drawing users again, and models where there are
 * several: the spread that other users, and other trainings, would have given. What all models have
 * in common does not show in it.
 *
 * A model is trusted with what it alone can know. How much is sold, and how often things are bought
 * together, is also in the users' own past, and the estimate is calibrated to that as far as the
 * past has seen it. (docs/whatif.md)
 *
 * Words. What leaves the shelf is missing. A basket that held some of it is touched, any other is
 * kept. The places of missing items in a touched basket are empty slots; with re-choice other lines
 * refill them. The lift of a line is how much more of it is in touched baskets than in all.
 *
 * The way of a number. Tables of sums (sales.h) are gathered into columns, one per line and table.
 * Sums of columns become rates, units per basket of one line; estimate_from turns the rates of a
 * line into sales before and after. For intervals the same is done a thousand times with other
 * weights of the users, each resample by one task, and percentiles are taken at the end. Totals go
 * the same way, one scenario at a time, because they need all lines. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "eval/significance.h"
#include "whatif/whatif.h"

/* ---- one estimate ---- */

/* Units per basket of one line from all the tables that an estimate needs; shares are of
 * baskets. */
typedef struct rates {
    double past, past_kept, past_share; /* all; in baskets where nothing is missing; their share */
    double past_baskets;
    double before, kept, share; /* the same of the estimator */
    double after, refill;       /* after: under the question */
    double like;                /* of a new item: past / model of the bin it joins; else 0 */
    double off;     /* of a line within a bin: past / model of what is off in that bin; else 0 */
    double by_size; /* past: units where something is missing, times items of the basket */
    const pr_slots *fill; /* of re-choice, the whole group's */
    bool whole;           /* the line stays on the shelf */
    bool gone;            /* nothing of it stays */
    bool single;          /* a basket has it once at most */
} rates;

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 1;
}

/* How much more of the line is in baskets with something missing than in all baskets: as the model
 * has it, and as model and past have it together. */
typedef struct lift {
    double model, both;
} lift;

static lift lift_of(const rates *r)
{
    double touched = 1 - r->past_share, drawn = 1 - r->share;
    double model = drawn > 0 && r->before > 0 ? (r->before - r->kept) / (drawn * r->before) : 1;
    double expected = r->past_baskets * touched * r->past;
    double seen = r->past_baskets * (r->past - r->past_kept);
    return (lift){model, (seen + PR_PRIOR_UNITS * model) / (expected + PR_PRIOR_UNITS)};
}

/* Units per basket in kept baskets: those of all baskets, less what the touched ones hold. */
static double selected(const rates *r)
{
    double touched = 1 - r->past_share;
    double left = r->past * (1 - touched * lift_of(r).both) / (1 - touched);
    return left > 0 ? left : 0;
}

/* The share of touched baskets that the line can still join: where a basket has it at most once,
 * those without it. */
static double share_without(const rates *r, double units)
{
    return r->single ? fmax(1 - units, 0.05) : 1;
}

/* Refills as the model has them, more where the past shows that the line goes with what is
 * missing. */
static double calibrated_refill(const rates *r)
{
    lift l = lift_of(r);
    double level = ratio(r->past, r->before), more = ratio(l.both, l.model);
    double without = share_without(r, l.both * r->past) / share_without(r, l.model * r->before);
    return r->refill * level * more * without;
}

/* The same from the past alone: what larger baskets with the missing thing hold more of, by the
 * slope of units on size. One more item enters such a pair from either side, so half of it is the
 * line's. */
static double size_slope(const rates *r)
{
    double together = r->past - r->past_kept;
    double slope = (r->by_size - together * r->fill->size) / r->fill->size_variance;
    return r->fill->size_variance > 0 ? fmax(0, slope / 2) : 0;
}

/* The refill of a line by the model, calibrated, and by the past, mixed: the more the past has seen
 * of the line beside what is missing, the more it counts. Each is a share of its sum over lines. */
static double mixed_refill(const rates *r)
{
    const pr_slots *f = r->fill;
    double seen = r->past_baskets * (1 - r->past_share) * r->past;
    double weight = f->slopes > 0 ? seen / (seen + PR_PRIOR_SLOPE) : 0;
    double by_model = f->calibrated > 0 ? calibrated_refill(r) / f->calibrated : 0;
    double by_past = f->slopes > 0 ? size_slope(r) / f->slopes : 0;
    return f->slots * (weight * by_past + (1 - weight) * by_model);
}

/* Units under re-choice. What replaces another item of its category does so at the level of that item,
 * so that all of them together gain what it sold. With refills: what the line sold before stays, at the
 * level of the past, and its refills come on top. Where shoppers take nothing instead: the line loses what
 * abandoned baskets held of it. */
static double rechosen(const rates *r, parsrec_missing missing)
{
    lift l = lift_of(r);
    double swapped = r->after - r->refill - r->before, refilled = 0;
    if (missing == PARSREC_MISSING_REFILL && r->refill > 0)
        refilled = r->fill->scale * mixed_refill(r);
    if (r->off > 0 && swapped > 0)
        return r->past + swapped * r->off + refilled;
    if (missing == PARSREC_MISSING_REFILL)
        return refilled + (r->before > 0 ? r->past / r->before * (r->after - r->refill) : r->past);
    double lost = (1 - ratio(r->after, r->before)) * ratio(l.both, l.model);
    return r->past * fmax(0, 1 - lost * ratio(1 - r->past_share, 1 - r->share));
}

/* Sales before and after from rates, calibrated unless `raw` (docs/whatif.md). */
static void estimate_from(double *before, double *after, const rates *r, const pr_whatif_result *a,
                          size_t question, size_t estimator)
{
    *before = r->before;
    *after = r->after;
    if (a->raw)
        return;
    if (r->like > 0) {
        *after *= r->like;
        return;
    }
    *before = r->past;
    if (!(r->past > 0)) /* never sold: nothing to calibrate by */
        *after = r->past;
    else if (r->before > 0)
        *after *= r->past / r->before;
    else /* sold, but in no basket of the model */
        *after = r->gone ? 0 : r->past;
    if (!(r->past > 0) || estimator != PARSREC_ROLLOUT || !r->whole || !(r->past_share > 0) ||
        r->share >= 1)
        return;
    *after = question == PARSREC_SELECTION ? selected(r) : rechosen(r, a->missing);
}

/* Units of what is missing, past against model; 0 where the group never bought it, so that its
 * leaving changes nothing. */
static double missing_level(const rates *all, size_t bins)
{
    double past = 0, model = 0;
    for (size_t l = 0; l < bins; l++)
        if (all[l].gone) {
            past += all[l].past;
            model += all[l].before;
        }
    return ratio(past, model);
}

/* Whether a bin gets refills that can be calibrated. */
static bool refills(const rates *r)
{
    return r->refill > 0 && r->past > 0;
}

/* Empty slots and what fills them, from the rates of all bins; their `fill` becomes f. f->size and
 * f->size_variance are given. Refills are computed line by line; together they must fill the empty
 * slots. */
static void sum_slots(pr_slots *f, rates *all, size_t bins)
{
    double level = missing_level(all, bins), mixed = 0;
    *f = (pr_slots){.size = f->size, .size_variance = f->size_variance};
    for (size_t l = 0; l < bins; l++) {
        rates *r = &all[l];
        r->fill = f;
        if (!refills(r))
            continue;
        f->slots += r->refill * level;
        if (r->whole) {
            f->calibrated += calibrated_refill(r);
            f->slopes += size_slope(r);
        } else /* its lift would be that of what is missing: the model decides */
            f->slots -= r->refill * ratio(r->past, r->before);
    }
    f->slots = fmax(f->slots, 0);
    for (size_t l = 0; l < bins; l++)
        if (refills(&all[l]) && all[l].whole)
            mixed += mixed_refill(&all[l]); /* which needs the sums above */
    f->scale = mixed > 0 ? f->slots / mixed : 1;
}

/* Whether an estimator has an answer: only rollouts know new items, and counting cannot answer
 * re-choice. */
static bool answers(const pr_whatif_result *a, size_t question, size_t estimator, size_t line)
{
    bool new_item = a->lines.list[line].kind == PR_LINE_NEW;
    if (estimator == PARSREC_COUNTED)
        return question == PARSREC_SELECTION && !new_item;
    return !new_item || (estimator == PARSREC_ROLLOUT && question == PARSREC_RECHOICE);
}

/* ---- rates from tables of sums ---- */

enum {
    LINES_MOST = 40,       /* with more lines, only those watched get intervals */
    TOTAL_RESAMPLES = 200, /* of totals over more lines: sums over many vary little */
    PURPOSE_USERS = 0x771F04,
    PURPOSE_MODELS = 0x771F05
};

static const size_t ALL = SIZE_MAX; /* as work.scenario */

/* One calculation of estimates: of the sheet itself, of the intervals of lines, or of the intervals
 * of the totals of one scenario. It needs sums over the cells of a group, of some lines and of
 * baskets, in the tables that are used. `sums` below are such sums, [tables, width]. */
typedef struct work {
    const pr_whatif_result *a;
    pr_rng users, models;
    size_t group, cells;
    size_t *lines;      /* [kept]: those wanted */
    size_t kept, width; /* width: kept + 1, the last is baskets */
    const pr_sales **tables;
    bool *used;                  /* [tables] */
    size_t table_count, by_size; /* by_size: the first of a->by_size, after all sets */
    double *columns;             /* [tables that are used, width, cells] */
    double *scratch;             /* [threads, cells + tables · width] */
    double *values;              /* [outcomes, resamples] */
    size_t outcomes, resamples;
    size_t scenario; /* of totals, which are drawn one scenario at a time; ALL: of lines */
    double *prices;  /* [2, kept]: totals, before and after */
    rates *rates;    /* [threads, kept]: totals */
} work;

/* Tables of a set: before, after selection, after re-choice, refills. A question is the number of
 * its table. */
enum { BEFORE = -1, REFILL = PR_QUESTIONS, TABLES = PR_QUESTIONS + 1 };

/* The set of the past is listed first, so its sales before are table 0. */
enum { PAST_BEFORE = 0 };

/* The place in work.tables of a table (BEFORE, a question or REFILL) of a model m, estimator e and
 * scenario s, in the order of list_tables. */
static size_t table_at(const pr_whatif_result *a, size_t model, size_t e, size_t s, int table)
{
    size_t scenarios = a->scenarios.count, each = 1 + TABLES * scenarios;
    size_t place = table == BEFORE ? 0 : 1 + (size_t)table * scenarios + s;
    return (e == PARSREC_COUNTED ? 0 : each * (1 + model * (PR_ESTIMATORS - 1) + e)) + place;
}

/* In the order of table_at. */
static void list_set(work *w, const pr_sales_set *set)
{
    w->tables[w->table_count++] = &set->before;
    for (size_t q = 0; q < PR_QUESTIONS; q++)
        for (size_t s = 0; s < w->a->scenarios.count; s++)
            w->tables[w->table_count++] = &set->after[q][s];
    for (size_t s = 0; s < w->a->scenarios.count; s++)
        w->tables[w->table_count++] = &set->refill[s];
}

static parsrec_status list_tables(work *w, parsrec_error *err)
{
    const pr_whatif_result *a = w->a;
    size_t scenarios = a->scenarios.count, sets = 1 + a->model_count * (PR_ESTIMATORS - 1);
    size_t most = sets * (1 + TABLES * scenarios) + scenarios;
    w->lines = pr_alloc(a->lines.count, sizeof *w->lines);
    w->tables = pr_alloc(most, sizeof *w->tables);
    w->used = pr_alloc(most, sizeof *w->used);
    if (w->lines == NULL || w->tables == NULL || w->used == NULL)
        return pr_fail_memory(err);
    list_set(w, &a->past);
    for (size_t m = 0; m < a->model_count; m++)
        for (size_t e = 0; e < PR_ESTIMATORS - 1; e++)
            list_set(w, pr_sales_of(a, m, e));
    w->by_size = w->table_count;
    for (size_t s = 0; s < scenarios; s++)
        w->tables[w->table_count++] = &a->by_size[s];
    assert(w->table_count == most);
    return PARSREC_OK;
}

static void work_free(work *w)
{
    pr_free(w->lines);
    pr_free(w->tables);
    pr_free(w->used);
    pr_free(w->columns);
    pr_free(w->scratch);
    pr_free(w->values);
    pr_free(w->prices);
    pr_free(w->rates);
}

/* Sums of table t: baskets; units of the k-th line, per `by` or per basket of the same table. */
static double baskets(const work *w, const double *sums, size_t table)
{
    return sums[table * w->width + w->kept];
}

static double units(const work *w, const double *sums, size_t table, size_t k, double by)
{
    return by > 0 ? sums[table * w->width + k] / by : NAN;
}

static double rate(const work *w, const double *sums, size_t table, size_t k)
{
    return units(w, sums, table, k, baskets(w, sums, table));
}

/* Whether a line that the caller named is off as a whole. */
static bool leaves_by_name(const pr_whatif_result *a, size_t s, size_t line)
{
    return a->lines.list[line].kind == PR_LINE_NAMED &&
           a->scenarios.list[s].state[line] == PR_SHELF_NONE;
}

/* past / model of the bin that a new item joins; 0 for lines that are not new. */
static double like_ratio(const work *w, const double *sums, size_t before, size_t k)
{
    const pr_line *l = &w->a->lines.list[w->lines[k]];
    if (l->kind != PR_LINE_NEW)
        return 0;
    size_t joined = (size_t)w->a->lines.bin_of[l->items[0]], bin = 0;
    while (bin < w->kept && w->lines[bin] != joined)
        bin++;
    return bin < w->kept ? ratio(rate(w, sums, PAST_BEFORE, bin), rate(w, sums, before, bin)) : 1;
}

/* past / model of what is off in the bin that the k-th line is a part of; 0 if nothing is. */
static double off_ratio(const work *w, const double *sums, size_t before, size_t s, size_t k)
{
    const pr_lines *lines = &w->a->lines;
    const pr_line *l = &lines->list[w->lines[k]];
    double past = 0, model = 0;
    for (size_t i = 0; i < w->kept && l->kind == PR_LINE_NAMED; i++)
        if (leaves_by_name(w->a, s, w->lines[i]) &&
            lines->bin_of[lines->list[w->lines[i]].items[0]] == lines->bin_of[l->items[0]]) {
            past += rate(w, sums, PAST_BEFORE, i);
            model += rate(w, sums, before, i);
        }
    return model > 0 ? past / model : 0;
}

/* The rates of the k-th line for model m, estimator e, scenario s and question q. */
static rates rates_of(const work *w, const double *sums, size_t m, size_t e, size_t s, size_t q,
                      size_t k)
{
    const pr_whatif_result *a = w->a;
    size_t first = table_at(a, m, e, s, BEFORE), kept = table_at(a, m, e, s, PARSREC_SELECTION);
    size_t past_kept = table_at(a, 0, PARSREC_COUNTED, s, PARSREC_SELECTION);
    double past = baskets(w, sums, PAST_BEFORE), model = baskets(w, sums, first);
    return (rates){
        .past = units(w, sums, PAST_BEFORE, k, past),
        .past_kept = units(w, sums, past_kept, k, past),
        .past_share = baskets(w, sums, past_kept) / past,
        .past_baskets = past,
        .before = units(w, sums, first, k, model),
        .kept = units(w, sums, kept, k, model),
        .share = baskets(w, sums, kept) / model,
        .after = rate(w, sums, table_at(a, m, e, s, (int)q), k),
        .refill = units(w, sums, table_at(a, m, e, s, REFILL), k, model),
        .like = like_ratio(w, sums, first, k),
        .off = off_ratio(w, sums, first, s, k),
        .by_size = units(w, sums, w->by_size + s, k, past),
        .fill = pr_slots_of(a, m, s, w->group),
        .whole = !pr_line_dropped(a, s, w->lines[k]),
        .gone = a->scenarios.list[s].state[w->lines[k]] == PR_SHELF_NONE,
        .single = a->single[w->lines[k]],
    };
}

/* The mean estimate of a line over all models, or over models drawn from them. */
static void estimate_line(const work *w, const double *sums, pr_stream *draw, size_t s, size_t q,
                          size_t e, size_t k, double *before, double *after)
{
    size_t models = e == PARSREC_COUNTED ? 1 : w->a->model_count;
    *before = *after = 0;
    for (size_t m = 0; m < models; m++) {
        double one, other;
        size_t pick = draw != NULL && models > 1 ? pr_stream_below(draw, (uint32_t)models) : m;
        rates r = rates_of(w, sums, pick, e, s, q, k);
        estimate_from(&one, &other, &r, w->a, q, e);
        *before += one / (double)models;
        *after += other / (double)models;
    }
}

/* ---- estimates ---- */

/* Of a group, from sums[tables, lines + 1]. all[bins] is work space. */
static void estimate_group(pr_whatif_result *a, const work *w, const double *sums, rates *all)
{
    for (size_t m = 0; m < a->model_count; m++)
        for (size_t s = 0; s < a->scenarios.count; s++) {
            pr_slots *f = pr_slots_of(a, m, s, w->group);
            f->size = a->sizes[2 * w->group];
            f->size_variance = a->sizes[2 * w->group + 1];
            for (size_t l = 0; l < a->lines.bins; l++)
                all[l] = rates_of(w, sums, m, PARSREC_ROLLOUT, s, PARSREC_RECHOICE, l);
            sum_slots(f, all, a->lines.bins);
        }
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t l = 0; l < a->lines.count; l++) {
                    pr_estimate *out = pr_estimate_of(a, s, q, e, w->group, l);
                    *out = pr_estimate_unknown();
                    if (!answers(a, q, e, l))
                        continue;
                    estimate_line(w, sums, NULL, s, q, e, l, &out->before, &out->after);
                    out->change = out->before > 0 ? out->after / out->before - 1 : NAN;
                }
}

parsrec_status pr_whatif_estimate(pr_whatif_result *a, parsrec_error *err)
{
    work w = {.a = a, .kept = a->lines.count, .width = a->lines.count + 1, .scenario = ALL};
    double *sums = NULL;
    rates *all = NULL;
    parsrec_status status;
    PR_TRY_GOTO(list_tables(&w, err));
    sums = pr_alloc(w.table_count, w.width * sizeof *sums);
    all = pr_alloc(a->lines.bins, sizeof *all);
    status = sums != NULL && all != NULL ? PARSREC_OK : pr_fail_memory(err);
    for (size_t l = 0; l < a->lines.count; l++)
        w.lines[l] = l;
    for (; w.group < a->cohort.group_count && status == PARSREC_OK; w.group++) {
        for (size_t i = 0; i < w.table_count; i++) {
            double *row = sums + i * w.width;
            for (size_t l = 0; l < a->lines.count; l++)
                row[l] = pr_sales_units(w.tables[i], &a->cohort, w.group, l);
            row[w.kept] = pr_sales_baskets(w.tables[i], &a->cohort, w.group);
        }
        estimate_group(a, &w, sums, all);
    }
done:
    pr_free(sums);
    pr_free(all);
    work_free(&w);
    return status;
}

/* ---- one resample ---- */

/* Gathers the cells of the group: one column per line and table, so that a resample reads them in a
 * row. */
static void fill_columns(work *w)
{
    size_t first = w->a->cohort.first_cell[w->group];
    double *column = w->columns;
    for (size_t i = 0; i < w->table_count; i++)
        for (size_t k = 0; k < w->width && w->used[i]; k++, column += w->cells) {
            const pr_sales *table = w->tables[i];
            for (size_t c = 0; c < w->cells; c++)
                column[c] = k < w->kept ? table->units[(first + c) * table->lines + w->lines[k]]
                                        : table->baskets[first + c];
        }
}

/* Sums of the task-th resample. times[cells]: how often each cell is drawn. */
static void add_up(const work *w, double *sums, double *times, size_t task)
{
    pr_stream draw =
        pr_stream_at(&w->users, (uint32_t)w->group, (uint32_t)task, (uint32_t)w->cells);
    memset(times, 0, w->cells * sizeof *times);
    for (size_t c = 0; c < w->cells; c++)
        times[pr_stream_below(&draw, (uint32_t)w->cells)]++;
    const double *column = w->columns;
    for (size_t i = 0; i < w->table_count * w->width; i++) {
        if (!w->used[i / w->width])
            continue;
        double sum = 0;
        for (size_t c = 0; c < w->cells; c++)
            sum += times[c] * column[c];
        sums[i] = sum;
        column += w->cells;
    }
}

/* The same estimates as of the group itself, from other sums. */
static void resample(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    const pr_whatif_result *a = w->a;
    double *times = w->scratch + worker * (w->cells + w->table_count * w->width);
    double *sums = times + w->cells, *values = w->values + task;
    add_up(w, sums, times, task);
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t k = 0; k < w->kept; k++, values += 2 * w->resamples) {
                    pr_stream draw = pr_stream_at(&w->models, (uint32_t)task, 0, 0);
                    double before, after;
                    estimate_line(w, sums, &draw, s, q, e, k, &before, &after);
                    values[0] = after;
                    values[w->resamples] = before > 0 ? after / before - 1 : NAN;
                }
}

/* ---- trips that may be given up ---- */

/* With `leave` the estimate gives up a basket with a probability of the share that is missing, and
 * no basket shows how many are. An interval therefore also spans what follows if none is: the line
 * then sells as before. */
static bool gives_up(const pr_whatif_result *a, size_t question, size_t estimator)
{
    return question == PARSREC_RECHOICE && estimator == PARSREC_ROLLOUT &&
           a->missing == PARSREC_MISSING_LEAVE;
}

static bool stays(const pr_whatif_result *a, size_t scenario, size_t line)
{
    return a->scenarios.list[scenario].state[line] != PR_SHELF_NONE;
}

/* back: the units or money that come back if no basket is given up. */
static void span_giving_up(pr_estimate *e, double back)
{
    double high = e->after + fmax(back, 0);
    e->high = fmax(e->high, high);
    if (!isnan(e->change))
        e->change_high = fmax(e->change_high, high / e->before - 1);
}

/* ---- totals ---- */

/* After, change, money after, change of it: for a scenario and question. */
enum { TOTAL_NUMBERS = 4 };

typedef struct sum {
    double before, after, money_before, money_after;
} sum;

static void add_to_total(const work *w, sum *t, size_t k, double before, double after)
{
    if (isnan(before) || isnan(after))
        return;
    t->before += before;
    t->after += after;
    t->money_before += before * w->prices[k];
    t->money_after += after * w->prices[w->kept + k];
}

/* What a whole basket becomes with these sums. Slots are filled anew: whatever the users are,
 * refilled baskets keep their size. */
static sum total_of(const work *w, const double *sums, rates *rows, size_t task, size_t q)
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
            rows[k] = rates_of(w, sums, pick, e, w->scenario, q, k);
        sum_slots(&fill, rows, a->lines.bins); /* bins are the first lines */
        for (size_t k = 0; k < w->kept; k++) {
            double before, after;
            if (!answers(a, q, e, w->lines[k]))
                continue;
            rows[k].fill = &fill;
            estimate_from(&before, &after, &rows[k], a, q, e);
            add_to_total(w, &all, k, before / (double)models, after / (double)models);
        }
    }
    return all;
}

static void resample_totals(void *context, size_t task, unsigned worker)
{
    const work *w = context;
    const pr_whatif_result *a = w->a;
    double *times = w->scratch + worker * (w->cells + w->table_count * w->width);
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

/* An estimate with its intervals, from values[2, resamples]: after, and change. */
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
    double *values = w->values;
    for (size_t q = 0; q < PR_QUESTIONS; q++, values += TOTAL_NUMBERS * w->resamples) {
        pr_total *to = pr_total_of(a, w->scenario, q, w->group);
        sum t = {0}, back = {0}; /* back: what giving up costs those that stay */
        for (size_t k = 0; k < w->kept; k++) {
            const pr_estimate *e =
                pr_estimate_of(a, w->scenario, q, a->estimator, w->group, w->lines[k]);
            add_to_total(w, &t, k, e->before, e->after);
            if (gives_up(a, q, a->estimator) && stays(a, w->scenario, w->lines[k]))
                add_to_total(w, &back, k, 0, e->before - e->after);
        }
        *to = (pr_total){pr_estimate_unknown(), pr_estimate_unknown()};
        if (!a->asked[q] || !(t.before > 0))
            continue;
        to->units = estimate_of(w, t.before, t.after, values);
        if (a->price != NULL && t.money_before > 0)
            to->money = estimate_of(w, t.money_before, t.money_after, values + 2 * w->resamples);
        if (gives_up(a, q, a->estimator)) {
            span_giving_up(&to->units, back.after);
            span_giving_up(&to->money, back.money_after);
        }
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

/* ---- all intervals ---- */

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
                    *to = estimate_of(w, to->before, to->after, values);
                    if (gives_up(a, q, e) && stays(a, s, w->lines[k]))
                        span_giving_up(to, to->before - to->after);
                }
}

/* All lines where they are few, else those watched, those whose place others take, and the bins that new
 * items join. */
static bool wants_interval(const pr_whatif_result *a, size_t line)
{
    bool wanted = a->lines.count <= LINES_MOST;
    for (size_t s = 0; s < a->scenarios.count; s++)
        wanted |= a->watched[s * a->lines.count + line] || leaves_by_name(a, s, line);
    for (size_t n = a->lines.bins; n < a->lines.count; n++)
        wanted |= a->lines.list[n].kind == PR_LINE_NEW &&
                  (size_t)a->lines.bin_of[a->lines.list[n].items[0]] == line;
    return wanted;
}

/* Lines take all tables; totals take those of the past and of the shown estimator, of one
 * scenario. */
static void choose_tables(work *w)
{
    const pr_whatif_result *a = w->a;
    size_t scenarios = a->scenarios.count, each = 1 + TABLES * scenarios;
    for (size_t i = 0; i < w->table_count; i++) {
        size_t set = i / each, table = i % each;
        bool behind = i >= w->by_size;
        bool shown = set == 0 || (a->estimator != PARSREC_COUNTED &&
                                  (set - 1) % (PR_ESTIMATORS - 1) == (size_t)a->estimator);
        bool here = behind ? i - w->by_size == w->scenario
                           : table == 0 || (table - 1) % scenarios == w->scenario;
        w->used[i] = w->scenario == ALL || ((behind || shown) && here);
    }
}

static parsrec_status reserve(work *w, unsigned threads, parsrec_error *err)
{
    bool totals = w->scenario != ALL;
    const pr_whatif_result *a = w->a;
    size_t most = 0, used = 0;
    PR_TRY(list_tables(w, err));
    choose_tables(w);
    for (size_t i = 0; i < w->table_count; i++)
        used += w->used[i];
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        size_t cells = a->cohort.first_cell[g + 1] - a->cohort.first_cell[g];
        most = cells > most ? cells : most;
    }
    for (size_t l = 0; l < a->lines.count; l++) {
        /* A new item that competes with everything has no bin that counts it. */
        bool in_total =
            l < a->lines.bins || (a->lines.by_item && a->lines.list[l].kind == PR_LINE_NEW);
        if (totals ? in_total : wants_interval(a, l))
            w->lines[w->kept++] = l;
    }
    w->width = w->kept + 1;
    w->resamples = a->resamples;
    if (totals && w->kept > LINES_MOST && w->resamples > TOTAL_RESAMPLES)
        w->resamples = TOTAL_RESAMPLES;
    w->outcomes = totals ? PR_QUESTIONS * TOTAL_NUMBERS
                         : a->scenarios.count * PR_QUESTIONS * PR_ESTIMATORS * w->kept * 2;
    w->columns = pr_alloc(used * w->width, most * sizeof *w->columns);
    w->scratch = pr_alloc(threads, (most + w->table_count * w->width) * sizeof *w->scratch);
    w->values = pr_alloc(w->outcomes, w->resamples * sizeof *w->values);
    w->prices = pr_alloc(w->kept, 2 * sizeof *w->prices);
    w->rates = pr_alloc(threads * w->kept, sizeof *w->rates);
    if (w->columns == NULL || w->scratch == NULL || w->values == NULL || w->prices == NULL ||
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
    work_free(&w);
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
