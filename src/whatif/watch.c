/* What is worth telling: the lines that change most, the pairs that hang together, and how far the
 * estimates are from the truth where that is known. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/rank_agreement.h"
#include "whatif/answer.h"

/* Units that past baskets must have held: of a line to be among those that change most, and of a pair to
 * be ranked. */
enum { WATCHED_MOST = 8, WATCHED_UNITS = 20, UNITS_LEAST = 10 };

/* ---- lines that change most ---- */

/* The largest change of a line in any group, in units over all past baskets, against what chance does to
 * sales of its size. Few units say nothing, however large the share by which they change: lines that
 * past baskets hardly held come after all others. */
static double largest_change(const pr_whatif_result *a, size_t s, size_t q, size_t line)
{
    double most = 0;
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
        double baskets = pr_ledger_baskets(&a->past.before, &a->cohort, g);
        double sold = baskets * pr_ledger_rate(&a->past.before, &a->cohort, g, line);
        double change = baskets * fabs(e->after - e->before) / sqrt(sold + WATCHED_UNITS);
        if (sold < WATCHED_UNITS)
            change = fmin(change, 1) * DBL_MIN; /* still in order, where there is nothing else */
        if (change > most)                      /* false for NaN */
            most = change;
    }
    return most;
}

static void watch_most(pr_whatif_result *a, double *changes, size_t s, size_t q)
{
    bool *watched = a->watched + s * a->lines.count;
    for (size_t l = 0; l < a->lines.bins; l++)
        changes[l] =
            l == a->lines.other || pr_line_dropped(a, s, l) ? 0 : largest_change(a, s, q, l);
    for (size_t n = 0; n < WATCHED_MOST; n++) {
        size_t best = a->lines.bins;
        for (size_t l = 0; l < a->lines.bins; l++)
            if (!watched[l] && changes[l] > (best < a->lines.bins ? changes[best] : 0))
                best = l;
        if (best < a->lines.bins)
            watched[best] = true;
    }
}

parsrec_status pr_whatif_watch(pr_whatif_result *a, const size_t *named, size_t count,
                               parsrec_error *err)
{
    double *changes = pr_alloc(a->lines.bins, sizeof *changes);
    if (changes == NULL)
        return pr_fail_memory(err);
    for (size_t s = 0; s < a->scenarios.count; s++) {
        bool *watched = a->watched + s * a->lines.count;
        for (size_t i = 0; i < count; i++)
            watched[named[i]] = true;
        for (size_t i = 0; i < a->scenarios.list[s].add_count; i++)
            watched[a->scenarios.list[s].adds[i]] = true;
        /* What is asked first decides: rows of both questions are the same. */
        size_t q = pr_question_order[a->asked[pr_question_order[0]] ? 0 : 1];
        if (count == 0)
            watch_most(a, changes, s, q);
    }
    pr_free(changes);
    return PARSREC_OK;
}

/* ---- what hangs on what ---- */

/* The share of baskets with a hub, and how sales of everything else change by selection: baskets that
 * hold one thing are larger than others, so that without it all else falls together. */
static double general_change(const pr_whatif_result *a, size_t group, size_t hub)
{
    const pr_spill *s = &a->spill;
    const double *joint = s->past.joint + (group * s->hubs + hub) * s->bins;
    double all = 0, together = 0;
    double share = s->past.with[group * s->hubs + hub] / s->past.baskets[group];
    for (size_t l = 0; l < s->bins; l++)
        if (l != s->hub[hub]) {
            all += s->past.units[group * s->bins + l];
            together += joint[l];
        }
    return all > 0 && share < 1 ? (all - together) / all / (1 - share) - 1 : 0;
}

/* Units in baskets with the hub over those expected if both were independent. */
static double lift(const pr_pairs *p, const pr_spill *s, const pr_hanging *h, double *expected)
{
    double with = p->with[h->group * s->hubs + h->hub];
    *expected = with * p->units[h->group * s->bins + h->bin] / p->baskets[h->group];
    return *expected > 0
               ? p->joint[((size_t)h->group * s->hubs + h->hub) * s->bins + h->bin] / *expected
               : 1;
}

/* The share of baskets with the hub that can still take the bin. */
static double open_share(const pr_whatif_result *a, const pr_pairs *p, const pr_hanging *h,
                         double lift)
{
    double units = p->units[h->group * a->spill.bins + h->bin] / p->baskets[h->group];
    return a->single[h->bin] ? fmax(0.05, 1 - lift * units) : 1;
}

/* What becomes of a bin without a hub, leant on the past as estimates are; false where it has seen
 * little of them. */
