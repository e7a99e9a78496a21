/* Which lines a report shows: those that were named, or those that change most. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "whatif/whatif.h"

const size_t pr_question_order[PR_QUESTIONS] = {PARSREC_RECHOICE, PARSREC_SELECTION};

/* WATCHED_UNITS: that past baskets must have held of a line for it to be among those that change
 * most. */
enum { WATCHED_MOST = 8, WATCHED_UNITS = 20 };

/* The largest change of a line in any group, in units over all past baskets, against what chance
 * does to sales of its size. Few units say nothing, however large the share by which they change:
 * lines that past baskets hardly held come after all others. */
static double largest_change(const pr_whatif_result *a, size_t s, size_t q, size_t line)
{
    double most = 0;
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
        double baskets = pr_sales_baskets(&a->past.before, &a->cohort, g);
        double sold = baskets * pr_sales_rate(&a->past.before, &a->cohort, g, line);
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

size_t pr_shown_lines(size_t *list, const pr_whatif_result *a, size_t s)
{
    size_t count = 0, q = pr_question_order[a->asked[pr_question_order[0]] ? 0 : 1];
    for (size_t l = 0; l < a->lines.count; l++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, 0, l);
        size_t at = count;
        if (!a->watched[s * a->lines.count + l])
            continue;
        for (; at > 0; at--) { /* few are shown, so that an insertion sort will do */
            const pr_estimate *other = pr_estimate_of(a, s, q, a->estimator, 0, list[at - 1]);
            if (!(fabs(e->after - e->before) > fabs(other->after - other->before)))
                break;
            list[at] = list[at - 1];
        }
        list[at] = l;
        count++;
    }
    return count;
}
