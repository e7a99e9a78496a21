/* One basket at a time. By selection a basket with something missing is not there; by re-choice the
 * shopper who finds something missing takes another item of its category, or, where the whole category
 * is gone, what the model expects next in a basket that held it: the wish for it is known, the item is
 * not to be had.                                                        (docs/whatif.md) */
#include "whatif/rechoice.h"

#include <string.h>

/* ---- re-choice ---- */

/* The chance that the next item is of a bin and on the shelf. */
static double on_shelf(const pr_scenario *s, const pr_drawn *b, const float *part, size_t bin)
{
    double chance = s->state[bin] == PR_SHELF_NONE ? 0 : b->rest[bin];
    for (size_t p = 0; p < s->parts; p++)
        if (s->part[p] == bin)
            chance -= part[p];
    return chance > 0 ? chance : 0;
}

/* Of lines that somebody named: wholly on the shelf, or made of bins that are. */
static double named_on_shelf(const pr_account *a, const pr_scenario *s, const pr_drawn *b,
                             const float *part, size_t named)
{
    double chance = 0;
    if (s->state[named] == PR_SHELF_ALL)
        return b->rest[named];
    for (size_t bin = 0; bin < a->lines->bins && s->state[named] == PR_SHELF_PART; bin++)
        if (pr_lines_cover(a->lines, named, bin))
            chance += on_shelf(s, b, part, bin);
    return chance;
}

/* What missing slots become, by line: chances of what is on the shelf after the basket. */
static void add_refill(const pr_account *a, const pr_scenario *s, const pr_drawn *b,
                       const float *part, double slots)
{
    double total = 0;
    for (size_t l = 0; l < a->lines->bins; l++)
        total += on_shelf(s, b, part, l);
    for (size_t l = 0; l < a->lines->count && slots > 0 && total > 1e-12; l++)
        a->refill[l] +=
            slots / total *
            (l < a->lines->bins ? on_shelf(s, b, part, l) : named_on_shelf(a, s, b, part, l));
}

/* Another item of the same bin: the bin keeps the sale, named lines inside it share by their chances. */
static void add_swap(const pr_account *a, const pr_scenario *s, const pr_drawn *b,
                     const float *part, int32_t item, double units)
{
    size_t bin = (size_t)a->lines->bin_of[item];
    double others = on_shelf(s, b, part, bin);
    a->after[bin] += units;
    for (size_t l = a->lines->bins; l < a->lines->count; l++) {
        const pr_line *line = &a->lines->list[l];
        if (line->kind != PR_LINE_NAMED)
            continue;
        if (pr_lines_cover(a->lines, l, bin))
            a->after[l] += units;
        else if (s->state[l] == PR_SHELF_ALL && others > 1e-12 &&
                 (size_t)a->lines->bin_of[line->items[0]] == bin)
            a->after[l] += units * b->rest[l] / others;
    }
}

/* New items take their share of a slot; returns what is left of it. */
static double add_new(const pr_account *a, const pr_scenario *s, size_t number, const pr_drawn *b,
                      size_t slot, size_t most)
{
    double left = 1;
    for (size_t i = 0; i < s->add_count; i++) {
        double taken = b->taken[(number * a->scenarios->adds + i) * most + slot];
        const pr_line *line = &a->lines->list[s->adds[i]];
        a->after[s->adds[i]] += taken;
        left -= taken;
        if (a->lines->by_item || taken <= 0)
            continue;
        size_t bin = (size_t)a->lines->bin_of[line->items[0]];
        a->after[bin] += taken;
        for (size_t l = a->lines->bins; l < a->lines->count; l++)
            if (a->lines->list[l].kind == PR_LINE_NAMED && pr_lines_cover(a->lines, l, bin))
                a->after[l] += taken;
    }
    return left;
}

