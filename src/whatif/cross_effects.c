/* Sums over pairs of bins, and the strongest effects. */
#include "whatif/cross_effects.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/split.h"
#include "whatif/whatif.h"

/* ---- adding baskets ---- */

/* A bin counts once per basket, at its first item. */
static bool first_of_bin(const pr_lines *lines, const int32_t *items, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (lines->bin_of[items[i]] == lines->bin_of[items[k]])
            return false;
    return true;
}

static void add_basket(const pr_cross_sums *s, pr_pair_sums *p, const pr_lines *lines, size_t group,
                       const int32_t *items, size_t size)
{
    p->baskets[group]++;
    for (size_t k = 0; k < size; k++) {
        int32_t drop = s->drop_of[lines->bin_of[items[k]]];
        p->units[group * s->bins + (size_t)lines->bin_of[items[k]]]++;
        if (drop < 0 || !first_of_bin(lines, items, k))
            continue;
        double *joint = p->joint + (group * s->drops + (size_t)drop) * s->bins;
        p->with[group * s->drops + (size_t)drop]++;
        for (size_t i = 0; i < size; i++)
            joint[lines->bin_of[items[i]]]++;
    }
}

/* All `slots` of the dropped bin in a basket go to what the model expects next. */
static void add_refill(pr_cross_sums *s, size_t group, size_t drop, double slots, const pr_drawn *b)
{
    double *refill = s->refill + (group * s->drops + drop) * s->bins, others = 0;
    for (size_t l = 0; l < s->bins; l++)
        others += l == s->drop[drop] ? 0 : b->rest[l];
    for (size_t l = 0; l < s->bins && others > 1e-12; l++)
        refill[l] += l == s->drop[drop] ? 0 : slots * b->rest[l] / others;
}

void pr_cross_sums_drawn(pr_cross_sums *s, const pr_cohort *cohort, const pr_lines *lines,
                         const pr_drawn *b)
{
    assert(s->drops <= PR_DROPS_MOST && s->bins == lines->bins);
    for (size_t i = cohort->cell_offsets[b->user]; i < cohort->cell_offsets[b->user + 1]; i++) {
        size_t group = cohort->cell_group[cohort->cell_list[i]];
        add_basket(s, &s->drawn, lines, group, b->items, b->size);
        for (size_t k = 0; k < b->size; k++) {
            int32_t bin = lines->bin_of[b->items[k]];
            double units = 0; /* of the bin */
            if (s->drop_of[bin] < 0 || !first_of_bin(lines, b->items, k))
                continue;
            for (size_t j = k; j < b->size; j++)
                units += lines->bin_of[b->items[j]] == bin;
            add_refill(s, group, (size_t)s->drop_of[bin], units, b);
        }
    }
}

void pr_cross_sums_past(pr_cross_sums *s, const pr_cohort *cohort, const pr_lines *lines,
                        const pr_dataset *data, size_t last)
{
    for (size_t u = 0; u < cohort->user_count; u++) {
        size_t user = (size_t)cohort->users[u];
        int64_t end = pr_split_session(data, user, PR_TEST, last);
        for (int64_t t = data->user_offsets[user]; t < end; t++) {
            size_t size = (size_t)(data->session_offsets[t + 1] - data->session_offsets[t]);
            const int32_t *items = data->action_items + data->session_offsets[t];
            for (size_t i = cohort->cell_offsets[user]; i < cohort->cell_offsets[user + 1]; i++)
                add_basket(s, &s->past, lines, cohort->cell_group[cohort->cell_list[i]], items,
                           size);
        }
    }
}

/* ---- memory ---- */

typedef struct seller {
    double sales;
    size_t bin;
} seller;

static int best_first(const void *a, const void *b)
{
    const seller *x = a, *y = b;
    if (x->sales != y->sales)
        return x->sales > y->sales ? -1 : 1;
    return x->bin < y->bin ? -1 : 1;
}

static parsrec_status choose_drops(pr_cross_sums *s, const pr_lines *lines, const double *sales,
                                   parsrec_error *err)
{
    seller *sellers = pr_alloc(s->bins, sizeof *sellers);
    if (sellers == NULL)
        return pr_fail_memory(err);
    for (size_t l = 0; l < s->bins; l++) {
        sellers[l] = (seller){l == lines->other ? -1 : sales[l], l};
        s->drop_of[l] = -1;
    }
    qsort(sellers, s->bins, sizeof *sellers, best_first);
    for (size_t i = 0; i < s->drops; i++) {
        s->drop[i] = sellers[i].bin;
        s->drop_of[sellers[i].bin] = (int32_t)i;
    }
    pr_free(sellers);
    return PARSREC_OK;
}

