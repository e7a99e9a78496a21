/* The report as a page: verdict and table first, then pictures, then how it was made. */
#include <stdio.h>

#include "base/memory.h"
#include "compare/comparison.h"
#include "compare/report_charts.h"
#include "report/page.h"

/* Hands a sentence that writes itself to the page. */
static void sentence(pr_writer *page, const parsrec_comparison *c,
                     void (*write)(pr_writer *out, const parsrec_comparison *c),
                     void (*show)(pr_writer *page, const char *text))
{
    pr_writer words = {0};
    write(&words, c);
    char *text = pr_writer_take(&words);
    if (text == NULL)
        page->failed = true;
    else
        show(page, text);
    pr_free(text);
}

/* ---- the table ---- */

static void table_row(pr_writer *page, const parsrec_comparison *c, size_t row)
{
    char number[32];
    (c->rows[row].ceiling ? pr_page_aside : pr_page_row)(page, c->rows[row].entry->name);
    for (size_t i = 0; i < c->column_count; i++) {
        const pr_table_column *column = &c->columns[i];
        static const pr_cell looks[] = {PR_CELL_PLAIN, PR_CELL_BEST, PR_CELL_SECOND};
        pr_page_cell(page, pr_decimal(pr_cell_value(c, row, column), number, sizeof number),
                     looks[pr_cell_rank(c, row, column)]);
    }
    pr_page_row_end(page);
}

static void table_rows(pr_writer *page, const parsrec_comparison *c, bool ceiling)
{
    for (size_t row = 0; row < c->count; row++)
        if (c->rows[row].ceiling == ceiling)
            table_row(page, c, row);
}

static void table(pr_writer *page, const parsrec_comparison *c)
{
    const char *headings[PR_COLUMNS + 1] = {pr_phrases_of(c)->row};
    char text[32];
    for (size_t i = 0; i < c->column_count; i++)
        headings[i + 1] = c->columns[i].brief;
    pr_page_table(page, headings, c->column_count + 1);
    table_rows(page, c, false);
    if (!c->ablation) {
        pr_page_aside(page, "best over second");
        for (size_t i = 0; i < c->column_count; i++)
            pr_page_cell(page, pr_improvement(c, &c->columns[i], text, sizeof text), PR_CELL_PLAIN);
        pr_page_row_end(page);
    }
    table_rows(page, c, true);
    pr_page_aside(page, "random ranker");
    for (size_t i = 0; i < c->column_count; i++)
        pr_page_cell(
            page,
            pr_decimal(c->rows[0].report.measures[c->columns[i].measure].random, text, sizeof text),
            PR_CELL_PLAIN);
    pr_page_row_end(page);
    pr_page_table_end(page);
    sentence(page, c, pr_write_legend, pr_page_quiet);
}

/* ---- what the numbers are worth ---- */

static void worth(pr_writer *page, const parsrec_comparison *c)
{
    const pr_table_column *column = &c->columns[c->chosen];
    const pr_phrases *phrases = pr_phrases_of(c);
    const char *headings[] = {phrases->row,        column->name,     "95 % interval",
                              phrases->difference, "interval of it", "p"};
    char number[32], range[80];
    pr_page_section(page, "Is it more than chance?");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        bool alone = pr_comparison_reference(c, row) == PR_NONE;
        const char *reference = r->ceiling ? "" : phrases->reference;
        pr_page_row(page, r->entry->name);
        pr_page_cell(page, pr_decimal(pr_cell_value(c, row, column), number, sizeof number),
                     alone && !r->ceiling ? PR_CELL_BEST : PR_CELL_PLAIN);
        pr_page_cell(page, pr_interval_text(&r->intervals[column->measure], range, sizeof range),
                     PR_CELL_PLAIN);
        pr_page_cell(
            page, alone ? reference : pr_decimal(r->versus.difference.value, number, sizeof number),
            PR_CELL_PLAIN);
        pr_page_cell(page,
                     alone ? "" : pr_interval_text(&r->versus.difference, range, sizeof range),
                     PR_CELL_PLAIN);
        pr_page_cell(page, alone ? "" : pr_p_value(r->p, number, sizeof number), PR_CELL_PLAIN);
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
    pr_page_quiet(page, "Differences are of the same users: whole users are drawn again and again. "
                        "p is how often a difference this large comes about when chance decides, "
                        "for each user, which model's result is whose; corrected for the number of "
                        "models (Holm).");
}

