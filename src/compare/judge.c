/* Which numbers are shown, who is the best, and by how much more than chance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/comparison.h"

/* ---- columns ---- */

static const char *brief_name(const char *name)
{
    static const char *const known[][2] = {{"NDCG", "N"},
                                           {"NDCG-whole", "N-whole"},
                                           {"Sess-Prec", "SP"},
                                           {"Recall", "Rec"},
                                           {"Precision", "Prec"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], name) == 0)
            return known[i][1];
    return name;
}

static void name_column(pr_column *column, const parsrec_measure *m)
{
    const char *brief = brief_name(m->name);
    if (m->k == 0) {
        snprintf(column->name, sizeof column->name, "%s", m->name);
        snprintf(column->brief, sizeof column->brief, "%s", brief);
        return;
    }
    snprintf(column->name, sizeof column->name, "%s@%llu", m->name, (unsigned long long)m->k);
    snprintf(column->brief, sizeof column->brief, "%s@%llu", brief, (unsigned long long)m->k);
}

double pr_cell_value(const parsrec_comparison *c, size_t row, const pr_column *column)
{
    return c->rows[row].report.measures[column->measure].value;
}

/* Columns come measure by measure; where HR is measured, NDCG@1 is HR@1 again and is left out, as in
 * the paper's table. */
static void list_columns(parsrec_comparison *c, const parsrec_measure *measures, size_t count)
{
    bool has_hr = strcmp(measures[0].name, "HR") == 0;
    for (size_t m = 0; m < count; m++) {
        if (has_hr && strcmp(measures[m].name, "NDCG") == 0 && measures[m].k == 1)
            continue;
        pr_column *column = &c->columns[c->column_count++];
        *column = (pr_column){.measure = m, .best = PR_NONE, .second = PR_NONE};
        name_column(column, &measures[m]);
    }
}

/* Of equal values the earlier row comes first. */
static void rank_column(const parsrec_comparison *c, pr_column *column)
{
    for (size_t row = 0; row < c->count; row++) {
        double value = pr_cell_value(c, row, column);
        if (c->rows[row].ceiling || isnan(value))
            continue;
        if (column->best == PR_NONE || value > pr_cell_value(c, column->best, column)) {
            column->second = column->best;
            column->best = row;
        } else if (column->second == PR_NONE || value > pr_cell_value(c, column->second, column)) {
            column->second = row;
        }
    }
}

int pr_cell_rank(const parsrec_comparison *c, size_t row, const pr_column *column)
{
    double value = pr_cell_value(c, row, column);
    if (c->rows[row].ceiling || column->best == PR_NONE)
        return 0;
    if (value == pr_cell_value(c, column->best, column))
        return 1;
    return column->second != PR_NONE && value == pr_cell_value(c, column->second, column) ? 2 : 0;
}

static parsrec_status no_such_measure(const parsrec_comparison *c, const char *measure,
                                      parsrec_error *err)
{
    char list[256] = "";
    pr_excerpt hold;
    for (size_t i = 0; i < c->column_count; i++) {
        strncat(list, i > 0 ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, c->columns[i].name, sizeof list - strlen(list) - 1);
    }
    return pr_fail(err, PARSREC_E_ARGUMENT, "%s is not measured here; there is %s",
                   pr_show(&hold, pr_slice_of(measure)), list);
}

/* NDCG, or else the first measure, at the largest cutoff. */
static size_t usual_column(const parsrec_comparison *c, const parsrec_measure *measures)
{
    size_t of_ndcg = PR_NONE, of_first = 0;
    for (size_t i = 0; i < c->column_count; i++) {
        const parsrec_measure *m = &measures[c->columns[i].measure];
        if (strncmp(m->name, "NDCG", 4) == 0 &&
            (of_ndcg == PR_NONE || m->k > measures[c->columns[of_ndcg].measure].k))
            of_ndcg = i;
        if (strcmp(m->name, measures[0].name) == 0 &&
            m->k > measures[c->columns[of_first].measure].k)
            of_first = i;
    }
    return of_ndcg != PR_NONE ? of_ndcg : of_first;
}

