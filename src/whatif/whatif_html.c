/* The answer as a page that stands alone. */
#include <math.h>
#include <stdio.h>

#include "plot/page.h"
#include "whatif/answer.h"

static void cell(pr_writer *page, const char *format, double value)
{
    char text[48];
    snprintf(text, sizeof text, format, value);
    pr_page_cell(page, isnan(value) ? "-" : text, PR_CELL_PLAIN);
}

/* ---- sales ---- */

static void sales_row(pr_writer *page, const pr_answer *a, size_t s, size_t q, size_t g,
                      size_t line)
{
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
    bool new_item = a->lines.list[line].kind == PR_LINE_NEW;
    char range[64] = "-";
    if (!isnan(e->change_low))
        snprintf(range, sizeof range, "%+.1f to %+.1f %%", 100 * e->change_low,
                 100 * e->change_high);
    pr_page_row(page, a->groups.list[g].name);
    pr_page_cell(page, a->lines.list[line].name, PR_CELL_PLAIN);
    cell(page, "%.4f", e->before);
    cell(page, "%.4f", e->after);
    cell(page, "%+.1f %%", 100 * e->change);
    pr_page_cell(page, range, PR_CELL_PLAIN);
    if (q == PARSREC_SELECTION)
        cell(page, "%.4f",
             new_item ? NAN : pr_ledger_rate(&a->test.after[q][s], &a->cohort, g, line));
    if (a->truth.sets > 0) {
        double after = new_item ? NAN : a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
        cell(page, "%.4f", after);
        cell(page, "%.1f %%", after > 0 ? 100 * fabs(e->after - after) / after : NAN);
        cell(page, "%.1f %%", 100 * a->truth.floor[q][pr_true_at(&a->truth, s, g, line)]);
    }
    pr_page_row_end(page);
}

static void sales_table(pr_writer *page, const pr_answer *a, size_t s, size_t q)
{
    const char *headings[10] = {"group", "category", "before", "after", "change", "interval"};
    size_t count = 6;
    if (q == PARSREC_SELECTION)
        headings[count++] = "test set";
    if (a->truth.sets > 0) {
        headings[count++] = "expected";
        headings[count++] = "error";
        headings[count++] = "noise floor";
    }
    pr_page_table(page, headings, count);
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t l = 0; l < a->lines.count; l++)
            if (a->watched[s * a->lines.count + l])
                sales_row(page, a, s, q, g, l);
    pr_page_table_end(page);
}

static parsrec_status question(pr_writer *page, const pr_answer *a, size_t s, size_t q,
                               parsrec_error *err)
{
    char heading[500];
    snprintf(heading, sizeof heading, "%s: %s", a->scenarios.list[s].name,
             parsrec_question_name((parsrec_question)q));
    pr_page_section(page, heading);
    pr_page_text(page, pr_question_sentence(a, q));
    sales_table(page, a, s, q);
    pr_page_gallery(page);
    for (size_t g = 0; g < a->cohort.group_count; g++)
        PR_TRY(pr_whatif_chart(page, NULL, a, s, q, g, err));
    pr_page_gallery_end(page);
    return PARSREC_OK;
}

/* ---- against the truth ---- */

static void agreement(pr_writer *page, const pr_answer *a, size_t s, size_t q)
{
    static const char *const headings[] = {"group",           "estimator",      "rank correlation",
                                           "error of change", "MAPE, expected", "noise floor",
                                           "MAPE, test set",  "coverage"};
    char text[300];
    snprintf(text, sizeof text, "%s: estimators against the truth",
             parsrec_question_name((parsrec_question)q));
    pr_page_section(page, text);
    pr_page_text(page, "Over all categories that stay. The noise floor is the mean error that the "
                       "expected sales themselves have against a test set of this size.");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t e = 0; e < PR_ESTIMATORS; e++) {
            const pr_agreement *x = pr_agreement_of(a, s, q, e, g);
            if (isnan(x->points))
                continue;
            pr_page_row(page, a->groups.list[g].name);
            pr_page_cell(page, parsrec_estimator_name((parsrec_estimator)e), PR_CELL_PLAIN);
            cell(page, "%.2f", x->rank);
            cell(page, "%.2f points", x->points);
            cell(page, "%.1f %%", 100 * x->error);
            cell(page, "%.1f %%", 100 * x->floor);
            cell(page, "%.1f %%", 100 * x->test);
            cell(page, "%.0f %%", 100 * x->coverage);
            pr_page_row_end(page);
        }
    pr_page_table_end(page);
}

/* ---- what hangs on what ---- */

static void hanging(pr_writer *page, const pr_answer *a)
{
    static const char *const headings[] = {"group",     "without", "category",
                                           "selection", "beyond",  "re-choice"};
    if (a->hanging_count == 0)
        return;
    pr_page_section(page, "What hangs on what");
    pr_page_text(page, "Each category dropped in turn: the strongest "
                       "pairs. Beyond is what selection does to a category more than to all others "
                       "together; baskets that hold a thing are larger than others.");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < a->hanging_count; i++) {
        const pr_hanging *h = &a->hanging[i];
        pr_page_row(page, a->groups.list[h->group].name);
        pr_page_cell(page, a->lines.list[a->spill.hub[h->hub]].name, PR_CELL_PLAIN);
        pr_page_cell(page, a->lines.list[h->bin].name, PR_CELL_PLAIN);
        cell(page, "%+.1f %%", 100 * h->change[PARSREC_SELECTION]);
        cell(page, "%+.1f %%", 100 * h->beyond);
        cell(page, "%+.1f %%", 100 * h->change[PARSREC_RECHOICE]);
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
}

static void made_from(pr_writer *page, const pr_answer *a)
{
    char text[200];
    pr_page_section(page, "How it was made");
    if (a->command != NULL)
        pr_page_code(page, a->command);
    pr_page_list(page);
    pr_page_item(page, "version", parsrec_version());
    if (a->data_name != NULL)
        pr_page_item(page, "data", a->data_name);
    pr_page_item(page, "checksum of the data", a->checksum);
    snprintf(text, sizeof text, "%zu, each %zu baskets drawn for each of %zu users", a->model_count,
             a->draws, a->cohort.user_count);
    pr_page_item(page, "models", text);
    snprintf(text, sizeof text, "%.0f %%, %zu resamples of users%s; seed %llu", 100 * a->interval,
             a->resamples, a->model_count > 1 ? " and models" : "", (unsigned long long)a->seed);
    pr_page_item(page, "intervals", text);
    pr_page_item(page, "levels", a->raw ? "as the model has them" : "scaled to past sales");
    pr_page_list_end(page);
    pr_page_quiet(page, "Intervals hold what other users, and other trainings where several models "
                        "are given, would change. They cannot hold what all models get wrong.");
}

parsrec_status pr_whatif_html(pr_writer *page, const pr_answer *a, parsrec_error *err)
{
    char title[400];
    snprintf(title, sizeof title, "What if: %s",
             a->scenarios.count == 1 ? a->scenarios.list[0].name : "several scenarios");
    pr_page_begin(page, title);
    for (size_t s = 0; s < a->scenarios.count; s++) {
        for (size_t q = 0; q < PR_QUESTIONS; q++)
            if (a->asked[q])
                PR_TRY(question(page, a, s, q, err));
        for (size_t q = 0; q < PR_QUESTIONS && a->truth.sets > 0; q++)
            if (a->asked[q])
                agreement(page, a, s, q);
    }
    hanging(page, a);
    made_from(page, a);
    pr_page_end(page);
    return PARSREC_OK;
}
