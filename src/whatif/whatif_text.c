/* The answer as lines of text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "whatif/answer.h"

enum { NAME_MOST = 34, GROUP_MOST = 18 };

/* Characters of UTF-8 text. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* A name in its column; what is too long keeps its end, which is what tells categories apart. */
static void write_name(pr_writer *out, const char *name, int width)
{
    int skip = width_of(name) - width;
    if (skip > 0) {
        for (skip++; skip > 0; skip--)
            for (name++; ((unsigned char)*name & 0xC0) == 0x80;)
                name++;
        pr_write(out, "…%s", name);
        return;
    }
    pr_write(out, "%s%*s", name, -skip, "");
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

static int widest(const pr_answer *a, size_t s)
{
    int most = 8;
    for (size_t l = 0; l < a->lines.count; l++)
        if (a->watched[s * a->lines.count + l] && width_of(a->lines.list[l].name) > most)
            most = width_of(a->lines.list[l].name);
    return most < NAME_MOST ? most : NAME_MOST;
}

static int widest_group(const pr_answer *a)
{
    int most = 5;
    for (size_t g = 0; g < a->cohort.group_count; g++)
        if (width_of(a->groups.list[g].name) > most)
            most = width_of(a->groups.list[g].name);
    return most < GROUP_MOST ? most : GROUP_MOST;
}

/* ---- sales ---- */

static void write_row(pr_writer *out, const pr_answer *a, size_t s, size_t q, size_t g, size_t line)
{
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
    write_name(out, a->groups.list[g].name, widest_group(a));
    pr_write(out, "  ");
    write_name(out, a->lines.list[line].name, widest(a, s));
    write_number(out, "%.4f", e->before, 9);
    write_number(out, "%.4f", e->after, 9);
    write_number(out, "%+.1f %%", 100 * e->change, 10);
    char range[48] = "-";
    if (!isnan(e->change_low))
        snprintf(range, sizeof range, "[%+.1f, %+.1f]", 100 * e->change_low, 100 * e->change_high);
    pr_write(out, "%*s", 18, range);
    if (q == PARSREC_SELECTION)
        write_number(out, "%.4f",
                     line < a->test.after[q][s].lines && a->lines.list[line].kind != PR_LINE_NEW
                         ? pr_ledger_rate(&a->test.after[q][s], &a->cohort, g, line)
                         : NAN,
                     9);
    if (a->truth.sets > 0) {
        double before = a->truth.before[pr_true_at(&a->truth, 0, g, line)];
        double after = a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
        write_number(out, "%.4f", after, 10);
        write_number(out, "%+.1f %%", before > 0 ? 100 * (after / before - 1) : NAN, 10);
        write_number(out, "%.1f %%", after > 0 ? 100 * fabs(e->after - after) / after : NAN, 8);
        write_number(out, "%.1f %%", 100 * a->truth.floor[q][pr_true_at(&a->truth, s, g, line)], 8);
    }
    pr_write(out, "\n");
}

static void write_sales(pr_writer *out, const pr_answer *a, size_t s, size_t q)
{
    char range[32];
    snprintf(range, sizeof range, "%.0f %% interval", 100 * a->interval);
    pr_write(out, "\n%s\n\n", pr_question_sentence(a, q));
    write_name(out, "group", widest_group(a));
    pr_write(out, "  ");
    write_name(out, "category", widest(a, s));
    pr_write(out, "%9s%9s%10s%18s", "before", "after", "change", range);
    if (q == PARSREC_SELECTION)
        pr_write(out, "%9s", "test set");
    if (a->truth.sets > 0)
        pr_write(out, "%10s%10s%8s%8s", "expected", "change", "error", "floor");
    pr_write(out, "\n");
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t l = 0; l < a->lines.count; l++)
            if (a->watched[s * a->lines.count + l])
                write_row(out, a, s, q, g, l);
}

/* ---- what else there is ---- */

static void write_facts(pr_writer *out, const pr_answer *a, size_t s)
{
    pr_write(out, "\nBaskets drawn from the model\n");
    for (size_t g = 0; g < a->cohort.group_count; g++) {
        const pr_basket_facts *f = &a->facts[g * a->scenarios.count + s];
        double n = f->baskets > 0 ? f->baskets : 1;
        pr_write(out, "  %s: %.1f %% hold what is missing; %.2f items a basket, %.2f in those",
                 a->groups.list[g].name, 100 * f->touched / n, f->items / n,
                 f->touched > 0 ? f->touched_items / f->touched : 0);
        if (f->swapped > 0)
            pr_write(out, "; %.3f a basket swapped within the category", f->swapped / n);
        if (a->missing == PARSREC_MISSING_LEAVE)
            pr_write(out, "; %.1f %% of baskets given up", 100 * f->lost / n);
        pr_write(out, "\n");
    }
}

static void write_agreement(pr_writer *out, const pr_answer *a, size_t s, size_t q)
{
    pr_write(out, "\nAgainst the truth (%s, %zu test sets made again), over all categories left\n",
             parsrec_question_name((parsrec_question)q), a->truth.sets);
    write_name(out, "group", widest_group(a));
    pr_write(out, "  %-10s%9s%12s%9s%9s%10s%10s\n", "estimator", "rank r", "error, pp", "MAPE",
             "floor", "test set", "coverage");
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t e = 0; e < PR_ESTIMATORS; e++) {
            const pr_agreement *x = pr_agreement_of(a, s, q, e, g);
            if (isnan(x->points))
                continue;
            write_name(out, a->groups.list[g].name, widest_group(a));
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

static void write_hanging(pr_writer *out, const pr_answer *a)
{
    if (a->hanging_count == 0)
        return;
    pr_write(out, "\nWhat hangs on what: each dropped in turn, the strongest pairs\n");
    write_name(out, "group", widest_group(a));
    pr_write(out, "  %11s%11s%11s  without -> change of\n", "selection", "beyond", "re-choice");
    for (size_t i = 0; i < a->hanging_count; i++) {
        const pr_hanging *h = &a->hanging[i];
        write_name(out, a->groups.list[h->group].name, widest_group(a));
        pr_write(out, "  %+9.1f %%%+9.1f %%%+9.1f %%  %s -> %s\n",
                 100 * h->change[PARSREC_SELECTION], 100 * h->beyond,
                 100 * h->change[PARSREC_RECHOICE], a->lines.list[a->spill.hub[h->hub]].name,
                 a->lines.list[h->bin].name);
    }
    pr_write(out,
             "beyond: more than all else falls or rises with it; baskets that hold a thing are "
             "larger than others\n");
}

void pr_whatif_table(pr_writer *out, const pr_answer *a)
{
    for (size_t s = 0; s < a->scenarios.count; s++) {
        pr_write(out, "%s%s: units a basket by the estimator %s, %zu user%s, %zu model%s\n",
                 s > 0 ? "\n" : "", a->scenarios.list[s].name, parsrec_estimator_name(a->estimator),
                 a->cohort.user_count, a->cohort.user_count == 1 ? "" : "s", a->model_count,
                 a->model_count == 1 ? "" : "s");
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            if (a->asked[q])
                write_sales(out, a, s, q);
        write_facts(out, a, s);
        for (size_t q = 0; q < PR_QUESTIONS && a->truth.sets > 0; q++)
            if (a->asked[q])
                write_agreement(out, a, s, q);
    }
    write_hanging(out, a);
}