static bool hang(const pr_whatif_result *a, pr_hanging *h, double general)
{
    const pr_spill *s = &a->spill;
    double drawn, past, model = lift(&s->drawn, s, h, &drawn), both = lift(&s->past, s, h, &past);
    double share = s->past.with[h->group * s->hubs + h->hub] / s->past.baskets[h->group];
    if (past < UNITS_LEAST || drawn < UNITS_LEAST || share >= 1 || h->bin == a->lines.other)
        return false;
    size_t pair = ((size_t)h->group * s->hubs + h->hub) * s->bins + h->bin;
    both = (both * past + PR_PRIOR_UNITS * model) / (past + PR_PRIOR_UNITS);
    h->change[PARSREC_SELECTION] = (1 - share * both) / (1 - share) - 1;
    h->change[PARSREC_RECHOICE] = s->refill[pair] / s->drawn.units[h->group * s->bins + h->bin] *
                                  (model > 0 ? both / model : 1) *
                                  open_share(a, &s->past, h, both) /
                                  open_share(a, &s->drawn, h, model);
    h->beyond = h->change[PARSREC_SELECTION] - general;
    h->weight = fabs(h->beyond) * (1 - share) / share * sqrt(past);
    return true;
}

/* Keeps the strongest, best first. */
static void keep(pr_hanging *list, size_t *count, const pr_hanging *h)
{
    size_t at = *count < PR_HANGING_MOST ? (*count)++ : PR_HANGING_MOST;
    for (; at > 0 && h->weight > list[at - 1].weight; at--)
        if (at < PR_HANGING_MOST)
            list[at] = list[at - 1];
    if (at < PR_HANGING_MOST)
        list[at] = *h;
}

parsrec_status pr_whatif_hanging(pr_whatif_result *a, parsrec_error *err)
{
    size_t most = a->cohort.group_count * PR_HANGING_MOST;
    a->hanging = pr_alloc(most, sizeof *a->hanging);
    if (a->hanging == NULL)
        return pr_fail_memory(err);
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        size_t count = 0;
        for (size_t hub = 0; hub < a->spill.hubs; hub++) {
            double general = general_change(a, g, hub);
            for (size_t bin = 0; bin < a->spill.bins; bin++) {
                pr_hanging h = {.group = (uint32_t)g, .hub = (uint32_t)hub, .bin = (uint32_t)bin};
                if (a->spill.hub[hub] != bin && hang(a, &h, general))
                    keep(a->hanging + a->hanging_count, &count, &h);
            }
        }
        a->hanging_count += count;
    }
    return PARSREC_OK;
}

/* ---- against the truth ---- */

typedef struct comparison {
    double *estimated, *real; /* changes, [bins] */
    size_t count;
} comparison;

/* Sums of errors over the bins that stay, and their changes for the rank correlation. */
static void compare(const pr_whatif_result *a, size_t s, size_t q, size_t e, size_t g,
                    comparison *c, pr_agreement *out)
{
    double intervals = 0, tests = 0;
    *out = (pr_agreement){0};
    c->count = 0;
    for (size_t l = 0; l < a->lines.bins; l++) {
        const pr_estimate *x = pr_estimate_of(a, s, q, e, g, l);
        double before = a->truth.before[pr_true_at(&a->truth, 0, g, l)];
        double after = a->truth.after[q][pr_true_at(&a->truth, s, g, l)];
        double test = pr_ledger_rate(&a->test.after[q][s], &a->cohort, g, l);
        if (pr_line_dropped(a, s, l) || !(before > 0) || !(after > 0) || isnan(x->change))
            continue;
        c->estimated[c->count] = x->change;
        c->real[c->count++] = after / before - 1;
        out->points += 100 * fabs(x->change - (after / before - 1));
        out->error += fabs(x->after - after) / after;
        out->floor += a->truth.floor[q][pr_true_at(&a->truth, s, g, l)];
        intervals += !isnan(x->low);
        out->coverage += x->low <= after && after <= x->high;
        if (test > 0) {
            out->test += fabs(x->after - test) / test;
            tests++;
        }
    }
    double n = (double)c->count;
    out->points = n > 0 ? out->points / n : NAN;
    out->error = n > 0 ? out->error / n : NAN;
    out->floor = n > 0 ? out->floor / n : NAN;
    out->test = tests > 0 ? out->test / tests : NAN;
    out->coverage = intervals > 0 ? out->coverage / intervals : NAN;
}

parsrec_status pr_whatif_judge(pr_whatif_result *a, parsrec_error *err)
{
    size_t groups = a->cohort.group_count;
    if (a->truth.sets == 0)
        return PARSREC_OK;
    comparison c = {pr_alloc(a->lines.bins, sizeof(double)),
                    pr_alloc(a->lines.bins, sizeof(double)), 0};
    a->agreement =
        pr_alloc(a->scenarios.count * PR_QUESTIONS * PR_ESTIMATORS, groups * sizeof *a->agreement);
    parsrec_status status = c.estimated != NULL && c.real != NULL && a->agreement != NULL
                                ? PARSREC_OK
                                : pr_fail_memory(err);
    for (size_t i = 0;
         status == PARSREC_OK && i < a->scenarios.count * PR_QUESTIONS * PR_ESTIMATORS * groups;
         i++) {
        size_t g = i % groups, e = i / groups % PR_ESTIMATORS;
        size_t q = i / groups / PR_ESTIMATORS % PR_QUESTIONS;
        compare(a, i / groups / PR_ESTIMATORS / PR_QUESTIONS, q, e, g, &c, &a->agreement[i]);
        status = pr_spearman(&a->agreement[i].rank, c.estimated, c.real, c.count, err);
    }
    pr_free(c.estimated);
    pr_free(c.real);
    return status;
}
