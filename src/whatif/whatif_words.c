/* Names and sentences that several reports use. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "whatif/answer.h"

const char *parsrec_question_name(parsrec_question question)
{
    static const char *const names[] = {"selection", "rechoice"};
    return (size_t)question < PR_QUESTIONS ? names[question] : "unknown";
}

const char *parsrec_estimator_name(parsrec_estimator estimator)
{
    static const char *const names[] = {"rollout", "expected", "top10", "counted"};
    return (size_t)estimator < PR_ESTIMATORS ? names[estimator] : "unknown";
}

const char *parsrec_whatif_kind_name(parsrec_whatif_kind kind)
{
    static const char *const names[] = {"line", "leaves", "total"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const size_t pr_question_order[PR_QUESTIONS] = {PARSREC_RECHOICE, PARSREC_SELECTION};

const char *pr_question_asked(size_t question)
{
    return question == PARSREC_RECHOICE ? "What would the same people buy?"
                                        : "What do people buy who go without?";
}

const char *pr_question_sentence(const pr_whatif_result *a, size_t question)
{
    if (question == PARSREC_SELECTION)
        return "Selection: past baskets without it, compared with all baskets. These are other "
               "baskets, usually smaller ones, so the change is not an effect of taking it off the "
               "shelf.";
    if (a->missing == PARSREC_MISSING_LEAVE)
        return "Re-choice: what the same shoppers buy when it is not on the shelf. Its place in "
               "the "
               "basket stays empty, and a basket is given up by the share that is missing.";
    return "Re-choice: what the same shoppers buy when it is not on the shelf. They take something "
           "else instead; baskets keep their size.";
}

const char *pr_total_name(const pr_whatif_result *a)
{
    return a->lines.by_item ? "all items" : "all categories";
}

void pr_write_grouped(pr_writer *out, uint64_t value)
{
    if (value >= 1000) {
        pr_write_grouped(out, value / 1000);
        pr_write(out, ",%03llu", (unsigned long long)(value % 1000));
    } else {
        pr_write(out, "%llu", (unsigned long long)value);
    }
}

void pr_write_before(pr_writer *out, const pr_whatif_result *a, size_t group)
{
    double priced = pr_priced_share(a, group == SIZE_MAX ? 0 : group);
    pr_write(out, "Units per basket; an item counts once per basket. ");
    if (a->raw)
        pr_write(out, "Before: model estimates without calibration to past sales.");
    else if (group == SIZE_MAX)
        pr_write(out, "Before: the mean over all%s baskets of a group's users, every basket alike.",
                 a->synthetic ? " past" : "");
    else {
        const pr_user_group *g = &a->groups.list[group];
        pr_write(out, "Before: the mean over the ");
        pr_write_grouped(out, (uint64_t)pr_ledger_baskets(&a->past.before, &a->cohort, group));
        pr_write(out, "%s baskets of ", a->synthetic ? " past" : "");
        pr_write_grouped(out, g->count);
        pr_write(out, " user%s, every basket alike%s.", g->count == 1 ? "" : "s",
                 a->synthetic ? " (without the test sessions)" : "");
    }
    if (a->price != NULL)
        pr_write(out, " Revenue per basket: units times the mean price of the items sold.");
    if (a->price != NULL && priced < 0.9995)
        pr_write(out, " Prices are known for %.1f %% of the units; the others count as 0.",
                 100 * priced);
}

const char *pr_percent_text(char *text, double share)
{
    if (isnan(share))
        snprintf(text, PR_PERCENT_BYTES, "-");
    else if (fabs(share) < 0.0005)
        snprintf(text, PR_PERCENT_BYTES, "0.0 %%");
    else
        snprintf(text, PR_PERCENT_BYTES, "%+.1f %%", 100 * share);
    return text;
}

/* False where nothing could vary, as the total of baskets that keep their size. */
static bool has_range(const pr_estimate *e)
{
    return e->change_high - e->change_low > 1e-6; /* false for NaN */
}

const char *pr_range_text(char *text, const pr_estimate *e)
{
    if (has_range(e))
        snprintf(text, PR_PERCENT_BYTES, "[%+.1f, %+.1f]", 100 * e->change_low,
                 100 * e->change_high);
    else
        snprintf(text, PR_PERCENT_BYTES, "-");
    return text;
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

static void write_level(pr_writer *out, const char *what, const pr_estimate *e)
{
    char change[PR_PERCENT_BYTES];
    if (isnan(e->change))
        return;
    if (fabs(e->change) < 0.0005 && !has_range(e)) {
        pr_write(out, " %s per basket: %.2f before and after.", what, e->before);
        return;
    }
    pr_write(out, " %s per basket: %.2f before, %.2f after, %s", what, e->before, e->after,
             pr_percent_text(change, e->change));
    if (has_range(e))
        pr_write(out, " (%+.1f to %+.1f %%)", 100 * e->change_low, 100 * e->change_high);
    pr_write(out, ".");
}

static void write_largest(pr_writer *out, const pr_whatif_result *a, size_t s, size_t q,
                          size_t group)
{
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t l = 0; l < a->lines.count; l++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, group, l);
        bool sure = e->change_low > 0 || e->change_high < 0;
        if (a->watched[s * a->lines.count + l] && !pr_line_dropped(a, s, l) && sure &&
            fabs(e->change) > most) {
            best = l;
            most = fabs(e->change);
        }
    }
    const char *name = a->groups.list[group].name;
    int first = toupper((unsigned char)name[0]); /* of a sentence */
    if (best == SIZE_MAX) {
        pr_write(out, "%c%s: no change of a single %s is certain.", first, name + 1,
                 a->lines.by_item ? "item" : "category");
        return;
    }
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, group, best);
    if (q == PARSREC_SELECTION)
        pr_write(out, "Baskets of %s without it hold", name);
    else
        pr_write(out, "%c%s would buy", first, name + 1);
    pr_write(out, " %.1f %% %s of %s (%+.1f to %+.1f %%).", 100 * most,
             e->change > 0 ? "more" : "less", a->lines.list[best].name, 100 * e->change_low,
             100 * e->change_high);
}

void pr_write_finding(pr_writer *out, const pr_whatif_result *a, size_t s, size_t q, size_t group)
{
    const pr_total *t = pr_total_of(a, s, q, group);
    write_largest(out, a, s, q, group);
    write_level(out, "Units", &t->units);
    write_level(out, "Revenue", &t->money);
}
