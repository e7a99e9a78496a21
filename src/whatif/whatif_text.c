/* The answer as lines of text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "whatif/answer.h"

enum { NAME_MOST = 38 };

/* Names of the rows of a scenario, short enough for their column and still different. */
typedef struct labels {
    const char **names; /* [count]: as they are */
    char **shown;       /* [count] */
    size_t *line;       /* [count]: lines that are watched; then what leaves and the total */
    size_t count;
    int width;
} labels;

static void free_labels(labels *t)
{
    for (size_t i = 0; t->shown != NULL && i < t->count; i++)
        pr_free(t->shown[i]);
    pr_free(t->names);
    pr_free(t->shown);
    pr_free(t->line);
}

static parsrec_status make_labels(labels *t, const pr_whatif_result *a, size_t s,
                                  parsrec_error *err)
{
    size_t most = a->lines.count + 2;
    *t = (labels){pr_alloc(most, sizeof *t->names), pr_alloc_zero(most, sizeof *t->shown),
                  pr_alloc(most, sizeof *t->line), 0, 8};
    if (t->names == NULL || t->shown == NULL || t->line == NULL)
        return pr_fail_memory(err);
    t->count = pr_shown_lines(t->line, a, s);
    for (size_t i = 0; i < t->count; i++)
        t->names[i] = a->lines.list[t->line[i]].name;
    t->names[t->count++] = a->scenarios.list[s].leaving;
    t->names[t->count++] = pr_total_name(a);
    PR_TRY(pr_labels_fit(t->shown, t->names, t->count, NAME_MOST, NULL, NULL, err));
    for (size_t i = 0; i < t->count; i++)
        if (pr_text_width(t->shown[i]) > t->width)
            t->width = pr_text_width(t->shown[i]);
    return PARSREC_OK;
}

static void write_padded(pr_writer *out, const char *name, int width)
{
    int space = width - pr_text_width(name);
    pr_write(out, "%s%*s", name, space > 0 ? space : 0, "");
}

static void write_number(pr_writer *out, const char *format, double value, int width)
{
    char text[32];
    if (isnan(value))
        snprintf(text, sizeof text, "-");
    else
        snprintf(text, sizeof text, format, value);
    pr_write(out, "%*s", width, text);
}

/* Groups are few, and told apart by their full names. */
static int widest_group(const pr_whatif_result *a)
{
    int most = 5;
    for (size_t g = 0; g < a->cohort.group_count; g++)
        if (pr_text_width(a->groups.list[g].name) > most)
            most = pr_text_width(a->groups.list[g].name);
    return most;
}

/* ---- sales ---- */

static void write_estimate(pr_writer *out, const pr_whatif_result *a, const pr_estimate *e,
                           const pr_estimate *money)
{
    char change[PR_PERCENT_BYTES], range[PR_PERCENT_BYTES];
    write_number(out, "%.4f", e->before, 10);
    write_number(out, "%.4f", e->after, 10);
    pr_write(out, "%10s%18s", pr_percent_text(change, e->change), pr_range_text(range, e));
    if (a->price == NULL)
        return;
    write_number(out, "%.4f", money->before, 12);
    write_number(out, "%.4f", money->after, 10);
}

static void write_line(pr_writer *out, const pr_whatif_result *a, size_t s, size_t q, size_t g,
                       size_t line)
{
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
    pr_estimate money =
        pr_money_of(e, pr_line_price(a, SIZE_MAX, g, line), pr_line_price(a, s, g, line));
    write_estimate(out, a, e, &money);
    if (a->truth.sets == 0)
        return;
    if (q == PARSREC_SELECTION)
        write_number(out, "%.4f",
                     a->lines.list[line].kind != PR_LINE_NEW
                         ? pr_ledger_rate(&a->test.after[q][s], &a->cohort, g, line)
                         : NAN,
                     10);
    double before = a->truth.before[pr_true_at(&a->truth, 0, g, line)];
    double after = a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
    write_number(out, "%.4f", after, 10);
    write_number(out, "%+.1f %%", before > 0 ? 100 * (after / before - 1) : NAN, 10);
    write_number(out, "%.1f %%", after > 0 ? 100 * fabs(e->after - after) / after : NAN, 8);
    write_number(out, "%.1f %%", 100 * a->truth.floor[q][pr_true_at(&a->truth, s, g, line)], 8);
}