static void enter_rechoice(pr_account *a, size_t number, const pr_drawn *b, pr_basket_facts *add)
{
    const pr_scenario *s = &a->scenarios->list[number];
    const float *part = b->part + number * a->scenarios->parts;
    double empty = 0, kept = 1;
    memset(a->after, 0, a->lines->count * sizeof *a->after);
    memset(a->refill, 0, a->lines->count * sizeof *a->refill);
    for (size_t i = 0; i < b->size; i++) {
        int32_t item = b->items[i];
        double units = s->add_count > 0 ? add_new(a, s, number, b, i, b->most) : 1;
        if (!s->off[item])
            pr_lines_sell(a->lines, a->after, item, units);
        else if (s->state[a->lines->bin_of[item]] == PR_SHELF_PART && !a->lines->by_item) {
            add_swap(a, s, b, part, item, units);
            add->swapped += units;
        } else
            empty += units;
    }
    if (a->missing == PARSREC_MISSING_LEAVE && b->size > 0)
        kept = 1 - empty / (double)b->size;
    else
        add_refill(a, s, b, part, empty);
    for (size_t l = 0; l < a->lines->count; l++)
        a->after[l] = kept * a->after[l] + a->refill[l];
    add->refilled += a->missing == PARSREC_MISSING_LEAVE ? 0 : empty;
    add->lost += 1 - kept;
    double weight = a->cohort->weight[b->user];
    for (size_t l = 0; l < a->lines->count; l++) {
        a->after[l] *= weight;
        a->refill[l] *= weight;
    }
    pr_ledger_add(&a->book->after[PARSREC_RECHOICE][number], a->cohort, b->user, a->after, weight);
    pr_ledger_add(&a->book->refill[number], a->cohort, b->user, a->refill, weight);
}

/* ---- whole baskets ---- */

static void enter_facts(pr_account *a, size_t number, const pr_drawn *b, size_t missing,
                        const pr_basket_facts *add)
{
    const pr_cohort *c = a->cohort;
    double weight = c->weight[b->user];
    for (size_t i = c->cell_offsets[b->user]; i < c->cell_offsets[b->user + 1]; i++) {
        size_t group = c->cell_group[c->cell_list[i]];
        pr_basket_facts *f = &a->facts[group * a->scenarios->count + number];
        f->baskets += weight;
        f->items += weight * (double)b->size;
        f->touched += missing > 0 ? weight : 0;
        f->touched_items += missing > 0 ? weight * (double)b->size : 0;
        f->swapped += weight * add->swapped;
        f->refilled += weight * add->refilled;
        f->lost += weight * add->lost;
        f->gone += weight * (double)missing;
    }
}

static void enter_scenario(pr_account *a, size_t number, const pr_drawn *b)
{
    const pr_scenario *s = &a->scenarios->list[number];
    size_t missing = pr_scenario_missing(s, b->items, b->size);
    double weight = a->cohort->weight[b->user];
    pr_basket_facts add = {0};
    if (missing == 0)
        pr_ledger_add(&a->book->after[PARSREC_SELECTION][number], a->cohort, b->user, a->row,
                      weight);
    if (missing == 0 && s->add_count == 0)
        pr_ledger_add(&a->book->after[PARSREC_RECHOICE][number], a->cohort, b->user, a->row,
                      weight);
    else
        enter_rechoice(a, number, b, &add);
    enter_facts(a, number, b, missing, &add);
}

void pr_account_basket(void *context, const pr_drawn *b)
{
    pr_account *a = context;
    double weight = a->cohort->weight[b->user];
    memset(a->row, 0, a->lines->count * sizeof *a->row);
    for (size_t i = 0; i < b->size; i++)
        pr_lines_sell(a->lines, a->row, b->items[i], weight);
    pr_ledger_add(&a->book->before, a->cohort, b->user, a->row, weight);
    for (size_t s = 0; s < a->scenarios->count; s++)
        enter_scenario(a, s, b);
    pr_spill_drawn(a->spill, a->cohort, a->lines, b);
}
