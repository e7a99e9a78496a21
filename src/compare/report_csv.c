/* One row for each model and measure, for spreadsheets and scripts. Numbers have all their digits, and
 * nothing that differs from run to run is in it. */
#include <math.h>
#include <string.h>

#include "compare/comparison.h"

static void write_number(pr_writer *out, double value)
{
    if (isnan(value))
        pr_write(out, ",");
    else
        pr_write(out, ",%.17g", value);
}

static void write_row(pr_writer *out, const parsrec_comparison *c, size_t row, size_t column)
{
    const pr_contender *r = &c->rows[row];
    size_t m = c->columns[column].measure;
    const parsrec_measure *measure = &r->report.measures[m];
    bool tested = column == c->chosen && pr_comparison_reference(c, row) != PR_NONE;
    pr_write_csv(out, r->entry->name);
    pr_write(out, ",%s,%s", r->kind, c->columns[column].name);
    const double numbers[] = {measure->value,
                              r->intervals[m].low,
                              r->intervals[m].high,
                              measure->repeat,
                              measure->fresh,
                              measure->random,
                              tested ? r->versus.difference.value : NAN,
                              tested ? r->versus.difference.low : NAN,
                              tested ? r->versus.difference.high : NAN,
                              tested ? r->versus.p : NAN,
                              tested ? r->p : NAN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        write_number(out, numbers[i]);
    pr_write(out, ",%s,%zu", r->report.fingerprint, r->judged);
    const double seeds[] = {r->spread[m].low, r->spread[m].high,
                            tested ? r->versus_spread.low : NAN,
                            tested ? r->versus_spread.high : NAN};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        write_number(out, seeds[i]);
    pr_write(out, "\n");
}

void pr_report_csv(pr_writer *out, const parsrec_comparison *c)
{
    pr_write(
        out,
        "model,kind,measure,value,low,high,repeat,new,random,difference,difference_low,"
        "difference_high,p,p_corrected,fingerprint,seeds,seeds_low,seeds_high,difference_seeds_low,"
        "difference_seeds_high\n");
    for (size_t row = 0; row < c->count; row++)
        for (size_t column = 0; column < c->column_count; column++)
            write_row(out, c, row, column);
}
