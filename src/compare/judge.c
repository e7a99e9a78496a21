/* Which numbers are shown, who is the best, and by how much more than chance. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/compare.h"
#include "eval/measures.h"

/* ---- columns ---- */

double pr_cell_value(const parsrec_comparison *c, size_t row, const pr_measure_column *column)
{
    assert(row < c->count && column->measure < c->rows[row].report.measure_count);
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
        pr_measure_column *column = &c->columns[c->column_count++];
        *column = (pr_measure_column){.measure = m, .best = PR_NONE, .second = PR_NONE};
        parsrec_measure brief = measures[m];
        brief.name = pr_measure_named(brief.name)->brief;
        pr_measure_title(&measures[m], column->name, sizeof column->name);
        pr_measure_title(&brief, column->brief, sizeof column->brief);
    }
}

/* Of equal values the earlier row comes first. */
static void rank_column(const parsrec_comparison *c, pr_measure_column *column)
{
    column->best = column->second = PR_NONE;
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

int pr_cell_rank(const parsrec_comparison *c, size_t row, const pr_measure_column *column)
{
    double value = pr_cell_value(c, row, column);
    size_t base = c->rows[row].entry->base;
    if (c->ablation)
        return base != PR_NONE && value > pr_cell_value(c, base, column) ? 1 : 0;
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
    assert(c->column_count == 0);
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
        pr_free(r->intervals);
        r->intervals = pr_alloc(measures, sizeof *r->intervals);
        if (r->intervals == NULL)
            return pr_fail_memory(err);
        pr_tallies all = {r->tallies, c->user_count, measures};
        PR_TRY(pr_bootstrap(r->intervals, &all, &c->resampling, pool, err));
    }
    return PARSREC_OK;
}

/* The tallies of one measure, side by side. */
static void take_column(parsrec_share *out, const pr_contender *row, size_t measure, size_t users)
{
    for (size_t u = 0; u < users; u++)
        out[u] = row->tallies[u * row->report.measure_count + measure];
}

/* Attempts with one seed side by side; a model that only counts is compared with every seed. */
static parsrec_status contrast_seeds(pr_contender *r, const pr_contender *with, size_t measure,
                                     double level, parsrec_error *err)
{
    assert(r->judged > 0 && with->judged > 0);
    size_t count = r->judged > with->judged ? r->judged : with->judged;
    double *differences = pr_alloc(count, sizeof *differences);
    if (differences == NULL)
        return pr_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        differences[i] =
            r->attempts[i < r->judged ? i : r->judged - 1].report.measures[measure].value -
            with->attempts[i < with->judged ? i : with->judged - 1].report.measures[measure].value;
    r->versus_spread = pr_student(differences, count, level);
    r->seed_p = pr_student_p(differences, count);
    pr_free(differences);
    return PARSREC_OK;
}

static parsrec_status contrast_rows(parsrec_comparison *c, parsrec_share *one, parsrec_share *other,
                                    pr_pool *pool, parsrec_error *err)
{
    size_t measure = c->columns[c->chosen].measure;
    for (size_t row = 0; row < c->count; row++) {
        pr_contender *r = &c->rows[row];
        size_t reference = pr_comparison_reference(c, row);
        r->versus = (pr_contrast){.p = NAN};
        r->versus_spread = (pr_interval){0, NAN, NAN};
        r->seed_p = NAN;
        if (reference == PR_NONE)
            continue;
        take_column(one, r, measure, c->user_count);
        take_column(other, &c->rows[reference], measure, c->user_count);
        pr_tallies mine = {one, c->user_count, 1}, theirs = {other, c->user_count, 1};
        PR_TRY(pr_paired(&r->versus, &mine, &theirs, &c->testing, pool, err));
        PR_TRY(contrast_seeds(r, &c->rows[reference], measure, c->testing.level, err));
    }
    return PARSREC_OK;
}

/* The ceiling takes part in no test. */
static parsrec_status correct_p(parsrec_comparison *c, parsrec_error *err)
{
    double *p = pr_alloc(2 * c->count, sizeof *p);
    if (p == NULL)
        return pr_fail_memory(err);
    double *corrected = p + c->count;
    for (size_t row = 0; row < c->count; row++)
        p[row] = c->rows[row].ceiling ? NAN : c->rows[row].versus.p;
    pr_holm(corrected, p, c->count);
    for (size_t row = 0; row < c->count; row++)
        c->rows[row].p = c->rows[row].ceiling ? c->rows[row].versus.p : corrected[row];
    pr_free(p);
    return PARSREC_OK;
}

bool pr_comparison_differs(const pr_contender *r)
{
    const pr_interval *seeds = &r->versus_spread;
    return !r->ceiling && r->p < 0.05 && (isnan(seeds->low) || seeds->low > 0 || seeds->high < 0);
}

parsrec_status pr_comparison_judge(parsrec_comparison *c, pr_pool *pool, parsrec_error *err)
{
    assert(c->user_count > 0); /* something was evaluated */
    for (size_t row = 0; row < c->count; row++)
        PR_TRY(pr_contender_pool(&c->rows[row], c->user_count, c->resampling.level, err));
    for (size_t i = 0; i < c->column_count; i++)
        rank_column(c, &c->columns[i]);
    PR_TRY(add_intervals(c, pool, err));
    parsrec_share *both = pr_alloc(2 * c->user_count, sizeof *both);
    if (both == NULL)
        return pr_fail_memory(err);
    parsrec_status status = contrast_rows(c, both, both + c->user_count, pool, err);
    pr_free(both);
    return status == PARSREC_OK ? correct_p(c, err) : status;
}