static void write_headings(pr_writer *out, const pr_whatif_result *a, const labels *names, size_t q)
{
    char range[32];
    snprintf(range, sizeof range, "%.0f %% interval", 100 * a->interval);
    write_padded(out, "group", widest_group(a));
    pr_write(out, "  ");
    write_padded(out, a->lines.by_item ? "item" : "category", names->width);
    pr_write(out, "%10s%10s%10s%18s", "before", "after", "change", range);
    if (a->price != NULL)
        pr_write(out, "%12s%10s", "revenue", "after");
    if (a->truth.sets > 0 && q == PARSREC_SELECTION)
        pr_write(out, "%10s", "test set");
    if (a->truth.sets > 0)
        pr_write(out, "%10s%10s%8s%8s", "expected", "change", "error", "floor");
    pr_write(out, "\n");
}

static void begin_row(pr_writer *out, const pr_whatif_result *a, const labels *names, size_t g,
                      size_t i)
{
    write_padded(out, a->groups.list[g].name, widest_group(a));
    pr_write(out, "  ");
    write_padded(out, names->shown[i], names->width);
}

static void write_group(pr_writer *out, const pr_whatif_result *a, const labels *names, size_t s,
                        size_t q, size_t g)
{
    double units, money;
    for (size_t i = 0; i + 2 < names->count; i++) {
        begin_row(out, a, names, g, i);
        write_line(out, a, s, q, g, names->line[i]);
        pr_write(out, "\n");
    }
    if (pr_leaving(a, s, g, &units, &money)) {
        begin_row(out, a, names, g, names->count - 2);
        write_estimate(out, a, &(pr_estimate){units, 0, 0, 0, -1, NAN, NAN},
                       &(pr_estimate){.before = money, .after = 0});
        pr_write(out, "\n");
    }
    const pr_total *t = pr_total_of(a, s, q, g);
    begin_row(out, a, names, g, names->count - 1);
    write_estimate(out, a, &t->units, &t->money);
    pr_write(out, "\n");
}

/* Sentences in lines of the width of a page. */
static void write_sentences(pr_writer *out, pr_writer *words)
{
    pr_write_wrapped(out, words, 100);
}

static void write_sales(pr_writer *out, const pr_whatif_result *a, const labels *names, size_t s,
                        size_t q)
{
    pr_writer words = {0};
    pr_write(&words, "%s", pr_question_sentence(a, q));
    pr_write(out, "\n");
    write_sentences(out, &words);
    pr_write(out, "\n");
    write_headings(out, a, names, q);
    for (size_t g = 0; g < a->cohort.group_count; g++)
        write_group(out, a, names, s, q, g);
    for (size_t g = 0; g < a->cohort.group_count && q == PARSREC_RECHOICE; g++) {
        words = (pr_writer){0};
        pr_write_finding(&words, a, s, q, g);
        pr_write(out, "\n");
        write_sentences(out, &words);
    }
}

/* ---- what else there is ---- */

/* How many past baskets are concerned: counted, not estimated. */
static void write_facts(pr_writer *out, const pr_whatif_result *a, size_t s)
{
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        const pr_basket_facts *f = &a->facts[g * a->scenarios.count + s];
        double all = pr_ledger_baskets(&a->past.before, &a->cohort, g), units = 0, kept = 0;
        double without = pr_ledger_baskets(&a->past.after[PARSREC_SELECTION][s], &a->cohort, g);
        for (size_t l = 0; l < a->lines.bins; l++) {
            units += pr_ledger_units(&a->past.before, &a->cohort, g, l);
            kept += pr_ledger_units(&a->past.after[PARSREC_SELECTION][s], &a->cohort, g, l);
        }
        pr_write(out, "%s: ", a->groups.list[g].name);
        if (a->scenarios.list[s].off_count > 0) {
            pr_write(out, "%.1f %% of ", 100 * (all - without) / all);
            pr_write_grouped(out, (uint64_t)all);
            pr_write(out, " baskets hold what leaves; they have %.2f items, all baskets %.2f",
                     all > without ? (units - kept) / (all - without) : 0, units / all);
        } else {
            pr_write(out, "%.2f items per basket", units / all);
        }
        if (f->swapped > 0)
            pr_write(out, "; %.3f per basket swapped within the category", f->swapped / f->baskets);
        if (a->missing == PARSREC_MISSING_LEAVE)
            pr_write(out, "; %.1f %% of baskets given up", 100 * f->lost / f->baskets);
        pr_write(out, "\n");
    }
}

