/* The truth: test sets simulated again from what the generator of synthetic data saved, and how the
 * estimators compare with them. A test set is a task. Its trips are numbered after all trips of the
 * data, so that they are new trips of the same people. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/rank_agreement.h"
#include "whatif/whatif.h"

enum { SETS_PER_ROUND = 16 };

typedef struct worker {
    pr_shopper shopper;
    float *base; /* [items]: -INFINITY for products that are off */
    double *row; /* [lines] */
} worker;

typedef struct run {
    const pr_truth *truth;
    const pr_choice *choice;
    const pr_cohort *cohort;
    const pr_lines *lines;
    const pr_scenarios *scenarios;
    bool **shelf;    /* [scenarios][categories] */
    bool by_product; /* single items are asked about, so products are drawn, not only categories */
    size_t last, first; /* trips of a user in a test set; the first set of the round */
    size_t blocks;      /* 1 + 2 · scenarios */
    double *baskets;    /* [sets, blocks, groups] */
    double *units;      /* [sets, blocks, groups, lines] */
    worker *workers;
    pr_region region;
} run;

/* The block of a set for a scenario and question; block set * r->blocks is before. */
static size_t block_of(const run *r, size_t set, size_t scenario, parsrec_question question)
{
    return set * r->blocks + 1 + 2 * scenario + (question == PARSREC_RECHOICE);
}

static void add(run *r, size_t block, size_t user, const double *row, double baskets)
{
    const pr_cohort *c = r->cohort;
    for (size_t i = c->cell_offsets[user]; i < c->cell_offsets[user + 1]; i++) {
        size_t at = block * c->group_count + c->cell_group[c->cell_list[i]];
        r->baskets[at] += baskets;
        for (size_t l = 0; l < r->lines->count; l++)
            r->units[at * r->lines->count + l] += row[l];
    }
}

/* ---- trips ---- */

/* Makes the worker's shopper this user; off[items]: products that are off the shelf, or NULL. */
static void become(const run *r, worker *own, size_t user, const bool *off)
{
    const pr_truth *t = r->truth;
    const float *base = t->base_utility + user * t->items;
    for (size_t i = 0; i < t->items && off != NULL && r->by_product; i++)
        own->base[i] = off[i] ? -INFINITY : base[i];
    if (r->by_product)
        pr_shopper_become(&own->shopper, r->choice, user, (size_t)t->group[user],
                          off != NULL ? own->base : base);
    own->shopper.user = (uint32_t)user;
    own->shopper.group = (size_t)t->group[user];
}

/* The items of a trip, and own->row, their row of sales. Which product of a category is bought
 * matters only where items are named. */
static size_t shop(const run *r, worker *own, size_t trip, const bool *shelf, int32_t *items)
{
    size_t list[PR_SYNTH_BASKET_MOST];
    size_t count = pr_shopper_list(list, &own->shopper, r->choice, trip, shelf);
    memset(own->row, 0, r->lines->count * sizeof *own->row);
    for (size_t i = 0; i < count; i++) {
        size_t product =
            r->by_product ? pr_draw_product(&own->shopper, r->choice, trip, list[i]) : 0;
        items[i] = (int32_t)(list[i] * r->choice->products + product);
        pr_lines_sell(r->lines, own->row, items[i], 1);
    }
    return count;
}

static void one_trip(run *r, worker *own, size_t set, size_t user, size_t trip)
{
    int32_t items[PR_SYNTH_BASKET_MOST], others[PR_SYNTH_BASKET_MOST];
    become(r, own, user, NULL);
    size_t count = shop(r, own, trip, NULL, items);
    if (count == 0)
        return; /* stayed at home, and would without the category */
    add(r, set * r->blocks, user, own->row, 1);
    for (size_t s = 0; s < r->scenarios->count; s++)
        if (pr_scenario_missing(&r->scenarios->list[s], items, count) == 0) {
            add(r, block_of(r, set, s, PARSREC_SELECTION), user, own->row, 1);
            add(r, block_of(r, set, s, PARSREC_RECHOICE), user, own->row, 1);
        }
    /* A second loop, because shopping again overwrites own->row. */
    for (size_t s = 0; s < r->scenarios->count; s++)
        if (pr_scenario_missing(&r->scenarios->list[s], items, count) > 0) {
            become(r, own, user, r->scenarios->list[s].off);
            shop(r, own, trip, r->shelf[s], others);
            add(r, block_of(r, set, s, PARSREC_RECHOICE), user, own->row, 1);
        }
}