parsrec_status pr_comparison_columns(parsrec_comparison *c, const char *measure, parsrec_error *err)
{
    parsrec_measure measures[PARSREC_MEASURES_MOST];
    size_t count;
    PR_TRY(parsrec_eval_measures(&c->eval, measures, &count, err));
    list_columns(c, measures, count);
    c->chosen = usual_column(c, measures);
    if (measure == NULL)
        return PARSREC_OK;
    for (c->chosen = 0; c->chosen < c->column_count; c->chosen++)
        if (strcmp(c->columns[c->chosen].name, measure) == 0 ||
            strcmp(c->columns[c->chosen].brief, measure) == 0)
            return PARSREC_OK;
    return no_such_measure(c, measure, err);
}

/* ---- what the numbers are worth ---- */

static parsrec_status add_intervals(parsrec_comparison *c, pr_pool *pool, parsrec_error *err)
{
    for (size_t row = 0; row < c->count; row++) {
        pr_contender *r = &c->rows[row];
        size_t measures = r->report.measure_count;
        r->intervals = pr_alloc(measures, sizeof *r->intervals);
        if (r->intervals == NULL)
            return pr_fail_memory(err);
        pr_tallies all = {r->tallies, c->user_count, measures};
        PR_TRY(pr_bootstrap(r->intervals, &all, &c->resampling, pool, err));
    }
    return PARSREC_OK;
}

/* The tallies of one measure, side by side. */
static void take_column(pr_tally *out, const pr_contender *row, size_t measure, size_t users)
{
    for (size_t u = 0; u < users; u++)
        out[u] = row->tallies[u * row->report.measure_count + measure];
}

static parsrec_status contrast_rows(parsrec_comparison *c, pr_tally *best, pr_tally *other,
                                    pr_pool *pool, parsrec_error *err)
{
    size_t measure = c->columns[c->chosen].measure, leader = pr_comparison_best(c);
    take_column(best, &c->rows[leader], measure, c->user_count);
    for (size_t row = 0; row < c->count; row++) {
        c->rows[row].versus = (pr_contrast){.p = 1};
        if (row == leader)
            continue;
        take_column(other, &c->rows[row], measure, c->user_count);
        pr_tallies mine = {other, c->user_count, 1}, theirs = {best, c->user_count, 1};
        PR_TRY(pr_paired(&c->rows[row].versus, &mine, &theirs, &c->testing, pool, err));
    }
    return PARSREC_OK;
}

static bool is_tested(const parsrec_comparison *c, size_t row)
{
    return row != pr_comparison_best(c) && !c->rows[row].ceiling;
}

/* How many tests have a smaller p than that. */
static size_t count_smaller(const parsrec_comparison *c, double p)
{
    size_t smaller = 0;
    for (size_t row = 0; row < c->count; row++)
        smaller += is_tested(c, row) && c->rows[row].versus.p < p;
    return smaller;
}

/* Holm's correction: the smallest p counts for all tests, the next for one fewer, and so on; a
 * corrected p is never below one before it. */
static void correct_p(parsrec_comparison *c)
{
    size_t tests = count_smaller(c, INFINITY);
    for (size_t row = 0; row < c->count; row++) {
        c->rows[row].p = c->rows[row].versus.p;
        for (size_t other = 0; is_tested(c, row) && other < c->count; other++) {
            double p = c->rows[other].versus.p;
            if (is_tested(c, other) && p <= c->rows[row].versus.p)
                c->rows[row].p =
                    fmin(1, fmax(c->rows[row].p, p * (double)(tests - count_smaller(c, p))));
        }
    }
}

static parsrec_status add_contrasts(parsrec_comparison *c, pr_pool *pool, parsrec_error *err)
{
    if (pr_comparison_best(c) == PR_NONE)
        return PARSREC_OK;
    pr_tally *both = pr_alloc(2 * c->user_count, sizeof *both);
    if (both == NULL)
        return pr_fail_memory(err);
    parsrec_status status = contrast_rows(c, both, both + c->user_count, pool, err);
    pr_free(both);
    if (status == PARSREC_OK)
        correct_p(c);
    return status;
}

parsrec_status pr_comparison_judge(parsrec_comparison *c, pr_pool *pool, parsrec_error *err)
{
    for (size_t i = 0; i < c->column_count; i++)
        rank_column(c, &c->columns[i]);
    PR_TRY(add_intervals(c, pool, err));
    return add_contrasts(c, pool, err);
}
