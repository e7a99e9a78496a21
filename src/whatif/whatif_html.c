/* The answer as a page that stands alone. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/page.h"
#include "whatif/answer.h"

static void cell(pr_writer *page, const char *format, double value)
{
    char text[48];
    snprintf(text, sizeof text, format, value);
    pr_page_cell(page, isnan(value) ? "-" : text, PR_CELL_PLAIN);
}

/* ---- sales ---- */

/* Marked where the interval leaves zero out: more or less than before, not by chance. */
static void change_cells(pr_writer *page, const pr_estimate *e)
{
    char text[PR_PERCENT_BYTES];
    bool more = e->change_low > 0, less = e->change_high < 0;
    pr_page_cell(page, pr_percent_text(text, e->change),
                 more   ? PR_CELL_MORE
                 : less ? PR_CELL_LESS
                        : PR_CELL_PLAIN);
    pr_page_cell(page, pr_range_text(text, e), PR_CELL_PLAIN);
}

static void estimate_cells(pr_writer *page, const pr_whatif_result *a, const pr_estimate *e,
                           const pr_estimate *money)
{
    cell(page, "%.4f", e->before);
    cell(page, "%.4f", e->after);
    change_cells(page, e);
    if (a->price == NULL)
        return;
    cell(page, "%.4f", money->before);
    cell(page, "%.4f", money->after);
}

static void sales_table(pr_writer *page, const pr_whatif_result *a, const size_t *shown,
                        size_t count, size_t s, size_t q, size_t g)
{
    char range[32];
    snprintf(range, sizeof range, "%.0f %% interval", 100 * a->interval);
    const char *headings[] = {a->lines.by_item ? "item" : "category",
                              "units before",
                              "units after",
                              "change",
                              range,
                              "revenue before",
                              "revenue after"};
    double units, revenue;
    pr_page_table(page, headings, a->price != NULL ? 7 : 5);
    for (size_t i = 0; i < count; i++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, shown[i]);
        pr_estimate money = pr_money_of(e, pr_line_price(a, SIZE_MAX, g, shown[i]),
                                        pr_line_price(a, s, g, shown[i]));
        pr_page_row(page, a->lines.list[shown[i]].name);
        estimate_cells(page, a, e, &money);
        pr_page_row_end(page);
    }
    if (pr_leaving(a, s, g, &units, &revenue)) {
        pr_page_aside(page, a->scenarios.list[s].leaving);
        estimate_cells(page, a, &(pr_estimate){units, 0, 0, 0, -1, NAN, NAN},
                       &(pr_estimate){.before = revenue, .after = 0});
        pr_page_row_end(page);
    }
    const pr_total *t = pr_total_of(a, s, q, g);
    pr_page_total(page, pr_total_name(a));
    estimate_cells(page, a, &t->units, &t->money);
    pr_page_row_end(page);
    pr_page_table_end(page);
}

/* The same rows against what the generator makes. */
static void truth_table(pr_writer *page, const pr_whatif_result *a, const size_t *shown,
                        size_t count, size_t s, size_t q, size_t g)
{
    static const char *const headings[] = {"category",    "estimated change", "true change",
                                           "units after", "true units after", "error",
                                           "noise floor", "one test set"};
    char text[PR_PERCENT_BYTES];
    pr_page_table(page, headings, q == PARSREC_SELECTION ? 8 : 7);
    for (size_t i = 0; i < count; i++) {
        const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, shown[i]);
        bool new_item = a->lines.list[shown[i]].kind == PR_LINE_NEW;
        double before = a->truth.before[pr_true_at(&a->truth, 0, g, shown[i])];
        double after = new_item ? NAN : a->truth.after[q][pr_true_at(&a->truth, s, g, shown[i])];
        pr_page_row(page, a->lines.list[shown[i]].name);
        pr_page_cell(page, pr_percent_text(text, e->change), PR_CELL_PLAIN);
        pr_page_cell(page, pr_percent_text(text, before > 0 ? after / before - 1 : NAN),
                     PR_CELL_PLAIN);
        cell(page, "%.4f", e->after);
        cell(page, "%.4f", after);
        cell(page, "%.1f %%", after > 0 ? 100 * fabs(e->after - after) / after : NAN);
        cell(page, "%.1f %%", 100 * a->truth.floor[q][pr_true_at(&a->truth, s, g, shown[i])]);
        if (q == PARSREC_SELECTION)
            cell(page, "%.4f",
                 new_item ? NAN : pr_ledger_rate(&a->test.after[q][s], &a->cohort, g, shown[i]));
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
}

/* Hands what writes itself to the page. */
static void written(pr_writer *page, pr_writer *words,
                    void (*show)(pr_writer *page, const char *text))
{
    char *text = pr_writer_take(words);
    if (text == NULL)
        page->failed = true;
    else
        show(page, text);
    pr_free(text);
}

static parsrec_status group_block(pr_writer *page, const pr_whatif_result *a, const size_t *shown,
                                  size_t count, size_t s, size_t q, size_t g, parsrec_error *err)
{
    pr_writer words = {0};
    if (a->cohort.group_count > 1)
        pr_page_heading(page, a->groups.list[g].name);
    if (q == PARSREC_RECHOICE) {
        pr_write_finding(&words, a, s, q, g);
        written(page, &words, pr_page_lead);
    }
    sales_table(page, a, shown, count, s, q, g);
    words = (pr_writer){0};
    pr_write_before(&words, a, g);
    written(page, &words, pr_page_quiet);
    PR_TRY(pr_whatif_chart(page, NULL, a, s, q, g, err));
    if (a->truth.sets > 0) {
        pr_page_fold(page, "Against the truth");
        truth_table(page, a, shown, count, s, q, g);
        pr_page_fold_end(page);
    }
    return PARSREC_OK;
}