static void make_set(void *context, size_t task, unsigned thread)
{
    run *r = context;
    size_t set = r->first + task;
    for (size_t i = 0; i < r->cohort->user_count; i++)
        for (size_t k = 0; k < r->last; k++)
            one_trip(r, &r->workers[thread], set, (size_t)r->cohort->users[i],
                     (size_t)r->truth->options.sessions + set * r->last + k);
}

/* ---- means over sets ---- */

/* Expected sales per basket, and unless it is NULL the mean error of a single set, as a share.
 * offset: of the block within a set. */
static void sum_up(const run *r, size_t sets, size_t offset, size_t group, size_t line,
                   double *expected, double *floor)
{
    double units = 0, baskets = 0, errors = 0, counted = 0;
    for (size_t set = 0; set < sets; set++) {
        size_t at = (set * r->blocks + offset) * r->cohort->group_count + group;
        units += r->units[at * r->lines->count + line];
        baskets += r->baskets[at];
    }
    *expected = baskets > 0 ? units / baskets : NAN;
    for (size_t set = 0; set < sets && floor != NULL; set++) {
        size_t at = (set * r->blocks + offset) * r->cohort->group_count + group;
        if (!(r->baskets[at] > 0))
            continue;
        errors += fabs(r->units[at * r->lines->count + line] / r->baskets[at] - *expected);
        counted++;
    }
    if (floor != NULL)
        *floor = counted > 0 && *expected > 0 ? errors / counted / *expected : NAN;
}

static void fill(pr_true_sales *out, const run *r, size_t sets)
{
    for (size_t g = 0; g < out->groups; g++)
        for (size_t l = 0; l < out->lines; l++) {
            sum_up(r, sets, 0, g, l, &out->before[pr_true_at(out, 0, g, l)], NULL);
            for (size_t s = 0; s < r->scenarios->count; s++)
                for (size_t q = 0; q < PR_QUESTIONS; q++) {
                    size_t at = pr_true_at(out, s, g, l);
                    sum_up(r, sets, block_of(r, 0, s, (parsrec_question)q), g, l,
                           &out->after[q][at], &out->floor[q][at]);
                }
        }
    out->sets = sets;
}

/* ---- from the beginning ---- */

/* The result lives as long as the lines, the rest as long as the run. */
static parsrec_status reserve(pr_true_sales *out, run *r, size_t sets, unsigned threads,
                              parsrec_error *err)
{
    size_t groups = r->cohort->group_count, scenarios = r->scenarios->count, cells;
    size_t sales = groups * r->lines->count;
    pr_region *keep = r->lines->region;
    out->before = pr_region_take(keep, sales, sizeof *out->before);
    for (size_t q = 0; q < PR_QUESTIONS; q++) {
        out->after[q] = pr_region_take(keep, scenarios * sales, sizeof *out->after[q]);
        out->floor[q] = pr_region_take(keep, scenarios * sales, sizeof *out->floor[q]);
    }
    PR_TRY(pr_region_check(keep, err));
    if (pr_mul_overflows(sets * r->blocks * groups, r->lines->count, &cells))
        return pr_fail_memory(err);
    r->shelf = pr_region_take(&r->region, scenarios, sizeof *r->shelf);
    r->workers = pr_region_take(&r->region, threads, sizeof *r->workers);
    r->baskets = pr_region_take(&r->region, sets * r->blocks, groups * sizeof *r->baskets);
    r->units = pr_region_take(&r->region, cells, sizeof *r->units);
    PR_TRY(pr_region_check(&r->region, err));
    for (unsigned i = 0; i < threads; i++) {
        PR_TRY(pr_shopper_init(&r->workers[i].shopper, r->choice, err));
        r->workers[i].base =
            pr_region_take(&r->region, r->truth->items, sizeof *r->workers[i].base);
        r->workers[i].row = pr_region_take(&r->region, r->lines->count, sizeof *r->workers[i].row);
    }
    for (size_t s = 0; s < scenarios; s++) {
        r->shelf[s] = pr_region_take(&r->region, r->truth->categories, sizeof *r->shelf[s]);
        PR_TRY(pr_region_check(&r->region, err));
        for (size_t i = 0; i < r->truth->items; i++)
            if (!r->scenarios->list[s].off[i])
                r->shelf[s][i / r->truth->products] = true;
    }
    return PARSREC_OK;
}