/* The same with seeds of training in the place of users. */
static void seeds(pr_writer *page, const parsrec_comparison *c)
{
    const pr_table_column *column = &c->columns[c->chosen];
    const pr_phrases *phrases = pr_phrases_of(c);
    const char *headings[] = {phrases->row, column->name, "95 % interval over seeds",
                              phrases->difference, "interval of it over seeds"};
    char text[80];
    pr_page_section(page, "How much is the luck of a seed?");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        bool alone = pr_comparison_reference(c, row) == PR_NONE;
        if (r->judged < 2)
            continue;
        const pr_interval *spread = &r->spread[column->measure];
        pr_page_row(page, r->entry->name);
        pr_page_cell(page, pr_decimal(spread->value, text, sizeof text), PR_CELL_PLAIN);
        pr_page_cell(page, pr_interval_text(spread, text, sizeof text), PR_CELL_PLAIN);
        pr_page_cell(page,
                     alone ? phrases->reference
                           : pr_decimal(r->versus_spread.value, text, sizeof text),
                     PR_CELL_PLAIN);
        pr_page_cell(page, alone ? "" : pr_interval_text(&r->versus_spread, text, sizeof text),
                     PR_CELL_PLAIN);
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
    pr_page_quiet(page, "Means and intervals of trainings that differ in their seed alone, by "
                        "Student's t; differences are taken seed by seed.");
}

/* ---- how it was made ---- */

static void models(pr_writer *page, const parsrec_comparison *c)
{
    static const char *const headings[] = {"name",   "kind",     "settings",   "parameters",
                                           "epochs", "training", "evaluation", "fingerprint"};
    char text[32];
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        pr_writer words = {0};
        pr_write_settings(&words, r->entry);
        char *set = pr_writer_take(&words);
        pr_page_row(page, r->entry->name);
        pr_page_cell(page, r->kind, PR_CELL_TEXT);
        pr_page_cell(page, set != NULL ? set : "", PR_CELL_TEXT);
        snprintf(text, sizeof text, "%llu", (unsigned long long)r->parameters);
        pr_page_cell(page, text, PR_CELL_PLAIN);
        snprintf(text, sizeof text, "%zu", r->learning.count);
        pr_page_cell(page, r->learning.count > 0 ? text : "-", PR_CELL_PLAIN);
        snprintf(text, sizeof text, "%.0f s", r->learning.seconds);
        pr_page_cell(page, r->learning.count > 0 ? text : "-", PR_CELL_PLAIN);
        snprintf(text, sizeof text, "%.1f s", r->report.seconds);
        pr_page_cell(page, text, PR_CELL_PLAIN);
        pr_page_cell(page, r->report.fingerprint, PR_CELL_PLAIN);
        pr_page_row_end(page);
        pr_free(set);
    }
    pr_page_table_end(page);
}

static void traces(pr_writer *page, const parsrec_comparison *c)
{
    char text[160];
    pr_page_section(page, "How it was made");
    if (c->command != NULL)
        pr_page_code(page, c->command);
    pr_page_list(page);
    pr_page_item(page, "data", c->data_path);
    pr_page_item(page, "checksum of the data", c->stats.checksum);
    snprintf(text, sizeof text, "%llu users, %llu sessions, %llu items, %llu actions",
             (unsigned long long)c->stats.users, (unsigned long long)c->stats.sessions,
             (unsigned long long)c->stats.items, (unsigned long long)c->stats.actions);
    pr_page_item(page, "size", text);
    snprintf(text, sizeof text, "training %llu, sampled items %llu, intervals and tests %llu",
             (unsigned long long)c->seed, (unsigned long long)c->eval.seed,
             (unsigned long long)c->resampling.seed);
    pr_page_item(page, "seeds", text);
    snprintf(text, sizeof text, "%zu of %zu users for intervals, %zu for tests",
             c->resampling.resamples, c->user_count, c->testing.resamples);
    pr_page_item(page, "resamples", text);
    snprintf(text, sizeof text, "parsrec %s", parsrec_version());
    pr_page_item(page, "program", text);
    snprintf(text, sizeof text, "%.1f s, without what was trained before", c->seconds);
    pr_page_item(page, "time of this run", text);
    pr_page_list_end(page);
    pr_page_fold(page, "Models and their settings");
    models(page, c);
    pr_page_fold_end(page);
}

parsrec_status pr_report_html(pr_writer *page, const parsrec_comparison *c, parsrec_error *err)
{
    pr_page_begin(page, pr_phrases_of(c)->title);
    sentence(page, c, pr_write_verdict, pr_page_lead);
    sentence(page, c, pr_write_protocol, pr_page_text);
    table(page, c);
    PR_TRY(pr_report_chart(page, c, PR_CHART_MEASURES, err));
    worth(page, c);
    if (c->seeds > 1)
        seeds(page, c);
    PR_TRY(pr_report_chart(page, c, PR_CHART_SPLIT, err));
    PR_TRY(pr_report_chart(page, c, PR_CHART_LEARNING, err));
    traces(page, c);
    pr_page_end(page);
    return page->failed ? pr_fail_memory(err) : PARSREC_OK;
}
