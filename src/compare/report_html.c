/* The report as a page: verdict and table first, then pictures, then how it was made. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "compare/comparison.h"
#include "plot/bars.h"
#include "plot/curves.h"
#include "plot/page.h"

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
        const pr_column *column = &c->columns[i];
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
    const char *headings[PR_COLUMNS + 1] = {"model"};
    char text[32];
    for (size_t i = 0; i < c->column_count; i++)
        headings[i + 1] = c->columns[i].brief;
    pr_page_table(page, headings, c->column_count + 1);
    table_rows(page, c, false);
    pr_page_aside(page, "best over second");
    for (size_t i = 0; i < c->column_count; i++)
        pr_page_cell(page, pr_improvement(c, &c->columns[i], text, sizeof text), PR_CELL_PLAIN);
    pr_page_row_end(page);
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

/* ---- pictures ---- */

/* Arrays that the charts borrow. */
typedef struct desk {
    const char **names;
    size_t *colours;
    pr_bar *bars; /* [2 · rows] */
    pr_curve *curves;
} desk;

static parsrec_status make_desk(desk *d, const parsrec_comparison *c, parsrec_error *err)
{
    *d = (desk){pr_alloc(c->count, sizeof *d->names), pr_alloc(c->count, sizeof *d->colours),
                pr_alloc(2 * c->count, sizeof *d->bars), pr_alloc(c->count, sizeof *d->curves)};
    if (d->names == NULL || d->colours == NULL || d->bars == NULL || d->curves == NULL)
        return pr_fail_memory(err);
    for (size_t row = 0; row < c->count; row++) {
        d->names[row] = c->rows[row].entry->name;
        d->colours[row] = row;
    }
    return PARSREC_OK;
}

static void free_desk(desk *d)
{
    pr_free(d->names);
    pr_free(d->colours);
    pr_free(d->bars);
    pr_free(d->curves);
}

static parsrec_status measure_bars(pr_writer *page, const parsrec_comparison *c, desk *d,
                                   const pr_column *column, parsrec_error *err)
{
    for (size_t row = 0; row < c->count; row++) {
        const pr_interval *i = &c->rows[row].intervals[column->measure];
        d->bars[row] = (pr_bar){pr_cell_value(c, row, column), i->low, i->high};
    }
    pr_bars chart = {.title = column->name,
                     .rows = d->names,
                     .row_count = c->count,
                     .series_count = 1,
                     .bars = d->bars,
                     .colours = d->colours,
                     .mark = c->rows[0].report.measures[column->measure].random,
                     .mark_label = "random ranker"};
    return pr_bars_inline(&chart, page, err);
}

/* One picture a measure, at its largest cutoff. */
static parsrec_status all_bars(pr_writer *page, const parsrec_comparison *c, desk *d,
                               parsrec_error *err)
{
    const parsrec_measure *all = c->rows[0].report.measures;
    pr_page_section(page, "How good each model is");
    pr_page_text(page, "Longer is better. The thin line is the 95 % interval: how far the value "
                       "would move with other users like these.");
    pr_page_gallery(page);
    for (size_t i = 0; i < c->column_count; i++) {
        const parsrec_measure *m = &all[c->columns[i].measure];
        bool largest = true;
        for (size_t j = 0; j < c->column_count; j++) {
            const parsrec_measure *other = &all[c->columns[j].measure];
            largest &= strcmp(other->name, m->name) != 0 || other->k <= m->k;
        }
        if (largest)
            PR_TRY(measure_bars(page, c, d, &c->columns[i], err));
    }
    pr_page_gallery_end(page);
    return PARSREC_OK;
}

static parsrec_status split_bars(pr_writer *page, const parsrec_comparison *c, desk *d,
                                 parsrec_error *err)
{
    static const char *const series[] = {"bought before", "new to the user"};
    const pr_column *column = &c->columns[c->chosen];
    char title[96];
    size_t told = 0;
    for (size_t row = 0; row < c->count; row++) {
        const parsrec_measure *m = &c->rows[row].report.measures[column->measure];
        d->bars[2 * row] = (pr_bar){m->repeat, m->repeat, m->repeat};
        d->bars[2 * row + 1] = (pr_bar){m->fresh, m->fresh, m->fresh};
        told += !isnan(m->repeat) || !isnan(m->fresh);
    }
    if (told == 0)
        return PARSREC_OK;
    snprintf(title, sizeof title, "%s", column->name);
    pr_page_section(page, "Repeat and new items");
    pr_page_text(page, "The same measure apart for items that the user had in an earlier session "
                       "and for items that are new to the user. A model that only repeats the past "
                       "is strong on the first and weak on the second.");
    pr_bars chart = {.title = title,
                     .rows = d->names,
                     .row_count = c->count,
                     .series = series,
                     .series_count = 2,
                     .bars = d->bars,
                     .mark = NAN};
    return pr_bars_inline(&chart, page, err);
}