parsrec_status pr_true_sales_init(pr_true_sales *out, const pr_dataset *data,
                                  const pr_cohort *cohort, const pr_lines *lines,
                                  const pr_scenarios *scenarios, size_t sets, size_t last,
                                  pr_pool *pool, const parsrec_hooks *hooks, parsrec_error *err)
{
    pr_truth truth;
    pr_choice choice = {0};
    unsigned threads = pr_pool_threads(pool);
    *out = (pr_true_sales){.groups = cohort->group_count, .lines = lines->count};
    PR_TRY(pr_truth_read(&truth, data, err));
    run r = {.truth = &truth,
             .choice = &choice,
             .cohort = cohort,
             .lines = lines,
             .scenarios = scenarios,
             .by_product = lines->count > lines->bins || scenarios->parts > 0,
             .last = last,
             .blocks = 1 + 2 * scenarios->count};
    parsrec_status status;
    PR_TRY_GOTO(pr_truth_choice(&choice, &truth, err));
    PR_TRY_GOTO(reserve(out, &r, sets, threads, err));
    for (; r.first < sets; r.first += SETS_PER_ROUND) {
        size_t left = sets - r.first;
        PR_TRY_GOTO(pr_progress(hooks, "making test sets again", "sets", r.first, sets, err));
        pr_pool_run(pool, make_set, &r, left < SETS_PER_ROUND ? left : SETS_PER_ROUND);
    }
    fill(out, &r, sets);
done:
    for (unsigned i = 0; r.workers != NULL && i < threads; i++)
        pr_shopper_free(&r.workers[i].shopper);
    pr_region_free(&r.region);
    pr_choice_free(&choice);
    return status;
}

/* ---- against the truth ---- */

typedef struct comparison {
    double *estimated, *real; /* changes, [bins] */
    size_t count;
} comparison;

/* Mean errors over the bins that stay, and their changes, c->count of them, for the rank
 * correlation. */
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
        double test = pr_sales_rate(&a->test.after[q][s], &a->cohort, g, l);
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
    comparison c = {pr_region_take(&a->region, a->lines.bins, sizeof(double)),
                    pr_region_take(&a->region, a->lines.bins, sizeof(double)), 0};
    size_t count = a->scenarios.count * PR_QUESTIONS * PR_ESTIMATORS * groups;
    a->agreement = pr_region_take(&a->region, count, sizeof *a->agreement);
    PR_TRY(pr_region_check(&a->region, err));
    for (size_t i = 0; i < count; i++) {
        size_t g = i % groups, e = i / groups % PR_ESTIMATORS;
        size_t q = i / groups / PR_ESTIMATORS % PR_QUESTIONS;
        compare(a, i / groups / PR_ESTIMATORS / PR_QUESTIONS, q, e, g, &c, &a->agreement[i]);
        PR_TRY(pr_spearman(&a->agreement[i].rank, c.estimated, c.real, c.count, err));
    }
    return PARSREC_OK;
}
