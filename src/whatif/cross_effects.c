/* Sums over pairs of bins. */
#include "whatif/cross_effects.h"

#include <stdlib.h>

#include "base/memory.h"
#include "data/split.h"

/* ---- entering ---- */

/* A bin counts once a basket, at its first item. */
static bool first_of_bin(const pr_lines *lines, const int32_t *items, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (lines->bin_of[items[i]] == lines->bin_of[items[k]])
            return false;
    return true;
}

static void enter(const pr_spill *s, pr_pairs *p, const pr_lines *lines, size_t group,
                  const int32_t *items, size_t size)
{
    p->baskets[group]++;
    for (size_t k = 0; k < size; k++) {
        int32_t hub = s->hub_of[lines->bin_of[items[k]]];
        p->units[group * s->bins + (size_t)lines->bin_of[items[k]]]++;
        if (hub < 0 || !first_of_bin(lines, items, k))
            continue;
        double *joint = p->joint + (group * s->hubs + (size_t)hub) * s->bins;
        p->with[group * s->hubs + (size_t)hub]++;
        for (size_t i = 0; i < size; i++)
            joint[lines->bin_of[items[i]]]++;
    }
}

/* All slots of the hub go to what the model expects next. */
static void enter_refill(pr_spill *s, size_t group, size_t hub, double slots, const pr_drawn *b)
{
    double *refill = s->refill + (group * s->hubs + hub) * s->bins, others = 0;
    for (size_t l = 0; l < s->bins; l++)
        others += l == s->hub[hub] ? 0 : b->rest[l];
    for (size_t l = 0; l < s->bins && others > 1e-12; l++)
        refill[l] += l == s->hub[hub] ? 0 : slots * b->rest[l] / others;
}

static double units_of_bin(const pr_lines *lines, const pr_drawn *b, int32_t bin)
{
    double units = 0;
    for (size_t k = 0; k < b->size; k++)
        units += lines->bin_of[b->items[k]] == bin;
    return units;
}

void pr_spill_drawn(pr_spill *s, const pr_cohort *cohort, const pr_lines *lines, const pr_drawn *b)
{
    for (size_t i = cohort->cell_offsets[b->user]; i < cohort->cell_offsets[b->user + 1]; i++) {
        size_t group = cohort->cell_group[cohort->cell_list[i]];
        enter(s, &s->drawn, lines, group, b->items, b->size);
        for (size_t k = 0; k < b->size; k++) {
            int32_t bin = lines->bin_of[b->items[k]];
            if (s->hub_of[bin] >= 0 && first_of_bin(lines, b->items, k))
                enter_refill(s, group, (size_t)s->hub_of[bin], units_of_bin(lines, b, bin), b);
        }
    }
}

void pr_spill_past(pr_spill *s, const pr_cohort *cohort, const pr_lines *lines,
                   const pr_dataset *data, size_t last)
{
    for (size_t u = 0; u < cohort->user_count; u++) {
        size_t user = (size_t)cohort->users[u];
        int64_t end = pr_split_session(data, user, PR_TEST, last);
        for (int64_t t = data->user_offsets[user]; t < end; t++) {
            size_t size = (size_t)(data->session_offsets[t + 1] - data->session_offsets[t]);
            const int32_t *items = data->action_items + data->session_offsets[t];
            for (size_t i = cohort->cell_offsets[user]; i < cohort->cell_offsets[user + 1]; i++)
                enter(s, &s->past, lines, cohort->cell_group[cohort->cell_list[i]], items, size);
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

static parsrec_status choose_hubs(pr_spill *s, const pr_lines *lines, const double *sales,
                                  parsrec_error *err)
{
    seller *sellers = pr_alloc(s->bins, sizeof *sellers);
    if (sellers == NULL)
        return pr_fail_memory(err);
    for (size_t l = 0; l < s->bins; l++) {
        sellers[l] = (seller){l == lines->other ? -1 : sales[l], l};
        s->hub_of[l] = -1;
    }
    qsort(sellers, s->bins, sizeof *sellers, best_first);
    for (size_t h = 0; h < s->hubs; h++) {
        s->hub[h] = sellers[h].bin;
        s->hub_of[sellers[h].bin] = (int32_t)h;
    }
    pr_free(sellers);
    return PARSREC_OK;
}

static bool reserve(pr_pairs *p, size_t groups, size_t hubs, size_t bins)
{
    p->baskets = pr_alloc_zero(groups, sizeof *p->baskets);
    p->units = pr_alloc_zero(groups * bins, sizeof *p->units);
    p->with = pr_alloc_zero(groups * hubs, sizeof *p->with);
    p->joint = pr_alloc_zero(groups * hubs * bins, sizeof *p->joint);
    return p->baskets != NULL && p->units != NULL && p->with != NULL && p->joint != NULL;
}

parsrec_status pr_spill_init(pr_spill *s, const pr_lines *lines, size_t groups, const double *sales,
                             parsrec_error *err)
{
    *s = (pr_spill){.bins = lines->bins};
    size_t bins = lines->bins - (lines->other < lines->bins);
    s->hubs = bins < PR_HUBS_MOST ? bins : PR_HUBS_MOST;
    s->hub = pr_alloc(s->hubs, sizeof *s->hub);
    s->hub_of = pr_alloc(s->bins, sizeof *s->hub_of);
    s->refill = pr_alloc_zero(groups * s->hubs * s->bins, sizeof *s->refill);
    bool fine = reserve(&s->drawn, groups, s->hubs, s->bins);
    fine = reserve(&s->past, groups, s->hubs, s->bins) && fine;
    if (!fine || s->hub == NULL || s->hub_of == NULL || s->refill == NULL)
        return pr_fail_memory(err);
    return choose_hubs(s, lines, sales, err);
}

static void release(pr_pairs *p)
{
    pr_free(p->baskets);
    pr_free(p->units);
    pr_free(p->with);
    pr_free(p->joint);
}

void pr_spill_free(pr_spill *s)
{
    pr_free(s->hub);
    pr_free(s->hub_of);
    pr_free(s->refill);
    release(&s->drawn);
    release(&s->past);
    *s = (pr_spill){0};
}
