/* The paper's figure: sales of each line before and after, estimated and actual, one chart a group. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "plot/bars.h"
#include "whatif/answer.h"

enum { SERIES_MOST = 4, TITLE_BYTES = 400 };

typedef struct chart {
    const char **names;
    pr_bar *bars;
    const char *series[SERIES_MOST];
    size_t rows, series_count;
} chart;

static pr_bar plain(double value)
{
    return (pr_bar){value, value, value};
}

static void add_row(chart *c, const pr_answer *a, size_t s, size_t q, size_t g, size_t line)
{
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
    pr_bar *bars = c->bars + c->rows * c->series_count;
    size_t n = 0;
    bool known = !isnan(e->low);
    bars[n++] = plain(e->before);
    bars[n++] = (pr_bar){e->after, known ? e->low : e->after, known ? e->high : e->after};
    if (q == PARSREC_SELECTION)
        bars[n++] = plain(pr_ledger_rate(&a->test.after[q][s], &a->cohort, g, line));
    if (a->truth.sets > 0)
        bars[n++] = plain(a->truth.after[q][pr_true_at(&a->truth, s, g, line)]);
    c->names[c->rows++] = a->lines.list[line].name;
}

static void name_series(chart *c, const pr_answer *a, size_t q)
{
    c->series[c->series_count++] = "before";
    c->series[c->series_count++] = "estimated";
    if (q == PARSREC_SELECTION)
        c->series[c->series_count++] = "test set";
    if (a->truth.sets > 0)
        c->series[c->series_count++] = "expected";
}

parsrec_status pr_whatif_chart(pr_writer *page, const char *path, const pr_answer *a,
                               size_t scenario, size_t question, size_t group, parsrec_error *err)
{
    size_t lines = a->lines.count;
    char title[TITLE_BYTES];
    chart c = {.names = pr_alloc(lines, sizeof *c.names),
               .bars = pr_alloc(lines * SERIES_MOST, sizeof *c.bars)};
    parsrec_status status = c.names != NULL && c.bars != NULL ? PARSREC_OK : pr_fail_memory(err);
    if (status == PARSREC_OK) {
        name_series(&c, a, question);
        for (size_t l = 0; l < lines; l++)
            if (a->watched[scenario * lines + l])
                add_row(&c, a, scenario, question, group, l);
        snprintf(title, sizeof title, "%s: units a basket", a->groups.list[group].name);
        pr_bars bars = {.title = title,
                        .rows = c.names,
                        .row_count = c.rows,
                        .series = c.series,
                        .series_count = c.series_count,
                        .bars = c.bars,
                        .mark = NAN};
        status = page != NULL ? pr_bars_inline(&bars, page, err) : pr_bars_draw(&bars, path, err);
    }
    pr_free(c.names);
    pr_free(c.bars);
    return status;
}