static parsrec_status question(pr_writer *page, const pr_whatif_result *a, size_t s, size_t q,
                               parsrec_error *err)
{
    char heading[500];
    size_t *shown = pr_alloc(a->lines.count, sizeof *shown);
    if (shown == NULL)
        return pr_fail_memory(err);
    snprintf(heading, sizeof heading, "%s%s%s",
             a->scenarios.count > 1 ? a->scenarios.list[s].name : "",
             a->scenarios.count > 1 ? ": " : "", pr_question_asked(q));
    pr_page_section(page, heading);
    pr_page_text(page, pr_question_sentence(a, q));
    size_t count = pr_shown_lines(shown, a, s);
    parsrec_status status = PARSREC_OK;
    for (size_t g = 0; g < a->cohort.group_count && status == PARSREC_OK; g++)
        status = group_block(page, a, shown, count, s, q, g, err);
    pr_free(shown);
    return status;
}

/* ---- against the truth ---- */

static void agreement(pr_writer *page, const pr_whatif_result *a, size_t s, size_t q)
{
    static const char *const headings[] = {"group",           "estimator",      "rank correlation",
                                           "error of change", "MAPE, expected", "noise floor",
                                           "MAPE, test set",  "coverage"};
    char text[300];
    snprintf(text, sizeof text, "%s: estimators against the truth",
             q == PARSREC_RECHOICE ? "Re-choice" : "Selection");
    pr_page_fold(page, text);
    pr_page_text(page, "Over all categories that stay. The noise floor is the mean error that the "
                       "expected sales themselves have against a test set of this size.");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t g = 0; g < a->cohort.group_count; g++)
        for (size_t e = 0; e < PR_ESTIMATORS; e++) {
            const pr_agreement *x = pr_agreement_of(a, s, q, e, g);
            if (isnan(x->points))
                continue;
            pr_page_row(page, a->groups.list[g].name);
            pr_page_cell(page, parsrec_estimator_name((parsrec_estimator)e), PR_CELL_TEXT);
            cell(page, "%.2f", x->rank);
            cell(page, "%.2f points", x->points);
            cell(page, "%.1f %%", 100 * x->error);
            cell(page, "%.1f %%", 100 * x->floor);
            cell(page, "%.1f %%", 100 * x->test);
            cell(page, "%.0f %%", 100 * x->coverage);
            pr_page_row_end(page);
        }
    pr_page_table_end(page);
    pr_page_fold_end(page);
}

/* ---- what goes together ---- */

static void hanging(pr_writer *page, const pr_whatif_result *a)
{
    static const char *const headings[] = {"without",   "change of", "group",
                                           "re-choice", "selection", "beyond"};
    char text[PR_PERCENT_BYTES];
    if (a->hanging_count == 0)
        return;
    pr_page_fold(page, "What goes together: each dropped in turn");
    pr_page_text(page,
                 "The strongest pairs. Re-choice: what the same shoppers would buy. Selection "
                 "compares baskets without it with all baskets and is not an effect; baskets that "
                 "hold a thing are larger than others. Beyond: selection, less what it does to "
                 "everything else together.");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < a->hanging_count; i++) {
        const pr_hanging *h = &a->hanging[i];
        pr_page_row(page, a->lines.list[a->spill.hub[h->hub]].name);
        pr_page_cell(page, a->lines.list[h->bin].name, PR_CELL_TEXT);
        pr_page_cell(page, a->groups.list[h->group].name, PR_CELL_TEXT);
        pr_page_cell(page, pr_percent_text(text, h->change[PARSREC_RECHOICE]), PR_CELL_PLAIN);
        pr_page_cell(page, pr_percent_text(text, h->change[PARSREC_SELECTION]), PR_CELL_PLAIN);
        pr_page_cell(page, pr_percent_text(text, h->beyond), PR_CELL_PLAIN);
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
    pr_page_fold_end(page);
}

static void made_from(pr_writer *page, const pr_whatif_result *a)
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
    snprintf(text, sizeof text, "%zu; %zu baskets drawn for each of %zu users", a->model_count,
             a->draws, a->cohort.user_count);
    pr_page_item(page, "models", text);
    snprintf(text, sizeof text, "%.0f %%, %zu resamples of users%s; seed %llu", 100 * a->interval,
             a->resamples, a->model_count > 1 ? " and models" : "", (unsigned long long)a->seed);
    pr_page_item(page, "intervals", text);
    pr_page_item(page, "levels",
                 a->raw ? "model estimates without calibration to past sales"
                        : "calibrated to past sales");
    pr_page_list_end(page);
    pr_page_quiet(page, "Intervals show what other users, and other trainings where several models "
                        "are given, would change. They cannot show what all models get wrong.");
}

parsrec_status pr_whatif_html(pr_writer *page, const pr_whatif_result *a, parsrec_error *err)
{
    char title[400];
    snprintf(title, sizeof title, "What if: %s",
             a->scenarios.count == 1 ? a->scenarios.list[0].name : "several scenarios");
    pr_page_begin(page, title);
    for (size_t s = 0; s < a->scenarios.count; s++) {
        for (size_t i = 0; i < PR_QUESTIONS; i++)
            if (a->asked[pr_question_order[i]])
                PR_TRY(question(page, a, s, pr_question_order[i], err));
        for (size_t i = 0; i < PR_QUESTIONS && a->truth.sets > 0; i++)
            if (a->asked[pr_question_order[i]])
                agreement(page, a, s, pr_question_order[i]);
    }
    hanging(page, a);
    made_from(page, a);
    pr_page_end(page);
    return PARSREC_OK;
}
