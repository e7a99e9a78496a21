/* Bars and curves out of a comparison; a model has the same colour everywhere. */
#include "compare/report_charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/bars.h"
#include "report/curves.h"
#include "report/page.h"

/* Arrays that the charts borrow. */
typedef struct desk {
    const char **names;
    size_t *colours;
    pr_chart_bar *bars; /* [2 · rows] */
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
                                   const pr_table_column *column, parsrec_error *err)
{
    for (size_t row = 0; row < c->count; row++) {
        const pr_interval *i = &c->rows[row].intervals[column->measure];
        d->bars[row] = (pr_chart_bar){pr_cell_value(c, row, column), i->low, i->high};
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
    const pr_table_column *column = &c->columns[c->chosen];
    char title[96];
    size_t told = 0;
    for (size_t row = 0; row < c->count; row++) {
        const parsrec_measure *m = &c->rows[row].report.measures[column->measure];
        d->bars[2 * row] = (pr_chart_bar){m->repeat, m->repeat, m->repeat};
        d->bars[2 * row + 1] = (pr_chart_bar){m->fresh, m->fresh, m->fresh};
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

parsrec_status pr_report_chart(pr_writer *page, const parsrec_comparison *c, pr_chart chart,
                               parsrec_error *err)
{
    static parsrec_status (*const draw[])(pr_writer *, const parsrec_comparison *, desk *,
                                          parsrec_error *) = {
        [PR_CHART_MEASURES] = all_bars,
        [PR_CHART_SPLIT] = split_bars,
        [PR_CHART_LEARNING] = learning_curves,
    };
    desk d;
    parsrec_status status = make_desk(&d, c, err);
    if (status == PARSREC_OK)
        status = draw[chart](page, c, &d, err);
    free_desk(&d);
    return status;
}
