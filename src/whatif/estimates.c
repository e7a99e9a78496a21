/* From sums to sales a basket. A model is trusted with what it alone can know; how much is sold, and how
 * often things are bought together, is also in the users' own past, and the estimate leans on that as far
 * as the past has seen it.                                                (docs/whatif.md) */
#include <math.h>

#include "base/memory.h"
#include "whatif/answer.h"

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 1;
}

/* How much more of the line is in baskets with something missing than in all baskets: as the model has
 * it, and as model and past have it together. */
typedef struct lift {
    double model, both;
} lift;

static lift lift_of(const pr_rates *r)
{
    double touched = 1 - r->past_share, drawn = 1 - r->share;
    double model = drawn > 0 && r->before > 0 ? (r->before - r->kept) / (drawn * r->before) : 1;
    double expected = r->past_baskets * touched * r->past;
    double seen = r->past_baskets * (r->past - r->past_kept);
    return (lift){model, (seen + PR_PRIOR_UNITS * model) / (expected + PR_PRIOR_UNITS)};
}

static double selected(const pr_rates *r)
{
    double touched = 1 - r->past_share;
    double left = r->past * (1 - touched * lift_of(r).both) / (1 - touched);
    return left > 0 ? left : 0;
}

/* The part of baskets with something missing that the line can still join: where a basket has it once
 * at most, those that have it not. */
static double open_to(const pr_rates *r, double units)
{
    return r->single ? fmax(1 - units, 0.05) : 1;
}

/* Refills as the model has them, more where the past shows that the line goes with what is missing. */
static double lean_refill(const pr_rates *r)
{
    lift l = lift_of(r);
    double level = ratio(r->past, r->before), more = ratio(l.both, l.model);
    double open = open_to(r, l.both * r->past) / open_to(r, l.model * r->before);
    return r->refill * level * more * open;
}

/* The same from the past alone: what larger baskets with the missing thing hold more of, by the slope of
 * units on size. One more item enters such a pair from either side, so half of it is the line's. */
static double growth(const pr_rates *r)
{
    double together = r->past - r->past_kept;
    double slope = (r->grown - together * r->fill->size) / r->fill->size_variance;
    return r->fill->size_variance > 0 ? fmax(0, slope / 2) : 0;
}

static double mixed_refill(const pr_rates *r)
{
    const pr_slots *f = r->fill;
    double seen = r->past_baskets * (1 - r->past_share) * r->past;
    double trust = f->growth > 0 ? seen / (seen + PR_PRIOR_GROWTH) : 0;
    double lean = f->lean > 0 ? lean_refill(r) / f->lean : 0;
    double grown = f->growth > 0 ? growth(r) / f->growth : 0;
    return f->slots * (trust * grown + (1 - trust) * lean);
}

/* What was there stays at its level. */
static double rechosen(const pr_rates *r, parsrec_missing missing)
{
    lift l = lift_of(r);
    if (missing == PARSREC_MISSING_REFILL) {
        double stays = r->before > 0 ? r->past / r->before * (r->after - r->refill) : r->past;
        return stays + (r->refill > 0 ? r->fill->scale * mixed_refill(r) : 0);
    }
    double lost = (1 - ratio(r->after, r->before)) * ratio(l.both, l.model);
    return r->past * fmax(0, 1 - lost * ratio(1 - r->past_share, 1 - r->share));
}