static parsrec_status learning_curves(pr_writer *page, const parsrec_comparison *c, desk *d,
                                      parsrec_error *err)
{
    size_t count = 0;
    char label[64] = "";
    size_t *colours = pr_alloc(c->count, sizeof *colours);
    if (colours == NULL)
        return pr_fail_memory(err);
    for (size_t row = 0; row < c->count; row++) {
        const pr_learning *l = &c->rows[row].learning;
        if (l->count == 0)
            continue;
        snprintf(label, sizeof label, "%s of the validation sessions", l->measure);
        colours[count] = row;
        d->curves[count++] = (pr_curve){d->names[row], l->epoch, l->value, l->count};
    }
    pr_panel panel = {label, d->curves, count, colours};
    pr_curves chart = {"Validation after each epoch", "epoch", &panel, 1};
    parsrec_status status = PARSREC_OK;
    if (count > 0) {
        pr_page_section(page, "How they learnt");
        status = pr_curves_inline(&chart, page, err);
    }
    pr_free(colours);
    return status;
}

/* ---- what the numbers are worth ---- */

static void worth(pr_writer *page, const parsrec_comparison *c)
{
    const pr_column *column = &c->columns[c->chosen];
    const char *headings[] = {
        "model", column->name, "95 % interval", "difference to the best", "interval of it", "p"};
    char number[32], range[80];
    pr_page_section(page, "Is it more than chance?");
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        bool best = row == column->best;
        pr_page_row(page, r->entry->name);
        pr_page_cell(page, pr_decimal(pr_cell_value(c, row, column), number, sizeof number),
                     best ? PR_CELL_BEST : PR_CELL_PLAIN);
        pr_page_cell(page, pr_range(&r->intervals[column->measure], range, sizeof range),
                     PR_CELL_PLAIN);
        pr_page_cell(
            page, best ? "the best" : pr_decimal(r->versus.difference.value, number, sizeof number),
            PR_CELL_PLAIN);
        pr_page_cell(page, best ? "" : pr_range(&r->versus.difference, range, sizeof range),
                     PR_CELL_PLAIN);
        pr_page_cell(page, best ? "" : pr_p_value(r->p, number, sizeof number), PR_CELL_PLAIN);
        pr_page_row_end(page);
    }
    pr_page_table_end(page);
    pr_page_quiet(page, "Differences are of the same users: whole users are drawn again and again. "
                        "p is how often a difference this large comes about when chance decides, "
                        "for each user, which model's result is whose; corrected for the number of "
                        "models (Holm).");
}

/* ---- how it was made ---- */

static void models(pr_writer *page, const parsrec_comparison *c)
{
    static const char *const headings[] = {"model",  "kind",     "settings",   "parameters",
                                           "epochs", "training", "evaluation", "fingerprint"};
    char text[32];
    pr_page_table(page, headings, sizeof headings / sizeof *headings);
    for (size_t row = 0; row < c->count; row++) {
        const pr_contender *r = &c->rows[row];
        pr_writer words = {0};
        pr_write_settings(&words, r->entry);
        char *set = pr_writer_take(&words);
        pr_page_row(page, r->entry->name);
        pr_page_cell(page, r->kind, PR_CELL_PLAIN);
        pr_page_cell(page, set != NULL ? set : "", PR_CELL_PLAIN);
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
    models(page, c);
}

static parsrec_status pictures(pr_writer *page, const parsrec_comparison *c, parsrec_error *err)
{
    desk d;
    parsrec_status status = make_desk(&d, c, err);
    if (status == PARSREC_OK)
        status = all_bars(page, c, &d, err);
    if (status == PARSREC_OK) {
        worth(page, c);
        status = split_bars(page, c, &d, err);
    }
    if (status == PARSREC_OK)
        status = learning_curves(page, c, &d, err);
    free_desk(&d);
    return status;
}

parsrec_status pr_report_html(pr_writer *page, const parsrec_comparison *c, parsrec_error *err)
{
    pr_page_begin(page, "Comparison of models");
    sentence(page, c, pr_write_verdict, pr_page_text);
    sentence(page, c, pr_write_protocol, pr_page_text);
    table(page, c);
    PR_TRY(pictures(page, c, err));
    traces(page, c);
    pr_page_end(page);
    return page->failed ? pr_fail_memory(err) : PARSREC_OK;
}
