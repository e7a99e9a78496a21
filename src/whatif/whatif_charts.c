/* Changes of sales with their intervals, one chart a group: the figure beside a table. Orange is more, blue
 * is less; where the truth is known it stands beside the estimate. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/bars.h"
#include "whatif/answer.h"

enum { SERIES_MOST = 2, TITLE_BYTES = 400, BLUE = 0, ORANGE = 1 };

static void add_row(pr_chart_bar *bars, size_t *colour, const pr_whatif_result *a, size_t s,
                    size_t q, size_t g, size_t line)
{
    const pr_estimate *e = pr_estimate_of(a, s, q, a->estimator, g, line);
    bool known = !isnan(e->change_low);
    bars[0] = (pr_chart_bar){e->change, known ? e->change_low : e->change,
                             known ? e->change_high : e->change};
    *colour = e->change < 0 ? BLUE : ORANGE;
    if (a->truth.sets > 0) {
        double before = a->truth.before[pr_true_at(&a->truth, 0, g, line)];
        double after = a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
        double change = before > 0 ? after / before - 1 : NAN;
        bars[1] = (pr_chart_bar){change, change, change};
    }
}

parsrec_status pr_whatif_chart(pr_writer *page, const char *path, const pr_whatif_result *a,
                               size_t scenario, size_t question, size_t group, parsrec_error *err)
{
    static const char *const series[SERIES_MOST] = {"estimated", "true"};
    size_t lines = a->lines.count, each = a->truth.sets > 0 ? 2 : 1;
    size_t *shown = pr_alloc(lines, sizeof *shown), *colours = pr_alloc(lines, sizeof *colours);
    const char **names = pr_alloc(lines, sizeof *names);
    pr_chart_bar *bars = pr_alloc(lines * SERIES_MOST, sizeof *bars);
    char title[TITLE_BYTES];
    parsrec_status status = PARSREC_OK;
    if (shown == NULL || colours == NULL || names == NULL || bars == NULL) {
        status = pr_fail_memory(err);
        goto done;
    }
    size_t count = pr_shown_lines(shown, a, scenario);
    for (size_t i = 0; i < count; i++) {
        names[i] = a->lines.list[shown[i]].name;
        add_row(bars + i * each, &colours[i], a, scenario, question, group, shown[i]);
    }
    snprintf(title, sizeof title, "%s: change of units per basket", a->groups.list[group].name);
    pr_bars chart = {.title = title,
                     .rows = names,
                     .row_count = count,
                     .series = series,
                     .series_count = each,
                     .bars = bars,
                     .colours = colours,
                     .percent = true,
                     .mark = NAN};
    status = page != NULL ? pr_bars_inline(&chart, page, err) : pr_bars_draw(&chart, path, err);
done:
    pr_free(shown);
    pr_free(colours);
    pr_free(names);
    pr_free(bars);
    return status;
}