static void write_agreement(pr_writer *out, const pr_whatif_result *a, size_t s, size_t q)
{
    pr_write(out, "\nAgainst the truth (%s, %zu test sets made again), over all categories left\n",
             parsrec_question_name((parsrec_question)q), a->truth.sets);
    write_padded(out, "group", widest_group(a));
    pr_write(out, "  %-10s%9s%12s%9s%9s%10s%10s\n", "estimator", "rank r", "error, pp", "MAPE",
             "floor", "test set", "coverage");
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t e = 0; e < PR_ESTIMATORS; e++) {
            const pr_agreement *x = pr_agreement_of(a, s, q, e, g);
            if (isnan(x->points))
                continue;
            write_padded(out, a->groups.list[g].name, widest_group(a));
            pr_write(out, "  %-10s", parsrec_estimator_name((parsrec_estimator)e));
            write_number(out, "%.2f", x->rank, 9);
            write_number(out, "%.2f", x->points, 12);
            write_number(out, "%.1f %%", 100 * x->error, 9);
            write_number(out, "%.1f %%", 100 * x->floor, 9);
            write_number(out, "%.1f %%", 100 * x->test, 10);
            write_number(out, "%.0f %%", 100 * x->coverage, 10);
            pr_write(out, "\n");
        }
}

static void write_hanging(pr_writer *out, const pr_whatif_result *a)
{
    if (a->hanging_count == 0 || !a->asked[PARSREC_SELECTION])
        return;
    pr_write(out, "\nWhat goes together: each dropped in turn, the strongest pairs\n");
    write_padded(out, "group", widest_group(a));
    pr_write(out, "  %11s%11s%11s  without -> change of\n", "re-choice", "selection", "beyond");
    for (size_t i = 0; i < a->hanging_count; i++) {
        const pr_hanging *h = &a->hanging[i];
        write_padded(out, a->groups.list[h->group].name, widest_group(a));
        pr_write(out, "  %+9.1f %%%+9.1f %%%+9.1f %%  %s -> %s\n",
                 100 * h->change[PARSREC_RECHOICE], 100 * h->change[PARSREC_SELECTION],
                 100 * h->beyond, a->lines.list[a->spill.hub[h->hub]].name,
                 a->lines.list[h->bin].name);
    }
    pr_write(out,
             "beyond: selection, less what it does to everything else together; baskets that hold "
             "a thing are larger than others\n");
}

/* One answer may have several scenarios; what is the same for all of them is said once. */
parsrec_status pr_whatif_table(pr_writer *out, const pr_whatif_result *a, parsrec_error *err)
{
    for (size_t s = 0; s < a->scenarios.count; s++) {
        labels names;
        pr_writer words = {0};
        pr_write(out, "%s%s (estimator %s, %zu model%s)\n", s > 0 ? "\n" : "",
                 a->scenarios.list[s].name, parsrec_estimator_name(a->estimator), a->model_count,
                 a->model_count == 1 ? "" : "s");
        write_facts(out, a, s);
        pr_write_before(&words, a, a->cohort.group_count > 1 ? SIZE_MAX : 0);
        write_sentences(out, &words);
        parsrec_status status = make_labels(&names, a, s, err);
        for (size_t i = 0; i < PR_QUESTIONS && status == PARSREC_OK; i++)
            if (a->asked[pr_question_order[i]])
                write_sales(out, a, &names, s, pr_question_order[i]);
        free_labels(&names);
        PR_TRY(status);
        for (size_t i = 0; i < PR_QUESTIONS && a->truth.sets > 0; i++)
            if (a->asked[pr_question_order[i]])
                write_agreement(out, a, s, pr_question_order[i]);
    }
    write_hanging(out, a);
    return PARSREC_OK;
}