void pr_rates_estimate(double *before, double *after, const pr_rates *r, const pr_whatif_result *a,
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

/* ---- rates from books ---- */

static double units(const pr_whatif_result *a, const pr_ledger *ledger, size_t g, size_t line,
                    double by)
{
    return by > 0 ? pr_ledger_units(ledger, &a->cohort, g, line) / by : NAN;
}

/* past / model of the bin that a new item joins; 0 for lines that are not new. */
static double like_ratio(const pr_whatif_result *a, const pr_book *book, size_t group, size_t line)
{
    const pr_line *l = &a->lines.list[line];
    if (l->kind != PR_LINE_NEW)
        return 0;
    size_t bin = (size_t)a->lines.bin_of[l->items[0]];
    return ratio(pr_ledger_rate(&a->past.before, &a->cohort, group, bin),
                 pr_ledger_rate(&book->before, &a->cohort, group, bin));
}

static pr_rates rates_of(const pr_whatif_result *a, const pr_book *book, size_t s, size_t q,
                         size_t g, size_t line)
{
    const pr_ledger *kept = &book->after[PARSREC_SELECTION][s];
    const pr_ledger *past_kept = &a->past.after[PARSREC_SELECTION][s];
    double past = pr_ledger_baskets(&a->past.before, &a->cohort, g);
    double model = pr_ledger_baskets(&book->before, &a->cohort, g);
    return (pr_rates){
        .past = units(a, &a->past.before, g, line, past),
        .past_kept = units(a, past_kept, g, line, past),
        .past_share = pr_ledger_baskets(past_kept, &a->cohort, g) / past,
        .past_baskets = past,
        .before = units(a, &book->before, g, line, model),
        .kept = units(a, kept, g, line, model),
        .share = pr_ledger_baskets(kept, &a->cohort, g) / model,
        .after = pr_ledger_rate(&book->after[q][s], &a->cohort, g, line),
        .refill = units(a, &book->refill[s], g, line, model),
        .like = like_ratio(a, book, g, line),
        .grown = units(a, &a->grown[s], g, line, past),
        .single = a->single[line],
        .whole = !pr_line_dropped(a, s, line),
        .gone = a->scenarios.list[s].state[line] == PR_SHELF_NONE,
    };
}

/* Units of what is missing, past against model. */
static double missing_level(const pr_rates *rates, size_t bins)
{
    double past = 0, model = 0;
    for (size_t l = 0; l < bins; l++)
        if (rates[l].gone) {
            past += rates[l].past;
            model += rates[l].before;
        }
    return past > 0 ? ratio(past, model) : 1;
}

/* Refills are reckoned line by line; together they must fill the slots that are empty. */
void pr_slots_sum(pr_slots *f, pr_rates *rates, size_t bins)
{
    double level = missing_level(rates, bins), mixed = 0;
    *f = (pr_slots){.size = f->size, .size_variance = f->size_variance};
    for (int pass = 0; pass < 2; pass++)
        for (size_t l = 0; l < bins; l++) {
            pr_rates *r = &rates[l];
            r->fill = f;
            if (!(r->refill > 0) || !(r->past > 0))
                continue;
            if (pass == 0)
                f->slots += r->refill * level;
            if (!r->whole) { /* its lift would be that of what is missing: the model decides */
                f->slots -= pass == 0 ? r->refill * ratio(r->past, r->before) : 0;
                continue;
            }
            if (pass == 1) {
                mixed += mixed_refill(r);
                continue;
            }
            f->lean += lean_refill(r);
            f->growth += growth(r);
        }
    f->scale = mixed > 0 ? f->slots / mixed : 1;
}

/* ---- estimates ---- */

bool pr_estimator_tells(const pr_whatif_result *a, size_t question, size_t estimator, size_t line)
{
    bool new_item = a->lines.list[line].kind == PR_LINE_NEW;
    if (estimator == PARSREC_COUNTED)
        return question == PARSREC_SELECTION && !new_item;
    return !new_item || (estimator == PARSREC_ROLLOUT && question == PARSREC_RECHOICE);
}

static void estimate_one(pr_whatif_result *a, size_t s, size_t q, size_t e, size_t g, size_t line)
{
    pr_estimate *out = pr_estimate_of(a, s, q, e, g, line);
    size_t models = e == PARSREC_COUNTED ? 1 : a->model_count;
    double before = 0, after = 0;
    *out = (pr_estimate){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!pr_estimator_tells(a, q, e, line))
        return;
    for (size_t m = 0; m < models; m++) {
        double one, other;
        pr_rates r =
            rates_of(a, e == PARSREC_COUNTED ? &a->past : pr_book_of(a, m, e), s, q, g, line);
        r.fill = pr_slots_of(a, m, s, g);
        pr_rates_estimate(&one, &other, &r, a, q, e);
        before += one / (double)models;
        after += other / (double)models;
    }
    out->before = before;
    out->after = after;
    out->change = before > 0 ? after / before - 1 : NAN;
}

parsrec_status pr_whatif_estimate(pr_whatif_result *a, parsrec_error *err)
{
    pr_rates *rates = pr_alloc(a->lines.bins, sizeof *rates);
    if (rates == NULL)
        return pr_fail_memory(err);
    for (size_t m = 0; m < a->model_count; m++)
        for (size_t s = 0; s < a->scenarios.count; s++)
            for (size_t g = 0; g < a->cohort.group_count; g++) {
                pr_slots *f = pr_slots_of(a, m, s, g);
                f->size = a->sizes[2 * g];
                f->size_variance = a->sizes[2 * g + 1];
                for (size_t l = 0; l < a->lines.bins; l++)
                    rates[l] =
                        rates_of(a, pr_book_of(a, m, PARSREC_ROLLOUT), s, PARSREC_RECHOICE, g, l);
                pr_slots_sum(f, rates, a->lines.bins);
            }
    pr_free(rates);
    for (size_t s = 0; s < a->scenarios.count; s++)
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            for (size_t e = 0; e < PR_ESTIMATORS; e++)
                for (size_t g = 0; g < a->cohort.group_count; g++)
                    for (size_t l = 0; l < a->lines.count; l++)
                        estimate_one(a, s, q, e, g, l);
    return PARSREC_OK;
}
