/* The answer as rows, for programs: CSV, and the public's own. */
#include <math.h>
#include <string.h>

#include "whatif/answer.h"

static void fill_truth(const pr_answer *a, size_t s, size_t q, size_t g, size_t line,
                       parsrec_whatif_row *row)
{
    row->true_before = row->true_after = row->floor = NAN;
    if (a->truth.sets == 0 || a->lines.list[line].kind == PR_LINE_NEW)
        return;
    row->true_before = a->truth.before[pr_true_at(&a->truth, 0, g, line)];
    row->true_after = a->truth.after[q][pr_true_at(&a->truth, s, g, line)];
    row->floor = a->truth.floor[q][pr_true_at(&a->truth, s, g, line)];
}

/* Rows stand by scenario, question, estimator, group and line; the questions that were not asked are
 * passed over. */
bool parsrec_whatif_row_at(const parsrec_whatif_answer *a, size_t i, parsrec_whatif_row *row)
{
    if (a == NULL || row == NULL)
        return false;
    size_t lines = a->lines.count, groups = a->cohort.group_count, questions = 0, asked[2];
    for (size_t q = 0; q < PR_QUESTIONS; q++)
        if (a->asked[q])
            asked[questions++] = q;
    size_t line = i % lines, g = i / lines % groups, e = i / lines / groups % PR_ESTIMATORS;
    size_t q = asked[i / lines / groups / PR_ESTIMATORS % questions];
    size_t s = i / lines / groups / PR_ESTIMATORS / questions;
    if (s >= a->scenarios.count)
        return false;
    const pr_estimate *x = pr_estimate_of(a, s, q, e, g, line);
    bool old = a->lines.list[line].kind != PR_LINE_NEW;
    *row = (parsrec_whatif_row){
        .scenario = a->scenarios.list[s].name,
        .group = a->groups.list[g].name,
        .category = a->lines.list[line].name,
        .question = (parsrec_question)q,
        .estimator = (parsrec_estimator)e,
        .watched = a->watched[s * lines + line],
        .dropped = pr_line_dropped(a, s, line),
        .before = x->before,
        .after = x->after,
        .low = x->low,
        .high = x->high,
        .change = x->change,
        .change_low = x->change_low,
        .change_high = x->change_high,
        .test_before = old ? pr_ledger_rate(&a->test.before, &a->cohort, g, line) : NAN,
        .test_after = old && q == PARSREC_SELECTION
                          ? pr_ledger_rate(&a->test.after[q][s], &a->cohort, g, line)
                          : NAN};
    fill_truth(a, s, q, g, line, row);
    return true;
}

/* ---- CSV ---- */

static void write_field(pr_writer *out, const char *text)
{
    pr_write_csv(out, text);
    pr_write(out, ",");
}

static void write_value(pr_writer *out, double value, const char *end)
{
    if (isnan(value))
        pr_write(out, "%s", end);
    else
        pr_write(out, "%.6g%s", value, end);
}

void pr_whatif_csv(pr_writer *out, const pr_answer *a)
{
    parsrec_whatif_row r;
    pr_write(out,
             "scenario,question,estimator,group,category,watched,dropped,before,after,low,high,"
             "change,change_low,change_high,test_before,test_after,true_before,true_after,"
             "floor\n");
    for (size_t i = 0; parsrec_whatif_row_at(a, i, &r); i++) {
        const double values[] = {r.before,     r.after,       r.low,         r.high,
                                 r.change,     r.change_low,  r.change_high, r.test_before,
                                 r.test_after, r.true_before, r.true_after,  r.floor};
        size_t count = sizeof values / sizeof *values;
        if (isnan(r.after))
            continue;
        write_field(out, r.scenario);
        pr_write(out, "%s,%s,", parsrec_question_name(r.question),
                 parsrec_estimator_name(r.estimator));
        write_field(out, r.group);
        write_field(out, r.category);
        pr_write(out, "%d,%d,", r.watched, r.dropped);
        for (size_t v = 0; v < count; v++)
            write_value(out, values[v], v + 1 < count ? "," : "\n");
    }
}