parsrec_status pr_cross_sums_init(pr_cross_sums *s, const pr_lines *lines, size_t groups,
                                  const double *sales, parsrec_error *err)
{
    *s = (pr_cross_sums){.bins = lines->bins};
    size_t bins = lines->bins - (lines->other < lines->bins);
    s->drops = bins < PR_DROPS_MOST ? bins : PR_DROPS_MOST;
    s->drop = pr_region_take(lines->region, s->drops, sizeof *s->drop);
    s->drop_of = pr_region_take(lines->region, s->bins, sizeof *s->drop_of);
    s->refill = pr_region_take(lines->region, groups * s->drops * s->bins, sizeof *s->refill);
    pr_pair_sums *pairs[] = {&s->drawn, &s->past};
    for (size_t i = 0; i < 2; i++) {
        pr_pair_sums *p = pairs[i];
        p->baskets = pr_region_take(lines->region, groups, sizeof *p->baskets);
        p->units = pr_region_take(lines->region, groups * s->bins, sizeof *p->units);
        p->with = pr_region_take(lines->region, groups * s->drops, sizeof *p->with);
        p->joint = pr_region_take(lines->region, groups * s->drops * s->bins, sizeof *p->joint);
    }
    PR_TRY(pr_region_check(lines->region, err));
    return choose_drops(s, lines, sales, err);
}

/* ---- ranking ---- */

/* Units of a bin that past, and drawn, baskets with the dropped one must be expected to hold. */
enum { UNITS_LEAST = 10 };

/* How sales of everything but the dropped bin change by selection: baskets that
 * hold one thing are larger than others, so that without it all else falls together. */
static double general_change(const pr_whatif_result *a, size_t group, size_t drop)
{
    const pr_cross_sums *s = &a->cross;
    const double *joint = s->past.joint + (group * s->drops + drop) * s->bins;
    double all = 0, together = 0;
    double share = s->past.with[group * s->drops + drop] / s->past.baskets[group];
    for (size_t l = 0; l < s->bins; l++)
        if (l != s->drop[drop]) {
            all += s->past.units[group * s->bins + l];
            together += joint[l];
        }
    return all > 0 && share < 1 ? (all - together) / all / (1 - share) - 1 : 0;
}

/* Units in baskets with the dropped bin over those expected if both were independent. */
static double lift(const pr_pair_sums *p, const pr_cross_sums *s, const pr_cross_effect *x,
                   double *expected)
{
    double with = p->with[x->group * s->drops + x->drop];
    *expected = with * p->units[x->group * s->bins + x->bin] / p->baskets[x->group];
    return *expected > 0
               ? p->joint[((size_t)x->group * s->drops + x->drop) * s->bins + x->bin] / *expected
               : 1;
}

/* The share of baskets with the dropped bin that can still take the bin. */
static double open_share(const pr_whatif_result *a, const pr_pair_sums *p, const pr_cross_effect *x,
                         double lift)
{
    double units = p->units[x->group * a->cross.bins + x->bin] / p->baskets[x->group];
    return a->single[x->bin] ? fmax(0.05, 1 - lift * units) : 1;
}

/* What becomes of a bin without the dropped one, calibrated to the past as estimates are; false
 * where the past has seen too little of them. */
static bool set_effect(const pr_whatif_result *a, pr_cross_effect *x, double general)
{
    const pr_cross_sums *s = &a->cross;
    double drawn, past, model = lift(&s->drawn, s, x, &drawn), both = lift(&s->past, s, x, &past);
    double share = s->past.with[x->group * s->drops + x->drop] / s->past.baskets[x->group];
    if (past < UNITS_LEAST || drawn < UNITS_LEAST || share >= 1 || x->bin == a->lines.other)
        return false;
    size_t pair = ((size_t)x->group * s->drops + x->drop) * s->bins + x->bin;
    both = (both * past + PR_PRIOR_UNITS * model) / (past + PR_PRIOR_UNITS);
    x->change[PARSREC_SELECTION] = (1 - share * both) / (1 - share) - 1;
    x->change[PARSREC_RECHOICE] = s->refill[pair] / s->drawn.units[x->group * s->bins + x->bin] *
                                  (model > 0 ? both / model : 1) *
                                  open_share(a, &s->past, x, both) /
                                  open_share(a, &s->drawn, x, model);
    x->beyond = x->change[PARSREC_SELECTION] - general;
    x->weight = fabs(x->beyond) * (1 - share) / share * sqrt(past);
    return true;
}

/* Keeps the strongest, best first. */
static void keep(pr_cross_effect *list, size_t *count, const pr_cross_effect *x)
{
    size_t at = *count < PR_CROSS_EFFECTS_MOST ? (*count)++ : PR_CROSS_EFFECTS_MOST;
    for (; at > 0 && x->weight > list[at - 1].weight; at--)
        if (at < PR_CROSS_EFFECTS_MOST)
            list[at] = list[at - 1];
    if (at < PR_CROSS_EFFECTS_MOST)
        list[at] = *x;
}

parsrec_status pr_whatif_cross_effects(pr_whatif_result *a, parsrec_error *err)
{
    size_t most = a->cohort.group_count * PR_CROSS_EFFECTS_MOST;
    a->cross_effects = pr_region_take(&a->region, most, sizeof *a->cross_effects);
    PR_TRY(pr_region_check(&a->region, err));
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        size_t count = 0;
        for (size_t drop = 0; drop < a->cross.drops; drop++) {
            double general = general_change(a, g, drop);
            for (size_t bin = 0; bin < a->cross.bins; bin++) {
                pr_cross_effect x = {
                    .group = (uint32_t)g, .drop = (uint32_t)drop, .bin = (uint32_t)bin};
                if (a->cross.drop[drop] != bin && set_effect(a, &x, general))
                    keep(a->cross_effects + a->cross_effect_count, &count, &x);
            }
        }
        a->cross_effect_count += count;
    }
    return PARSREC_OK;
}
